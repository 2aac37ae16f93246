"""Hill climbing and random walks over the feature weights: candidate moves and accepted steps.

`Walk.moves` lists the next candidate moves in the order in which they are tried. The caller finds
the first that raises the AUC, trying one by one or many in one pass, and calls `Walk.accept`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from scipy.special import expit

from weigh.frames import Floats, Integers

RATES = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Learning rates of Eq. 5 tried by step="auto": weights then change by about 0.06 to 1."""

SIZES = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Step sizes of a random walk tried by step="auto"."""

SIGNS = {"hill_climbing": (1,), "hill_climbing_both_ways": (1, -1)}
"""Directions in which hill climbing may change a weight. Eq. 5 only increases weights."""

PATIENCE = 25
"""A random walk ends after this many rejected moves in a row."""

Direction: TypeAlias = tuple[int, int]
"""A feature, and the sign of the change of its weight."""


@dataclass(frozen=True)
class Move:
    """Candidate move: `weights` with `size` added to that of feature `moved` (-1: unchanged)."""

    weights: Floats
    moved: int = -1
    size: float = 0.0

    @property
    def end(self) -> Floats:
        """Weights after the move."""
        if self.moved < 0:
            return self.weights
        weights = self.weights.copy()
        weights[self.moved] += self.size  # Eq. 4
        return weights


@dataclass(frozen=True)
class Step:
    """Accepted weights, their AUC, the feature that was changed (-1: none or all), the change."""

    weights: Floats
    auc: float
    moved: int = -1
    size: float = 0.0


@dataclass(frozen=True)
class WalkSettings:
    """Settings that all walks of a search share."""

    start: Floats
    method: str
    tol: float
    seed: int
    informative: tuple[int, ...]  # features whose table is not all 0

    def walk(self, step: float, auc: float) -> Walk:
        """Begin a walk with the given step size, from a start with the given AUC."""
        kind = HillClimb if self.method in SIGNS else RandomWalk
        return kind(self, step, Step(self.start, auc))

    def can_improve(self, auc: float) -> bool:
        """Whether the AUC can still rise by `tol`."""
        return auc < 1 and 1 - auc >= self.tol

    def accepts(self, before: float, after: float) -> bool:
        """Whether a move that changes the AUC from `before` to `after` is accepted."""
        return after > before and after - before >= self.tol


class Walk(Protocol):
    """A search path under construction: the accepted steps, and the next candidate moves."""

    steps: list[Step]
    n_max: int

    def moves(self) -> Sequence[Move]:
        """Candidate moves from the current weights, in order; empty when the walk has ended."""

    def accept(self, place: int, auc: float) -> None:
        """Accept candidate number `place`, the first that raised the AUC."""

    def n_done(self, n_failed: int) -> int:
        """Progress, out of `n_max`, after the first `n_failed` candidates were rejected."""


class HillClimb:
    """Change one weight after the other: increase it, or, if allowed, decrease it instead.

    A weight is changed again for as long as the AUC rises. It never falls below 0.
    """

    def __init__(self, settings: WalkSettings, rate: float, start: Step) -> None:
        self.settings, self.rate, self.steps = settings, rate, [start]
        self.n_max, signs = len(settings.informative), SIGNS[settings.method]
        self._directions: list[Direction] = [
            (j, sign) for j in settings.informative for sign in signs
        ]

    def moves(self) -> Sequence[Move]:
        """All directions not yet tried, with the step size of Eq. 5 at the current AUC."""
        here = self.steps[-1]
        if not self.settings.can_improve(here.auc):
            return []
        size = self.rate * step_factor(here.auc)
        sizes = [max(sign * size, -here.weights[j]) for j, sign in self._directions]
        possible = [pair for pair in zip(self._directions, sizes, strict=True) if pair[1] != 0]
        self._directions = [direction for direction, _ in possible]
        return [Move(here.weights, j, by) for (j, _), by in possible]

    def accept(self, place: int, auc: float) -> None:
        """Accept a move; the same direction is tried again next, then the following features."""
        move, accepted = self.moves()[place], self._directions[place]
        later = [other for other in self._directions[place:] if other[0] != accepted[0]]
        self._directions = [accepted, *later]
        self.steps.append(Step(move.end, auc, move.moved, move.size))

    def n_done(self, n_failed: int) -> int:
        """Number of features with no direction left to try."""
        return self.n_max - len({j for j, _ in self._directions[n_failed:]})


class RandomWalk:
    """Change all weights at once in a random direction, each up, down or not at all.

    "monte_carlo" draws a direction for each move; "mcmc" keeps it while the AUC rises. No weight
    falls below 0.
    """

    n_max = PATIENCE

    def __init__(self, settings: WalkSettings, size: float, start: Step) -> None:
        self.settings, self.size, self.steps = settings, size, [start]
        self._random = np.random.RandomState(settings.seed)
        self._pending: list[Integers] = []

    def moves(self) -> Sequence[Move]:
        """Moves in the next random directions, as many as may be rejected in a row."""
        here = self.steps[-1]
        if not self.settings.can_improve(here.auc):
            return []
        while len(self._pending) < PATIENCE:
            self._pending.append(self._random.randint(-1, 2, len(here.weights)))
        ways = self._pending[:PATIENCE]
        return [
            Move(np.maximum(here.weights + self.size * way, 0.0), -1, self.size) for way in ways
        ]

    def accept(self, place: int, auc: float) -> None:
        """Accept a move; directions that were drawn but not tried come next."""
        self.steps.append(Step(self.moves()[place].end, auc, -1, self.size))
        again = self._pending[place : place + 1] if self.settings.method == "mcmc" else []
        self._pending = [*again, *self._pending[place + 1 :]]

    def n_done(self, n_failed: int) -> int:
        """Number of rejected moves in a row."""
        return n_failed


def step_factor(auc: float) -> float:
    """Step size of Eq. 5 at learning rate 1: O(auc)(1 - O(auc))^2, with O the logistic function."""
    o = expit(auc)
    return float(o * (1 - o) ** 2)
