"""Weights of evidence times exponents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh.bins import Placed, label
from weigh.engine import Block, Sums, link, total_placed
from weigh.evidence import (
    BOUND,
    FeatureTable,
    Smoothing,
    contrast,
    rows_added,
    scale_table,
    weigh_counts,
    weigh_tally,
)
from weigh.frames import Floats
from weigh.tally import Tally

SILENT = 1e-12
"""Weights below this are none."""

WEAK, NONE = -0.2, 1e-6
"""Exponents above the first may be below 0 by chance; above minus the second they are not."""


@dataclass(frozen=True)
class Reversal:
    """A feature whose exponent is negative, for one class (None: of two)."""

    feature: str
    exponent: float
    pos_label: Any = None

    def __str__(self) -> str:
        where = "" if self.pos_label is None else f" for {label(self.pos_label)}"
        weak = "; so small a reversal may be chance" if self.exponent > WEAK else ""
        return (
            f"{self.feature}{where}: exponent {self.exponent:.2f}. Alone its levels speak one way; "
            f"beside the other features they speak the other way (Simpson's paradox){weak}"
        )


def against_rest(tally: Tally, of: int, smoothing: Smoothing) -> tuple[list[FeatureTable], Floats]:
    """Naive Bayes of one class against the rest: the tables, and what a total starts from."""
    s = rows_added(smoothing, tally.class_counts.sum())
    rate = np.clip(tally.class_counts[of] / tally.class_counts.sum(), BOUND, 1 - BOUND)
    tables = [weigh_counts(counts.against_rest(of), s) for counts in tally.tables]
    return tables, np.array([np.log(rate / (1 - rate))])


def of_all(tally: Tally, smoothing: Smoothing) -> tuple[list[FeatureTable], Floats]:
    """Naive Bayes of all classes: the tables, and what the totals start from."""
    naive = weigh_tally(tally, smoothing)
    return [*naive], naive.prior_row


def centre(table: FeatureTable, exponents: Floats, classes: Any) -> FeatureTable:
    """Weights times exponents, centred over the classes as all weights are.

    w_k = a_k L_k - mean_c a_c L_c,  L_c = ln P(v|c) - mean ln P(v|.), so errors follow from those
    of ln P(v|c).
    """
    naming = scale_by_exponents(table, exponents, classes.tolist())
    n_classes = len(exponents)
    centring = np.eye(n_classes) - 1 / n_classes
    by_log = centring @ (exponents[:, None] * centring)
    errors = None if table.variances is None else np.sqrt(table.variances @ (by_log**2).T)
    weights = contrast(naming.by_class)
    return replace(naming, by_class=weights, variances=None, known_errors=errors)


def sum_loss(block: Block, padded: Sequence[Floats], prior: Floats) -> Sums:
    """The loss in nats of classes each against the rest, normalised."""
    placed = [
        Placed(codes, np.arange(len(w))) for codes, w in zip(block.codes, padded, strict=True)
    ]
    p = link(total_placed(placed, padded, prior, len(block)), "ovr")
    logs = np.log(np.maximum(p[np.arange(len(p)), block.labels], 1e-300))
    return Sums((np.asarray(-(logs.sum() if block.weight is None else block.weight @ logs)),))


def by_feature(columns: list[list[Any]]) -> list[Floats]:
    """Columns by class and feature as one matrix per feature."""
    return [np.column_stack(column) for column in zip(*columns, strict=True)]


def active_features(columns: list[Floats]) -> list[int]:
    """The features that tell anything; the others get exponent 0 and stay out of the norm."""
    return [j for j, weights in enumerate(columns) if np.abs(weights).max(initial=0) > SILENT]


def scale_by_exponents(table: FeatureTable, exponents: Floats, classes: list[Any]) -> FeatureTable:
    """The table times its exponents; a reversed feature says so."""
    negative = [label(c) for c, a in zip(classes, exponents, strict=False) if a < -NONE]
    note = f"reversed for {', '.join(negative)}" if len(exponents) > 1 else "reversed"
    return scale_table(table, exponents, note if negative else "")
