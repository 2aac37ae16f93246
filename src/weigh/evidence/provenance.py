"""Provenance of a model: training rows, files, versions, and changes by hand."""

from __future__ import annotations

import getpass
import hashlib
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import cache, reduce
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from weigh.frames import Table
from weigh.sketches import RowSketch, sketch_rows

CHUNK = 1 << 20
ADDED, PARTS = "rows added later", "; "
DIGITS = 16
"""Digits shown of a hash, to compare by eye; the model file holds all of them."""


@dataclass(frozen=True)
class Provenance:
    """Facts about a fit; None means not known."""

    date: str | None = None
    rows: int | None = None
    held_out: int | None = None  # rows of the source set aside for evaluation
    target: str | None = None
    source: str | None = None
    sha256: str | None = None
    weigh: str | None = None
    python: str | None = None
    training_rows: RowSketch | None = None  # hashes of a sample of them
    columns: tuple[str, ...] | None = None  # that were hashed, if the model reads others
    part_of: str | None = None  # class of the model whose part this is; it heads exports

    def to_dict(self) -> dict[str, Any]:
        """The known facts as plain data."""
        known = {field.name: getattr(self, field.name) for field in fields(self)}
        told = {name: value for name, value in known.items() if value is not None}
        if self.training_rows is not None:
            told["training_rows"] = self.training_rows.to_dict()
        if self.columns is not None:
            told["columns"] = [*self.columns]
        return told

    @classmethod
    def from_dict(cls, data: Any) -> Provenance:
        """Read plain data; unknown fields, of later releases, are ignored."""
        if not isinstance(data, Mapping):
            raise ValueError("provenance must be an object")
        found = {field.name: data.get(field.name) for field in fields(cls)}
        sketch, columns = found.pop("training_rows"), found.pop("columns")
        for name, value in found.items():
            kind = int if name in ("rows", "held_out") else str
            if value is not None and type(value) is not kind:
                raise ValueError(f"provenance: {name} must be {kind.__name__}")
        part_of = found["part_of"]
        if part_of is not None and not part_of.isidentifier():  # exports write it as it is
            raise ValueError("provenance: part_of must be the name of a learner")
        if columns is not None:
            if not isinstance(columns, list) or not all(isinstance(c, str) for c in columns):
                raise ValueError("provenance: columns must be a list of names")
            found["columns"] = tuple(columns)
        return cls(**found, training_rows=None if sketch is None else RowSketch.from_dict(sketch))

    def add(self, table: Table, target: Any) -> Provenance:
        """Provenance after the rows of a table were added to the model.

        Training rows that are not in the sketch cannot be recognised later.
        """
        kept = self.training_rows
        new = record(table, target, kept)
        if kept is not None and new.training_rows is not None:
            kept = kept.merge(new.training_rows)
        rows = None if self.rows is None or new.rows is None else self.rows + new.rows
        source = self.source and PARTS.join(map(_tell_source, (self, replace(new, source=ADDED))))
        target = new.target or self.target
        told = replace(new, rows=rows, target=target, source=source, training_rows=kept)
        return replace(told, part_of=self.part_of)

    def join(self, table: Table) -> Provenance:
        """Add the rows to which a derived model was fitted; they may be the same rows.

        Nothing changes if the table lacks the hashed columns or cannot be sketched.
        """
        names = table.names if self.columns is None else self.columns
        if self.training_rows is None or not {*names} <= {*table.names}:
            return self
        hashed = table if self.columns is None else table.select(names)
        if sketch_rows(hashed) is None:
            return self
        return replace(self, training_rows=self.training_rows.join(hashed))

    def merge(self, others: Sequence[Provenance | None]) -> Provenance:
        """Provenance of a merged model; sketches are merged if all have the same salt.

        The source lists the source and rows of every model, if any source is known.
        """
        every = [self, *(one for one in others if one is not None)]
        parts = [_tell_source(one) for one in (self, *others)]
        rows = [one.rows for one in every if one.rows is not None]
        kept = [one.training_rows for one in every if one.training_rows is not None]
        n = 1 + len(others)
        add_up = len(kept) == n and all(kept[0].adds_to(sketch) for sketch in kept)
        return Provenance(
            date=_today(),
            rows=sum(rows) if len(rows) == n else None,
            target=self.target,
            source=PARTS.join(parts) if any(one.source for one in every) else None,
            weigh=_version(),
            python=platform.python_version(),
            training_rows=reduce(RowSketch.merge, kept) if add_up else None,
            part_of=self.part_of if len({one.part_of for one in every}) == 1 else None,
        )

    @property
    def share_of_files(self) -> float:
        """The share of training rows in the files of the fit."""
        return (self.rows or 0) / max((self.rows or 0) + (self.held_out or 0), 1)

    def lines(self) -> list[tuple[str, str]]:
        """The known facts as pairs of heading and text."""
        source = self.source and f"{self.source}" + (
            f" (SHA-256 {self.sha256[:DIGITS]}…)" if self.sha256 else ""
        )
        hashes = self.training_rows and (
            f"{len(self.training_rows.hashes):,} (whoever has the model file can test rows against "
            "them)"
        )
        told = {
            "Part of": self.part_of,
            "Data": source,
            "Target": self.target,
            "Training rows": None if self.rows is None else f"{self.rows:,}",
            "Hold-out rows": self.held_out and f"{self.held_out:,}",
            "Hashes of training rows": hashes,
            "Fitted on": self.date,
            "Versions": self.weigh and f"weigh {self.weigh}, Python {self.python or '?'}",
        }
        return [(name, text) for name, text in told.items() if text]


def _tell_source(known: Provenance | None) -> str:
    """Source and number of rows of one model, as text."""
    if known is None:
        return "unknown data"
    if PARTS in (known.source or ""):
        return str(known.source)
    rows = "" if known.rows is None else f" ({known.rows:,} row{'s' * (known.rows != 1)})"
    return (known.source or "unknown data") + rows


def record(table: Table, target: Any, like: RowSketch | None = None) -> Provenance:
    """Provenance of a fit to a table; `target` is recorded if it has a name."""
    named = target if isinstance(target, str) else getattr(target, "name", None)
    return Provenance(
        date=_today(),
        rows=int(table.n_rows),
        target=str(named) if isinstance(named, str) and named else None,
        weigh=_version(),
        python=platform.python_version(),
        training_rows=sketch_rows(table, like),
    )


def inherit(model: Any, parent: Any) -> Any:
    """Copy the provenance of a parent, if it has one, to a derived model.

    The hashes cover the parent's columns. If the model reads other columns, the names of the hashed
    columns are stored too.
    """
    known = getattr(parent, "provenance_", None)
    if known is None:
        return model
    if known.training_rows is not None and known.columns is None:
        own, hashed = (getattr(one, "feature_names_in_", None) for one in (model, parent))
        if hashed is not None and own is not None and {*own} != {*hashed}:
            known = replace(known, columns=tuple(map(str, hashed)))
    model.provenance_ = known
    return model


def _today() -> str:
    """Today's date in UTC; SOURCE_DATE_EPOCH overrides it for reproducible builds."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now(UTC)
    return now.date().isoformat()


@cache  # otherwise every fit reads the disk
def _version() -> str | None:
    try:
        return version("weigh")
    except PackageNotFoundError:
        return None


def hash_files(paths: Sequence[str]) -> str:
    """SHA-256 of a file; for several files, that of their hashes in the order of their names."""
    digests = [_hash_file(path) for path in sorted(map(str, paths))]
    if len(digests) == 1:
        return digests[0]
    return hashlib.sha256("\n".join(digests).encode("ascii")).hexdigest()


def _hash_file(path: str) -> str:
    found = hashlib.sha256()
    with open(path, "rb") as file:
        while part := file.read(CHUNK):
            found.update(part)
    return found.hexdigest()


@dataclass(frozen=True)
class Change:
    """A change by hand: what, who, why and when, and the loss before and after.

    The loss is in bits per row; for a regressor it is the mean deviance.
    """

    action: str
    arguments: Mapping[str, Any]
    why: str
    who: str
    when: str
    loss_before: float
    loss_after: float
    refit: bool = False
    estimates: bool = field(default=False, compare=False, repr=False, kw_only=True)
    """Whether the model is a regressor; not stored here, because the model file says so."""

    def to_dict(self) -> dict[str, Any]:
        """The change as plain data."""
        found = asdict(self) | {"arguments": dict(self.arguments)}
        del found["estimates"]
        return found

    @classmethod
    def from_dict(cls, data: Any) -> Change:
        """Read plain data."""
        names = {own.name for own in fields(cls)} - {"estimates"}
        if not isinstance(data, Mapping) or {*data} != names:
            raise ValueError(f"an edit must hold {sorted(names)}")
        texts = all(isinstance(data[name], str) for name in ("action", "why", "who", "when"))
        losses = all(type(data[name]) in (int, float) for name in ("loss_before", "loss_after"))
        if not (texts and losses and type(data["refit"]) is bool):
            raise ValueError("an edit must hold texts, losses and whether it was refitted")
        if not isinstance(data["arguments"], Mapping):
            raise ValueError("an edit's arguments must be an object")
        return cls(**data)

    @property
    def call(self) -> str:
        """The change as a call, such as `drop(feature='age')`."""
        given = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.action}({given})"

    @property
    def words(self) -> str:
        """The change as a phrase: `age: merge, levels 30 and 40`."""
        given = dict(self.arguments)
        table = given.pop("feature", None) or " & ".join(map(str, given.values()))
        parts = [
            f"{name} {_spell(value)}"
            for name, value in given.items()
            if "feature" in self.arguments and value not in ("", {})
        ]
        return ", ".join([f"{table}: {self.action.replace('_', ' ')}", *parts])

    def __str__(self) -> str:
        change = self.loss_after - self.loss_before
        fitted = ", others refitted" if self.refit else ""
        loss = f"loss {self.loss_after:.4f} bits, {change:+.4f}"
        if self.estimates:
            loss = f"mean deviance {self.loss_after:.4g}, {change:+.2g}"
        return f"{self.call}{fitted}: {self.why} ({self.who}, {self.when}; {loss})"


def _spell(value: Any) -> str:
    if isinstance(value, Mapping):
        value = [f"{old} as {new}" for old, new in value.items()]
    return " and ".join(map(str, value)) if isinstance(value, list) else str(value)


def login_name() -> str:
    """Login name of the user; `unknown` if the system does not provide it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
