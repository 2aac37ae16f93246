"""The features within a budget: the cheapest table is removed, again and again.

What a removal costs follows from the loss to second order, which is right near the model that it
was worked out for. So it is worked out anew near the small model that was found, with every table
that this one lacks at zero: a table that was removed too early can come back. Of the sets of
features that are found this way the one of least leave-one-out loss is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh.bins import Feature
from weigh.budget.levels import Shape, Ways, list_all_bins
from weigh.budget.quadratic import Quadratic
from weigh.budget.rows import Rows
from weigh.evidence import Evidence

ROUNDS = 5
"""The loss is worked out anew so often at the most."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """All features on few levels each, and the order in which tables are removed."""

    rows: Rows
    levels: int
    bins: dict[str, Any]
    evidence: Evidence
    order: tuple[str, ...]

    @classmethod
    def of(cls, evidence: Evidence, rows: Rows, levels: int) -> Ranking:
        """Fit all features that fit into so many levels, and remove one after the other."""
        bins = coarsen_tables(usable(evidence, levels), rows, levels)
        coarse = rows.fit([*bins], bins).evidence_
        return cls(rows, levels, bins, coarse, _remove(coarse, rows, taught=True))

    def best(self, most: int) -> tuple[str, ...]:
        """So many features, in the order of the table."""
        chosen = self._last(self.order, most)
        tried: dict[tuple[str, ...], float] = {}
        while len(tried) < ROUNDS and chosen not in tried:
            if len(chosen) == len(self.order):
                return chosen
            small = self.rows.fit(chosen, {name: self.bins[name] for name in chosen})
            tried[chosen] = float(np.mean(small.loo_loss_))
            near = _within(self.evidence, small.evidence_)
            chosen = self._last(_remove(near, self.rows), most)
        return min(tried, key=lambda names: tried[names])

    def _last(self, order: tuple[str, ...], most: int) -> tuple[str, ...]:
        kept = {*order[-most:]}
        return tuple(name for name in self.evidence.names if name in kept)


def usable(evidence: Evidence, levels: int) -> Evidence:
    """The tables that can be had with so many levels: special codes and missing take one each."""
    own = tuple(table for table in evidence if _fits(table.feature, levels))
    if not own:
        raise ValueError(
            f"no table fits into levels={levels}: each has one level, or special codes and missing "
            "take all of them; raise levels"
        )
    return replace(evidence, tables=own)


def _fits(feature: Any, levels: int) -> bool:
    return (
        isinstance(feature, Feature)
        and len(feature.levels) > 1
        and Shape.of(feature).fixed < levels
    )


def coarsen_tables(evidence: Evidence, rows: Rows, levels: int) -> dict[str, Any]:
    """Each table by itself on so many levels, as the parameter `bins`."""
    quadratic, groups = Quadratic.at(evidence, rows.sample, taught=True), []
    for table, span in zip(evidence, quadratic.spans, strict=True):
        curvature = np.diagonal(quadratic.hessian, axis1=1, axis2=2)[:, span].mean(axis=0)
        ways = Ways.find(Shape.of(table.feature), table.by_class, curvature, levels)
        groups.append(ways.groups[-1])
    return list_all_bins(evidence.features, groups)


def _remove(evidence: Evidence, rows: Rows, taught: bool = False) -> tuple[str, ...]:
    order = Quadratic.at(evidence, rows.sample, taught).eliminate()
    return tuple(evidence.tables[j].name for j in order)


def _within(whole: Evidence, small: Evidence) -> Evidence:
    """A small model as one with all tables, those that it lacks at zero."""
    tables = [
        replace(t, by_class=small[t.name].by_class if t.name in small else 0 * t.by_class)
        for t in whole
    ]
    return replace(whole, prior=small.prior, tables=tuple(tables))
