"""What scores a row that is held out: naive Bayes of the rows that its split learns from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from weigh.engine import HELD_OUT, Block, Levels
from weigh.evidence.tables import Evidence
from weigh.frames import Floats, Integers


@dataclass(frozen=True)
class Scorer:
    """Naive Bayes of each split, on the levels that rows are coded by.

    `prior[split]` is what a total starts from, `tables[j][split, level]` what feature j adds; the
    level after the last is none. `skips[j]` says whether a row without a level lacks an answer in
    feature j, and `known[split, class]` whether the split saw the class. `turns[turn, group]` is
    the split that scores the rows of a group, or -1: a row counts once for each split that holds
    it out.
    """

    prior: Floats
    tables: tuple[Floats, ...]
    skips: tuple[bool, ...]
    known: Integers
    turns: Integers

    @classmethod
    def own(cls, model: Evidence) -> Scorer:
        """One model for all rows, on its own levels."""
        return cls._of([model], [Levels.own(model.tally)], np.zeros((1, 1), dtype=np.intp))

    @classmethod
    def held_out(
        cls, models: Sequence[Evidence], levels: Sequence[Levels], roles: Integers
    ) -> Scorer:
        """One model for each split."""
        return cls._of(models, levels, _turns(roles == HELD_OUT))

    @classmethod
    def _of(cls, models: Sequence[Evidence], levels: Sequence[Levels], turns: Integers) -> Scorer:
        by_split = [
            level.spread([table.padded for table in model])
            for model, level in zip(models, levels, strict=True)
        ]
        return cls(
            np.stack([model.prior_row for model in models]),
            tuple(np.stack(tables) for tables in zip(*by_split, strict=True)),
            tuple(feature.skip_missing for feature in models[0].features),
            np.array([model.class_counts > 0 for model in models]),
            turns,
        )

    def parts(self, block: Block) -> Iterator[tuple[Integers, Block]]:
        """Rows of a block, and the split that scores each."""
        groups = block.groups
        if groups is None or self.turns.shape[1] == 1:
            groups = np.zeros(len(block), dtype=np.intp)
        for turn in self.turns:
            split = turn[groups]
            scored = split >= 0
            yield (split, block) if scored.all() else (split[scored], block.part(scored))


def _turns(held_out: Integers) -> Integers:
    """The splits that hold each group out, one a turn.

    >>> _turns(np.array([[True, False, True], [False, True, False]])).tolist()
    [[0, 1], [2, -1]]
    """
    turns = np.full((int(held_out.sum(axis=1).max()), len(held_out)), -1, dtype=np.intp)
    for group, row in enumerate(held_out):
        splits = np.flatnonzero(row)
        turns[: len(splits), group] = splits
    return turns
