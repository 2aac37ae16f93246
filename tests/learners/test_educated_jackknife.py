"""Leave-one-out totals with scales estimated again are those of numeric derivatives."""

import numpy as np
import pandas as pd
import pytest

from weigh import EducatedRegressor
from weigh.educated import intervals
from weigh.educated.loo import LeaveOneOut
from weigh.educated.scales import tie
from weigh.educated.solve import find_weights
from weigh.educated.uncertainty import OF_PRIOR, shift_totals

STEP = 1e-4


def draw_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)).round(1), columns=[*"abc"])
    X["kind"] = rng.choice([*"uvwxyz"], n)
    y = X["a"] + X["b"] ** 2 + X["a"] * X["c"] + (X["kind"] == "u") + rng.normal(size=n)
    return X, y.to_numpy(), rng.integers(1, 4, n)


def fitted(X, y, weight=None, **parameters):
    """The last state of a fit, its rows, and its noise."""
    kept = []
    with pytest.MonkeyPatch.context() as patch:
        spy = lambda state, block, noise: kept.append((state, block, noise)) or np.zeros(len(block))  # noqa: E731
        patch.setattr(intervals, "shift_totals", spy)
        EducatedRegressor(**parameters).fit(X, y, weight)
    return kept[-1]


def literal_shift(state, block, noise):
    """Scales moved one by one, and the leave-one-out predictions of the fits with them."""
    weight = np.ones(len(block)) if block.weight is None else block.weight

    def leave_out(logs):
        at = find_weights(state.rescale(np.exp(logs)), 1e-12)
        told = LeaveOneOut.of(at).left_out(block)
        spread = noise * (1 / np.minimum(weight, 1) + told.variances[:, 0])
        error = block.labels - told.totals[:, 0]
        return told.totals[:, 0], -0.5 * np.log(spread) - 0.5 * error**2 / spread

    here, scale_of = np.log(state.scales), tie(state.problem.prior.blocks).scale_of
    totals, densities = [], []
    for k in range(scale_of.max() + 1):
        (high, more), (low, less) = (
            leave_out(here + sign * STEP * (scale_of == k)) for sign in (1, -1)
        )
        totals.append((high - low) / (2 * STEP))
        densities.append((more - less) / (2 * STEP))
    slopes = np.array(densities)
    information = (slopes * np.maximum(weight, 1)) @ slopes.T + OF_PRIOR * np.eye(len(slopes))
    moved = -np.linalg.solve(information, slopes)
    return (np.array(totals) * moved).sum(axis=0)


@pytest.mark.parametrize("n", [60, 400])
@pytest.mark.parametrize(
    "parameters",
    [{"pairs": 0}, {"pairs": [("a", "c")]}, {"pairs": 0, "monotonic_cst": {"a": -1}}],
    ids=["tables", "pair", "monotone"],
)
@pytest.mark.parametrize("weight", [None, "whole", "below one"])
def test_a_row_left_out_moves_its_total_as_numeric_derivatives_say(n, parameters, weight):
    X, y, whole = draw_rows(n)
    given = {"whole": whole, "below one": whole / 3.5}
    told = fitted(X, y, given.get(weight), bins=8, **parameters)
    if "monotonic_cst" in parameters:
        assert told[0].problem.ties is not None  # the constraint binds
    found, expected = shift_totals(*told), literal_shift(*told)
    assert np.abs(found).max() > 0
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


def test_intervals_of_few_rows_are_wider_with_scales_estimated_again():
    X, y, _ = draw_rows(60)
    model = EducatedRegressor(pairs=0).fit(X, y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intervals, "shift_totals", lambda state, block, noise: np.zeros(len(block)))
        fixed = EducatedRegressor(pairs=0).fit(X, y)
    own, other = (np.diff(each.predict_interval(X)).mean() for each in (model, fixed))
    assert 1.0 < own / other < 1.3
