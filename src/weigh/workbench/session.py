"""One sitting at a model: changes that are tried, accepted, undone, kept in a draft and saved."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from weigh.editing import Editor
from weigh.evidence import Change
from weigh.frames import read
from weigh.metrics.predicted import column_of
from weigh.store import save, to_json
from weigh.workbench.effects import Effects, Judge, Totals
from weigh.workbench.view import show_table, show_tables
from weigh.writing import write_text

DRAFT, LOG = ".draft", ".changes.csv"
"""What is added to the name of the output: changes that were not saved, and the record of all."""


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
        The probability above which rows are counted.
    by : str, optional
        A column whose groups are measured.
    """

    def __init__(
        self,
        editor: Editor,
        table: Any,
        output: str | os.PathLike[str],
        cut_off: float = 0.5,
        by: str | None = None,
    ) -> None:
        if len(editor.evidence.classes) != 2:
            n = len(editor.evidence.classes)
            raise ValueError(
                f"the page edits models of two classes, but this one has {n}; "
                "weigh.edit in Python takes more"
            )
        self.editor, self._table, self.output = editor, read(table), Path(output)
        self._given = len(editor.edits)
        self._saved = 0
        self._judge = Judge(editor.sample, cut_off)
        self._totals = Totals.of(editor.evidence, editor.sample)
        self.look(cut_off, by or "")
        self.continued = self._continue()

    # ------------------------------------------------------------ what it shows

    @property
    def column_names(self) -> list[str]:
        """The columns whose groups can be measured."""
        return [*self._table.names]

    def look(self, cut_off: float, by: str) -> Self:
        """Choose the cut-off and the column of groups."""
        if not 0 < cut_off < 1:
            raise ValueError(f"the cut-off must be between 0 and 1, got {cut_off:g}")
        judge = replace(self._judge, cut_off=float(cut_off))
        if by != judge.by:
            judge = judge.grouped(by, column_of(self._table, by, "by") if by else None)
        self._judge = judge
        start = Totals.of(self.editor.given.evidence_, self.editor.sample, self._totals)
        self.before, self.now = judge.measure(start, "before"), judge.measure(self._totals)
        return self

    def state(self) -> dict[str, Any]:
        """Everything that the page shows, but the table that is open."""
        edits = self.editor.edits[self._given :]
        return {
            "tables": show_tables(self.editor.evidence),
            "effects": {"before": _plain(self.before), "now": _plain(self.now)},
            "history": [_line(change) for change in edits],
            "undo": self.editor.can_undo,
            "redo": self.editor.can_redo,
            "unsaved": len(edits) != self._saved,
            "cut_off": self._judge.cut_off,
            "by": self._judge.by,
        }

    def table(self, name: str) -> dict[str, Any]:
        """The table of a feature, and its shape."""
        return show_table(self.editor.evidence, name)

    # ------------------------------------------------------------ what it does

    def preview(self, action: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """What a change would do, without making it; other tables stay as they are."""
        after = self.editor.preview(action, arguments)
        totals = Totals.of(after, self.editor.sample, self._totals)
        name = str(arguments.get("feature", ""))
        shown = show_table(after, name) if name in after else None
        return {"effects": _plain(self._judge.measure(totals, "after")), "table": shown}

    def accept(
        self, action: str, arguments: Mapping[str, Any], why: str, refit: bool = False
    ) -> dict[str, Any]:
        """Make a change, and write it to the draft."""
        self.editor.change(action, arguments, why=why, refit=refit)
        return self._changed()

    def undo(self) -> dict[str, Any]:
        """Take the last change back."""
        self.editor.undo()
        return self._changed()

    def redo(self) -> dict[str, Any]:
        """Make the change again that was taken back last."""
        self.editor.redo()
        return self._changed()

    def _changed(self) -> dict[str, Any]:
        self._saved = -1
        self._write_draft()
        self._totals = Totals.of(self.editor.evidence, self.editor.sample, self._totals)
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
        return self.output.with_name(self.output.stem + LOG)

    def save(self) -> dict[str, Any]:
        """Write the model and the record of its changes; the draft is then deleted."""
        save(self.editor.model, self.output)
        write_text(_to_csv(self.editor.edits), self.log)
        self.draft.unlink(missing_ok=True)
        self._saved = len(self.editor.edits) - self._given
        return self.state()

    def _write_draft(self) -> None:
        edits = [change.to_dict() for change in self.editor.edits[self._given :]]
        held = {"format": "weigh edits", "model": self._hash, "edits": edits}
        write_text(json.dumps(held, indent=1, ensure_ascii=False), self.draft)

    @property
    def _hash(self) -> str:
        """Of the model before all changes of this sitting."""
        return hashlib.sha256(to_json(self.editor.given).encode("utf-8")).hexdigest()

    def _continue(self) -> int:
        """Replay the changes of a draft; how many there were."""
        if not self.draft.exists():
            return 0
        edits = _read_draft(self.draft, self._hash)
        self.editor.replay(edits)
        self._totals = Totals.of(self.editor.evidence, self.editor.sample, self._totals)
        self.now = self._judge.measure(self._totals)
        self._saved = -1
        return len(edits)


def _read_draft(path: Path, model: str) -> list[Change]:
    wrong = f"{path} holds changes that were not saved, but {{}}; move it away to start anew"
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
        if held["format"] != "weigh edits":
            raise ValueError
        edits = [Change.from_dict(one) for one in held["edits"]]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(wrong.format("it cannot be read")) from error
    if held["model"] != model:
        raise ValueError(wrong.format("they are changes of another model"))
    return edits


def _plain(effects: Effects) -> dict[str, Any]:
    """Numbers as JSON has them: what is not known is null."""
    return {
        **{name: _number(getattr(effects, name)) for name in MEASURES},
        "groups": [vars(group) for group in effects.groups],
        "calibration": effects.calibration,
    }


MEASURES = ("loss", "auc", "observed", "mean_prediction", "above")


def _number(value: float) -> float | None:
    return value if value == value else None


def _line(change: Change) -> dict[str, Any]:
    difference = change.loss_after - change.loss_before
    told = {name: getattr(change, name) for name in ("why", "who", "when", "refit")}
    return {**told, "call": change.call, "difference": difference}


def _to_csv(edits: tuple[Change, ...]) -> str:
    """The record of changes as a table."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["when", "who", "action", "arguments", "why", "refit", "loss before", "after"])
    writer.writerows(_cells(edits))
    return out.getvalue()


def _cells(edits: tuple[Change, ...]) -> Iterator[list[str]]:
    for one in edits:
        given = json.dumps(dict(one.arguments), ensure_ascii=False)
        losses = f"{one.loss_before:.9g}", f"{one.loss_after:.9g}"
        text = [one.when, one.who, one.action, given, one.why, str(one.refit).lower()]
        yield [*map(_safe, text), *losses]


def _safe(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
