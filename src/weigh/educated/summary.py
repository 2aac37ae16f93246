"""Summary of the training rows of an `EducatedNB`, to add rows later without the old ones.

The levels are those of the model's tables. If a pair has a cut point that its column's table does
not have, the column has it in the summary too. The summary of two sets of rows is the sum of their
summaries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from weigh import engine
from weigh.arrays import Floats
from weigh.bins import Cross, Feature, coarsen, refine
from weigh.educated.blanks import blank_all, shift
from weigh.educated.design import Design, Source, Target
from weigh.educated.prior import Prior
from weigh.educated.quadratic import Quadratic
from weigh.educated.solve import FULL, Problem, state_at
from weigh.engine import Coded, Setting, Statistic, Sums
from weigh.evidence import Evidence, FeatureTable
from weigh.frames import Sample
from weigh.tally import Counts, Tally


@dataclass(frozen=True, eq=False)
class Summary:
    """Counts of rows by level, and a second-order approximation of their loss near a model.

    `loss` is the loss as a function of all weights, the prior first. `blanks` is the loss of rows
    with randomly blanked values, as a function of the weight of not known in each table. `scales`,
    by feature, are kept only if the classes are nearly separable, because the quadratic cannot
    determine them there.
    """

    tally: Tally
    loss: Quadratic
    blanks: Quadratic
    scales: Mapping[str, float] | None = None

    def __add__(self, other: Summary) -> Summary:
        tally = self.tally + other.tally
        one, two = self.laid_on(tally), other.laid_on(tally)
        scales = _smaller(self.scales, other.scales)
        return Summary(tally, one.loss + two.loss, one.blanks + two.blanks, scales)

    def __rmul__(self, share: float) -> Summary:
        """Multiply the weight of all rows by a share."""
        tables = tuple(replace(t, counts=share * t.counts) for t in self.tally.tables)
        tally = replace(self.tally, class_counts=share * self.tally.class_counts, tables=tables)
        return Summary(tally, share * self.loss, share * self.blanks, self.scales)

    def laid_on(self, tally: Tally) -> Summary:
        """Extend the summary to the levels of `tally`, which includes those of other rows."""
        mine = [counts.feature for counts in self.tally.tables]
        theirs = {counts.feature.name: counts.feature for counts in tally.tables}
        names, sizes = [*theirs], [len(feature.levels) for feature in theirs.values()]
        starts = dict(zip(names, np.cumsum([1, *sizes]).tolist(), strict=False))
        at = [starts[f.name] + theirs[f.name].positions(f) for f in mine]  # type: ignore[arg-type]
        levels = np.concatenate([[0], *at]).astype(np.intp)
        tables = np.array([names.index(feature.name) for feature in mine], dtype=np.intp)
        loss = self.loss.laid_on(levels, 1 + sum(sizes))
        blanks = self.blanks.laid_on(tables, len(names))
        return Summary(tally, loss, blanks, self.scales)

    def is_of(self, evidence: Evidence) -> bool:
        """Whether the summary has the same counts as some evidence, so is of the same rows."""
        mine = {counts.feature.name: counts for counts in self.tally.tables}
        if [*map(repr, self.tally.classes)] != [*map(repr, evidence.classes)]:
            return False
        if {*mine} != {*evidence.names}:
            return False
        return all(_counted(mine[table.name], table) for table in evidence)


def _smaller(
    one: Mapping[str, float] | None, other: Mapping[str, float] | None
) -> Mapping[str, float] | None:
    """The smaller scale of each feature: with more rows, separable classes get larger weights."""
    if one is None or other is None:
        return None
    return {name: float(np.fmin(one[name], other[name])) for name in one}


def _counted(fine: Counts, table: FeatureTable) -> bool:
    """Whether counts agree with those of a table, which may have coarser levels."""
    if type(fine.feature) is not type(table.feature):
        return False
    at, out = coarsen(fine.feature, table.feature)[:-1], np.zeros_like(table.counts)
    if len(at) and at.max() >= len(out):
        return False
    np.add.at(out, at, fine.counts)
    return bool(np.allclose(out, table.counts, rtol=1e-9))


@dataclass(frozen=True)
class Beside:
    """New rows and the summary of earlier ones, to estimate the weights of not known."""

    rows: Coded
    past: Quadratic

    @property
    def n_passes(self) -> int:
        """The number of passes over the new rows."""
        return self.rows.n_passes

    def sum(self, statistic: Statistic) -> Sums:
        """The statistic of the new and the earlier rows."""
        numbers, slopes, bends = self.rows.sum(statistic).arrays
        loss, other = self.past.at(statistic.u)  # type: ignore[union-attr]
        more = np.array([loss, self.past.size])
        return Sums((numbers + more, slopes + other, bends + self.past.hessian))


def levels_of(evidence: Evidence) -> list[Feature | Cross]:
    """The features of a summary: the columns, then the pairs."""
    own, pairs = split_pairs(evidence.features)
    parts = [part for pair in pairs for part in pair.parts]
    return [*(_refined(feature, parts) for feature in own), *pairs]


def split_pairs(
    features: Sequence[Feature | Cross],
) -> tuple[list[Feature | Cross], list[Cross]]:
    """Split features into those that rows are coded in, and pairs of two of them."""
    names = {feature.name for feature in features}
    pairs = [f for f in features if isinstance(f, Cross) and {p.name for p in f.parts} <= names]
    return [feature for feature in features if feature not in pairs], pairs


def _refined(feature: Feature | Cross, parts: Sequence[Feature]) -> Feature | Cross:
    if isinstance(feature, Cross) or not feature.is_numeric:
        return feature
    return refine([feature, *(part for part in parts if part.name == feature.name)])


def sources_of(features: Sequence[Feature | Cross]) -> tuple[Source, ...]:
    """The maps from the levels of columns to the levels of each pair."""
    own, pairs = split_pairs(features)
    places = {feature.name: place for place, feature in enumerate(own)}

    def part_of(part: Feature) -> Source:
        place = places[part.name]
        return Source((place,), coarsen(own[place], part), len(part.levels))

    return tuple(Source.of_cross(pair, [part_of(part) for part in pair.parts]) for pair in pairs)


def count_rows(
    sample: Sample, features: Sequence[Feature | Cross], settings: Mapping[str, Setting]
) -> Tally:
    """Count rows by the levels of known features; new categories become new levels."""
    n_classes = len(sample.classes)
    none = tuple(Counts(f, np.zeros((len(f.levels), n_classes))) for f in features)
    known = Tally(sample.classes, np.zeros(n_classes), none)
    return known + engine.tally_levels(sample, features, settings)


def moved_rate(evidence: Evidence) -> Floats | None:
    """The class frequencies that the prior was set to; None if they are those of the rows."""
    same = np.allclose(evidence.assumed_rate, evidence.base_rate, rtol=1e-9)
    return None if same else evidence.assumed_rate


def summarise_rows(evidence: Evidence, sample: Sample, tally: Tally) -> Summary:
    """Summarise rows near the weights of `evidence`; `tally` has their counts by level."""
    if moved_rate(evidence) is not None:
        evidence = evidence.with_prior(evidence.base_rate)
    features = [counts.feature for counts in tally.tables]
    coded, _ = split_pairs(features)
    rows = engine.code_rows(sample, coded)
    fine = replace(
        evidence,
        tables=tuple(_refine_table(evidence[c.feature.name], c) for c in tally.tables),
        class_counts=tally.class_counts,
    )
    return Summary(tally, _near(fine, rows, features), _near_blanks(fine, rows, coded))


def _refine_table(table: FeatureTable, counts: Counts) -> FeatureTable:
    """Refine a table to the levels of `counts`; a level that it does not have weighs zero."""
    own = np.vstack([table.by_class, np.zeros((1, table.by_class.shape[1]))])
    by_class = own[coarsen(counts.feature, table.feature)[:-1]]
    return replace(
        table,
        feature=counts.feature,
        counts=counts.counts,
        by_class=by_class,
        known_errors=None,
        margins=None,
    )


def _near(fine: Evidence, rows: Coded, features: Sequence[Feature | Cross]) -> Quadratic:
    """Approximate the loss near the weights of evidence, in one pass."""
    own, _ = split_pairs(features)
    singles = (Source.of(place, len(f.levels)) for place, f in enumerate(own))
    design = Design((*singles, *sources_of(features)))
    weights = np.vstack([fine.prior_row, *(table.by_class for table in fine)])
    target, n = Target(fine.class_counts), weights.shape[1]
    none = Quadratic.none(len(weights), n, n)
    problem = Problem(rows, design, target, Prior((), ()), past=none)
    refuse_large(problem)
    found = state_at(problem, weights, np.zeros(0)).found
    hessian = none.hessian
    for k, joint in enumerate(found.curvature.joint):
        hessian[0, k, :, k] = joint
    for (k, other), block in found.curvature.across.items():
        hessian[0, k, :, other], hessian[0, other, :, k] = block, block.T
    return Quadratic.about(weights, found.loss, found.size, found.slopes, hessian)


def refuse_large(problem: Problem) -> None:
    """Raise an error if the weights are too many for one matrix, which a summary needs."""
    if problem.whole:
        return
    n, k = problem.n_weights, problem.target.n_totals
    of = f" of {k} classes" if k > 1 else ""
    raise ValueError(
        f"the model has {n:,} weights{of}, and a summary holds a matrix of all of them, which is "
        f"too large (up to {FULL:,} weights of two classes); ask for fewer levels with bins=16 or "
        "max_levels=50"
    )


def _near_blanks(fine: Evidence, rows: Coded, coded: Sequence[Feature | Cross]) -> Quadratic:
    """Approximate the loss of rows with blanked values as a function of u, in one pass.

    Tables are first shifted so that their mean over the rows is zero, as after a fit.
    """
    u = _means(fine)
    start = replace(blank_all(shift(fine, u), coded), u=-u)
    numbers, slopes, bends = rows.sum(start).arrays
    loss, size = numbers.tolist()
    return Quadratic.about(-u, loss, size, slopes, bends)


def _means(evidence: Evidence) -> Floats:
    """The mean weight of each table that has a level for every row; zero for other tables."""
    whole = float(evidence.class_counts.sum())
    u = np.zeros((len(evidence), len(evidence.prior_row)))
    for j, table in enumerate(evidence):
        rows = table.counts.sum(axis=1)
        if rows.sum() >= whole * (1 - 1e-9):
            u[j] = rows @ table.by_class / whole
    return u
