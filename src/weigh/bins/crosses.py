"""Two columns joined into one feature, and common refinements of the levels of a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from weigh.arrays import Integers
from weigh.bins.labels import EXACT, Level, Notation, label
from weigh.bins.levels import Feature, Placed
from weigh.bins.uniting import list_others, sort_values
from weigh.frames import NOT_KNOWN, Table, Value, keys
from weigh.pickling import by_fields

AND, WITH = " & ", " with "
"""What joins the names or the levels of a pair, and the two phrases of a pair."""


@dataclass(frozen=True)
class Cross:
    """Two features joined into one; its levels are the pairs of levels that occur together.

    `pairs` holds the indices of each pair's two levels among those of the parts, in ascending
    order. The index after a part's last level means that its answer is not known: see `halved`.
    Pairs have no order, so a cross has no cut points of its own.
    """

    parts: tuple[Feature, Feature]
    pairs: tuple[tuple[int, int], ...] = ()

    cuts: ClassVar[None] = None
    cut_points: ClassVar[tuple[float, ...]] = ()
    n_in_order: ClassVar[int] = 0

    __reduce__ = by_fields

    @property
    def name(self) -> str:
        """The names of both parts, joined by "&"."""
        return AND.join(part.name for part in self.parts)

    @property
    def shown(self) -> str:
        """Both display names, joined by "&"."""
        return AND.join(part.shown for part in self.parts)

    @property
    def sources(self) -> tuple[Feature, ...]:
        """All features needed to determine the level."""
        return tuple(source for part in self.parts for source in part.sources)

    @property
    def skip_missing(self) -> bool:
        """Whether a missing value in either part means no evidence, rather than a level."""
        return any(part.skip_missing for part in self.parts)

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """Pairs of levels."""
        left, right = ((*part.levels, NOT_KNOWN) for part in self.parts)
        return tuple((left[i], right[j]) for i, j in self.pairs)  # type: ignore[misc]

    @property
    def halved(self) -> Cross:
        """The cross that also has each level of a part with an answer that is not known."""
        n, m = (part.no_level for part in self.parts)
        halves = {*((i, m) for i in range(n)), *((n, j) for j in range(m))}
        return replace(self, pairs=tuple(sorted({*self.pairs, *halves})))

    @property
    def whole(self) -> Cross:
        """The cross without the pairs with an answer that is not known."""
        kept = np.flatnonzero(~self.is_half).tolist()
        return replace(self, pairs=tuple(self.pairs[i] for i in kept))

    @property
    def is_half(self) -> Integers:
        """Mask of the pairs with an answer that is not known."""
        ends = [part.no_level for part in self.parts]
        return np.asarray((np.reshape(self.pairs, (-1, 2)) == ends).any(axis=1))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The pairs as text."""
        return self.join_texts(*(part.labels for part in self.parts))

    @property
    def cut_labels(self) -> tuple[str, ...]:
        """The pairs as text, with intervals written by their cut points."""
        return self.join_texts(*(part.cut_labels for part in self.parts))

    @property
    def range_labels(self) -> tuple[str, ...]:
        """The pairs as text, with 0 and 1 as ranges even if the column has no other numbers."""
        return self.join_texts(*(part.range_labels for part in self.parts))

    def join_texts(self, left: Sequence[str], right: Sequence[str]) -> tuple[str, ...]:
        """Text of each pair, from the texts of the levels of both parts."""
        left, right = ([*texts, label(NOT_KNOWN)] for texts in (left, right))
        texts = [f"{left[i]}{AND}{right[j]}" for i, j in self.pairs]
        if len(set(texts)) < len(texts):  # level names that contain an & themselves
            texts = [f'"{left[i]}"{AND}"{right[j]}"' for i, j in self.pairs]
        return tuple(texts)

    def spelt(self, notation: Notation) -> tuple[str, ...]:
        """The pairs as displayed: with the user's texts, in the given notation."""
        return self.join_texts(*(part.spelt(notation) for part in self.parts))

    def relation(self, place: int, notation: Notation = EXACT) -> str:
        """The text between the names and a pair, where they are apart; a phrase joins them."""
        return "="

    def tell_label(self, place: int, values: Sequence[Value]) -> str:
        """The label of a pair, for a row with these two values."""
        texts = [*map(_label, self.parts, self.pairs[place])]
        told = [*map(Feature.tell, self.parts, self.pairs[place], texts, values)]
        return self.labels[place] if told == texts else AND.join(told)

    def phrase(self, place: int, notation: Notation = EXACT, values: Sequence[Value] = ()) -> str:
        """A pair as a phrase, for a row with two values if they are given.

        An example is `hours 40 to 45 with status = married`.
        """
        own = [values[k : k + 1] for k in range(len(self.parts))]
        told = zip(self.parts, self.pairs[place], own, strict=True)
        return WITH.join(
            f"{part.shown} = {_label(part, at)}"
            if at == part.no_level
            else part.phrase(at, notation, value)
            for part, at, value in told
        )

    def phrase_values(self, table: Table) -> str:
        """The values in a table's first row as a phrase, as levels where they are levels."""
        return WITH.join(part.phrase_values(table) for part in self.parts)

    def read(self, table: Table) -> Placed:
        """Find the pair of every row of a table."""
        joined = self.join(table)
        known = np.array([i * self._width + j for i, j in self.pairs], dtype=np.int64)
        places = np.searchsorted(known, joined.levels)
        found = np.append(known, -1)[places] == joined.levels
        return replace(joined, levels=np.where(found, places, len(known)))

    @property
    def _width(self) -> int:
        return len(self.parts[1].levels) + 1

    def join(self, table: Table) -> Placed:
        """Code rows by cell of the grid of both parts' levels, "no level" included."""
        left, right = (_levels(part.read(table)) for part in self.parts)
        cells = left.astype(np.int64) * self._width + right
        size = (len(self.parts[0].levels) + 1) * self._width
        if size <= max(len(cells), 1 << 16):
            return Placed(cells, np.arange(size))
        used, codes = np.unique(cells, return_inverse=True)
        return Placed(codes, used)

    def of_cells(self, cells: Integers) -> Cross:
        """The cross whose pairs are the given cells of the grid."""
        pairs = zip(*(part.tolist() for part in np.divmod(cells, self._width)), strict=True)
        return replace(self, pairs=tuple(pairs))

    def is_pair(self, cells: Integers) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Mask of the cells of the grid in which both parts have a level."""
        left, right = np.divmod(cells, self._width)
        return np.asarray((left < len(self.parts[0].levels)) & (right < self._width - 1))

    def spell(self, table: Table) -> str:
        """The values in a table's first row, as text."""
        return AND.join(part.spell(table) for part in self.parts)

    def skips(self, table: Table) -> bool:
        """Whether a value in a table's first row is not known, or missing without being a level."""
        return any(part.skips(table) for part in self.parts)

    def answers(self, table: Table) -> Integers:
        """Mask of the rows in which both parts have a value, or a missing value that is a level."""
        left, right = (part.answers(table) for part in self.parts)
        return left & right

    def positions(self, other: Cross) -> Integers:
        """Index in this cross of each pair of another, whose pairs must all occur here."""
        places = {pair: i for i, pair in enumerate(self.pairs)}
        return np.array([places[pair] for pair in self._translated(other)], np.intp)

    def _translated(self, other: Cross) -> list[tuple[int, int]]:
        left, right = (a.positions(b) for a, b in zip(self.parts, other.parts, strict=True))
        return [(int(left[i]), int(right[j])) for i, j in other.pairs]

    def unite(self, other: Cross) -> Cross:
        """Merge two crosses: the pairs of either."""
        left, right = (a.unite(b) for a, b in zip(self.parts, other.parts, strict=True))
        both = Cross((left, right))
        pairs = {*both._translated(self), *both._translated(other)}
        return replace(both, pairs=tuple(sorted(pairs)))


def _label(part: Feature, at: int) -> str:
    """The label of a level, or of an answer that is not known."""
    return label(NOT_KNOWN) if at == part.no_level else part.labels[at]


def _levels(placed: Placed) -> Integers:
    """The level of every row."""
    return placed.levels[placed.codes]


def refine(features: Sequence[Feature]) -> Feature:
    """Common refinement of several features of one column: it separates all that any separates.

    >>> young, old = (Feature("age", cuts=cuts) for cuts in ((18.0,), (18.0, 65.0)))
    >>> refine([young, old]).cuts
    (18.0, 65.0)
    """
    first, has_missing = features[0], any(feature.has_missing for feature in features)
    if first.is_numeric:
        cuts = {cut for feature in features for cut in feature.cuts or ()}
        return replace(first, cuts=tuple(sorted(cuts)), has_missing=has_missing)
    known = {known for feature in features for known in keys(feature.values)}
    longest = max(features, key=lambda feature: len(feature.values))  # has all, if ordered
    values = longest.values if longest.ordered else sort_values(known)
    other = tuple(sorted({kind for feature in features for kind in feature.other}))
    found = replace(first, values=values, other=other, has_missing=has_missing, groups=())
    return replace(found, others=list_others(features, values))


def coarsen(fine: Feature | Cross, coarse: Feature | Cross) -> Integers:
    """Map each level of `fine`, and last the index for no level, to its level of `coarse`.

    >>> young, all_ages = Feature("age", cuts=(18.0,)), Feature("age", cuts=(18.0, 65.0))
    >>> coarsen(all_ages, young).tolist()
    [0, 1, 1, 2]
    """
    if isinstance(fine, Cross):
        assert isinstance(coarse, Cross)
        return _coarsen_pairs(fine, coarse)
    assert isinstance(coarse, Feature)
    nothing = len(coarse.levels)
    if coarse.cuts is not None:
        ends = np.append(fine.cuts or (), np.inf)
        special = range(len(coarse.cuts) + 1, len(coarse.cuts) + 1 + len(coarse.values))
        found = [*np.searchsorted(coarse.cuts, ends).tolist(), *special]
    else:
        known = dict(zip(keys(coarse.values), coarse.places, strict=True))
        each = dict(zip(fine.places, keys(fine.values), strict=True))  # one value of each level
        found = [known.get(each[place], coarse.rest) for place in sorted(each)]
        found += [coarse.rest] if fine.other else []
    found += [nothing - coarse.has_missing] if fine.has_missing else []
    return np.array([*found, nothing], dtype=np.intp)


def _coarsen_pairs(fine: Cross, coarse: Cross) -> Integers:
    left, right = (coarsen(*parts) for parts in zip(fine.parts, coarse.parts, strict=True))
    known = {pair: i for i, pair in enumerate(coarse.pairs)}
    pairs = ((int(left[i]), int(right[j])) for i, j in fine.pairs)
    return np.array([*(known.get(pair, len(known)) for pair in pairs), len(known)], dtype=np.intp)
