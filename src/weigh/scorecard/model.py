"""A scorecard where a model is expected: it scores, predicts and explains."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from weigh.bins import label
from weigh.evidence import Evidence, FeatureTable, Provenance, Recalibration, Units, flip
from weigh.frames import Floats, Table, match, read
from weigh.predicting import StoredTable
from weigh.scorecard.bands import Scores
from weigh.scorecard.points import Scale
from weigh.sheet import BalanceSheet


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
        found = {"score": self._add(rows), "log_odds": totals[:, 0]}
        names = [f"probability_{label(value)}" for value in evidence.classes.tolist()]
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
