"""A loaded model with its responses, reloaded when its file changes."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from weigh.bins import spotter
from weigh.evidence import Units, evidence_of, is_sum, model_of
from weigh.formula import Costs, Formula, Row, Scorer, name_of
from weigh.frames import NOT_KNOWN
from weigh.metrics.numbers import plain
from weigh.pages.calculator_page import calculator
from weigh.serving import contract
from weigh.serving.contract import example_row
from weigh.serving.records import Log, Traffic
from weigh.serving.requests import (
    NOTHING,
    RefusalError,
    RequestedRows,
    Wish,
    check_row,
    fill_row,
    find_class,
)
from weigh.store import load_served, version_of_text

HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
BLANK, NEW = "not known", "never seen in training"
"""What notes say of a field: it has no value, or one that training did not have."""
VERSION = "x-weigh-model"
"""The response header with the version of the model."""


@dataclass(frozen=True, eq=False)
class Served:
    """A fitted model or a scorecard, with all that is computed once for its responses."""

    model: Any
    units: Units
    scorer: Scorer
    page: bytes
    file: bytes
    contract: bytes
    docs: bytes
    version: str
    costs: Costs | None = None  # scorecards only
    generation: int = 1
    traffic: Traffic | None = None

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], most_rows: int, folder: str | None = None
    ) -> Served:
        """Read a model file; a model without tables of weights is an error.

        With several workers, each counts rows in a file in `folder`, which all can read.
        """
        model, text = load_served(path)
        if hasattr(model, "predict_survival"):
            raise ValueError(
                f"{path} is a survival model, which cannot be served; in Python, "
                "weigh.save(model.hazard_, path) writes its hazard as a model that can"
            )
        own = model_of(model)
        evidence = evidence_of(own, is_sum(own))
        units = evidence.units
        score = "score" if units.are_points else ""
        formula = Formula.of_evidence(evidence, name_of(model), score_name=score)
        if formula.tokens:
            raise ValueError(
                f"{path} is a model of documents (event_model='counts'), whose rows are tokens and "
                "not fields; weigh score and weigh calculator take it"
            )
        described = contract.describe(formula, most_rows)
        served = cls(
            model,
            units,
            Scorer(formula),
            _encode(calculator(model) or ""),
            _encode(text),
            b"",
            b"",
            version_of_text(text),
            model.costs if units.are_points else None,
        )
        served = served.described(described)
        served.score(
            RequestedRows(({}, {}), single=False)
        )  # loads kernels before the first request
        served.score(RequestedRows(({},), single=True))
        return replace(served, traffic=Traffic(formula, served.version, folder))

    def described(self, described: dict[str, Any]) -> Served:
        """The model with its API description, examples included, and the page that shows it."""
        added = {column.name: column.neutral for column in self.scorer.formula.offsets}
        row = plain(example_row(self.model.evidence_)) | added
        name = next(iter(row))
        while name in row:
            name += "_"
        try:
            check_row({name: None}, self.scorer)
            raise AssertionError(f"{name!r} is a column")
        except RefusalError as error:
            refusal = error.to_dict()
        score = json.loads(self.score(RequestedRows((row,), single=True)))
        sheet = json.loads(self.explain(row, None, None))
        made = contract.add_examples(described, row, score, sheet, refusal)
        return replace(self, contract=dump(plain(made)), docs=_encode(contract.show(made)))

    @cached_property
    def headers(self) -> dict[str, str]:
        """The headers of its responses."""
        return HEADERS | {VERSION: self.version}

    def after(self, old: Served) -> Served:
        """The model with the generation after that of `old`."""
        return replace(self, generation=old.generation + 1)

    def form(self, pos_label: str | None) -> bytes:
        """The calculator page, for the class `pos_label` if it is given."""
        if pos_label is None:
            return self.page
        chosen = find_class(pos_label, self.classes, "pos_label")
        return _encode(calculator(self.model, pos_label=chosen) or "")

    def score(self, asked: RequestedRows, wish: Wish = NOTHING) -> bytes:
        """The prediction of every row, as JSON."""
        rows = asked.rows
        if not rows:
            return dump({"rows": []})
        places = self.scorer.places(rows)
        sums = self.scorer.sums(places)
        if self.scorer.formula.estimates:
            answers, totals = self._estimate(rows), sums
        else:
            totals = self.scorer.finish(sums, rows)
            probabilities = self.scorer.probabilities(totals)
            answers = [*map(self._answer, totals.tolist(), probabilities.tolist())]
        if self.traffic is not None:
            self.traffic.add(rows, places, sums)
        if wish.reasons:
            for answer, row, own, total in zip(answers, rows, places, totals, strict=True):
                reasons = self._reasons(row, own, int(total.argmax()))
                answer["reasons"] = reasons[: wish.reasons]
        if wish.notes is not False:
            self._note(answers, rows, absent=wish.notes is True)
        if asked.ids is not None:
            answers = [{"id": own} | answer for own, answer in zip(asked.ids, answers, strict=True)]
        return dump(answers[0] if asked.single else {"rows": answers})

    def _reasons(self, row: Row, places: Sequence[int], best: int) -> list[dict[str, Any]]:
        """Levels and their weights, largest first; with many classes, for the predicted class."""
        if self.costs is not None:
            return self._cost_reasons(self.costs, places)
        terms, weights = self.scorer.formula.terms, self.scorer.weights
        many = len(self.scorer.formula.prior) > 1
        each = [own[at][best] if many else own[at] for own, at in zip(weights, places, strict=True)]
        heavy = sorted((j for j, weight in enumerate(each) if weight), key=lambda j: -abs(each[j]))
        found = []
        for j in heavy:
            values = [row.get(column.name, NOT_KNOWN) for column in terms[j].columns]
            reason = terms[j].feature.phrase(places[j], values=values)
            found.append({"reason": reason, "weight": each[j]})
        return found

    def _cost_reasons(self, costs: Costs, places: Sequence[int]) -> list[dict[str, Any]]:
        """The features that cost a row points, most first, as in `Scorecard.reasons`."""
        found: list[dict[str, Any]] = []
        for own, at, best, texts in zip(
            self.scorer.weights, places, costs.baselines, costs.texts, strict=True
        ):
            points = self.units.whole(own[at])
            found.append({"reason": texts[at], "cost": round(best - points), "points": points})
        return sorted((r for r in found if r["cost"] > 0), key=lambda reason: -reason["cost"])

    def _note(self, answers: list[dict[str, Any]], rows: Sequence[Row], absent: bool) -> None:
        """Add notes on values that training did not have, and if `absent` on those not known."""
        for answer, row in zip(answers, rows, strict=True):
            notes = {name: NEW for name, is_new in self._spotters if is_new(row.get(name))}
            if absent:
                notes |= dict.fromkeys(self._blank(row), BLANK)
            if notes or absent:
                told = [name for name in self.scorer.features if name in notes]
                answer["notes"] = [{"field": name, "note": notes[name]} for name in told]

    def _blank(self, row: Row) -> list[str]:
        """The columns that are absent in a row, or null where no training row had that."""
        return [
            own.name
            for own in self.scorer.formula.inputs
            if row.get(own.name) is None and not (own.name in row and own.has_missing)
        ]

    @cached_property
    def _spotters(self) -> list[tuple[str, Callable[[Any], bool]]]:
        """Each column of categories, and a function from a value to whether training had none."""
        inputs = self.scorer.formula.inputs
        return [(own.name, spotter(own.features)) for own in inputs if not own.is_numeric]

    def _estimate(self, rows: Sequence[Row]) -> list[dict[str, Any]]:
        """The estimate of each row, and its prediction interval."""
        formula = self.scorer.formula
        given = {
            column.role: np.array([_or(row.get(column.name), column.neutral) for row in rows])
            for column in formula.offsets
        }
        found = self.model._score_columns([*map(self._case, rows)], **given)
        columns = [values.tolist() for values in found.values()]
        answers = [plain(dict(zip(found, own, strict=True))) for own in zip(*columns, strict=True)]
        if formula.has_condition:
            for answer, row in zip(answers, rows, strict=True):
                answer["estimate_of"] = formula.estimated_of(row)
        return answers

    def _case(self, row: Row) -> Any:
        """A row as input of the model: by name, or as a list in the order of its columns."""
        filled = fill_row(row, self.scorer)
        return filled if hasattr(self.model, "feature_names_in_") else [*filled.values()]

    @cached_property
    def classes(self) -> dict[str, Any]:
        """The classes by their display names; empty for a regressor."""
        formula = self.scorer.formula
        if formula.estimates:
            return {}
        return dict(zip(formula.class_names, formula.classes, strict=True))

    def _answer(self, totals: list[float], probabilities: list[float]) -> dict[str, Any]:
        names, classes = self.classes, self.scorer.formula.classes
        shares = dict(zip(names, probabilities, strict=True))
        if len(totals) == 1:
            if self.units.are_points:  # no class: a cut-off decides, and a card has none
                own = {"score": self.units.total(totals[0])}
            else:
                own = {"class": classes[totals[0] > 0]}
            return {**own, "log_odds": totals[0], "probabilities": shares}
        by_class = dict(zip(names, totals, strict=True))
        found = classes[totals.index(max(totals))]
        return {"class": found, "totals": by_class, "probabilities": shares}

    def explain(self, row: Row, pos_label: str | None, against: str | None) -> bytes:
        """The balance sheet of a row, as JSON."""
        asked = {"pos_label": pos_label, "against": against}
        chosen = [find_class(name, self.classes, role) for role, name in asked.items()]
        case = self._case(row)
        if self.scorer.formula.estimates:
            if isinstance(case, dict):
                added = {c.name: row[c.name] for c in self.scorer.formula.offsets if c.name in row}
                case |= added
            return dump(plain(self.model.balance_sheet(case).to_dict()))
        try:
            sheet = self.model.balance_sheet(case, *chosen)
        except ValueError as error:  # two classes that cannot be compared
            raise RefusalError(str(error), "pos_label" if against is None else "against") from None
        return dump(plain(sheet.to_dict()))


def dump(data: Any) -> bytes:
    """JSON in ASCII, in which any text can be written."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).encode("ascii")


def _or(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value


def _encode(text: str) -> bytes:
    return text.encode("utf-8", errors="backslashreplace")


EVERY = 0.5
"""Seconds between two checks of the model file."""

Mark: TypeAlias = tuple[int, int, int] | None
UNREAD = (-1, -1, -1)


@dataclass
class ModelReloader:
    """The current model, which is replaced when its file changes."""

    path: str
    most_rows: int
    log: Log
    current: Served
    mark: Mark
    folder: str | None = None
    refused: str | None = None
    stopping: bool = False
    wanted: asyncio.Event = field(default_factory=asyncio.Event)

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], most_rows: int, log: Log, folder: str | None = None
    ) -> ModelReloader:
        """Load the first model; a file that cannot be served is an error."""
        name = os.fspath(path)
        mark = read_mark(name)
        return cls(name, most_rows, log, Served.load(name, most_rows, folder), mark, folder)

    async def watch(self, every: float = EVERY) -> None:
        """Check the file repeatedly, and on SIGHUP."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.wanted.wait(), every)
                self.wanted.clear()
                self.mark = UNREAD  # after a signal the file is loaded even if unchanged
            try:
                await run_aside(self.look)
            except Exception as error:  # the next check may succeed
                self.log.failure(error)

    def look(self) -> None:
        """Load the file if it has changed; keep the old model if the new one cannot be served."""
        mark = read_mark(self.path)  # first, so that a change during loading is seen next time
        if mark == self.mark:
            return
        self.mark = mark
        try:
            if not stat.S_ISREG(os.stat(self.path).st_mode):
                raise ValueError("it is not a regular file, and only regular files can be reloaded")
            loaded = Served.load(self.path, self.most_rows, self.folder)
        except Exception as error:
            self.refused = datetime.now(UTC).isoformat(timespec="seconds")
            self.log.tell("refused", model=self.path, error=str(error))
            return
        self.refused, self.current = None, loaded.after(self.current)
        self.log.tell("loaded", model=self.path, generation=self.current.generation)


async def run_aside(function: Callable[[], None]) -> None:
    """Run a function in a daemon thread: if it hangs, a shutdown does not wait for it."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def settle(error: Exception | None) -> None:
        if not done.done():
            done.set_exception(error) if error else done.set_result(None)

    def run() -> None:
        try:
            function()
            error = None
        except Exception as raised:
            error = raised
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, error)

    threading.Thread(target=run, daemon=True).start()
    await done


def read_mark(path: str) -> Mark:
    """Time, inode and size of a file, to detect changes; None if there is no file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size
