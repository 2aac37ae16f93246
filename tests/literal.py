"""Rows of text with gaps, and naive Bayes counted value by value, as the papers print it."""

import numpy as np
import pandas as pd


def draw_rows(seed, n_classes=2, n_rows=60, n_features=3, n_levels=3, gaps=0.2, scales=(1.0,)):
    """Rows of text that tell something of their class, with gaps; weights are 1 to 3 times one."""
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(n_classes), np.arange(n_classes), rng.integers(0, n_classes, n_rows)]
    codes = (y[:, None] + rng.integers(0, n_levels + 1, (len(y), n_features))) % n_levels
    cells = np.where(rng.random(codes.shape) < gaps, None, codes.astype(str).astype(object))
    X = pd.DataFrame(cells, columns=[f"f{j}" for j in range(n_features)], dtype=object)
    return X, y, rng.integers(1, 4, len(y)) * rng.choice(scales)


def more_rows(X):
    """The rows, one without answers, one of levels never seen, and mixtures."""
    cells, n = X.to_numpy(dtype=object), X.shape[1]
    mixed = np.column_stack([np.roll(cells[:, j], j) for j in range(n)])
    cells = np.vstack([cells, [[None] * n, ["never seen"] * n], mixed])
    return pd.DataFrame(cells, columns=X.columns, dtype=object)


def count_shares(values, y, weight, s, n_classes, skip=False):
    """P(v|c), counted value by value; with `skip`, missing is no level."""
    counts = {}
    for value, c, w in zip(values, y, weight, strict=True):
        if not (value is None and skip):
            counts.setdefault(value, [0.0] * n_classes)[c] += w
    sums = [sum(row[c] for row in counts.values()) for c in range(n_classes)]

    def share(n, c):
        if sums[c] + s * len(counts) == 0:
            return 1 / len(counts)
        p = (n + s) / (sums[c] + s * len(counts))
        return p if s else min(max(p, 1e-10), 1 - 1e-10)

    return {v: [share(row[c], c) for c in range(n_classes)] for v, row in counts.items()}


def change_of_prior(y, rate, against_rest):
    """What another prior adds to the total of two classes, or to the total of each class."""
    base = np.bincount(y) / len(y)
    if len(rate) == 2 or against_rest:
        change = np.log(rate / (1 - rate)) - np.log(base / (1 - base))
        return change[1] if len(rate) == 2 else change
    return np.log(rate / base) - np.log(rate / base).mean()
