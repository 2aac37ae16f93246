"""A scorecard where a model is expected: it scores, predicts and explains, and is kept as JSON.

The file holds its settings, points and edits, and the table that it came from.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.arrays import Floats
from weigh.evidence import Evidence, FeatureTable, Provenance, Recalibration, Units, flip
from weigh.evidence.model import score_names
from weigh.frames import Table, match, read
from weigh.predicting import StoredTable
from weigh.scorecard.bands import Scores
from weigh.scorecard.points import Rounding, Scale
from weigh.scorecard.reasons import find_level
from weigh.sheet import BalanceSheet
from weigh.store import SCORECARD, build_whole, read_json
from weigh.store.evidence import evidence_from_dict, evidence_to_dict
from weigh.store.plain import check, numbers

if TYPE_CHECKING:
    from weigh.scorecard.card import Scorecard


class CardModel:
    """Scores and probabilities from a table of whole points and a scale.

    score = base points + points of the levels,   log odds = ln base_odds + (score - base_score)/f
    """

    scale: Scale
    base_points: int
    pos_label: Any
    provenance_: Provenance | None
    _source: Evidence  # the model whose weights became points
    _points: dict[str, Floats]

    @property
    def points(self) -> dict[str, tuple[int, ...]]:
        """Whole points for each level, by feature."""
        return {name: tuple(int(p) for p in found) for name, found in self._points.items()}

    @property
    def _good(self) -> int:
        """Index, in the model's order, of the class that high scores favour."""
        return int(self._source.classes.tolist().index(self.pos_label))

    @property
    def _scale(self) -> float:
        """Points for one nat of the model's total; negative if high scores favour `classes[0]`."""
        return self.scale.per_nat if self._good else -self.scale.per_nat

    @property
    def _facing(self) -> Evidence:
        """The evidence behind the points, with the class that high scores favour second."""
        return self._source if self._good else flip(self._source)

    @property
    def classes_(self) -> np.ndarray[Any, Any]:
        """The bad class and the good one, which high scores favour.

        The evidence, the model and the exports of the card have this order too, and so have the
        columns of `predict_proba`. The model that the card was made from may have the other one.
        """
        classes = self._source.classes
        return classes if self._good else classes[::-1]

    @property
    def adverse(self) -> Any:
        """The bad class, which has low scores."""
        return self.classes_.tolist()[0]

    @property
    def feature_names_in_(self) -> np.ndarray[Any, Any]:
        """The columns that a case is scored by."""
        return np.asarray(self._source.column_names, dtype=object)

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return len(self._source.column_names)

    def _column_names(self) -> tuple[str, ...]:
        return self._source.column_names

    @property
    def _learnt(self) -> Evidence:
        """The evidence that the card was made from, under the attribute name that models use."""
        return self._source

    @property
    def evidence(self) -> Evidence:
        """The card as evidence: weights are points, and a line maps their sum to log odds.

        Its second class is the one that high scores favour, and so are log odds about that class.
        """
        source = self._facing
        per_point = np.array([1 / self.scale.per_nat])
        line = Recalibration("sigmoid", np.array([self.scale.even]), np.zeros(1), per_point)
        return replace(
            source,
            prior=float(self.base_points),
            tables=tuple(self._table(table) for table in source),
            recalibration=line,
            prior_variances=None,
            covariance=None,
            units=Units(1.0),
        )

    @property
    def evidence_(self) -> Evidence:
        """The card as evidence in nats, as models have it; it prints as points.

        `evidence` has the points themselves as weights.
        """
        evidence, per_nat = self.evidence, self.scale.per_nat
        tables = tuple(replace(t, by_class=t.by_class / per_nat) for t in evidence)
        return replace(
            evidence,
            prior=(self.base_points - self.scale.even) / per_nat,
            tables=tables,
            recalibration=None,
            units=Units(per_nat, self.scale.even),
        )

    def _table(self, table: FeatureTable) -> FeatureTable:
        points = self._points[table.name].reshape(-1, 1)
        return replace(table, by_class=points, variances=None, known_errors=None)

    def as_model(self) -> Any:
        """The card as a classifier, whose weights are the points in nats.

        It gives the card's probabilities. Its balance sheets and pages show points and the score.
        """
        from weigh.base import EvidenceModel  # which loads scikit-learn

        return EvidenceModel.of(self.evidence_, True, self.provenance_)

    def _read(self, X: Any) -> Table:
        return self._match(read(X))

    def _match(self, table: Table) -> Table:
        return match(table, self._source.column_names, table.named, "Scorecard")

    def score(self, X: Any) -> Scores:
        """The score of every row, a whole number."""
        return self._add(self._read(X))

    def _add(self, rows: Table) -> Scores:
        return np.rint(self.evidence.raw_total(rows)[:, 0]).astype(np.int64)

    def probability(self, score: Any) -> Floats:
        """The probability of the class that high scores favour, for a score."""
        return self.scale.probability(score)

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, in the order of `classes_`."""
        evidence = self.evidence
        return evidence.probabilities(evidence.total(self._read(X)))

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """The more probable class of every row."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def _score_columns(self, table: Table) -> dict[str, Any]:
        """The score, log odds of the good class and probabilities of every row, as columns."""
        evidence, rows = self.evidence, self._match(table)
        totals = evidence.total(rows)
        (head,), names = score_names(evidence.classes.tolist())
        found = {"score": self._add(rows), head: totals[:, 0]}
        return found | dict(zip(names, evidence.probabilities(totals).T, strict=True))

    def balance_sheet(
        self, row: Any, pos_label: Any = None, against: Any = None, *, labels: Any = None
    ) -> BalanceSheet:
        """The points of one case for and against `pos_label`, and its score.

        Parameters
        ----------
        row, pos_label, against, labels
            As in a model's `balance_sheet`; `pos_label` is by default the class that high scores
            favour.
        """
        if pos_label is None and against is None:
            pos_label = self.pos_label
        table = StoredTable.of("Scorecard", self.evidence_, True)
        return table.balance_sheet(row, pos_label, against, labels=labels)

    def _explain_case(self, row: Any, pos_label: Any, against: Any) -> BalanceSheet:
        return self.balance_sheet(row, pos_label, against)


@dataclass(frozen=True)
class Edit:
    """Points that somebody changed by hand: the level, the points, and who, when and why."""

    feature: str
    level: str
    before: int
    after: int
    why: str = ""
    who: str = ""
    when: str = ""

    @property
    def words(self) -> str:
        """The change as people read it."""
        return f"{self.feature} = {self.level}: {self.before} became {self.after}"

    def __str__(self) -> str:
        return f"{self.words}: {self.why} ({self.who}, {self.when})"


def check_edits(card: Scorecard) -> None:
    """Refuse points other than those that were rounded, changed by one edit after the other."""
    replayed = {name: points.copy() for name, points in card._rounded.items()}
    for edit in card._edits:
        _replay(edit, replayed, card._source)
    for table in card._source:
        listed = (card._points, card._rounded, replayed)
        columns = (points[table.name] for points in listed)
        for name, p, rounded, last in zip(table.labels, *columns, strict=True):
            what = f"{table.name} = {name} has {p:g} points, rounded {rounded:g}"
            told = "no edit says so" if last == rounded else f"by its last edit {last:g}"
            check(p == last, f"{what}, and {told}; change points with edit, which records it")


def _replay(edit: Edit, points: Mapping[str, Floats], source: Evidence) -> None:
    """Change the points that an edit says it changed."""
    texts = (edit.feature, edit.level, edit.why, edit.who, edit.when)
    whole = (edit.before, edit.after)
    sound = all(type(t) is str for t in texts) and all(type(p) is int for p in whole)
    check(sound, f"edits must hold text and whole numbers, got {edit!r}")
    table = source[edit.feature]
    check(edit.level in (*table.labels, *table.levels), f"an edit of no level: {edit!r}")
    own, place = points[edit.feature], find_level(table, edit.level)
    had = f"{edit!r}, but the level had {own[place]:g} points by then"
    check(edit.before == own[place], f"{had}; keep edits in order")
    own[place] = edit.after


FORMAT, VERSION = SCORECARD, 1
SETTINGS = ("points_to_double", "base_score", "base_odds", "pos_label", "texts")
OPTIONAL = ("level_texts", "base", "woe")  # which files did not have from the first


def to_json(card: Scorecard) -> str:
    """The text of a card's file."""
    rounding = card.rounding and {  # of rows that are all alike, the rank correlation is NaN
        name: None if value is None or np.isnan(value) else value
        for name, value in vars(card.rounding).items()
    }
    data = {
        "format": FORMAT,
        "version": VERSION,
        **card.settings,
        "base_points": card.base_points,
        "points": {name: [*points] for name, points in card.points.items()},
        "rounded": {
            "base_points": card.base_points,
            "points": {name: [*map(int, points)] for name, points in card._rounded.items()},
        },
        "edits": [vars(edit) for edit in card._edits],
        "rounding": rounding,
        **({"provenance": card.provenance_.to_dict()} if card.provenance_ else {}),
        "evidence": evidence_to_dict(card._source),
    }
    return json.dumps(data, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def load(path: str | os.PathLike[str]) -> Scorecard:
    """Read a card; nothing in it is executed."""
    data = read_json(path, "a scorecard")
    if data.get("version") != VERSION:
        raise ValueError(
            f"{path} has version {data.get('version')!r}; this release reads {VERSION}"
        )
    card: Scorecard = build_whole(path, data, from_dict, "scorecard")
    return card


def from_dict(data: Mapping[str, Any]) -> Scorecard:
    """The card that `to_json` described."""
    from weigh.scorecard.card import Scorecard  # which builds on this module

    settings = {name: data[name] for name in SETTINGS}
    settings |= {name: data[name] for name in OPTIONAL if name in data}
    card = Scorecard(evidence_from_dict(data["evidence"]), **settings)
    card.base_points = _base_points(data)
    card._points = _points(data["points"], card)
    card._rounded = _points(data["rounded"]["points"], card)
    card._edits = tuple(Edit(**edit) for edit in data["edits"])
    check_edits(card)
    if "provenance" in data:
        card.provenance_ = Provenance.from_dict(data["provenance"])
    card.rounding = None if data["rounding"] is None else Rounding(**_measures(data["rounding"]))
    return card


def _base_points(data: Mapping[str, Any]) -> int:
    found, rounded = data["base_points"], data["rounded"]["base_points"]
    check(type(found) is int, "base_points must be a whole number")
    check(
        found == rounded, f"base_points are {found}, rounded {rounded}; change base_score instead"
    )
    return int(found)


def _points(listed: Mapping[str, Any], card: Scorecard) -> dict[str, Floats]:
    names = [table.name for table in card._source]
    check([*listed] == names, "points must be those of the features")
    found = {t.name: numbers(listed, t.name, (len(t.levels),)) for t in card._source}
    whole = all((points == np.rint(points)).all() for points in found.values())
    check(whole, "points must be whole numbers")
    return found


def _measures(data: Mapping[str, Any]) -> dict[str, Any]:
    """What rounding did; the rank correlation of rows that are all alike is not known."""
    sound = all(v is None or type(v) in (int, float) for v in data.values())
    check(sound and data["largest_change"] is not None, "rounding must hold numbers")
    return {**data, "kendall": np.nan if data["kendall"] is None else data["kendall"]}
