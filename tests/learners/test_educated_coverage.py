"""Intervals of EducatedNB: nine in ten hold the probability, on rows that its prior has made."""

import numpy as np
import pandas as pd
from scipy.special import expit, ndtri

from weigh import EducatedNB
from weigh.educated.prior import LEVEL, WALK, curve
from weigh.frames import read

STEPS, LEVELS, TABLES = 32, 6, 2


def draw_world(rng):
    """Curves and independent levels, drawn from the prior, as are the logarithms of variances."""
    sizes = np.exp(0.5 * rng.logistic(size=(2, TABLES, 1)))
    covariance = WALK * np.linalg.pinv(curve(np.ones(STEPS)))
    curves = rng.multivariate_normal(np.zeros(STEPS), covariance, TABLES, method="eigh")
    levels = np.sqrt(LEVEL) * rng.normal(size=(TABLES, LEVELS))
    return sizes[0] * curves, sizes[1] * levels, rng.normal(-1, 0.5)


def draw_rows(rng, world, n_rows):
    """Rows, and the weights that each was made by: of the numbers, then of the codes."""
    curves, levels, _ = world
    numbers = rng.integers(0, STEPS, (n_rows, TABLES))
    codes = rng.integers(0, LEVELS, (n_rows, TABLES))
    weights = [curves[j][numbers[:, j]] for j in range(TABLES)]
    weights += [levels[j][codes[:, j]] for j in range(TABLES)]
    columns = {f"x{j}": numbers[:, j].astype(float) for j in range(TABLES)}
    columns |= {f"c{j}": codes[:, j].astype(str) for j in range(TABLES)}
    return pd.DataFrame(columns), np.column_stack(weights)


def probability(world, weights):
    return expit(world[2] + weights.sum(axis=1))


def weights_held(model, new, truth):
    """Which weights of new rows lie in their 90% interval."""
    for j, (table, name) in enumerate(zip(model.evidence_, new, strict=True)):
        at = table.feature.read(read(new[[name]]))
        levels = at.levels[at.codes]
        yield np.abs(table.weights[levels] - truth[:, j]) <= ndtri(0.95) * table.errors[levels]


def test_nine_in_ten_intervals_hold_the_probability_that_made_the_row():
    """And eight in ten the weights: where tables tell little, that scales are estimated matters."""
    rng, held, inside = np.random.default_rng(0), [], []
    for _ in range(40):
        world = draw_world(rng)
        X, weights = draw_rows(rng, world, 2000)
        model = EducatedNB(pairs=0).fit(
            X, (rng.random(2000) < probability(world, weights)).astype(int)
        )
        new, truth = draw_rows(rng, world, 25)
        inside += weights_held(model, new, truth - weights.mean(axis=0))
        for i, p in enumerate(probability(world, truth)):
            low, high = model.balance_sheet(new.iloc[[i]]).interval
            held.append(low <= p <= high)
    assert 0.85 <= np.mean(held) <= 0.95
    assert 0.8 <= np.mean(inside) <= 0.95


def test_more_rows_make_an_interval_narrower():
    rng = np.random.default_rng(1)
    world = draw_world(rng)
    widths = []
    for n_rows in (250, 1000, 4000, 16_000):
        X, weights = draw_rows(rng, world, n_rows)
        p = probability(world, weights)
        model = EducatedNB(pairs=0).fit(X, (rng.random(n_rows) < p).astype(int))
        ends = [model.balance_sheet(X.iloc[[i]]).interval for i in range(20)]
        widths.append(np.diff(ends).mean())
    assert (np.diff(widths) < 0).all()
