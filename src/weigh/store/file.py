"""Model files: versioned JSON, written atomically."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weigh.store.plain import FORMAT, MARGINS, VERSION
from weigh.writing import write_text

if TYPE_CHECKING:
    from weigh.base import TableEstimator

INCOMPLETE = (
    KeyError,
    TypeError,
    ValueError,
    IndexError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
"""Exceptions that incomplete or damaged data of a file cause."""
SCORECARD = "weigh-scorecard"
"""The format of files that hold a scorecard, which is no model."""


def save(model: Any, path: str | os.PathLike[str], *, summary: bool = False) -> None:
    """Write a fitted model or a scorecard to a JSON file.

    Parameters
    ----------
    model : estimator or Scorecard
        A fitted model of this package, or a scorecard.
    path : path
        The file to write, usually ending in `.json`.
    summary : bool, default=False
        Also write the summary of the training rows (`weigh.summarise`) beside it: that of
        `model.json` is `model.summary.json`. It holds the checksum of the model, so that it is not
        taken for that of another.
    """
    text = _text_of(model)
    if summary:
        from weigh.store.summary import save_summary  # which builds on this module

        save_summary(model, _version(json.loads(text)), path)
    write_text(text, path)


def _text_of(model: Any) -> str:
    """The text of the file of a model or a scorecard."""
    from weigh.base import TableEstimator  # which loads scikit-learn

    if isinstance(model, TableEstimator):
        model._column_names()  # raises an error if it is not fitted
        return to_json(model)
    if hasattr(model, "to_json") and hasattr(model, "points"):
        return str(model.to_json())
    from weigh.evidence import name_inner  # for this error only

    what = type(model).__name__
    raise TypeError(
        f"save takes a fitted model of weigh or a scorecard, got {what}{name_inner(model)}"
    )


def to_json(model: TableEstimator) -> str:
    """The text of a model's file."""
    from weigh.store.model import to_dict  # which loads learners

    return text_of_data(to_dict(model))


def text_of_data(data: dict[str, Any]) -> str:
    """The text of a file, with the checksum of its data."""
    return _pretty(data | {"checksum": checksum(data)}) + "\n"


def checksum(data: dict[str, Any]) -> str:
    """SHA-256 of a file's content without its checksum, independent of spaces and order."""
    kept = {name: value for name, value in data.items() if name != "checksum"}
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def version_of(model: Any) -> str:
    """The SHA-256 of a model, as its file states it; a scorecard's is that of its text."""
    return version_of_text(_text_of(model))


def version_of_text(text: str) -> str:
    """The SHA-256 of the model in the text of a file."""
    return _version(json.loads(text))


def version_of_file(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of the model in a file."""
    return _version(read_model(path))


def _version(data: dict[str, Any]) -> str:
    return str(data.get("checksum") or checksum(data))


def check_sum(path: str | os.PathLike[str], data: dict[str, Any]) -> None:
    """Refuse a file that was changed after it was written; one without a checksum passes."""
    if "checksum" in data and data["checksum"] != checksum(data):
        raise ValueError(
            f"{path} was changed after it was written: its checksum does not match. Save the model "
            'again, or delete the entry "checksum" to accept the change'
        )


def _pretty(value: Any, depth: int = 0) -> str:
    """JSON with one line per entry of the upper levels, and rows of numbers on one line."""
    pad = "\n" + " " * (depth + 1)
    if isinstance(value, dict) and depth < 4:
        lines = [
            f"{json.dumps(k, ensure_ascii=False)}: {_pretty(v, depth + 1)}"
            for k, v in value.items()
        ]
        return "{" + pad + ("," + pad).join(lines) + pad[:-1] + "}"
    if isinstance(value, list) and any(isinstance(item, dict) for item in value) and depth < 4:
        lines = [_pretty(item, depth + 1) for item in value]
        return "[" + pad + ("," + pad).join(lines) + pad[:-1] + "]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def load(path: str | os.PathLike[str], *, summary: bool = False) -> Any:
    """Read a model or a scorecard that `save` wrote; predictions are exactly the same.

    Parameters
    ----------
    path : path
        The file to read. Nothing in it is executed.
    summary : bool, default=False
        Also read the summary of the training rows beside it, to update or merge the model.
    """
    if summary:
        from weigh.store.summary import load_summary  # which builds on this module

        model = load_model(path)
        model.summary_ = load_summary(path)
        return model
    if holds_card(path):
        import weigh  # the package of cards comes later, and needs no learner

        return weigh.Scorecard._load(path)
    return load_model(path)


def holds_card(path: str | os.PathLike[str]) -> bool:
    """Whether a file holds a scorecard."""
    data = read_json(path, "a model")
    return isinstance(data, dict) and data.get("format") == SCORECARD


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read a model; a scorecard is refused."""
    from weigh.store.model import from_dict  # which loads learners

    return build_whole(path, read_model(path), from_dict)


def describe(path: str | os.PathLike[str]) -> dict[str, str]:
    """Learner, provenance and parameters of a file, as text by heading."""
    model = load(path)
    known = getattr(model, "provenance_", None)
    lines = [("Model", type(model).__name__), *([] if known is None else known.lines())]
    evidence: Any = getattr(model, "evidence_", None)
    lines += [] if evidence is None else tell_offsets(evidence)
    edits = getattr(model, "edits", () if evidence is None else evidence.edits)  # of a card
    lines += [(f"Edit {i}", str(edit)) for i, edit in enumerate(edits, 1)]
    return dict([*lines, *tell_parameters(model)])


def tell_offsets(evidence: Any) -> list[tuple[str, str]]:
    """The exposure and the offset of a fit, by heading; an array has no name."""
    given = {"Exposure": evidence.exposure, "Offset": evidence.offset}
    return [(role, name or "an array") for role, name in given.items() if name is not None]


def tell_parameters(model: Any) -> list[tuple[str, str]]:
    """Constructor parameters by name, including those of a nested learner."""
    own = model.get_params() if hasattr(model, "get_params") else model.settings
    return [
        (name, type(value).__name__ if hasattr(value, "get_params") else str(value))
        for name, value in sorted(own.items())
    ]


def read_model(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the data of a model file, which may be incomplete."""
    data = read_json(path, "a model")
    if isinstance(data, dict) and data.get("format") == SCORECARD:
        raise ValueError(
            f"{path} is a scorecard, not a model; give the model that it was made from"
        )
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f'{path} is not a model: it lacks "format": "{FORMAT}"')
    if data.get("version") is True or data.get("version") not in (VERSION, MARGINS):
        raise ValueError(
            f"{path} is a model of format version {data.get('version')!r}; this release reads "
            f"{VERSION} and {MARGINS}. Upgrade weigh, or save the model again with the release "
            "that reads it"
        )
    check_sum(path, data)
    return data


def build_whole(path: Any, data: Any, build: Callable[[Any], Any], kind: str = "model") -> Any:
    """Build an object from a file's data; an error says what the file lacks."""
    try:
        return build(data)
    except INCOMPLETE as error:
        lacks = f"it lacks {error}" if isinstance(error, KeyError) else error
        raise ValueError(f"{path} is not a complete {kind}: {lacks}") from None


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a JSON object; refuse repeated keys, which JSON readers treat differently."""
    found = dict(pairs)
    if len(found) < len(pairs):
        (twice, _), *_ = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"the key {twice!r} occurs twice")
    return found


TABLES = (".csv", ".tsv", ".parquet", ".xlsx")
"""Endings of files that hold tables, which are easily given in place of a model."""


def read_json(path: str | os.PathLike[str], what: str) -> Any:
    """Read a JSON file; an error says what was expected."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        return json.loads(text, object_pairs_hook=_refuse_twice)
    except FileNotFoundError:
        raise FileNotFoundError(f"no such file: {path}; {what} was expected there") from None
    except IsADirectoryError:
        raise ValueError(f"{path} is a folder; {what} is a file, such as model.json") from None
    except (ValueError, RecursionError) as error:
        if str(path).lower().endswith(TABLES):
            raise ValueError(f"{path} is a table, not {what}; give {what} in its place") from None
        raise ValueError(f"{path} is not {what}: it is no complete JSON file ({error})") from None
