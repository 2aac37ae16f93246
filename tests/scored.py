"""Rows with probabilities: drawn at random, and the columns of the NIJ data that papers score."""

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

NIJ = [
    "Gender",
    "Age_at_Release",
    "Education_Level",
    "Prior_Conviction_Episodes_Viol",
    "Prison_Offense",
    "Prison_Years",
]
"""The six features of Ridgeway (2025), Table 2."""


@st.composite
def scored_rows(draw, both=True, most=40):
    """Labels, probabilities with ties, 0 and 1, and whole-number weights."""
    n = draw(st.integers(3, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = rng.integers(0, 2, n)
    grid = draw(st.sampled_from([3, 11, 10**9]))
    p = rng.integers(0, grid, n) / (grid - 1)
    weight = rng.integers(0, 4, n)
    weight[:3] = 1
    if both:
        assume(len({*y[weight > 0]}) == 2)
    return y, p, weight
