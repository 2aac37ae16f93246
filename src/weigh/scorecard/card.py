"""Scorecard: a table of whole points, and what their sum means."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.special import expit

from weigh.bins import Level, label
from weigh.evidence import Evidence, FeatureTable, Recalibration
from weigh.formula import Costs, Formula
from weigh.frames import Floats, Table, build, label_sample, match, read
from weigh.parameters import is_count, is_number
from weigh.scorecard import file, reasons, show
from weigh.scorecard.bands import Bands, count_bands
from weigh.scorecard.learn import Given, learn_model
from weigh.scorecard.reasons import find_level, read_level_texts, read_texts, texts_of
from weigh.scorecard.rounding import (
    Rounding,
    measure,
    read_model,
    round_nearest,
    round_tables,
    round_together,
)
from weigh.sheet import find_class


@dataclass(frozen=True)
class Edit:
    """Points that somebody changed by hand."""

    feature: str
    level: str
    before: int
    after: int
    why: str = ""


def other_class(model: Any, adverse: Any) -> Any:
    """The class of two that is not the adverse one."""
    classes = model.classes_.tolist()
    return classes[1 - find_class(classes, adverse, 0, "adverse")] if len(classes) == 2 else None


class Scorecard:
    """Whole points for every level; a higher score speaks for the class in question.

    score = base points + points of the levels,   log odds = ln base_odds + (score - base_score)/f

    where f = points_to_double/ln 2: so many points more double the odds. Points are f times the
    weights, rounded so that what rounding adds varies least over the training rows; with rows to
    measure, the better of this and of rounding each to the nearest is taken.

    Parameters
    ----------
    model : classifier or Evidence
        Of two classes, whose total is a sum: no attenuation, and no curve but a straight line.
    points_to_double : float, default=20
        The points that double the odds.
    base_score : float, default=600
        The score at which the odds are `base_odds`.
    base_odds : float, default=50
        The odds of the class in question at `base_score`.
    pos_label : label, optional
        The class in question, that high scores speak for: by default `classes_[1]`.
    texts : dict, optional
        What reason codes say, by feature; by default its name.
    level_texts : dict, optional
        What they say in its place where a row has a certain level, by feature and level, such as
        `{"age": {"missing": "age not given"}}`.
    X, y : table and labels, optional
        Rows on which `rounding` is measured; without y no AUC.

    Attributes
    ----------
    base_points : int
        What every case begins with.
    points : dict
        By feature, one whole number for each of its levels.
    rounding : Rounding or None
        AUC before and after on the rows given, and the largest change of a probability, theirs or
        that of a case of which nothing is known.
    edits : tuple of Edit
        What was changed by hand.

    Examples
    --------
    >>> import weigh
    >>> people = weigh.datasets.titanic()
    >>> model = weigh.EvidenceNB().fit(people, "Survived")
    >>> card = weigh.Scorecard(model, base_score=100, base_odds=1)
    >>> card.base_points, card.points["Sex"]
    (79, (50, -17))
    >>> card.score([{"Class": "3rd", "Sex": "Female", "Age": "Child"}])
    array([143])
    """

    def __init__(
        self,
        model: Any,
        points_to_double: float = 20,
        base_score: float = 600,
        base_odds: float = 50,
        *,
        pos_label: Any = None,
        texts: Mapping[str, str] | None = None,
        level_texts: Mapping[str, Mapping[Any, str]] | None = None,
        X: Any = None,
        y: Any = None,
    ) -> None:
        for name, value in (("points_to_double", points_to_double), ("base_odds", base_odds)):
            if not (is_number(value) and 0 < value < np.inf):
                raise ValueError(f"{name} must be a positive number, got {value!r}")
        if not (is_number(base_score) and np.isfinite(base_score)):
            raise ValueError(f"base_score must be a number, got {base_score!r}")
        self._source = read_model(model)
        self.points_to_double, self.base_score = float(points_to_double), float(base_score)
        self.base_odds = float(base_odds)
        self.pos_label = self._source.classes.tolist()[self._of(pos_label)]
        self.texts = read_texts(texts, self._source)
        self.level_texts = read_level_texts(level_texts, self._source)
        self.edits: tuple[Edit, ...] = ()
        self.rounding: Rounding | None = None
        self._round(X, y)
        self._rounded = dict(self._points)  # before any edit

    @classmethod
    def from_table(
        cls,
        X: Any,
        y: Any,
        *,
        adverse: Any = None,
        levels: int = 6,
        sample_weight: Any = None,
        categorical_features: Any = "from_dtype",
        special_values: Any = None,
        bins: Mapping[str, Any] | None = None,
        monotonic_cst: Mapping[str, int] | None = None,
        **settings: Any,
    ) -> Scorecard:
        """Fit a readable card to a table: few levels, monotone where the data allow it.

        Parameters
        ----------
        X : table
            Rows, with or without the target.
        y : array or str
            Class labels, or the name of the column of X that holds them.
        adverse : label, optional
            The class that low scores stand for, such as "bad"; by default `classes_[0]`.
        levels : int, default=6
            Bins or categories of a feature at most, the rare ones joined; missing and special
            codes come on top. Ordered categories stay as they are.
        sample_weight : array or str, optional
            Row weights, or the name of their column.
        categorical_features, special_values
            As in `EducatedNB`, which fits the weights.
        bins : dict, optional
            Cut points by column, such as {"age": [30, 50]}, in place of those that are found.
        monotonic_cst : dict, optional
            Trends by column in place of those that are found: 1 or -1 makes the log odds of
            `classes_[1]` rise or fall, 0 leaves them free.
        **settings
            `points_to_double`, `base_score`, `base_odds`, `texts` and `level_texts`.

        Examples
        --------
        >>> import weigh
        >>> people = weigh.datasets.titanic()
        >>> card = weigh.Scorecard.from_table(people, "Survived", adverse="No")
        >>> card.pos_label, len(card.points["Class"])
        ('Yes', 4)
        """
        if not (is_count(levels) and levels >= 3):
            raise ValueError(f"levels must be a whole number of at least 3, got {levels!r}")
        model = learn_model(
            X,
            y,
            levels,
            sample_weight,
            given=Given(bins or {}, monotonic_cst or {}),
            categorical_features=categorical_features,
            special_values=special_values,
        )
        good = other_class(model, adverse)
        if sample_weight is not None:  # rounding is measured on rows, not on weights
            return cls(model, pos_label=good, **settings)
        return cls(model, pos_label=good, X=X, y=y, **settings)

    def _of(self, pos_label: Any) -> int:
        return find_class(self._source.classes.tolist(), pos_label, 1)

    # ------------------------------------------------------------ rounding

    def _round(self, X: Any, y: Any) -> None:
        given = (self._source, self._scale, self._offset)
        together = round_tables(*given, round_together)
        if X is None:
            if y is not None:
                raise ValueError("y is given without X; give the rows too")
            self._points, self.base_points = together
            return
        tried = []
        for points, base in (together, round_tables(*given, round_nearest)):
            self._points, self.base_points = points, base
            tried.append((self.measure(X, y), points, base))
        best = max(tried, key=lambda one: np.nan_to_num(one[0].kendall))
        self.rounding, self._points, self.base_points = best

    @property
    def _scale(self) -> float:
        """Points for one nat of the model's total; of the first class they turn round."""
        sign = 1.0 if self.pos_label == self._source.classes.tolist()[1] else -1.0
        return sign * self.points_to_double / float(np.log(2))

    @property
    def _offset(self) -> float:
        """The score at even odds."""
        return self.base_score - abs(self._scale) * float(np.log(self.base_odds))

    # ------------------------------------------------------------ scoring

    @property
    def points(self) -> dict[str, tuple[int, ...]]:
        """Whole points for each level, by feature."""
        return {name: tuple(int(p) for p in found) for name, found in self._points.items()}

    @property
    def evidence(self) -> Evidence:
        """The card as evidence: its weights are points, and a line says what their sum is worth."""
        tables = tuple(self._table(table) for table in self._source)
        line = Recalibration(
            "sigmoid", np.array([self._offset]), np.zeros(1), np.array([1 / self._scale])
        )
        return replace(
            self._source,
            prior=float(self.base_points),
            tables=tables,
            recalibration=line,
            prior_variances=None,
            covariance=None,
        )

    @property
    def classes_(self) -> np.ndarray[Any, Any]:
        """The classes, in the model's order."""
        return self._source.classes

    @property
    def adverse(self) -> Any:
        """The class that low scores stand for."""
        return self._source.classes.tolist()[1 - self._of(self.pos_label)]

    @property
    def feature_names_in_(self) -> np.ndarray[Any, Any]:
        """The columns that a case is scored by."""
        return np.asarray(self._source.column_names, dtype=object)

    @property
    def n_features_in_(self) -> int:
        """How many columns these are."""
        return len(self._source.column_names)

    def _column_names(self) -> tuple[str, ...]:
        return self._source.column_names

    @property
    def evidence_(self) -> Evidence:
        """The card as evidence, by the name that models have for it."""
        return self.evidence

    def _score_columns(self, table: Table) -> dict[str, Any]:
        """The score, log odds of the second class and probabilities of every row, as columns."""
        evidence, rows = self.evidence, self._match(table)
        totals = evidence.total(rows)
        scores = np.rint(evidence.raw_total(rows)[:, 0]).astype(np.int64)
        found = {"score": scores, "log_odds": totals[:, 0]}
        names = [f"probability_{label(value)}" for value in evidence.classes.tolist()]
        return found | dict(zip(names, evidence.probabilities(totals).T, strict=True))

    def _explain_case(self, row: Any, pos_label: Any, against: Any) -> Any:
        raise ValueError("a scorecard has no balance sheet: reasons(X) says what cost rows points")

    def formula(self) -> Formula:
        """The card as data that exports render: its score, and what costs points."""
        told = Costs(self.baselines("best"), self._level_texts(), show.title(self))
        return Formula.of_evidence(self.evidence, "Scorecard", score_name="score", costs=told)

    def _table(self, table: FeatureTable) -> FeatureTable:
        points = self._points[table.name].reshape(-1, 1)
        return replace(table, by_class=points, variances=None, known_errors=None)

    def _read(self, X: Any) -> Table:
        return self._match(read(X))

    def _match(self, table: Table) -> Table:
        return match(table, self._source.column_names, table.named, "Scorecard")

    @property
    def _learnt(self) -> Evidence:
        """What it was made of, under the name that models have."""
        return self._source

    def score(self, X: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The score of every row, a whole number."""
        return np.rint(self.evidence.raw_total(self._read(X))[:, 0]).astype(np.int64)

    def predict_proba(self, X: Any) -> Floats:
        """What scores mean: the probability of each class, in the model's order."""
        evidence = self.evidence
        return evidence.probabilities(evidence.total(self._read(X)))

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """The more probable class of every row."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def bands(self, X: Any, y: Any, n_bands: int = 10, *, sample_weight: Any = None) -> Bands:
        """The cut-off table: rows, bads, approval rate and KS by score band.

        Parameters
        ----------
        X : table
            Rows, best those that the card was not fitted to.
        y : array or str
            Class labels, or the name of the column of X that holds them.
        n_bands : int, default=10
            Bands of about as many rows each; equal scores stay together, so there may be fewer.
        sample_weight : array or str, optional
            Row weights, or the name of their column.
        """
        if not (is_count(n_bands) and n_bands >= 1):
            raise ValueError(f"n_bands must be a whole number of at least 1, got {n_bands!r}")
        sample = label_sample(read(X), y, sample_weight, self._source.classes)
        scores = np.rint(self.evidence.raw_total(self._match(sample.table))[:, 0]).astype(np.int64)
        bad = (sample.labels == self._of(self.adverse)).astype(np.float64)
        weight = np.ones(len(bad)) if sample.weight is None else np.asarray(sample.weight)
        if sample.class_counts.min() <= 0:
            raise ValueError(f"y must hold both classes, {self.classes_.tolist()}")
        return count_bands(scores, bad, weight, n_bands, self.adverse, self._source.backend)

    def probability(self, score: Any) -> Floats:
        """What a score means: the probability of the class in question."""
        odds = (np.asarray(score, dtype=np.float64) - self._offset) / abs(self._scale)
        return np.asarray(expit(odds))

    def measure(self, X: Any, y: Any = None) -> Rounding:
        """What rounding (and editing) does to rows: AUC before and after, and probabilities.

        The largest change of a probability is that of these rows, or of a case of which nothing is
        known, whose points are the base.
        """
        table, positive = read(X), None
        if y is not None:
            sample = label_sample(table, y, None, self._source.classes)
            table, positive = sample.table, sample.labels == self._of(self.pos_label)
        rows = self._match(table)
        sign = float(np.sign(self._scale))
        totals, scores = sign * self._source.total(rows)[:, 0], self.evidence.raw_total(rows)[:, 0]
        p = expit(np.append(totals, sign * self._source.prior_row[0]))
        q = self.probability(np.append(scores, self.base_points))
        return measure(totals, scores, p, q, positive)

    def reasons(self, X: Any, n: int = 4, against: str = "best") -> Any:
        """The n features that cost every row most points.

        Parameters
        ----------
        X : table
            Rows.
        n : int, default=4
            How many.
        against : "best" or "average", default="best"
            What a case is compared with: the most points of a level that at least 5% of the
            training rows have (missing and special codes apart), or what they had on average.

        Returns
        -------
        table
            reason_1, cost_1, ... Nulls where nothing more costs points.
        """
        found = reasons.find_costs(self, self._read(X), n, against)
        return build(found.columns(), self._source.backend)

    def _level_texts(self) -> tuple[tuple[str, ...], ...]:
        """By feature: what reason codes say of each level, and last of what is no level."""
        own = self.level_texts
        return tuple(texts_of(t, self.texts[t.name], own.get(t.name, {})) for t in self._source)

    def baselines(self, against: str = "best") -> tuple[float, ...]:
        """What each feature's points are compared with in `reasons`."""
        return tuple(reasons.baselines(self, against).tolist())

    # ------------------------------------------------------------ editing

    def edit(self, feature: str, level: Level, points: int, why: str = "") -> Self:
        """A card with other points for a level; the change is recorded in `edits`.

        Parameters
        ----------
        feature : str
            Its name.
        level : level or str
            The text that it is shown by, or the level itself; where a level of text reads like
            another (`other`), it is shown in quotation marks, and the plain word is the other.
        points : int
            Its new points.
        why : str
            The reason, for whoever reads the card.
        """
        if not is_count(points):
            raise ValueError(f"points must be a whole number, got {points!r}")
        table = self._source[feature]
        place = find_level(table, level)
        before = int(self._points[feature][place])
        changed = self._points[feature].copy()
        changed[place] = points
        card = copy.copy(self)
        card._points = {**self._points, feature: changed}
        done = Edit(feature, table.labels[place], before, int(points), why)
        card.edits, card.rounding = (*self.edits, done), None
        return card

    # ------------------------------------------------------------ showing and keeping

    def to_frame(self) -> Any:
        """One row per level: feature, level, points, and the rows that had it."""
        return show.to_frame(self)

    def to_text(self, width: int = 100) -> str:
        """The card as plain text."""
        return show.to_text(self, width)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return show.to_html(self)

    def to_json(self) -> str:
        """The text of its file."""
        return file.to_json(self)

    @classmethod
    def _load(cls, path: str | os.PathLike[str]) -> Scorecard:
        return file.load(path)
