"""What the page shows, as plain data: tables with their shapes, and measures of the model.

Measures are computed again after each change, fast enough that the page can show them at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.bins import Feature
from weigh.editing import NumberRows, loss_of
from weigh.editing.rows import ClassRows
from weigh.evaluation import split_rows
from weigh.evaluation.numbers import find_bands
from weigh.evidence import Evidence, FeatureTable
from weigh.evidence.ranking import rank_tables
from weigh.frames import Sample
from weigh.metrics import Scored, auc, reliability_table
from weigh.pages.model import read_subject, spell_levels
from weigh.pages.numbers import draw_calibration
from weigh.pages.quality import draw_reliability
from weigh.pages.weights import BOTTOM, EDGE, HEIGHT, LEFT, ROWS, WIDTH, shape_of

FRAME = {"left": LEFT, "right": WIDTH - EDGE, "top": EDGE, "bottom": HEIGHT - BOTTOM - ROWS}


def show_tables(evidence: Evidence) -> list[dict[str, Any]]:
    """Every table by name, the most important first."""
    return [
        {
            "name": table.name,
            "shown": table.shown,
            "importance": table.importance,
            "pair": not isinstance(table.feature, Feature),
        }
        for table in rank_tables(evidence)
    ]


def show_table(evidence: Evidence, name: str) -> dict[str, Any]:
    """One table: its levels, and the shape of a number with the places of its cut points."""
    table = evidence[name]
    return {
        "name": table.name,
        "shown": table.shown,
        "levels": _levels(table),
        "pair": not isinstance(table.feature, Feature),
        "parts": [part.name for part in table.feature.parts],
        "ordered": table.feature.n_in_order > 1,
        "shape": _shape(evidence, table),
    }


def _levels(table: FeatureTable) -> list[dict[str, Any]]:
    rows = table.counts.sum(axis=1)
    positive = table.counts[:, 1] if table.counts.shape[1] > 1 else np.zeros_like(rows)
    rate = np.divide(positive, rows, out=np.zeros_like(rows), where=rows > 0)
    least = 0.05 if table.counts.shape[1] > 1 else 1e-300  # numbers have a unit of their own
    largest = max(float(np.abs(table.by_class).max(initial=0.0)), least)
    told = zip(
        table.labels, spell_levels(table.feature), rows, rate, table.by_class[:, 0], strict=True
    )
    return [
        {
            "label": label,
            "text": text,
            "rows": float(n),
            "rate": float(share) if n else None,
            "weight": float(weight),
            "bar": float(weight) / largest,
        }
        for label, text, n, share, weight in told
    ]


def _shape(evidence: Evidence, table: FeatureTable) -> dict[str, Any] | None:
    """The chart of the report, and where its bins begin and end; None for categories."""
    cuts = table.feature.cut_points
    if not cuts:
        return None
    steps = shape_of(read_subject(evidence).naming(None), table)
    top, bottom = steps.limits
    return {
        "svg": str(steps.draw("shape", table.shown)),
        "edges": (LEFT + steps.axis.edges * (WIDTH - LEFT - EDGE)).tolist(),
        "scale": steps.axis.scale,
        "cuts": [*cuts],
        "frame": FRAME | {"high": top, "low": bottom},
    }


@dataclass(frozen=True, eq=False)
class Judge:
    """The evaluation rows, their groups, and the cut-off of a two-class model."""

    rows: ClassRows | NumberRows
    cut_off: float = 0.5
    by: str = ""
    groups: tuple[tuple[str, Integers], ...] = ()

    def grouped(self, by: str, values: Any) -> Self:
        """Measure groups of rows by the values of a column; an empty name means no groups."""
        if not by:
            return replace(self, by="", groups=())
        sample = self.rows.sample
        every = np.arange(len(sample.labels))
        return replace(self, by=by, groups=(*split_rows(values, by, every, sample.weight),))

    def measure(self, totals: RowTotals, name: str = "now") -> dict[str, Any]:
        """The measures of a model whose totals of these rows are known; None is not defined."""
        numbers = isinstance(self.rows, NumberRows)
        told, columns = (self._of_numbers if numbers else self._of_classes)(totals, name)

        def average(rows: Any) -> dict[str, float]:
            weight = self.rows.sample.weights[rows]
            return {k: float(np.average(v[rows], weights=weight)) for k, v in columns.items()}

        groups = [{"name": text, "rows": len(rows)} | average(rows) for text, rows in self.groups]
        return told | average(slice(None)) | {"groups": groups}

    def _of_classes(self, totals: RowTotals, name: str) -> tuple[dict[str, Any], dict[str, Floats]]:
        """Loss, AUC and a chart of two classes, and the columns that are averaged by group."""
        sample, p = self.rows.sample, totals.probability
        positive = sample.labels == 1
        rows = Scored(positive, p, sample.weight)
        both = bool(positive.any() and not positive.all())
        chart = draw_reliability(reliability_table(rows), str(totals.evidence.class_names[1]), name)
        told = {
            "loss": loss_of(totals.evidence, totals.values, sample),
            "auc": float(auc(rows).value) if both else None,
            "calibration": str(chart),
        }
        above = p > self.cut_off
        return told, {"observed": positive, "mean_prediction": p, "above": above}

    def _of_numbers(self, totals: RowTotals, name: str) -> tuple[dict[str, Any], dict[str, Floats]]:
        """Deviance, RMSE and a chart of a regressor, and the columns that are averaged by group."""
        rows, weight, own = self.rows, self.rows.sample.weights, totals.values[:, 0]
        assert isinstance(rows, NumberRows)
        means = np.asarray(rows.family.mean(own + rows.offset))
        bands = find_bands(means, rows.numbers, weight, 0.95)
        chart = draw_calibration(bands, f"Rows in {len(bands)} bands by estimate ({name}).")
        told = {
            "loss": rows.deviance(own),
            "rmse": float(np.sqrt(np.average((rows.numbers - means) ** 2, weights=weight))),
            "calibration": str(chart),
        }
        return told, {"observed": rows.numbers, "mean_prediction": means}


@dataclass(frozen=True, eq=False)
class RowTotals:
    """The totals of the evaluation rows, kept by table, so a change recomputes one column only."""

    evidence: Evidence
    columns: tuple[tuple[FeatureTable, Floats], ...]
    values: Floats

    @classmethod
    def of(cls, evidence: Evidence, sample: Sample, before: RowTotals | None = None) -> RowTotals:
        """The totals of a model; tables that were there before keep their columns."""
        known = {id(table): column for table, column in (before.columns if before else ())}
        columns = tuple(
            (table, known[id(table)] if id(table) in known else _column(table, sample))
            for table in evidence
        )
        return cls(evidence, columns, _add(evidence, [column for _, column in columns], sample))

    @property
    def probability(self) -> Floats:
        """The probability of the second class."""
        return np.asarray(self.evidence.probabilities(self.values)[:, 1])


def _column(table: FeatureTable, sample: Sample) -> Floats:
    """The weight of each row's level."""
    table = table.scored
    placed = table.feature.read(sample.table)
    return np.asarray(table.padded[placed.levels][placed.codes])


def _add(evidence: Evidence, columns: list[Floats], sample: Sample) -> Floats:
    if evidence.attenuation is not None:  # the exponent depends on the answers of a row
        return evidence.total(sample.table)
    totals = evidence.prior_row + np.add.reduce(columns)
    if evidence.units.are_points:  # equal scores are ties, whatever the order of the sum
        start, scale = evidence.units.start, evidence.units.scale
        totals = (np.rint(start + scale * totals) - start) / scale
    return totals if evidence.recalibration is None else evidence.recalibration.apply(totals)
