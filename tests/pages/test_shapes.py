"""What pictures show: groups of least error, axes that keep the order, round numbers."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weigh
from weigh.chart_data import NumberAxis, outline, round_numbers, segment
from weigh.evidence.show import summarise

few = settings(max_examples=40, deadline=None)
numbers = st.floats(-50, 50, width=32)


def squared_error(weights, rows, groups):
    total = 0.0
    for group in groups:
        part, heavy = weights[group], rows[group]
        mean = (part * heavy[:, None]).sum(axis=0) / heavy.sum()
        total += (heavy[:, None] * (part - mean) ** 2).sum()
    return total


@few
@given(
    st.lists(st.tuples(numbers, numbers, st.integers(1, 9)), min_size=2, max_size=9),
    st.integers(3, 6),
)
def test_no_other_way_to_join_neighbours_keeps_the_shape_better(levels, most):
    weights = np.array([[a, b] for a, b, _ in levels])
    rows, n = np.array([float(r) for *_, r in levels]), len(levels)
    groups = outline(weights, rows, most)
    assert [i for g in groups for i in range(g.start, g.stop)] == [*range(n)]
    assert len(groups) == min(most, n)
    if n <= most:
        return
    assert (groups[0].stop, groups[-1].start) == (1, n - 1)
    literal = min(
        squared_error(weights, rows, [slice(a, b) for a, b in itertools.pairwise((0, *cut, n))])
        for inner in itertools.combinations(range(2, n - 1), most - 3)
        for cut in [(1, *inner, n - 1)]
    )
    assert squared_error(weights, rows, groups) == pytest.approx(literal, rel=1e-6, abs=1e-6)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(numbers, st.integers(1, 9)), min_size=1, max_size=8),
    st.integers(1, 5),
    st.integers(0, 20),
)
def test_segments_of_enough_rows_are_the_best_of_all_ways_to_cut(levels, most, least):
    weights = np.array([[a] for a, _ in levels])
    rows, n = np.array([float(r) for _, r in levels]), len(levels)
    least = min(least, rows.sum())
    groups = segment(weights, rows, most, least)
    assert [i for g in groups for i in range(g.start, g.stop)] == [*range(n)]
    assert len(groups) <= most
    assert all(rows[group].sum() >= least for group in groups)
    ways = [
        [slice(a, b) for a, b in itertools.pairwise((0, *cut, n))]
        for k in range(min(most, n))
        for cut in itertools.combinations(range(1, n), k)
    ]
    literal = min(
        squared_error(weights, rows, way)
        for way in ways
        if all(rows[group].sum() >= least for group in way)
    )
    assert squared_error(weights, rows, groups) == pytest.approx(literal, rel=1e-6, abs=1e-6)


def test_a_summary_has_all_rows_the_mean_weights_and_both_ends():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(4000, 1)) * 20)
    y = rng.random(4000) < 1 / (1 + np.exp(-np.sin(X[:, 0] / 15)))
    table = weigh.EvidenceNB(bins="fine").fit(X, y).evidence_["x0"]
    short = summarise(table, 8)
    assert len(table.levels) > 40
    assert len(short.levels) == 8
    assert {*short.feature.cuts} <= {*table.feature.cuts}
    assert (short.labels[0], short.labels[-1]) == (table.labels[0], table.labels[-1])
    np.testing.assert_array_equal(short.counts.sum(axis=0), table.counts.sum(axis=0))
    assert short.share @ short.weights == pytest.approx(table.share @ table.weights)
    assert summarise(table, None) is table
    text = weigh.EvidenceNB(bins="fine").fit(X, y).evidence_
    every = [line for line in text.to_text(max_rows=None).splitlines() if " to " in line]
    assert len(every) + len([x for x in table.labels if " to " not in x]) >= len(table.levels)
    assert len(text.to_text().splitlines()) < 20


@few
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30, unique=True))
def test_an_axis_keeps_the_order_of_cut_points_and_ends_at_0_and_1(cuts):
    cuts = tuple(sorted(cuts))
    axis = NumberAxis.of(cuts)
    edges = axis.edges
    assert (edges[0], edges[-1]) == (0.0, 1.0)
    assert (np.diff(edges) >= 0).all()
    share = np.full(len(cuts) + 1, 1 / (len(cuts) + 1))
    with np.errstate(divide="ignore"):
        heights = axis.heights(share)
    assert ((heights >= 0) & (heights <= 1)).all()
    for most in (2, 5):
        ticks = axis.ticks(most)
        assert 1 <= len(ticks) <= most
        assert len({text for _, text in ticks}) == len(ticks)
        assert all(0 <= place <= 1 for place, _ in ticks)


@pytest.mark.parametrize(
    ("cuts", "scale"),
    [
        ((1.0, 2.0, 3.0, 4.0), "linear"),
        ((1.0, 3.0, 10.0, 30.0, 100.0, 1e5), "log"),
        ((-1.0, 1.0, 2.0, 3.0, 4.0, 1e4), "even"),
        ((1.0, 1.1, 1.2, 1.3, 1e3), "even"),
    ],
)
def test_an_axis_is_logarithmic_where_that_reads_better(cuts, scale):
    assert NumberAxis.of(cuts).scale == scale


@few
@given(st.floats(-1e5, 1e5), st.floats(0.01, 1e5), st.integers(2, 9))
def test_round_numbers_lie_within_and_are_equally_far_apart(low, span, most):
    found = round_numbers(low, low + span, most)
    assert len(found) <= most
    assert all(low - 1e-9 <= x <= low + span + 1e-9 for x in found)
    if len(found) > 2:
        np.testing.assert_allclose(np.diff(found), found[1] - found[0], rtol=1e-6)


@pytest.mark.parametrize("first", [0.5, 0.0, -3.0])
def test_whole_numbers_one_by_one_have_intervals_of_one_width(first):
    axis = NumberAxis.of((first, first + 1, first + 2))
    assert np.diff(axis.edges) == pytest.approx(np.full(4, 0.25))


def test_outer_intervals_are_as_wide_as_if_their_rows_lay_as_densely_as_those_beside_them():
    share = np.array([0.22, 0.55, 0.23])
    axis = NumberAxis.of((4.5, 15.5), share)
    assert np.diff(axis.edges) == pytest.approx(share)
    assert axis.heights(share) == pytest.approx(1.0)
    wide = NumberAxis.of((4.5, 5.5, 15.5), np.array([0.6, 0.001, 0.398, 0.001]))
    assert np.diff(wide.edges)[[0, -1]] * 1.55 == pytest.approx([0.5, 0.05])
    assert all(4 <= float(text) <= 16 for _, text in wide.ticks(5))


@few
@given(st.integers(3, 12), st.data())
def test_areas_of_bars_are_shares_of_rows_unless_they_are_cut(n, data):
    cuts = tuple(np.cumsum(data.draw(st.lists(st.floats(1, 3), min_size=n - 1, max_size=n - 1))))
    rows = data.draw(st.lists(st.floats(1, 3), min_size=n, max_size=n))
    share = np.array(rows) / sum(rows)
    axis = NumberAxis.of(cuts, share)
    areas = axis.heights(share) * np.diff(axis.edges)
    np.testing.assert_allclose(areas / areas.sum(), share, rtol=1e-9)
