"""Compiled loops of boosted regression over rows and cells of the target's range.

The weights of rows and cells are computed when they are needed, and never stored.
"""

from typing import Any

import numpy as np

from weigh.kernels import compiled


@compiled
def sum_powers(odds: Any, cells: Any, lambdas: Any, i: int, out: Any) -> None:
    """out[k] = sum over rounds of lambda_t h_t(i, k), with h = 1/(1 + odds[i, t] cells[t, k])."""
    out[:] = 0.0
    for t in range(lambdas.shape[0]):
        for k in range(out.shape[0]):
            out[k] += lambdas[t] / (1.0 + odds[i, t] * cells[t, k])


@compiled
def weigh_cells(
    powers: Any, total: float, place: int, part: float, widths: Any, above: Any, below: Any
) -> None:
    """Weight of one row in each cell: of the part of the cell below the target, and of the rest."""
    for k in range(widths.shape[0]):
        share = 1.0 if k < place else part if k == place else 0.0
        above[k] = widths[k] * share * np.exp(powers[k]) if share > 0 else 0.0
        below[k] = widths[k] * (1.0 - share) * np.exp(total - powers[k]) if share < 1 else 0.0


@compiled
def sum_weights(
    odds: Any,
    cells: Any,
    lambdas: Any,
    places: Any,
    parts: Any,
    weight: Any,
    widths: Any,
    by_row: Any,
    by_cell: Any,
) -> None:
    """Weights of "target below" (0) and "target above" (1), summed by row and by cell."""
    powers, above, below = np.empty(widths.shape), np.empty(widths.shape), np.empty(widths.shape)
    total = lambdas.sum()
    for i in range(weight.shape[0]):
        sum_powers(odds, cells, lambdas, i, powers)
        weigh_cells(powers, total, places[i], parts[i], widths, above, below)
        for k in range(widths.shape[0]):
            by_cell[k, 0] += weight[i] * below[k]
            by_cell[k, 1] += weight[i] * above[k]
        by_row[i, 0] = weight[i] * below.sum()
        by_row[i, 1] = weight[i] * above.sum()


@compiled
def sum_errors(
    odds: Any,
    cells: Any,
    lambdas: Any,
    places: Any,
    parts: Any,
    weight: Any,
    widths: Any,
    new_odds: Any,
    new_cells: Any,
) -> float:
    """Weighted error of a new round: sum w |y - h|."""
    powers, above, below = np.empty(widths.shape), np.empty(widths.shape), np.empty(widths.shape)
    total, missed = lambdas.sum(), 0.0
    for i in range(weight.shape[0]):
        sum_powers(odds, cells, lambdas, i, powers)
        weigh_cells(powers, total, places[i], parts[i], widths, above, below)
        row = 0.0
        for k in range(widths.shape[0]):
            h = 1.0 / (1.0 + new_odds[i] * new_cells[k])
            row += above[k] * (1.0 - h) + below[k] * h
        missed += weight[i] * row
    return missed
