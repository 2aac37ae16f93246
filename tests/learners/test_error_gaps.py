"""The findings of an evaluation name groups whose error rates differ by more than chance."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, hypergeom

from weigh import Evaluation
from weigh.evaluation.error_gaps import differ

LEVELS = st.sampled_from([0.2, 0.05, 0.01, 0.05 / 60])


def name_groups(y, p, group, **options):
    """The groups that the findings name, by kind of error."""
    found = Evaluation.from_predictions(y, p, by=group, **options).findings
    start = re.compile(r"Groups with a different (\S+) rate at the cut-off \S+: (.*)\.$")
    told = [match.groups() for match in map(start.match, found) if match]
    return {kind: {part.split(" (")[0] for part in names.split("; ")} for kind, names in told}


@st.composite
def margins(draw):
    every = draw(st.integers(2, 200))
    return draw(st.integers(0, every)), draw(st.integers(0, every)), every


@given(margins(), LEVELS)
def test_chance_alone_is_found_at_most_as_often_as_the_level_says(margins, level):
    rows, wrong, every = margins
    counts = np.arange(max(0, rows + wrong - every), min(rows, wrong) + 1)
    found = [differ(k, rows, wrong, every, 1 - level) for k in counts]
    assert hypergeom.pmf(counts, every, wrong, rows)[found].sum() <= level


@given(margins(), LEVELS, st.data())
def test_the_test_is_the_literal_binomial_test_of_the_smallest_margin(margins, level, data):
    rows, wrong, every = margins
    k = data.draw(st.integers(max(0, rows + wrong - every), min(rows, wrong)))
    tables = {
        rows: (k, wrong / every),
        every - rows: (wrong - k, wrong / every),
        wrong: (k, rows / every),
        every - wrong: (rows - k, rows / every),
    }
    drawn = min(tables)
    if [rows, every - rows, wrong, every - wrong].count(drawn) > 1:
        return  # tables of equal margins have tests of equal worth
    hit, share = tables[drawn]
    chance = 2 * min(binom.cdf(hit, drawn, share), binom.sf(hit - 1, drawn, share))
    assert differ(k, rows, wrong, every, 1 - level) == (chance < level) or np.isclose(chance, level)


@settings(max_examples=100)
@given(margins(), LEVELS, st.data())
def test_a_group_differs_from_the_others_as_they_differ_from_it(margins, level, data):
    rows, wrong, every = margins
    k = data.draw(st.integers(max(0, rows + wrong - every), min(rows, wrong)))
    one = differ(k, rows, wrong, every, 1 - level)
    assert one == differ(wrong - k, every - rows, wrong, every, 1 - level)
    assert one == differ(rows - k, rows, every - wrong, every, 1 - level)  # of those that are right


@pytest.mark.parametrize("n_groups", [2, 12])
def test_evaluations_without_a_difference_rarely_name_a_group(n_groups):
    rng = np.random.default_rng(n_groups)
    share = rng.dirichlet(np.full(n_groups, 2.0))  # some groups are small

    def is_named():
        p, group = rng.random(500), rng.choice(n_groups, 500, p=share)
        return bool(name_groups((rng.random(500) < p).astype(int), p, group))

    runs = 200
    assert sum(is_named() for _ in range(runs)) <= binom.ppf(0.999, runs, 0.05)


def test_a_group_with_more_false_positives_is_named_at_the_cut_off_of_the_groups():
    rng = np.random.default_rng(0)
    group, y = rng.choice([*"abc"], 3000), rng.integers(0, 2, 3000)
    flagged = np.where(y == 1, 0.6, np.where(group == "b", 0.4, 0.1)) > rng.random(3000)
    p = np.where(flagged, 0.4, 0.2)
    assert name_groups(y, p, group) == {}  # at a half no row is flagged
    named = name_groups(y, p, group, cut_off=0.3)
    assert named.keys() == {"false-positive"}
    assert "b" in named["false-positive"]
    assert name_groups(y, p, group, cut_off=0.3, sample_weight=np.full(3000, 2.0)) == named


def test_a_small_group_is_named_where_its_errors_are_certain():
    y, group = np.zeros(212, dtype=int), np.repeat([*"ab"], [200, 12])
    y[:100] = 1
    p = np.where((y == 1) | (group == "b"), 0.9, 0.1)
    assert name_groups(y, p, group) == {"false-positive": {"a", "b"}}


def test_one_group_and_groups_without_errors_are_not_named():
    y = np.tile([0, 1], 50)
    for group in (np.zeros(100), y, np.arange(100) % 3):
        assert name_groups(y, y * 0.8 + 0.1, group) == {}
    assert name_groups(y, 0.9 - y * 0.8, np.zeros(100)) == {}


def test_a_weight_of_two_is_a_row_given_twice():
    told = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y, p, group = rng.integers(0, 2, 60), rng.random(60), rng.choice([*"abc"], 60)
        p = np.where(group == "a", np.abs(y - 0.4), p)  # wrong less often
        weight = rng.integers(1, 4, 60)
        rows = np.repeat(np.arange(60), weight)
        found = name_groups(y, p, group, sample_weight=weight)
        assert found == name_groups(y[rows], p[rows], group[rows])
        told.append(found != name_groups(y, p, group))
    assert any(told)  # weights matter
    assert not all(told)


def test_groups_without_an_interval_do_not_count_among_those_that_chance_may_list():
    rng = np.random.default_rng(0)
    group = np.repeat(["low", "high", *(f"pair {k}" for k in range(30))], [500, 500, *[2] * 30])
    p = np.where(group == "low", 0.3, 0.6)
    y = (rng.random(len(p)) < 0.45).astype(int)
    found = Evaluation.from_predictions(y, p, by=group).findings
    (line,) = [line for line in found if line.startswith("Groups with biased")]
    assert line.endswith("By chance alone about 0.1 of 2 would be listed.")


def test_two_groups_are_one_comparison():
    wrong = (20, 35)  # of 100 rows each without the event
    y, group = np.zeros(400, dtype=int), np.repeat([*"ab"], 200)
    p = np.zeros(400)
    for k in range(2):
        y[200 * k : 200 * k + 100] = 1
        p[200 * k + 100 : 200 * k + 100 + wrong[k]] = 0.9
    p[y == 1] = 0.9
    chance = 2 * min(binom.cdf(20, 55, 0.5), binom.sf(34, 55, 0.5))
    found = [name_groups(y, p, group, coverage=1 - level) for level in (1.9 * chance, 2.1 * chance)]
    assert found == [{}, {"false-positive": {"a", "b"}}]  # of two kinds of error
