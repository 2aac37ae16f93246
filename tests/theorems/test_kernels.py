"""Each hot loop equals its plain NumPy definition."""

import subprocess
import sys
from decimal import Context, Decimal

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from weigh import kernels
from weigh import numpy_kernels as few_rows
from weigh.bins import kernels as cutting

few = settings(max_examples=50, deadline=None)
finite = st.floats(-50, 50)
WIDE = Context(prec=50, Emin=-10_000)
sometimes_nan = st.floats(allow_infinity=True) | st.integers(-4, 4).map(float)


@st.composite
def coded_rows(draw):
    """Codes, classes and weights of some rows; how many codes and classes there are."""
    n = draw(st.integers(0, 30))
    codes = draw(arrays(np.uint8, n, elements=st.integers(0, 5)))
    classes = draw(arrays(np.uint8, n, elements=st.integers(0, 2)))
    weight = draw(arrays(np.float64, n, elements=st.floats(0, 10)))
    return codes, classes, weight


def matrices(rows, columns):
    return arrays(np.float64, st.tuples(st.integers(0, rows), columns), elements=finite)


@few
@given(coded_rows())
def test_count_adds_one_per_row(rows):
    codes, classes, _ = rows
    out = np.zeros((6, 3), dtype=np.int64)
    kernels.count(codes, classes, out)
    literal = [[((codes == v) & (classes == c)).sum() for c in range(3)] for v in range(6)]
    np.testing.assert_array_equal(out, literal)


@few
@given(coded_rows())
def test_count_weighted_adds_the_weights_in_the_order_of_the_rows(rows):
    codes, classes, weight = rows
    out, literal = np.zeros((6, 3)), np.zeros((6, 3))
    kernels.count_weighted(codes, classes, weight, out)
    np.add.at(literal, (codes, classes), weight)
    np.testing.assert_array_equal(out, literal)


@few
@given(coded_rows(), st.integers(0, 2**32 - 1), st.booleans())
def test_count_tokens_adds_weight_times_count_by_token_and_class(rows, seed, weighted):
    _, classes, weight = rows
    weight = weight if weighted else np.ones(1)
    times = np.random.default_rng(seed).integers(0, 4, (len(classes), 5)).astype(float)
    starts = np.append(0, np.cumsum((times > 0).sum(axis=1)))
    tokens, out = np.nonzero(times)[1], np.zeros((5, 3))
    kernels.count_tokens(starts, tokens, times[times > 0], classes, weight, out)
    literal = (times * weight[:, None]).T @ (classes[:, None] == np.arange(3))
    np.testing.assert_allclose(out, literal, rtol=1e-12, atol=1e-12)


def test_counting_adds_to_what_is_there():
    codes = classes = np.zeros(2, dtype=np.uint8)
    whole, real = np.full((1, 1), 5, dtype=np.int64), np.full((1, 1), 5.0)
    kernels.count(codes, classes, whole)
    kernels.count_weighted(codes, classes, np.array([0.5, 0.25]), real)
    assert (whole[0, 0], real[0, 0]) == (7, 5.75)


@few
@given(coded_rows(), arrays(np.float64, (6, 1), elements=finite))
def test_add_one_adds_the_weight_of_each_rows_code(rows, weights):
    codes, _, start = rows
    totals = start.reshape(-1, 1).copy()
    kernels.add_one(totals, codes, weights)
    np.testing.assert_array_equal(totals, start.reshape(-1, 1) + weights[codes])


@few
@given(
    coded_rows(), st.integers(1, 4).flatmap(lambda k: arrays(np.float64, (6, k), elements=finite))
)
def test_add_many_adds_the_weights_of_each_rows_code(rows, weights):
    codes, _, start = rows
    totals = np.repeat(start.reshape(-1, 1), weights.shape[1], axis=1)
    expected = totals + weights[codes]
    kernels.add_many(totals, codes, weights)
    np.testing.assert_array_equal(totals, expected)


@few
@given(arrays(np.float64, st.integers(0, 30), elements=st.floats(-750, 0) | st.floats(-1, 0)))
@example(np.array([0.0, -0.0, -1e-320, -708.4, -745.1, -745.2, -746.0, -1e308, -np.inf]))
@example(np.nextafter(-np.log(2) / 2 * np.arange(1, 2100, 2), [[-np.inf], [np.inf]]).ravel())
def test_exponentials_are_within_a_unit_in_the_last_place_and_the_same_in_both_homes(x):
    one_by_one = few_rows.exponential(x)
    together = x.copy()
    kernels.exponentials(together)
    np.testing.assert_array_equal(one_by_one, together)
    exact = np.array([float(Decimal(value).exp(WIDE)) for value in x.tolist()])
    assert (np.abs(one_by_one - exact) <= np.spacing(exact)).all()


@few
@given(matrices(20, st.just(1)))
def test_logistic_gives_both_probabilities(totals):
    out = np.empty((len(totals), 2))
    kernels.logistic(totals, out)
    odds = np.exp(totals[:, 0])
    np.testing.assert_allclose(out, np.column_stack([1 / (1 + odds), odds / (1 + odds)]), 1e-14)


@pytest.mark.parametrize("total", [709.0, 745.0, 1e4, 1e308])
def test_logistic_keeps_small_probabilities_and_never_overflows(total):
    out = np.empty((2, 2))
    kernels.logistic(np.array([[total], [-total]]), out)
    small = np.exp(-total)
    np.testing.assert_array_equal(out, [[small, 1.0], [1.0, small]])


@few
@given(matrices(20, st.integers(2, 5)))
def test_softmax_is_exp_over_the_sum_of_exp(totals):
    out = np.empty_like(totals)
    kernels.softmax(totals, out)
    expected = np.exp(totals) / np.exp(totals).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(out, expected, 1e-13)


@few
@given(matrices(10, st.integers(2, 4)), st.sampled_from([-1e6, 1e6]))
def test_softmax_does_not_overflow_and_does_not_mind_a_common_shift(totals, shift):
    plain, shifted = np.empty_like(totals), np.empty_like(totals)
    kernels.softmax(totals, plain)
    kernels.softmax(totals + shift, shifted)
    np.testing.assert_allclose(shifted, plain, rtol=1e-8)


@few
@given(
    arrays(np.float64, st.integers(0, 30), elements=sometimes_nan),
    st.sets(st.integers(-4, 4).map(float) | st.floats(allow_nan=False), max_size=6),
    st.sets(st.integers(-4, 4).map(float), max_size=3),
)
def test_digitize_counts_the_cuts_below_unless_special_or_missing(values, cuts, specials):
    cuts, specials = sorted(cuts), sorted(specials)
    out = np.empty(len(values), dtype=np.uint8)
    kernels.digitize(values, np.array(cuts), np.array(specials), 99, out)

    def literal(value):
        if np.isnan(value):
            return 99
        if value in specials:
            return len(cuts) + 1 + specials.index(value)
        return sum(cut < value for cut in cuts)

    assert out.tolist() == [literal(value) for value in values]


@pytest.mark.parametrize("n_cuts", [0, 1, 2, 3, 7, 8, 64, 65, 127, 1000])
def test_digitize_searches_many_numbers_at_once_as_numpy_searches_each(n_cuts):
    rng = np.random.default_rng(n_cuts)
    cuts = np.sort(rng.normal(size=n_cuts))
    values = np.concatenate([rng.normal(size=300), cuts, [np.inf, -np.inf]])
    out = np.empty(len(values), dtype=np.uint16)
    kernels.digitize(values, cuts, np.array([np.inf]), 9999, out)
    assert out[-2] == n_cuts + 1
    out[-2] = n_cuts
    np.testing.assert_array_equal(out, np.searchsorted(cuts, values))


one_weight_or_many = st.sampled_from(["one", "many"])


@few
@given(coded_rows(), one_weight_or_many)
def test_sum_codes_adds_the_weights_by_code(rows, weights):
    codes, _, weight = rows
    weight = weight if weights == "many" else np.array([2.5])
    out, literal = np.ones(6), np.ones(6)
    kernels.sum_codes(codes, weight, out)
    np.add.at(literal, codes, weight if weights == "many" else 2.5)
    np.testing.assert_array_equal(out, literal)


@st.composite
def numbered_rows(draw):
    """Values, their order, classes and weights; one weight may be that of every row."""
    _, classes, weight = draw(coded_rows())
    weight *= draw(arrays(np.bool_, len(weight)))
    values = draw(arrays(np.float64, len(classes), elements=st.integers(-3, 3).map(float)))
    if draw(one_weight_or_many) == "one" and len(classes) != 1:
        weight = np.ones(1)
    return values, np.argsort(values), classes, weight


@few
@given(numbered_rows())
def test_count_equal_sums_the_weights_of_equal_values_by_class(rows):
    values, order, classes, weight = rows
    weights = np.broadcast_to(weight, len(values))
    for labels in (classes, np.zeros(1, np.int64)):
        distinct, out = np.empty(len(values)), np.zeros((len(values), 3))
        found = cutting.count_equal(values, order, labels, weight, distinct, out)
        expected = np.unique(values[weights > 0])
        assert distinct[:found].tolist() == expected.tolist()
        own = np.broadcast_to(labels, len(values))
        sums = [[weights[(values == v) & (own == k)].sum() for k in range(3)] for v in expected]
        np.testing.assert_allclose(out[:found], np.reshape(sums, (found, 3)), 1e-13)


def literal_runs(values, classes, weights):
    """First and last value and class weights of runs; neighbours of one class alone are one run."""
    runs = []
    for value in np.unique(values[weights > 0]):
        counts = np.bincount(classes[values == value], weights[values == value], 3)
        alone = [*np.flatnonzero(counts)] if (counts > 0).sum() == 1 else None
        if runs and alone is not None and runs[-1][3] == alone:
            first, _, before, _ = runs.pop()
            runs.append((first, value, before + counts, alone))
        else:
            runs.append((value, value, counts, alone))
    return runs


@settings(max_examples=150, deadline=None)
@given(numbered_rows())
def test_group_runs_joins_neighbours_that_hold_one_class_alone(rows):
    values, order, classes, weight = rows
    ends, out = np.empty((len(values), 2)), np.zeros((len(values), 3))
    found = cutting.group_runs(values, order, classes, weight, ends, out)
    expected = literal_runs(values, classes, np.broadcast_to(weight, len(values)))
    assert ends[:found].tolist() == [[first, last] for first, last, _, _ in expected]
    counts = np.reshape([counts for _, _, counts, _ in expected], (found, 3))
    np.testing.assert_allclose(out[:found], counts, rtol=1e-13)


def entropy_sum(counts):
    """N times the entropy in bits."""
    total = counts.sum()
    share = counts[counts > 0] / total
    return -total * (share * np.log2(share)).sum()


@st.composite
def segments(draw):
    """Class weights of runs, and a segment of the runs."""
    shape = draw(st.tuples(st.integers(1, 8), st.integers(2, 4)))
    counts = draw(arrays(np.float64, shape, elements=st.integers(0, 6)))
    counts[:, 0] += counts.sum(axis=1) == 0
    start = draw(st.integers(0, len(counts) - 1))
    return counts, start, draw(st.integers(start + 1, len(counts)))


@few
@given(segments(), st.sampled_from([0, 5, 10, 400]))
def test_best_split_is_the_smallest_cut_of_least_entropy(segment, looked_up):
    counts, start, stop = segment
    cumulative = np.vstack([np.zeros(counts.shape[1]), counts.cumsum(axis=0)])
    n = np.arange(looked_up, dtype=float)
    table = n * np.log2(np.maximum(n, 1))
    sums = [
        entropy_sum(counts[start:g].sum(axis=0)) + entropy_sum(counts[g:stop].sum(axis=0))
        for g in range(start + 1, stop)
    ]
    smallest = next((g for g, s in enumerate(sums, start + 1) if s <= min(sums) + 1e-9), -1)
    assert cutting.best_split(cumulative, start, stop, 1e-12, table) == smallest


def test_best_split_takes_the_first_cut_within_the_tolerance():
    cumulative = np.array([[0, 0], [4, 1], [4, 5], [8, 5], [8, 9.5]])
    nothing = np.empty(0)
    assert cutting.best_split(cumulative, 0, 4, 1e-12, nothing) == 3
    assert cutting.best_split(cumulative, 0, 4, 1.0, nothing) == 1


def test_one_against_the_rest_keeps_its_ratios_far_below_zero():
    totals = np.array([[-800.0, -900.0, -760.0], [-801.0, -800.0, -800.0]])
    p = np.empty(totals.shape)
    kernels.ovr(totals, p)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(p[1, 0] / p[1, 1], np.exp(-1), rtol=1e-12)


# ---------------------------------------------------------------- few rows, without numba


@few
@given(coded_rows(), st.integers(1, 4), st.data())
def test_few_rows_have_the_same_totals(rows, n_columns, data):
    codes = rows[0]
    weights = data.draw(arrays(np.float64, (6, n_columns), elements=finite))
    name = "add_one" if n_columns == 1 else "add_many"
    found = [np.full((len(codes), n_columns), 0.1) for _ in range(2)]
    for totals, home in zip(found, (few_rows, kernels), strict=True):
        getattr(home, name)(totals, codes, weights)
    np.testing.assert_array_equal(*found)


@few
@given(
    st.integers(0, 9),
    st.integers(0, 19),
    st.integers(0, 3),
    st.sampled_from([np.float64, np.uint64]),
    st.integers(0, 2**32 - 1),
)
def test_totals_of_bytes_are_sums_by_row_of_the_weights_of_codes_in_order(
    n_rows, n_columns, hidden, kind, seed
):
    rng = np.random.default_rng(seed)
    wide = rng.integers(0, 256, (n_rows, hidden + n_columns)).astype(np.uint8)
    matrix = wide[:, hidden:]
    tables = rng.integers(0, 2**63, (n_columns, few_rows.BYTE_TABLE)).astype(kind)  # sums round
    expected = np.full((n_rows, 1), 7, dtype=kind)
    for row, codes in enumerate(matrix):
        for table, code in zip(tables, codes, strict=True):
            expected[row] += table[code]
    for home in (few_rows, kernels):
        found = np.full((n_rows, 1), 7, dtype=kind)
        home.add_bytes(found, matrix, tables)
        np.testing.assert_array_equal(found, expected)


@few
@given(matrices(20, st.integers(1, 4)), st.sampled_from([1.0, 20.0]))
def test_few_rows_have_the_same_probabilities(totals, far):
    names = ["logistic"] if totals.shape[1] == 1 else ["softmax", "ovr"]
    for name in names:
        found = [np.empty((len(totals), max(totals.shape[1], 2))) for _ in range(2)]
        for out, home in zip(found, (few_rows, kernels), strict=True):
            getattr(home, name)(far * totals, out)
        np.testing.assert_array_equal(*found)


@few
@given(
    arrays(np.float64, st.integers(0, 30), elements=sometimes_nan),
    st.sets(st.integers(-4, 4).map(float) | st.floats(allow_nan=False), max_size=6),
    st.sets(st.integers(-4, 4).map(float), max_size=3),
)
def test_few_rows_have_the_same_levels(values, cuts, specials):
    found = [np.empty(len(values), dtype=np.uint8) for _ in range(2)]
    for out, home in zip(found, (few_rows, kernels), strict=True):
        home.digitize(values, np.array(sorted(cuts)), np.array(sorted(specials)), 99, out)
    np.testing.assert_array_equal(*found)


def test_numba_is_loaded_for_many_rows_alone():
    code = (
        "import sys; from weigh import numpy_kernels as few\n"
        "small = few.for_rows(few.FEW).__name__\n"
        "assert 'numba' not in sys.modules\n"
        "print(small, few.for_rows(few.FEW + 1).__name__, 'numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["weigh.numpy_kernels", "weigh.kernels", "True"]
