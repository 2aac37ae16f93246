"""Count the levels of every column by class."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from weigh.bins import Cross, Feature, are_whole, check_cuts, fine_cuts, mdl_cuts, quantile_cuts
from weigh.distinct import Short
from weigh.engine.kept import recall_counts
from weigh.engine.surveys import Setting, batches, survey
from weigh.engine.threads import Item, spread
from weigh.frames import Codes, FarTable, Floats, Sample, Scan, Table, count_matrix
from weigh.tally import (
    Counts,
    Rows,
    Tally,
    add,
    count_categories,
    count_levels,
    count_pairs,
    join_rare,
)

TOKEN = "token"
"""The one feature of a model of documents; its levels are the tokens."""


def tally(
    sample: Sample, settings: Mapping[str, Setting], crosses: Sequence[tuple[str, str]] = ()
) -> Tally:
    """Find the levels of every column and count them by class; crossed columns as one."""
    found = recall_counts(
        lambda: repr((settings, crosses)).encode() + sample.labels.tobytes(),
        lambda: [(part.feature, part.counts) for part in _find(sample, settings, crosses)],
    )
    return Tally(sample.classes, sample.class_counts, tuple(Counts(*part) for part in found))


def _find(
    sample: Sample, settings: Mapping[str, Setting], crosses: Sequence[tuple[str, str]]
) -> tuple[Counts, ...]:
    groups = _groups(sample.table.names, crosses)
    if isinstance(sample.table, FarTable | Scan):
        return _find_in_passes(sample, groups, settings)
    read = sample.table.column

    def count(name: str, rows: Rows) -> Counts:
        return _count_short(Short(read(name, settings[name].categorical), rows), name, settings)

    return _tally(sample, groups, count).tables


def _find_in_passes(
    sample: Sample, groups: Sequence[tuple[str, ...]], settings: Mapping[str, Setting]
) -> tuple[Counts, ...]:
    """The same where rows are dear to read: a pass for all columns, and one for all crosses."""
    shorts, names = survey(sample, settings), sample.table.names
    count = lambda name: _count_short(shorts[name], name, settings)  # noqa: E731
    counts = dict(zip(names, spread(count, names, sample.table.n_rows), strict=True))
    pairs = [group for group in groups if len(group) > 1]
    if pairs:
        parts = [tuple(counts[name].feature.parts[0] for name in pair) for pair in pairs]
        joined = _count_all_pairs(sample, parts)  # type: ignore[arg-type]
        counts |= dict(zip((pair[0] for pair in pairs), joined.tables, strict=True))
    return tuple(counts[group[0]] for group in groups)


def _groups(names: Sequence[str], crosses: Sequence[tuple[str, str]]) -> list[tuple[str, ...]]:
    """The columns of each feature; a cross stands where the first of its columns did."""
    pair_of = {name: pair for pair in crosses for name in pair}
    return [*dict.fromkeys(pair_of.get(name, (name,)) for name in names)]


def _tally(
    sample: Sample, groups: Sequence[Sequence[Item]], count: Callable[[Item, Rows], Counts]
) -> Tally:
    """The counts of one column each, or of two joined."""
    rows = Rows(sample.labels, sample.weight, len(sample.classes))

    def count_group(group: Sequence[Item]) -> Counts:
        counts = [count(item, rows) for item in group]
        if len(counts) == 1:
            return counts[0]
        left, right = (part.feature.parts[0] for part in counts)
        return _count_all_pairs(sample, [(left, right)]).tables[0]

    counts = spread(count_group, groups, sample.table.n_rows)
    return Tally(sample.classes, sample.class_counts, tuple(counts))


def _count_all_pairs(sample: Sample, parts: Sequence[tuple[Feature, Feature]]) -> Tally:
    """The pairs of all crosses, in one pass."""
    names = tuple(part.name for pair in parts for part in pair)
    if isinstance(sample.table, FarTable):
        return sample.table.sum_samples(names, Pairs(parts))  # type: ignore[return-value]
    read, nothing = replace(sample, table=sample.table.select(names)), np.zeros(len(sample.classes))
    found: list[Tally] = []
    for table, rows in batches(read):

        def count(pair: tuple[Feature, Feature], table: Table = table, rows: Rows = rows) -> Counts:
            return count_pairs(pair, table, rows)

        batch = Tally(sample.classes, nothing, tuple(spread(count, parts, table.n_rows)))
        found = [add([*found, batch])]
    return found[0]


@dataclass(frozen=True)
class Pairs:
    """One pass that counts the pairs of levels of columns, two by two, where the rows are."""

    parts: Sequence[tuple[Feature, Feature]]

    def begin(self) -> Tally | None:
        """Nothing yet."""
        return None

    def add(self, found: Tally | None, sample: Sample) -> Tally | None:
        """Count some more rows."""
        rows = Rows(sample.labels, sample.weight, len(sample.classes))
        counts = [count_pairs(pair, sample.table, rows) for pair in self.parts]
        nothing = np.zeros(len(sample.classes))
        return self.merge(found, Tally(sample.classes, nothing, tuple(counts)))

    def merge(self, one: Tally | None, other: Tally | None) -> Tally | None:
        """The pairs of both."""
        return other if one is None else one if other is None else one + other


def tally_levels(
    sample: Sample, features: Sequence[Feature | Cross], settings: Mapping[str, Setting]
) -> Tally:
    """Count on cut points that are known; new categories become levels.

    A feature that had not a single value so far is read as if for the first time. Where rare
    values were joined, new ones join them.
    """

    def count_part(feature: Feature, rows: Rows) -> Counts:
        if not (feature.is_numeric or feature.values):
            kind = settings[feature.name].categorical
            short = Short(sample.table.column(feature.name, kind), rows)
            return _count_short(short, feature.name, settings)
        column = sample.table.column(feature.name, not feature.is_numeric)
        if isinstance(column, Codes) and not feature.other:
            return count_categories(feature.name, column, rows, feature.skip_missing)
        if feature.is_numeric:
            numbers = column.numbers(feature.name) if isinstance(column, Codes) else column
            own = are_whole(numbers.values, rows.weight, feature.values)  # type: ignore[arg-type]
            feature, column = replace(feature, whole=own), numbers
        return count_levels(_with_missing(feature), column, rows)

    return _tally(sample, [feature.parts for feature in features], count_part)


def tally_counts(sample: Sample) -> Tally:
    """Documents by tokens: every token is a level of one feature, every occurrence a row of it."""
    from weigh import kernels

    matrix = count_matrix(sample.table)
    weight = np.ones(1) if sample.weight is None else sample.weight
    counts = np.zeros((matrix.shape[1], len(sample.classes)))
    times = np.asarray(matrix.data, dtype=np.float64)
    kernels.count_tokens(matrix.indptr, matrix.indices, times, sample.labels, weight, counts)
    tokens = Feature(TOKEN, sample.table.names, in_order=True)
    return Tally(sample.classes, sample.class_counts, (Counts(tokens, counts),))


def _count_short(short: Short, name: str, settings: Mapping[str, Setting]) -> Counts:
    column, rows, setting = short.column, short.rows, settings[name]
    if isinstance(column, Codes):
        counts = count_categories(name, column, rows, setting.skip_missing)
        return join_rare(counts, setting.max_levels, short.rare)
    cuts = _find_cuts(column.values, name, setting, rows)
    if isinstance(setting.bins, str | int):
        cuts = short.settle(cuts)
    feature = Feature(name, setting.special, cuts, skip_missing=setting.skip_missing)
    feature = replace(feature, whole=short.is_whole(setting.special))
    return count_levels(_with_missing(feature), column, rows)


def _with_missing(feature: Feature) -> Feature:
    return replace(feature, has_missing=not feature.skip_missing)


def _find_cuts(values: Floats, name: str, setting: Setting, rows: Rows) -> tuple[float, ...]:
    if not isinstance(setting.bins, str | int):
        return check_cuts(setting.bins, name)
    if setting.special:
        special = np.isin(values, np.array(setting.special, dtype=np.float64))
        values = np.where(special, np.nan, values)
    if setting.bins == "fine":
        return fine_cuts(values, rows.weight, setting.most_levels)
    if isinstance(setting.bins, str):
        return mdl_cuts(values, rows.labels, rows.weight, rows.n_classes)
    return quantile_cuts(values, rows.weight, setting.bins)
