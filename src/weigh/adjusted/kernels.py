"""The hot loops of a search for exponents."""

from typing import Any

import numpy as np

from weigh.kernels import compiled


@compiled
def look_up(codes: Any, table: Any, out: Any) -> None:
    """out[i] = table[codes[i]]."""
    for i in range(codes.shape[0]):
        out[i] = table[codes[i]]


@compiled
def logistic_moments(
    totals: Any,
    target: Any,
    weight: Any,
    groups: Any,
    roles: Any,
    slope: Any,
    curvature: Any,
    sums: Any,
) -> None:
    """Derivatives of the loss in nats by the total of each row; sums of losses.

    roles[group] is 1 for rows that count, 2 for rows held out, whose loss is summed apart. sums
    gets the loss, the rows on the wrong side, and the loss of the rows held out. A single weight or
    group is that of every row.
    """
    of_weight, of_group = int(weight.shape[0] > 1), int(groups.shape[0] > 1)
    loss, products, n_factors = np.zeros(3), np.ones(3), np.zeros(3)
    wrong = 0
    for i in range(totals.shape[0]):
        role, w = roles[groups[i * of_group]], weight[i * of_weight]
        slope[i] = curvature[i] = 0.0
        if role == 0:
            continue
        total, one = totals[i], target[i] == 1
        small = np.exp(-abs(total))
        wrong_way = total < 0 if one else total >= 0
        if wrong_way:
            loss[role] += w * abs(total)
        if small < 1e-4:  # ln(1 + small)
            loss[role] += w * small * (1.0 - small * (0.5 - small / 3.0))
        elif of_weight:
            loss[role] += w * np.log1p(small)
        else:  # one logarithm serves many rows
            products[role] *= 1.0 + small
            n_factors[role] += 1
            if n_factors[role] == 256:
                loss[role] += w * np.log(products[role])
                products[role], n_factors[role] = 1.0, 0.0
        if role == 2:
            continue
        wrong += wrong_way or total == 0
        inverse = 1.0 / (1.0 + small)
        slope[i] = w * ((1.0 if total >= 0 else small) * inverse - (1.0 if one else 0.0))
        curvature[i] = w * small * inverse * inverse
    sums[0] += loss[1] + weight[0] * np.log(products[1])
    sums[1] += wrong
    sums[2] += loss[2] + weight[0] * np.log(products[2])
