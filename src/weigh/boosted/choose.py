"""How many rounds, and how loud: chosen on rows held out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from weigh.boosted.rounds import Rows01, boost
from weigh.engine import parallel
from weigh.folds import Split
from weigh.frames import Floats

LOUDEST, QUIETEST = 10.0, 0.01


@dataclass(frozen=True)
class Choice:
    """The loss in bits of held-out rows after each round, each with its best scale."""

    losses: Floats
    scales: Floats

    @property
    def n_rounds(self) -> int:
        """The first number of rounds with the least loss."""
        return int(self.losses.argmin()) + 1


def hold_out(
    part: Callable[[Split], tuple[Rows01, Rows01]],
    splits: list[Split],
    most: int,
    combine: Callable[[Floats, Floats], Floats],
) -> Floats:
    """The total of every row after each round of a model that was fitted without it.

    `part` gives the rows of a split, to learn from and held out.
    """
    out = np.zeros((len(splits[0][0]), most))

    def one(split: Split) -> None:
        held_out = split[1]
        train, test = part(split)
        rounds = boost(train, most)
        totals = np.column_stack([test.total(part.evidence) for part in rounds])
        after = combine(totals, np.array([part.alpha for part in rounds]))
        last = np.minimum(np.arange(most), len(rounds) - 1)  # a fold that ended stays as it is
        out[held_out] = after[:, last]

    parallel(one, splits)
    return out


def choose(rows: Rows01, totals: Floats, scaled: bool) -> Choice:
    """Measure totals after each round."""
    scales = [_scale(column, rows) if scaled else 1.0 for column in totals.T]
    losses = [bits(scale * column, rows) for scale, column in zip(scales, totals.T, strict=True)]
    return Choice(np.array(losses), np.array(scales))


def bits(totals: Floats, rows: Rows01) -> float:
    """Mean loss in bits (the APM paper's Eq. 15)."""
    nats = np.logaddexp(0.0, np.where(rows.target == 1, -totals, totals))
    return float(rows.weight @ nats / (rows.weight.sum() * np.log(2)))


def _scale(totals: Floats, rows: Rows01) -> float:
    return best_scale(
        lambda scale: bits(scale * totals, rows) * len(totals) * np.log(2),
        float(np.sqrt(rows.weight @ totals**2 / rows.weight.sum())),
    )


def best_scale(loss: Callable[[float], float], typical: float) -> float:
    """The one number that, multiplied with totals, gives the least loss (in nats, over all rows).

    One more row counts, of typical total and half of each class: else rows that are all on the
    right side would ask for a number without end.
    """

    def penalised(log_scale: float) -> float:
        scale = float(np.exp(log_scale))
        both = np.logaddexp(0.0, scale * typical) + np.logaddexp(0.0, -scale * typical)
        return loss(scale) + float(both) / 2

    bounds = np.log(QUIETEST), np.log(LOUDEST)
    found = minimize_scalar(penalised, bounds=bounds, method="bounded", options={"xatol": 1e-6})
    return float(np.exp(found.x))
