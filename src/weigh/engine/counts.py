"""Count the levels of every column by class."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.bins import (
    Binning,
    Cross,
    Density,
    Feature,
    Kind,
    Rule,
    check_cuts,
    fine_cuts,
    mdl_cuts,
    quantile_cuts,
    to_right_closed,
)
from weigh.engine.checkpoints import recall_counts
from weigh.engine.surveys import Setting, batches, rows_of, survey
from weigh.engine.threads import BLOCK, Item, spread, stream
from weigh.frames import Codes, FarTable, Sample, Scan, Value, count_matrix, keys
from weigh.numpy_kernels import BYTE_TABLE
from weigh.sketches import ColumnSummary
from weigh.tally import (
    Counts,
    Rows,
    Tally,
    count_categories,
    count_levels,
    count_pairs,
    join_best,
    join_listed,
    join_rare,
)

TOKEN = "token"
"""Name of the only feature of a document model; its levels are the tokens."""


def tally(
    sample: Sample, settings: Mapping[str, Setting], crosses: Sequence[tuple[str, str]] = ()
) -> Tally:
    """Find the levels of every column and count them by class; crossed columns are one feature."""
    found = recall_counts(
        lambda: repr((settings, crosses)).encode() + sample.labels.tobytes(),
        lambda: [(part.feature, part.counts) for part in _find(sample, settings, crosses)],
    )
    return Tally(sample.classes, sample.class_counts, tuple(Counts(*part) for part in found))


def _find(
    sample: Sample, settings: Mapping[str, Setting], crosses: Sequence[tuple[str, str]]
) -> tuple[Counts, ...]:
    groups = group_columns(sample.table.names, crosses)
    if isinstance(sample.table, FarTable | Scan):
        return _find_in_passes(sample, groups, settings)
    counted = _count_bytes(sample)

    def count(name: str, rows: Rows) -> Counts:
        column = settings[name].read(sample.table, name)
        if name in counted and isinstance(column, Codes):
            return count_summary(ColumnSummary.of_counts(column, counted[name]), name, settings)
        return count_summary(ColumnSummary(column, rows), name, settings)

    known = counted and not crosses and all(own.categorical for own in settings.values())
    return _tally(sample, groups, count, 0 if known else sample.table.n_rows).tables


COUNTED = 4
"""Blocks of bytes that are counted at a time: adding their tables takes time, too."""

MOST_CELLS = 1 << 18
"""Largest table of counts, of four bytes each, that stays in the processor's cache."""


def _count_bytes(sample: Sample) -> dict[str, Floats]:
    """Counts of the codes of every column by class, if the table is an array of bytes.

    Such an array is read once. Columns counted one by one would read all of it each time.
    """
    matrix, rows, names = sample.table.bytes(), rows_of(sample), sample.table.names
    n_cells = len(names) * rows.n_classes * BYTE_TABLE
    if matrix is None or rows.weight is not None or n_cells > MOST_CELLS:
        return {}

    def count(start: int) -> Integers:
        block = slice(start, start + COUNTED * BLOCK)
        return rows.take(block).count_bytes(matrix[block])

    counts: Floats = np.zeros((rows.n_classes, len(names), 256))
    for part in stream(count, range(0, len(matrix), COUNTED * BLOCK)):  # few parts exist at a time
        counts += part
    return dict(zip(names, counts.transpose(1, 2, 0), strict=True))


def _find_in_passes(
    sample: Sample, groups: Sequence[tuple[str, ...]], settings: Mapping[str, Setting]
) -> tuple[Counts, ...]:
    """Find levels in files or on a cluster: one pass for all columns, one for all crosses."""
    summaries, names = survey(sample, settings), sample.table.names
    count = lambda name: count_summary(summaries[name], name, settings)  # noqa: E731
    counts = dict(zip(names, spread(count, names, sample.table.n_rows), strict=True))
    pairs = [group for group in groups if len(group) > 1]
    if pairs:
        parts = [tuple(counts[name].feature.parts[0] for name in pair) for pair in pairs]
        joined = count_all_pairs(sample, parts)  # type: ignore[arg-type]
        counts |= dict(zip((pair[0] for pair in pairs), joined, strict=True))
    return tuple(counts[group[0]] for group in groups)


def group_columns(
    names: Sequence[str], crosses: Sequence[tuple[str, str]]
) -> list[tuple[str, ...]]:
    """Columns of each feature; a cross takes the position of its first column."""
    pair_of = {name: pair for pair in crosses for name in pair}
    return [*dict.fromkeys(pair_of.get(name, (name,)) for name in names)]


def _tally(
    sample: Sample,
    groups: Sequence[Sequence[Item]],
    count: Callable[[Item, Rows], Counts],
    n_rows: int,
) -> Tally:
    """Count each group of columns: one column, or the two of a cross.

    Threads are used if `n_rows`, the rows that are left to read, are enough.
    """
    rows = Rows(sample.labels, sample.weight, len(sample.classes))

    def count_group(group: Sequence[Item]) -> Counts:
        counts = [count(item, rows) for item in group]
        if len(counts) == 1:
            return counts[0]
        left, right = (part.feature.parts[0] for part in counts)
        return count_all_pairs(sample, [(left, right)])[0]

    counts = spread(count_group, groups, n_rows)
    return Tally(sample.classes, sample.class_counts, tuple(counts))


def count_all_pairs(
    sample: Sample, parts: Sequence[tuple[Feature, Feature]], by_group: bool = False
) -> tuple[Counts, ...]:
    """Count the pairs of levels of all crosses, by class or by group and class, in one pass."""
    names, count = tuple(part.name for pair in parts for part in pair), Pairs(parts, by_group)
    if not parts:
        return ()
    if isinstance(sample.table, FarTable):
        return sample.table.sum_samples(names, count).tables
    found = count.begin()
    for table, rows in batches(replace(sample, table=sample.table.select(names)), by_group):
        counted = spread(lambda pair: count_pairs(pair, table, rows), parts, table.n_rows)  # noqa: B023
        found = count.merge(found, count.tally(counted))
    return found.tables


@dataclass(frozen=True)
class Pairs:
    """Pass over samples that counts the pairs of levels of each cross."""

    parts: Sequence[tuple[Feature, Feature]]
    by_group: bool = False

    def begin(self) -> Tally:
        """Empty counts."""
        return self.tally([])

    def tally(self, counts: Sequence[Counts]) -> Tally:
        """Wrap counts in a tally, so that they can be added."""
        n_classes = counts[0].counts.shape[1] if counts else 0
        return Tally(np.arange(n_classes), np.zeros(n_classes), tuple(counts))

    def add(self, found: Tally, sample: Sample) -> Tally:
        """Add the counts of more rows."""
        rows = rows_of(sample, self.by_group)
        counts = [count_pairs(pair, sample.table, rows) for pair in self.parts]
        return self.merge(found, self.tally(counts))

    def merge(self, one: Tally, other: Tally) -> Tally:
        """Add two counts."""
        return one + other if one.tables and other.tables else one if one.tables else other


def tally_levels(
    sample: Sample, features: Sequence[Feature | Cross], settings: Mapping[str, Setting]
) -> Tally:
    """Count rows on known cut points; new categories become levels.

    A feature without any value so far is read as if for the first time. If rare categories share
    the level `other`, new ones join it. If the categories of each level were listed, new ones are
    not known.
    """

    def count_part(feature: Feature, rows: Rows) -> Counts:
        if not (feature.is_numeric or feature.values):
            column = settings[feature.name].read(sample.table, feature.name)
            summary = ColumnSummary(column, rows)
            return count_summary(summary, feature.name, settings)
        column = sample.table.column(feature.name, not feature.is_numeric)
        if isinstance(column, Codes) and not (feature.other or feature.groups):
            declared = settings[feature.name].declared
            return count_categories(feature.name, column, rows, feature.skip_missing, declared)
        if feature.is_numeric:
            numbers = column.numbers(feature.name) if isinstance(column, Codes) else column
            feature, column = _read_numbers(feature, ColumnSummary(numbers, rows)), numbers
        return count_levels(_with_missing(feature), column, rows)

    parts = [feature.parts for feature in features]
    return _tally(sample, parts, count_part, sample.table.n_rows)


def tally_counts(sample: Sample) -> Tally:
    """Count tokens by class: each token is a level of one feature, each occurrence one count."""
    from weigh import kernels

    matrix = count_matrix(sample.table)
    weight = np.ones(1) if sample.weight is None else sample.weight
    counts = np.zeros((matrix.shape[1], len(sample.classes)))
    times = np.asarray(matrix.data, dtype=np.float64)
    kernels.count_tokens(matrix.indptr, matrix.indices, times, sample.labels, weight, counts)
    tokens = Feature(TOKEN, sample.table.names, in_order=True)
    return Tally(sample.classes, sample.class_counts, (Counts(tokens, counts),))


def count_summary(summary: ColumnSummary, name: str, settings: Mapping[str, Setting]) -> Counts:
    """Find the levels of a summarised column, and count them by class."""
    column, rows, setting = summary.column, summary.rows, settings[name]
    if isinstance(column, Codes):
        counts = count_categories(name, column, rows, setting.skip_missing, setting.declared)
        if setting.joined:
            _check_listed(counts.feature, setting.joined, summary)
            return join_listed(counts, setting.joined, summary.rare)
        if isinstance(setting.bins, Binning):
            return join_best(counts, setting.bins, summary.rare)
        return join_rare(counts, setting.max_levels, summary.rare)
    cuts = _find_cuts(column.values, name, setting, rows)
    if isinstance(setting.bins, Rule):
        # Two cut points may fall into one cell of the summary, and are then one.
        cuts = tuple(dict.fromkeys(summary.refine_cuts(cuts)))
        if setting.left:
            held = np.isin(cuts, column.values)  # such a value belongs to the interval below
            cuts = tuple(np.where(held, cuts, to_right_closed(cuts)).tolist())
    feature = Feature(name, setting.special, cuts, skip_missing=setting.skip_missing)
    feature = replace(_read_numbers(feature, summary), left=setting.left)
    return count_levels(_with_missing(feature), column, rows)


def _read_numbers(feature: Feature, summary: ColumnSummary) -> Feature:
    """Decide how intervals are labelled: by whole numbers, as 0 and 1, or with a first one of 0."""
    special, cuts = feature.values, feature.cuts or ()
    whole = summary.reads("whole", special)
    binary = whole and len(cuts) == 1 and summary.reads("binary", special)
    counted = whole and bool(cuts) and 0.0 <= cuts[0] < 1.0 and summary.reads("counted", special)
    return replace(feature, whole=whole, binary=binary, counted=counted)


def _check_listed(feature: Any, listed: Sequence[Sequence[Value]], summary: ColumnSummary) -> None:
    """Raise an error if none of the listed categories is of a kind that the column holds.

    Where the kinds agree, the rows of a fold may lack the categories by chance.
    """
    known = {known for values in listed for known in keys(values)}
    if summary.rare is not None or not feature.values or known & {*keys(feature.values)}:
        return
    every = [value for values in listed for value in values]
    held = [Kind.of_all({*map(Kind.of, values)}) for values in (feature.values, every)]
    if held[0] != held[1]:
        raise ValueError(
            f"column {feature.name!r}: none of the categories in bins occurs; the column holds "
            f"{held[0]}, bins holds {held[1]}: give the values of the column"
        )


def _with_missing(feature: Feature) -> Feature:
    return replace(feature, has_missing=not feature.skip_missing)


def _find_cuts(values: Floats, name: str, setting: Setting, rows: Rows) -> tuple[float, ...]:
    if not isinstance(setting.bins, Rule):
        return check_cuts(setting.bins, name)
    if setting.special:
        special = np.isin(values, np.array(setting.special, dtype=np.float64))
        values = np.where(special, np.nan, values)
    if isinstance(setting.bins, Density):
        return setting.bins.cut(values, rows.weight, name)
    if isinstance(setting.bins, Binning):
        return setting.bins.cut(values, rows.labels, rows.weight, rows.n_classes)
    if setting.bins == "fine":
        return fine_cuts(values, rows.weight, setting.most_levels)
    if isinstance(setting.bins, str):
        return mdl_cuts(values, rows.labels, rows.weight, rows.n_classes)
    return quantile_cuts(values, rows.weight, setting.bins)
