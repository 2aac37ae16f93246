"""Levels found again in the training rows of each split, and rows coded once for all splits.

If something is chosen on hold-out rows, cut points found with their labels would bias the choice.
So each split finds its levels in its own training rows. One pass over a column serves all splits,
because it counts values by group and class, and the counts of groups add.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.bins import Cross, Feature, coarsen, refine
from weigh.engine.checkpoints import recall_counts
from weigh.engine.counts import count_all_pairs, count_summary, group_columns
from weigh.engine.passes import Block, Coded, PerBlock, Sums, code_rows
from weigh.engine.surveys import Setting, rows_of, survey
from weigh.engine.threads import spread
from weigh.folds import HELD_OUT, TRAIN, Mask, deal_groups, fold_roles
from weigh.frames import FarTable, Sample, Scan
from weigh.sketches import ColumnSummary
from weigh.tally import Counts, Tally


@dataclass(frozen=True)
class Levels:
    """Levels and counts of some rows, where each level is a union of finer levels.

    Rows are coded once, by the finer levels. `places[j]` maps each finer level of feature j, and
    not known, to its level.
    """

    tally: Tally
    places: tuple[Integers, ...]

    @classmethod
    def own(cls, tally: Tally) -> Levels:
        """Levels that rows are coded by directly, without finer ones."""
        return cls(tally, tuple(np.arange(len(t.feature.levels) + 1) for t in tally.tables))

    def gather(self, counts: Sequence[Floats]) -> tuple[Counts, ...]:
        """Sum counts by finer level (and of not known) to counts by level."""
        tables = zip(self.tally.tables, self.places, counts, strict=True)
        return tuple(Counts(table.feature, _gather(*given)) for table, *given in tables)

    def spread(self, tables: Sequence[Floats]) -> list[Floats]:
        """Expand tables by level (with a last row for not known) to tables by finer level."""
        return [table[places] for table, places in zip(tables, self.places, strict=True)]


def _gather(places: Integers, counts: Floats) -> Floats:
    out = np.zeros((int(places[-1]) + 1, counts.shape[1]))
    np.add.at(out, places, counts)
    return out[:-1]


@dataclass(frozen=True)
class Splits:
    """Rows coded by finer levels, the role of each group in each split, and the splits' levels.

    `held_out` is the weight of the hold-out rows by split and class.
    """

    rows: Coded
    roles: Integers
    held_out: Floats
    whole: Levels
    parts: tuple[Levels, ...]


def find_splits(
    sample: Sample,
    cv: Any,
    random_state: Any,
    settings: Mapping[str, Setting],
    crosses: Sequence[tuple[str, str]] = (),
) -> Splits:
    """Deal rows into folds, find the levels of all rows and of each split, and code the rows.

    `cv` is a number of folds, a splitter or splits, or the name of the column with the folds.
    """
    sample, roles = deal_sample(sample, cv, random_state)
    assert sample.group_counts is not None
    held_out = (roles == HELD_OUT).T @ sample.group_counts
    parts = [np.ones(len(roles), np.bool_), *(roles.T == TRAIN)]
    finder = _LevelFinder(sample, settings, group_columns(sample.table.names, crosses), parts)
    found = recall_counts(finder.question, finder.answer)
    n = len(finder.columns)
    fine, *tables = (found[i : i + n] for i in range(0, len(found), n))
    features = [feature for feature, _ in fine]
    pairs = zip(parts, tables, strict=True)
    levels = [_levels(sample, features, part, counts) for part, counts in pairs]
    rows = code_rows(sample, features).grouped()
    return Splits(rows, roles, held_out, levels[0], tuple(levels[1:]))


def deal_sample(sample: Sample, cv: Any, random_state: Any) -> tuple[Sample, Integers]:
    """Sample with a group for each row, and the role of each group in each split."""
    if isinstance(cv, str):
        assert sample.group_counts is not None
        return sample, fold_roles(len(sample.group_counts))
    if isinstance(sample.table, FarTable):
        dealt = sample.table.deal(sample, cv, random_state)
        return dealt, fold_roles(len(dealt.group_counts))
    groups = deal_groups(cv, sample.labels, sample.kept, random_state)
    return sample.grouped(groups.numbers, len(groups.roles)), groups.roles


def _levels(
    sample: Sample,
    fine: Sequence[Feature | Cross],
    part: Mask,
    tables: Sequence[tuple[Feature | Cross, Floats]],
) -> Levels:
    assert sample.group_counts is not None
    counts = sample.group_counts[part].sum(axis=0)
    tally = Tally(sample.classes, counts, tuple(Counts(*table) for table in tables))
    pairs = zip(fine, tally.tables, strict=True)
    return Levels(tally, tuple(coarsen(finer, table.feature) for finer, table in pairs))


@dataclass(frozen=True)
class _LevelFinder:
    """Finds the levels and counts of each part; a part is a set of groups of rows."""

    sample: Sample
    settings: Mapping[str, Setting]
    columns: Sequence[tuple[str, ...]]  # one for each feature, two for a cross
    parts: Sequence[Mask]

    def question(self) -> bytes:
        """Key in the checkpoint: all that the result depends on, except the table."""
        assert self.sample.groups is not None
        rows = self.sample.labels.tobytes() + self.sample.groups.tobytes()
        return repr((self.settings, self.columns)).encode() + rows

    def answer(self) -> list[tuple[Feature | Cross, Floats]]:
        """Finer features, followed by the features and counts of each part."""
        singles = self._find()
        fine = {
            name: refine([part.feature.parts[0] for part in counts])
            for name, counts in singles.items()
        }
        crossed = [pair for pair in self.columns if len(pair) > 1]
        cells = count_all_pairs(
            self.sample, [(fine[left], fine[right]) for left, right in crossed], by_group=True
        )
        joint = dict(zip(crossed, cells, strict=True))
        features: list[Any] = [
            joint[names].feature if names in joint else fine[names[0]] for names in self.columns
        ]
        found: list[tuple[Feature | Cross, Floats]] = [
            (feature, np.zeros((len(feature.levels), 0))) for feature in features
        ]
        for k, part in enumerate(self.parts):
            for names in self.columns:
                counts = [singles[name][k] for name in names]
                table = _join(joint[names], counts, part) if names in joint else counts[0]
                found.append((table.feature, table.counts))
        return found

    def _find(self) -> dict[str, list[Counts]]:
        """Counts of each column in each part."""
        sample, names = self.sample, self.sample.table.names
        summaries: dict[str, ColumnSummary] = {}
        if isinstance(sample.table, FarTable | Scan):
            summaries = survey(sample, self.settings, by_group=True)
        rows = None if summaries else rows_of(sample, by_group=True)

        def find(name: str) -> list[Counts]:
            if rows is None:
                summary = summaries[name]
            else:
                column = self.settings[name].read(sample.table, name)
                summary = ColumnSummary(column, rows).in_order()
            return [count_summary(summary.part(part), name, self.settings) for part in self.parts]

        return dict(zip(names, spread(find, names, sample.table.n_rows), strict=True))


def _join(cells: Counts, counts: Sequence[Counts], part: Mask) -> Counts:
    """Counts of a cross in some groups, from the counts of finer levels by group and class."""
    fine, by_group = cells.feature, cells.counts.reshape(len(cells.counts), len(part), -1)
    assert isinstance(fine, Cross)
    cross = Cross(tuple(table.feature for table in counts))  # type: ignore[arg-type]
    places = [coarsen(*pair) for pair in zip(fine.parts, cross.parts, strict=True)]
    ends = np.array(fine.pairs, dtype=np.intp).reshape(-1, 2).T
    left, right = (at[end] for at, end in zip(places, ends, strict=True))
    grid = left * (len(cross.parts[1].levels) + 1) + right
    found, numbers = np.unique(grid, return_inverse=True)
    sums = np.zeros((len(found), by_group.shape[2]))
    np.add.at(sums, numbers, by_group[:, part].sum(axis=1))
    used = sums.any(axis=1) & cross.is_pair(found)
    return Counts(cross.of_cells(found[used]), sums[used])


Ask = TypeVar("Ask")
Answer = TypeVar("Answer")
Found = TypeVar("Found")


def side_by_side(
    searches: Sequence[Generator[Ask, Answer, Found]],
    answer: Callable[[dict[int, Ask]], Sequence[Answer]],
) -> list[Found]:
    """Run searches together: `answer` handles the requests of all searches in one call.

    A search is a generator that yields requests and receives answers. The result is what each
    search returns.

    >>> def double(start):
    ...     answer = yield start
    ...     return answer
    >>> side_by_side([double(1), double(4)], lambda asks: [2 * ask for ask in asks.values()])
    [2, 8]
    """
    found: dict[int, Found] = {}
    answers: dict[int, Any] = dict.fromkeys(range(len(searches)))
    while answers:
        asks: dict[int, Ask] = {}
        for i, reply in answers.items():
            try:
                asks[i] = searches[i].send(reply)
            except StopIteration as end:
                found[i] = end.value
        answers = dict(zip(asks, answer(asks), strict=True)) if asks else {}
    return [found[i] for i in range(len(searches))]


@dataclass(frozen=True)
class Each:
    """Several statistics as one, whose arrays follow one another."""

    statistics: tuple[PerBlock, ...]

    def __call__(self, block: Block) -> Sums:
        """Sums of a block."""
        return Sums(tuple(array for each in self.statistics for array in each(block).arrays))


def sum_each(rows: Coded, statistics: Sequence[PerBlock]) -> list[Sums]:
    """Sum several statistics, with equally many arrays each, in one pass."""
    if len(statistics) == 1:
        return [rows.sum(statistics[0])]
    arrays = rows.sum(Each(tuple(statistics))).arrays
    size = len(arrays) // len(statistics)
    return [Sums(arrays[start : start + size]) for start in range(0, len(arrays), size)]
