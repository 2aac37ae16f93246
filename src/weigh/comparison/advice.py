"""Which learner to take, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np

from weigh.comparison.learners import rank

if TYPE_CHECKING:
    from weigh.comparison.result import Entry


@dataclass(frozen=True)
class Choice:
    """The name of a learner, or None, and a sentence."""

    name: str | None
    reason: str


def choose(entries: Sequence[Entry], base_loss: float, errors: float = 1.0) -> Choice:
    """The simplest of those that stand as well as the learner of least loss.

    Going up from the least loss these are the learners within so many standard errors of it, up to
    the first that is not: that a learner is worse in a noisy way speaks no more for it. Where the
    best is better than the base rate alone, so must they be. The error is that of the paired
    difference from the best. `entries` stand by loss.
    """
    fitted = [entry for entry in entries if entry.differences is not None]
    if not fitted:
        return Choice(None, "None of the learners could be fitted; their errors are below.")
    best = fitted[0]
    limit = base_loss if best.loss < base_loss else np.inf
    near = [best, *takewhile(lambda entry: _is_near(entry, limit, errors), fitted[1:])]
    chosen = min(near, key=lambda entry: (rank(entry.estimator), entry.loss))
    reason = _reason(chosen, best, len(fitted))
    if best.loss >= base_loss:
        reason += " But none is of use: the base rate alone has less."
    return Choice(chosen.name, reason)


def _is_near(entry: Entry, limit: float, errors: float) -> bool:
    assert entry.differences is not None
    loss = entry.differences.loss
    return loss.value <= errors * loss.error and entry.loss < limit


def _reason(chosen: Entry, best: Entry, n: int) -> str:
    if n == 1:
        return f"{chosen.name} is the only learner that could be fitted."
    if chosen is best:
        return (
            f"{best.name} has the least loss, {best.loss:.4f} bits a row, and no simpler learner "
            "stands as well within a standard error."
        )
    assert chosen.differences is not None
    loss = chosen.differences.loss
    return (
        f"{chosen.name} is the simplest whose loss is within a standard error of the least, that "
        f"of {best.name}: {loss.value:+.4f} bits a row, with a standard error of {loss.error:.4f}."
    )
