"""What the rows of the other folds say: naive Bayes without each group of rows, in one pass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.engine import HELD_OUT, TRAIN, Block, Dealt, Sums
from weigh.evidence.estimate import Smoothing, weigh_tally
from weigh.evidence.tables import Evidence
from weigh.frames import Floats, Integers
from weigh.tally import Counts, Tally


def weigh_without(tally: Tally, dealt: Dealt, smoothing: Smoothing) -> list[Evidence]:
    """For each group the tables of the split that holds it out, on the levels of all rows."""
    n_classes, roles = len(tally.classes), dealt.roles
    sizes = tuple(len(table.feature.levels) + 1 for table in tally.tables)
    *counts, classes = dealt.rows.sum(GroupCounts(sizes, len(roles), n_classes)).arrays
    models = []
    for group in range(len(roles)):
        others = roles[:, int(np.argmax(roles[group] == HELD_OUT))] == TRAIN
        tables = tuple(
            Counts(table.feature, counted[others].sum(axis=0)[:-1])
            for table, counted in zip(tally.tables, counts, strict=True)
        )
        part = Tally(tally.classes, classes[others].sum(axis=0), tables)
        models.append(weigh_tally(part, smoothing))
    return models


@dataclass(frozen=True)
class GroupCounts:
    """The statistic of folds: counts by group, level and class, and by group and class."""

    sizes: tuple[int, ...]
    n_groups: int
    n_classes: int

    def __call__(self, block: Block) -> Sums:
        """Count a block."""
        assert block.groups is not None
        cells = block.groups.astype(np.int64) * self.n_classes + block.labels
        counts = [
            self._count(cells, codes, size, block.weight)
            for codes, size in zip(block.codes, self.sizes, strict=True)
        ]
        whole = self._count(cells, np.zeros(len(block), np.uint8), 1, block.weight)
        return Sums((*counts, whole[:, 0]))

    def _count(self, cells: Integers, codes: Integers, size: int, weight: Floats | None) -> Floats:
        shape = self.n_groups, self.n_classes, size
        counts = np.bincount(cells * size + codes, weight, int(np.prod(shape)))
        return counts.reshape(shape).transpose(0, 2, 1).astype(np.float64)
