"""The page of measured numbers: its folds, ratios, and what intervals of counts can cover."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.numbers_kept import splits
from benchmarks.numbers_sets import Problem
from benchmarks.quality_numbers import Measured, error_of_ratio, least_coverage
from scipy.stats import poisson

from weigh.educated.intervals import BlankFactors, CountDistribution, law_interval


def literal_least(mean, stated):
    """Every interval from a to b, one by one."""
    every = [poisson.pmf(np.arange(a, b + 1), mean).sum() for a in range(40) for b in range(a, 40)]
    return min(chance for chance in every if chance >= stated)


def test_the_least_coverage_of_counts_is_that_of_all_intervals():
    means = np.array([0.02, 0.1, 0.2, 0.7, 3.0, 6.0])
    expected = [literal_least(mean, 0.9) for mean in means]
    np.testing.assert_allclose(least_coverage(CountDistribution(1.0), means), expected, rtol=1e-9)


def test_no_interval_of_rare_counts_is_near_to_90_percent():
    """With a mean below 0.05 zero alone is 95% or more."""
    means = np.linspace(0.005, 0.05, 10)
    assert (least_coverage(CountDistribution(1.0), means) >= np.exp(-0.05) - 1e-12).all()


def test_intervals_of_counts_cover_at_least_what_the_least_can():
    means = np.linspace(0.05, 5, 60)
    for law in (CountDistribution(1.0), CountDistribution(3.0)):
        none = BlankFactors(np.ones((1, 40)), np.zeros(60, dtype=int), np.ones(60, dtype=bool))
        low, high = law_interval(law, means, none, 0.9)
        covered = law.below(high, means) - law.below(low - 1, means)
        assert (covered >= least_coverage(law, means) - 1e-12).all()


def test_the_error_of_a_ratio_is_that_of_the_mean_over_folds():
    own, ebm = Measured(np.array([1.0, 4.0, 9.0]), np.ones(3)), Measured(np.ones(3), np.ones(3))
    ratios = np.log([1.0, 2.0, 3.0])  # of the roots of mean squared errors
    literal = np.sqrt(sum((r - ratios.mean()) ** 2 for r in ratios) / 2 / 3)
    assert error_of_ratio(own, ebm, counts=False) == pytest.approx(literal)
    assert error_of_ratio(own, own, counts=True) == 0


def test_no_group_is_divided_and_each_row_is_held_out_once():
    groups = np.repeat(np.arange(40), 5)
    problem = Problem(pd.DataFrame({"x": np.arange(200.0)}), np.zeros(200), groups=groups)
    folds = splits(problem)
    for train, test in folds:
        assert not {*groups[train]} & {*groups[test]}
    np.testing.assert_array_equal(np.sort(np.concatenate([test for _, test in folds])), range(200))
