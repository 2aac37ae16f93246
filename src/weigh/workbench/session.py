"""One sitting at a model: changes that are tried, accepted, undone, kept in a draft and saved."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from weigh.editing import Editor
from weigh.evidence import Change, Evidence, Units
from weigh.frames import read
from weigh.metrics.predictions import column_of
from weigh.scoring import write_scores
from weigh.sheet import find_class
from weigh.store import save, version_of
from weigh.workbench.view import Judge, RowTotals, show_table, show_tables
from weigh.writing import write_text

DRAFT, LOG = ".draft", ".changes.csv"
"""What is added to the name of the output: changes that were not saved, and the record of all."""

FARTHEST = 30.0
"""Largest log odds of a cut-off that is given as a score."""


class Session:
    """The editor of a model, what its changes do to the judging rows, and where they are written.

    Every accepted change is written to a draft beside the output before it is shown as done. If the
    process ends before the model is saved, a new session with the same model continues the draft.

    Parameters
    ----------
    editor : Editor
        What `weigh.edit` gives: the model, and the rows to judge by.
    table : table
        The judging rows with all their columns; groups may be of any of them.
    output : path
        Where the edited model is written.
    cut_off : float, default=0.5
        The probability above which rows are counted; not for a regressor.
    by : str, optional
        A column whose groups are measured.
    adverse : label, optional
        The class whose rows are declined. The page then shows the approval rate: the share of rows
        on the other side of the cut-off.
    """

    def __init__(
        self,
        editor: Editor,
        table: Any,
        output: str | os.PathLike[str],
        cut_off: float = 0.5,
        by: str | None = None,
        adverse: Any = None,
    ) -> None:
        numbers = editor.evidence.estimates
        if not numbers and len(editor.evidence.classes) != 2:
            n = len(editor.evidence.classes)
            raise ValueError(
                f"the page edits models of two classes, but this one has {n}; "
                "weigh.edit in Python takes more"
            )
        if numbers and adverse is not None:
            raise ValueError(
                "adverse names a class, but the model estimates a number; leave it out"
            )
        self.approves = _find_approved(editor.evidence.classes.tolist(), adverse)
        self.editor, self._table, self.output = editor, read(table), Path(output)
        self._given = len(editor.edits)
        self._saved = 0
        self._written: str | None = None  # the draft as this session left it
        if self.output.exists() and not self.draft.exists():
            raise ValueError(
                f"{self.output} exists already; give it as the model to continue it in another "
                "file, or name another output"
            )
        self._judge = Judge(editor.rows, cut_off)
        self._totals = RowTotals.of(editor.evidence, editor.rows.sample)
        self.look(cut_off, by or "")
        self.continued = self._continue()

    # ------------------------------------------------------------ what it shows

    @property
    def column_names(self) -> list[str]:
        """The columns whose groups can be measured."""
        return [*self._table.names]

    @property
    def points(self) -> float | None:
        """Points for one nat: of a scorecard, or of a model that `simplify` gave whole points."""
        units, point = self.editor.evidence.units, getattr(self.editor.given, "point_", None)
        if units.are_points:
            return units.scale
        return 1 / point if point else None

    @property
    def lowest_score(self) -> int | None:
        """The cut-off as the lowest score above it; None if the model is no scorecard."""
        units, p = self.editor.evidence.units, self._judge.cut_off
        if not units.are_points:
            return None
        return math.floor(units.start + units.scale * math.log(p / (1 - p))) + 1

    def turn(self, shown: float, by: str) -> Self:
        """Choose the cut-off as it is shown, of a scorecard the lowest score above it."""
        units = self.editor.evidence.units
        if not units.are_points or not math.isfinite(shown):
            return self.look(shown, by)
        half = (round(shown) - 0.5 - units.start) / units.scale  # between two scores
        return self.look(1 / (1 + math.exp(-min(max(half, -FARTHEST), FARTHEST))), by)

    def look(self, cut_off: float, by: str) -> Self:
        """Choose the cut-off and the column of groups."""
        if not 0 < cut_off < 1:
            raise ValueError(f"the cut-off must be between 0 and 1, got {cut_off:g}")
        judge = replace(self._judge, cut_off=float(cut_off))
        if by != judge.by:
            judge = judge.grouped(by, column_of(self._table, by, "by") if by else None)
        self._judge = judge
        start = RowTotals.of(self.editor.given.evidence_, self.editor.rows.sample, self._totals)
        self.before, self.now = judge.measure(start, "before"), judge.measure(self._totals)
        return self

    def state(self) -> dict[str, Any]:
        """Everything that the page shows, but the table that is open."""
        edits = self.editor.edits[self._given :]
        return {
            "tables": show_tables(self.editor.evidence),
            "effects": {"before": self.before, "now": self.now},
            "history": [_line(change) for change in edits],
            "earlier": self._given,
            "undo": self.editor.can_undo,
            "redo": self.editor.can_redo,
            "unsaved": len(edits) != self._saved,
            "cut_off": self._judge.cut_off,
            "lowest_score": self.lowest_score,
            "by": self._judge.by,
        }

    @property
    def n_changes(self) -> int:
        """The number of changes of this sitting, with those of a continued draft."""
        return len(self.editor.edits) - self._given

    def table(self, name: str) -> dict[str, Any]:
        """The table of a feature, and its shape."""
        return self._show(self.editor.evidence, name)

    def _show(self, evidence: Evidence, name: str) -> dict[str, Any]:
        own = evidence
        if self.points is not None and not evidence.units.are_points:
            own = replace(evidence, units=Units(self.points))
        return show_table(own, name)

    # ------------------------------------------------------------ what it does

    def preview(self, action: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """What a change would do, without making it; other tables stay as they are."""
        after = self.editor.preview(action, arguments)
        totals = RowTotals.of(after, self.editor.rows.sample, self._totals)
        new = [table.name for table in after if table.name not in self.editor.evidence]
        name = str(arguments.get("feature", "")) or "".join(new)  # of a pair that is added
        shown = self._show(after, name) if name in after else None
        return {"effects": self._judge.measure(totals, "after"), "table": shown}

    def accept(
        self, action: str, arguments: Mapping[str, Any], why: str, refit: bool = False, **seen: Any
    ) -> dict[str, Any]:
        """Make a change, and write it to the draft."""
        self._check(**seen)
        self.editor.change(action, arguments, why=why, refit=refit)
        return self._changed(self.editor.undo)

    def undo(self, **seen: Any) -> dict[str, Any]:
        """Take the last change back."""
        self._check(**seen)
        self.editor.undo()
        return self._changed(self.editor.redo)

    def redo(self, **seen: Any) -> dict[str, Any]:
        """Make the change again that was taken back last."""
        self._check(**seen)
        self.editor.redo()
        return self._changed(self.editor.undo)

    def _check(self, changes: int | None = None) -> None:
        """Refuse what was asked of a model with another number of changes, as by a second click."""
        now = self.n_changes
        if changes is not None and changes != now:
            raise ValueError(
                f"the page shows {changes} changes, but there are {now}; reload the page"
            )

    def _changed(self, back: Callable[[], Any]) -> dict[str, Any]:
        """Write a change to the draft; one that cannot be written is taken back."""
        try:
            self._write_draft()
        except (OSError, ValueError):
            back()
            raise
        self._saved = -1
        self._totals = RowTotals.of(self.editor.evidence, self.editor.rows.sample, self._totals)
        self.now = self._judge.measure(self._totals)
        return self.state()

    # ------------------------------------------------------------ what it writes

    @property
    def draft(self) -> Path:
        """The file that holds changes until the model is saved."""
        return self.output.with_name(self.output.name + DRAFT)

    @property
    def log(self) -> Path:
        """The file that lists the changes of a saved model."""
        return self.output.with_name(self.output.name + LOG)

    def save(self) -> dict[str, Any]:
        """Write the model and the record of its changes; the draft is then deleted."""
        self._refuse_other()
        save(self.editor.model, self.output)
        write_scores([_to_table(self.editor.edits)], str(self.log), spreadsheet=True)
        self.draft.unlink(missing_ok=True)
        self._written = None
        self._saved = self.n_changes
        return self.state()

    def _write_draft(self) -> None:
        self._refuse_other()
        edits = [change.to_dict() for change in self.editor.edits[self._given :]]
        held = {"format": "weigh edits", "made_of": self._made_of, "edits": edits}
        text = json.dumps(held, indent=1)
        write_text(text, self.draft)
        self._written = text

    def _refuse_other(self) -> None:
        """Refuse to replace a draft that another session wrote."""
        there = self.draft.read_text(encoding="utf-8") if self.draft.exists() else None
        if there != self._written:
            raise ValueError(f"{self.draft} was changed by another editor; end one of the two")

    @cached_property
    def _made_of(self) -> str:
        """Hash of the model before all changes of this sitting, and of the rows."""
        found = hashlib.sha256(version_of(self.editor.given).encode("utf-8"))
        for rows in (self.editor.rows, self.editor.fitted_rows):
            sample = rows.sample
            found.update(self.editor.given.evidence_.total(sample.table).tobytes())
            found.update(rows.targets.tobytes())
            found.update(b"" if sample.weight is None else sample.weight.tobytes())
        return found.hexdigest()

    def _continue(self) -> int:
        """Replay the changes of a draft; how many there were."""
        if not self.draft.exists():
            return 0
        self._written = self.draft.read_text(encoding="utf-8", errors="replace")
        edits = _read_draft(self.draft, self._written, self._made_of)
        self.editor.replay(edits)
        self._totals = RowTotals.of(self.editor.evidence, self.editor.rows.sample, self._totals)
        self.now = self._judge.measure(self._totals)
        self._saved = -1
        return len(edits)


def _read_draft(path: Path, text: str, made_of: str) -> list[Change]:
    wrong = f"{path} holds changes that were not saved, but {{}}; move it away to start anew"
    try:
        held = json.loads(text)
        if held["format"] != "weigh edits":
            raise ValueError
        edits = [Change.from_dict(one) for one in held["edits"]]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(wrong.format("it cannot be read")) from error
    if held.get("made_of") != made_of:
        raise ValueError(wrong.format("they were made with another model or other rows"))
    return edits


def _find_approved(classes: list[Any], adverse: Any) -> str:
    """Which side of the cut-off, a probability of the second class, is approved; empty: no side."""
    if adverse is None:
        return ""
    return "below" if find_class(classes, adverse, role="adverse") == 1 else "above"


def _line(change: Change) -> dict[str, Any]:
    difference = round(change.loss_after - change.loss_before, 4) + 0.0  # not -0.0
    told = {name: getattr(change, name) for name in ("why", "who", "when", "refit")}
    return {**told, "text": change.words, "difference": difference}


def _to_table(edits: tuple[Change, ...]) -> pa.Table:
    """The record of changes, a row each."""
    kinds = dict.fromkeys(("when", "who", "action", "arguments", "why"), pa.string())
    kinds |= {"refit": pa.bool_(), "loss_before": pa.float64(), "loss_after": pa.float64()}
    rows = [
        one.to_dict() | {"arguments": json.dumps(dict(one.arguments), ensure_ascii=False)}
        for one in edits
    ]
    return pa.Table.from_pylist(rows, pa.schema(kinds))
