"""Walks over the weights: which moves are to be tried, and where one that is kept leads.

From where it stands a walk names its next moves on the understanding that all before fail. Whoever
ranks tries them one by one, or many in one pass, and says which was the first to raise the AUC.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from scipy.special import expit

from weigh.frames import Floats, Integers

RATES = (1.0, 2.0, 4.0, 8.0, 16.0)
"""The learning rates of Eq. 5 that "auto" tries: weights then move by about 0.06 to 1."""

SIZES = (0.05, 0.1, 0.2, 0.4, 0.8)
"""The sizes of a random walk's steps that "auto" tries."""

SIGNS = {"hill_climbing": (1,), "hill_climbing_both_ways": (1, -1)}
"""Which ways a climber may move a weight. Eq. 5 only adds."""

PATIENCE = 25
"""A random walk ends after so many moves in succession that did not raise the AUC."""

Way: TypeAlias = tuple[int, int]
"""A feature, and the sign of its move."""


@dataclass(frozen=True)
class Move:
    """From some weights that of feature `moved` by `size`; or, where that is -1, to the weights."""

    weights: Floats
    moved: int = -1
    size: float = 0.0

    @property
    def end(self) -> Floats:
        """The weights that it leads to."""
        if self.moved < 0:
            return self.weights
        weights = self.weights.copy()
        weights[self.moved] += self.size  # Eq. 4
        return weights


@dataclass(frozen=True)
class Step:
    """Weights and their AUC, the feature that moved (-1: none or all), and by how much."""

    weights: Floats
    auc: float
    moved: int = -1
    size: float = 0.0


@dataclass(frozen=True)
class Climber:
    """How walks go: where they start, by what rule they move, when a rise is too small."""

    start: Floats
    rule: str
    tol: float
    seed: int
    telling: tuple[int, ...]  # the features that move a score

    def walk(self, step: float, auc: float) -> Walk:
        """One walk, at its start."""
        kind = HillClimb if self.rule in SIGNS else RandomWalk
        return kind(self, step, Step(self.start, auc))

    def worth(self, auc: float) -> bool:
        """Whether there is room for a rise."""
        return auc < 1 and 1 - auc >= self.tol

    def rises(self, before: float, after: float) -> bool:
        """Whether a move is kept."""
        return after > before and after - before >= self.tol


class Walk(Protocol):
    """The steps that were kept so far, from the start, and what comes next."""

    steps: list[Step]
    most: int

    def moves(self) -> Sequence[Move]:
        """What is to be tried from here, in turn; nothing where the walk has ended."""

    def keep(self, place: int, auc: float) -> None:
        """Make one of these moves, the first to raise the AUC."""

    def done(self, n_failed: int) -> int:
        """How far the walk has come, of `most`, when so many of these moves have failed."""


class HillClimb:
    """Move each weight in turn: up, or, where that does not help and the rule allows, down.

    A weight moves for as long as the AUC rises with it, and not below 0.
    """

    def __init__(self, climber: Climber, rate: float, start: Step) -> None:
        self.climber, self.rate, self.steps = climber, rate, [start]
        self.most, signs = len(climber.telling), SIGNS[climber.rule]
        self._ways: list[Way] = [(j, sign) for j in climber.telling for sign in signs]

    def moves(self) -> Sequence[Move]:
        """Every way that is left, at the size that the AUC here asks for."""
        here = self.steps[-1]
        if not self.climber.worth(here.auc):
            return []
        size = self.rate * pull(here.auc)
        sizes = [max(sign * size, -here.weights[j]) for j, sign in self._ways]
        self._ways = [way for way, by in zip(self._ways, sizes, strict=True) if by != 0]
        return [
            Move(here.weights, j, by)
            for (j, _), by in zip(self._ways, (by for by in sizes if by != 0), strict=True)
        ]

    def keep(self, place: int, auc: float) -> None:
        """Go that way again, then on to the next features."""
        move, way = self.moves()[place], self._ways[place]
        self._ways = [way, *(other for other in self._ways[place:] if other[0] != way[0])]
        self.steps.append(Step(move.end, auc, move.moved, move.size))

    def done(self, n_failed: int) -> int:
        """Features that are behind."""
        return self.most - len({j for j, _ in self._ways[n_failed:]})


class RandomWalk:
    """Move all weights at once, each up, down or not at all, and none below 0.

    The direction is drawn anew for each move ("monte_carlo"), or kept while the AUC rises.
    """

    most = PATIENCE

    def __init__(self, climber: Climber, size: float, start: Step) -> None:
        self.climber, self.size, self.steps = climber, size, [start]
        self._random = np.random.RandomState(climber.seed)
        self._coming: list[Integers] = []

    def moves(self) -> Sequence[Move]:
        """The next directions, as many as may fail."""
        here = self.steps[-1]
        if not self.climber.worth(here.auc):
            return []
        while len(self._coming) < PATIENCE:
            self._coming.append(self._random.randint(-1, 2, len(here.weights)))
        ways = self._coming[:PATIENCE]
        return [
            Move(np.maximum(here.weights + self.size * way, 0.0), -1, self.size) for way in ways
        ]

    def keep(self, place: int, auc: float) -> None:
        """Go on from there; directions that were not tried come next."""
        self.steps.append(Step(self.moves()[place].end, auc, -1, self.size))
        again = self._coming[place : place + 1] if self.climber.rule == "mcmc" else []
        self._coming = [*again, *self._coming[place + 1 :]]

    def done(self, n_failed: int) -> int:
        """Moves in succession that did not raise the AUC."""
        return n_failed


def pull(auc: float) -> float:
    """O(auc)(1 - O(auc))^2, with O the logistic function (Eq. 5 without its learning rate)."""
    o = expit(auc)
    return float(o * (1 - o) ** 2)
