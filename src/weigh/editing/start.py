"""The model before all changes, which a refit starts from."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from weigh.budget.quadratic import RIDGE
from weigh.editing.actions import ACTIONS, RESHAPE
from weigh.educated.prior import Prior, count_intervals, prior_of
from weigh.evidence import Evidence, FeatureTable
from weigh.frames import Floats, Sample
from weigh.newton.descent import Order
from weigh.parameters import is_count


@dataclass(frozen=True, eq=False)
class Start:
    """The tables that were given, and the same with the levels that tables have now.

    `scales` are those of EducatedNB by table, one for each total; `signs` say which tables rise (1)
    or fall (-1).
    """

    given: Evidence
    reshaped: Evidence
    scales: Mapping[str, Floats]
    signs: Mapping[str, int]

    @classmethod
    def of(cls, model: Any) -> Self:
        """The start of all changes to a model."""
        evidence = model.evidence_
        return cls(evidence, evidence, _scales(model), _signs(model))

    def changed(self, action: str, sample: Sample, given: Mapping[str, Any]) -> Self:
        """The start with tables and levels as a change leaves them, and the weights that it had."""
        if action not in RESHAPE:
            return self
        return replace(self, reshaped=ACTIONS[action](self.reshaped, sample, **given))

    def pull(self) -> Floats:
        """The Hessian of the prior by total; of models without one, a row that holds each level."""
        n = 1 + sum(len(table.levels) for table in self.reshaped)
        n_totals = len(self.reshaped.prior_row)
        found = np.zeros((n_totals, n, n))
        for start, table in self._starts():
            places = start + np.arange(len(table.levels))
            scales = self.scales.get(table.name)
            if scales is None:
                found[:, places, places] = RIDGE
                continue
            blocks, centres = prior_of(table.feature, table.counts, start)
            prior = Prior(tuple(blocks), tuple(centres))
            later = [1 / block.variance for block in blocks[1:]]
            for k in range(n_totals if len(places) else 0):
                own = np.array([scales[k], *later])[: len(blocks)]
                prior.add_to(found[k], own, np.arange(n))
        return found

    def orders(self, held: Collection[str]) -> tuple[Order, ...]:
        """Of the tables that are to rise or fall, and may change."""
        found = []
        for start, table in self._starts():
            n, sign = count_intervals(table.feature), self.signs.get(table.name)
            if sign and n > 1 and table.name not in held:
                found.append(Order(start + np.arange(n), sign))
        return tuple(found)

    def attributes(self) -> dict[str, Any]:
        """What a later `edit` of the changed model has to know, of the tables that are left."""
        names = self.reshaped.names
        found: dict[str, Any] = {}
        if self.scales:
            scales = np.array([self.scales[name] for name in names]).T
            found["scales_"] = scales if self.reshaped.link == "ovr" else scales[0]
        if self.signs:
            left = {name: sign for name, sign in self.signs.items() if name in names}
            found["monotonic_cst"] = left
        return found

    def _starts(self) -> Iterator[tuple[int, FeatureTable]]:
        start = 1
        for table in self.reshaped:
            yield start, table
            start += len(table.levels)


def _scales(model: Any) -> dict[str, Floats]:
    scales = getattr(model, "scales_", None)
    evidence = model.evidence_
    if scales is None or np.shape(scales)[-1] != len(evidence):
        return {}
    n_totals = len(evidence.prior_row)
    every = np.broadcast_to(np.asarray(scales, dtype=np.float64), (n_totals, len(evidence)))
    return {table.name: every[:, j] for j, table in enumerate(evidence)}


def _signs(model: Any) -> dict[str, int]:
    given = getattr(model, "monotonic_cst", None)
    names = model._column_names()
    if given is None:
        return {}
    pairs = given.items() if isinstance(given, Mapping) else zip(names, given, strict=True)
    return {names[name] if is_count(name) else name: int(sign) for name, sign in pairs}
