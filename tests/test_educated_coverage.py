"""Intervals of EducatedNB: nine in ten hold the probability, on rows that the model itself made."""

import numpy as np
import pandas as pd
from scipy.special import expit

from weigh import EducatedNB
from weigh.educated.prior import LEVEL, WALK

STEPS, LEVELS, TABLES = 32, 6, 2


def draw_world(rng):
    """Walks and independent levels, drawn from the prior."""
    steps = np.tril(np.ones((STEPS, STEPS)))
    centre = np.eye(STEPS) - 1 / STEPS
    covariance = centre @ steps @ steps.T @ centre
    covariance *= WALK / (np.trace(covariance) / STEPS)
    walks = rng.multivariate_normal(np.zeros(STEPS), covariance, TABLES, method="eigh")
    return walks, np.sqrt(LEVEL) * rng.normal(size=(TABLES, LEVELS)), rng.normal(-1, 0.5)


def draw_rows(rng, world, n_rows):
    walks, levels, base = world
    numbers = rng.integers(0, STEPS, (n_rows, TABLES))
    codes = rng.integers(0, LEVELS, (n_rows, TABLES))
    total = base + sum(walks[j][numbers[:, j]] + levels[j][codes[:, j]] for j in range(TABLES))
    columns = {f"x{j}": numbers[:, j].astype(float) for j in range(TABLES)}
    columns |= {f"c{j}": codes[:, j].astype(str) for j in range(TABLES)}
    return pd.DataFrame(columns), expit(total)


def test_nine_in_ten_intervals_hold_the_probability_that_made_the_row():
    rng, held = np.random.default_rng(0), []
    for _ in range(40):
        world = draw_world(rng)
        X, p = draw_rows(rng, world, 2000)
        model = EducatedNB().fit(X, (rng.random(2000) < p).astype(int))
        new, truth = draw_rows(rng, world, 25)
        for i in range(25):
            low, high = model.balance_sheet(new.iloc[[i]]).interval
            held.append(low <= truth[i] <= high)
    assert 0.85 <= np.mean(held) <= 0.95


def test_more_rows_make_an_interval_narrower():
    rng = np.random.default_rng(1)
    world = draw_world(rng)
    widths = []
    for n_rows in (250, 1000, 4000, 16_000):
        X, p = draw_rows(rng, world, n_rows)
        model = EducatedNB().fit(X, (rng.random(n_rows) < p).astype(int))
        ends = [model.balance_sheet(X.iloc[[i]]).interval for i in range(20)]
        widths.append(np.diff(ends).mean())
    assert (np.diff(widths) < 0).all()
