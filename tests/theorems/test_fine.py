"""bins="fine": many levels, those of frequent values alone; for every learner, and in a command."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import weigh
from weigh import AdjustedNB, BoostedNB, C44Classifier, EducatedNB, EvidenceNB, PerplexedNB
from weigh.bins import fine_cuts, quantile_cuts
from weigh.cli import main
from weigh.frames import read
from weigh.parameters import read_settings

few = settings(max_examples=60, deadline=None)
weighted_values = st.lists(
    st.tuples(
        st.integers(-9, 9).map(lambda v: v / 4) | st.just(math.nan),
        st.sampled_from([0, 1, 1, 2, 5, 20]),
    ),
    min_size=1,
    max_size=40,
).filter(lambda rows: any(w and v == v for v, w in rows))
most_levels = st.integers(2, 9)


def arrays(rows):
    values, weights = zip(*rows, strict=True)
    return np.array(values), np.array(weights, dtype=float)


def literal_fine_cuts(values, weights, most):
    """In fractions: a cut beside frequent values, where the rest reaches its next n-th part, and at
    the halves of the outer intervals."""
    rows = [(v, Fraction(w)) for v, w in zip(values, weights, strict=True) if w and v == v]
    distinct = sorted({v for v, _ in rows})
    weight = {v: sum(w for u, w in rows if u == v) for v in distinct}
    whole = sum(weight.values())
    if len(distinct) <= most:
        return [(a + b) / 2 for a, b in pairwise(distinct)]
    own = {v for v in distinct if weight[v] > whole / most}
    rest = whole - sum(weight[v] for v in own)
    roomy = most >= 128
    n = max(math.ceil(rest / whole * most) if roomy else 1, most - 2 * len(own), 1)
    parts = [rest * k / n for k in range(1, n + 1)]
    cuts, before = [], Fraction(0)
    for a, b in pairwise(distinct):
        after = sum((weight[v] for v in distinct if v <= a and v not in own), Fraction(0))
        reached = any(before < part <= after for part in parts)
        if a in own or b in own or reached:
            cuts.append((a + b) / 2)
            before = after
    upper = literal_halves([v for v in distinct if v > cuts[-1]], weight, 8 * roomy)
    lower = literal_halves([v for v in distinct if v < cuts[0]][::-1], weight, 8 * roomy)
    return sorted([*cuts, *upper, *lower])


def literal_halves(outwards, weight, times):
    """Cuts of the values of an outer interval: the inner part has half of the rows, the outer 8."""
    if not times:
        return []
    for place in range(1, len(outwards)):
        inner, outer = outwards[:place], outwards[place:]
        if sum(weight[v] for v in inner) >= sum(weight[v] for v in outer) >= 8:
            return [(inner[-1] + outer[0]) / 2, *literal_halves(outer, weight, times - 1)]
    return []


# ---------------------------------------------------------------- where it cuts


@few
@given(weighted_values, most_levels)
def test_the_cuts_are_those_of_the_definition(rows, most):
    values, weights = arrays(rows)
    assert [*fine_cuts(values, weights, most)] == literal_fine_cuts(values, weights, most)


@few
@given(st.integers(0, 2**32 - 1), st.integers(120, 140), st.integers(100, 400))
def test_the_cuts_of_many_values_are_those_of_the_definition(seed, most, n):
    rng = np.random.default_rng(seed)
    weights = rng.choice([1.0, 2.0, 3.0, 7.0, 20.0, 90.0], n, p=rng.dirichlet(np.ones(6)))
    values = np.arange(n) / 4
    assert [*fine_cuts(values, weights, most)] == literal_fine_cuts(values, weights, most)


def test_wide_tables_have_no_more_levels_than_they_share():
    values = np.arange(100_000.0)
    assert len(fine_cuts(values, None, 127)) + 1 == 127
    assert len(fine_cuts(values, None, 128)) + 1 == 128 + 2 * 6


def test_the_outer_intervals_are_halved_down_to_eight_rows():
    values = np.arange(128 * 100.0)
    cuts = np.array(fine_cuts(values, None, 128))
    rows = np.diff([0, *np.searchsorted(values, cuts), len(values)])
    assert rows[:5].tolist() == [12, 13, 25, 50, 100]
    assert rows[-5:].tolist() == [100, 50, 25, 13, 12]


@few
@given(weighted_values, most_levels)
def test_a_weight_is_that_many_rows(rows, most):
    values, weights = arrays(rows)
    repeated = np.repeat(values, weights.astype(int))
    assert fine_cuts(values, weights, most) == fine_cuts(repeated, None, most)


@few
@given(weighted_values, most_levels)
def test_a_frequent_value_has_a_level_of_its_own_and_levels_stay_few(rows, most):
    values, weights = arrays(rows)
    known = np.isfinite(values) & (weights > 0)
    distinct = np.unique(values[known])
    heavy = [
        v
        for v in distinct
        if weights[known][values[known] == v].sum() * most > weights[known].sum()
    ]
    cuts = np.array(fine_cuts(values, weights, most))
    levels = np.searchsorted(cuts, distinct)
    for v in heavy:
        assert (levels == np.searchsorted(cuts, v)).sum() == 1
    assert len(cuts) + 1 <= max(most, 2 * len(heavy) + 1)
    assert len(np.unique(levels)) == len(cuts) + 1  # no interval is empty


@few
@given(st.integers(0, 2**32 - 1), st.integers(2, 20))
def test_an_interval_between_frequent_values_holds_no_more_than_its_share_and_a_value(seed, most):
    rng = np.random.default_rng(seed)
    values = np.where(rng.random(500) < 0.4, 0.0, rng.normal(size=500).round(2))
    cuts = np.array(fine_cuts(values, None, most))
    distinct, counts = np.unique(values, return_counts=True)
    own = counts * most > len(values)
    share = counts[~own].sum() / max(most - 2 * own.sum(), 1)
    level = np.searchsorted(cuts, distinct)
    for k in np.unique(level[~own]):
        assert counts[level == k].sum() <= share + counts[~own].max()


def test_a_column_of_many_zeros_keeps_them_apart_where_quantiles_do_not():
    rng = np.random.default_rng(0)
    values = np.where(rng.random(10_000) < 0.5, 0.0, rng.exponential(size=10_000))
    values[:100] = -1e-9
    cuts = np.array(fine_cuts(values, None, 128))
    below, zero, above = np.searchsorted(cuts, [-1e-9, 0.0, values[values > 0].min()])
    assert below < zero < above
    assert 100 < len(cuts) + 1 <= 128
    coarse = np.array(quantile_cuts(values, None, 4))
    assert np.searchsorted(coarse, -1e-9) == np.searchsorted(coarse, 0.0)


# ---------------------------------------------------------------- how many levels


@pytest.mark.parametrize(
    ("columns", "levels"), [(1, 128), (16, 128), (17, 120), (32, 64), (85, 24), (300, 24)]
)
def test_a_table_of_more_columns_has_fewer_levels_in_each(columns, levels):
    table = read(np.zeros((2, columns)))
    assert {s.most_levels for s in read_settings(EducatedNB(pairs=0), table).values()} == {levels}
    X = np.column_stack([np.random.default_rng(0).permutation(300) for _ in range(columns)])
    counts = EvidenceNB(bins="fine").fit(X[:, :1], X[:, 0] % 2).evidence_["x0"].counts
    assert len(counts) == 128
    if columns <= 32:
        table = EvidenceNB(bins="fine").fit(X, X[:, 0] % 2).evidence_["x0"]
        assert len(table.levels) == levels


def draw_table():
    rng = np.random.default_rng(3)
    x = np.where(rng.random(600) < 0.3, 0.0, rng.normal(size=600))
    return pd.DataFrame({"x": x, "c": rng.choice([*"ab"], 600)}), (x + rng.normal(size=600) > 0)


@pytest.mark.parametrize(
    "learner",
    [
        EvidenceNB(bins="fine"),
        AdjustedNB(bins="fine", random_state=0),
        weigh.WeightedNB(bins="fine", random_state=0),
        BoostedNB(bins="fine", random_state=0),
        PerplexedNB(bins="fine", random_state=0),
        C44Classifier(bins="fine"),
        weigh.BoostedNBRegressor(bins={"x": "fine"}, random_state=0),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_every_learner_takes_fine_bins(learner):
    X, y = draw_table()
    model = learner.fit(X, X["x"] if "Regressor" in type(learner).__name__ else y)
    assert model._learnt.features[0].cuts == fine_cuts(X["x"].to_numpy(), None, 128)
    assert np.isfinite(model.predict(X)).all()


def test_columns_that_a_dict_of_bins_does_not_name_are_fine_for_the_educated_alone():
    X, _ = draw_table()
    X["z"] = X["x"]
    learners = (EducatedNB(pairs=0, bins={"z": [0.0]}), EvidenceNB(bins={"z": [0.0]}))
    fine, mdl = (read_settings(learner, read(X))["x"].bins for learner in learners)
    assert (fine, mdl) == ("fine", "mdl")


@pytest.mark.parametrize("bins", ["rough", 1, True, {"x": "rough"}])
def test_bins_of_another_kind_are_refused_with_what_they_may_be(bins):
    X, y = draw_table()
    with pytest.raises(ValueError, match="bins must be 'mdl', 'fine', a number"):
        EducatedNB(pairs=0, bins=bins).fit(X, y)


# ---------------------------------------------------------------- on the command line


def run_fit(folder, *words):
    X, y = draw_table()
    data, out = folder / "data.csv", folder / "model.json"
    X.assign(y=y).to_csv(data, index=False)
    result = CliRunner().invoke(main, ["fit", str(data), "--target", "y", "-o", str(out), *words])
    return result, out


@pytest.mark.parametrize(
    ("words", "bins"),
    [
        ((), "fine"),
        (("--learner", "evidence"), "mdl"),
        (("--learner", "evidence", "--bins", "fine"), "fine"),
        (("--bins", "mdl"), "mdl"),
        (("--bins", "7"), 7),
    ],
)
def test_a_command_cuts_as_it_is_told_or_as_the_learner_does(tmp_path, words, bins):
    result, out = run_fit(tmp_path, *words)
    assert result.exit_code == 0, result.output
    assert weigh.load(out).bins == bins


def test_a_command_names_what_bins_may_be(tmp_path):
    result, _ = run_fit(tmp_path, "--bins", "rough")
    assert result.exit_code == 2
    assert "--bins" in result.output
    assert "'rough'" in result.output
