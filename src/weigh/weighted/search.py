"""Climbers: each tries one move of the weights after the other and keeps those that raise the AUC.

A climber yields every step that it keeps, so that whatever ends it leaves the steps so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
from scipy.special import expit

from weigh.engine import report
from weigh.frames import Floats, Integers
from weigh.weighted.auc import Ranking, rank
from weigh.weighted.far import FarTerms
from weigh.weighted.terms import Terms

RATES = (1.0, 2.0, 4.0, 8.0, 16.0)
"""The learning rates of Eq. 5 that "auto" tries: weights then move by about 0.06 to 1."""

SIZES = (0.05, 0.1, 0.2, 0.4, 0.8)
"""The sizes of a random walk's steps that "auto" tries."""

SIGNS = {"hill_climbing": (1,), "hill_climbing_both_ways": (1, -1)}
"""Which ways a climber may move a weight. Eq. 5 only adds."""

PATIENCE = 25
"""A random walk ends after so many moves in succession that did not raise the AUC."""

Tick: TypeAlias = Callable[[int, int], None]


@dataclass(frozen=True)
class Step:
    """Weights and their AUC, the feature that moved (-1: none or all), and by how much."""

    weights: Floats
    auc: float
    moved: int = -1
    size: float = 0.0


@dataclass(frozen=True)
class SearchPath:
    """The steps that raised the AUC, from the weights that the search began with.

    `weights[i]` and `auc[i]` hold after step i; the step moved the weight of `features[moved[i]]`
    by `sizes[i]`, or all weights where `moved[i]` is -1. Step 0 is the start. `tried` lists the
    step parameters that were searched with the AUC that each reached; `step` is the one kept.
    """

    features: tuple[str, ...]
    weights: Floats
    auc: Floats
    moved: Integers
    sizes: Floats
    step: float | None = None
    tried: tuple[tuple[float, float], ...] = ()
    interrupted: bool = False


@dataclass(frozen=True)
class Climber:
    """How one walk goes: where it starts, by what rule it moves, when a rise is too small."""

    terms: Terms | FarTerms
    start: Floats
    rule: str
    tol: float
    seed: int

    def climb(self, step: float, tick: Tick) -> Iterator[Step]:
        """The steps that one walk keeps."""
        ranking = rank(self.terms, self.start)
        if self.rule in SIGNS:
            return self._hill_climb(ranking, step, tick)
        return self._walk(ranking, step, tick)

    def worth(self, auc: float) -> bool:
        """Whether there is room for a rise."""
        return auc < 1 and 1 - auc >= self.tol

    def rises(self, before: float, after: float) -> bool:
        """Whether a move is kept."""
        return after > before and after - before >= self.tol

    def _hill_climb(self, ranking: Ranking, rate: float, tick: Tick) -> Iterator[Step]:
        """Move each weight in turn: up, or, where that does not help and the rule allows, down."""
        weights = self.start
        telling = [j for j, table in enumerate(self.terms.tables) if table.any()]
        for done, j in enumerate(telling, 1):
            before = weights
            for sign in SIGNS[self.rule]:
                for kept in self._push(ranking, weights, j, sign * rate):
                    weights = kept.weights
                    yield kept
                if weights is not before:
                    break
            tick(done, len(telling))

    def _push(self, ranking: Ranking, weights: Floats, j: int, rate: float) -> Iterator[Step]:
        """Move one weight for as long as the AUC rises with it, and not below 0."""
        while self.worth(ranking.auc):
            size = max(rate * pull(ranking.auc), -weights[j])
            if size == 0 or not self.rises(ranking.auc, ranking.shift(j, size)):
                return
            ranking.keep()
            weights = weights.copy()
            weights[j] += size  # Eq. 4
            yield Step(weights, ranking.auc, j, size)

    def _walk(self, ranking: Ranking, size: float, tick: Tick) -> Iterator[Step]:
        """Move all weights at once, each up, down or not at all, and none below 0.

        The direction is drawn anew for each move ("monte_carlo"), or kept while the AUC rises.
        """
        random, weights, failures = np.random.RandomState(self.seed), self.start, 0
        direction: Integers | None = None
        while failures < PATIENCE and self.worth(ranking.auc):
            if direction is None:
                direction = random.randint(-1, 2, len(weights))
            moved = np.maximum(weights + size * direction, 0.0)
            if self.rises(ranking.auc, ranking.jump(moved)):
                ranking.keep()
                weights, failures = moved, 0
                yield Step(weights, ranking.auc, -1, size)
            else:
                direction, failures = None, failures + 1
            if self.rule == "monte_carlo":
                direction = None
            tick(failures, PATIENCE)


def pull(auc: float) -> float:
    """O(auc)(1 - O(auc))^2, with O the logistic function (Eq. 5 without its learning rate)."""
    o = expit(auc)
    return float(o * (1 - o) ** 2)


def stay(terms: Terms | FarTerms, start: Floats, features: tuple[str, ...]) -> SearchPath:
    """No search: the start and its AUC."""
    return _path([Step(start, rank(terms, start).auc)], features)


def search(climber: Climber, steps: tuple[float, ...], features: tuple[str, ...]) -> SearchPath:
    """The walk with the highest AUC; of equal ones that of the first step.

    KeyboardInterrupt ends the search with what it has found.
    """
    start = Step(climber.start, rank(climber.terms, climber.start).auc)
    walks: list[list[Step]] = []
    interrupted = False
    try:
        for i, step in enumerate(steps):
            walks.append([start])
            tick = partial(_tick, i, len(steps))
            for kept in climber.climb(step, tick):  # one by one, so that none is lost
                walks[-1].append(kept)
    except KeyboardInterrupt:
        interrupted = True
    walks = [_settled(climber.terms, walk) for walk in walks] or [[start]]
    best = max(range(len(walks)), key=lambda i: walks[i][-1].auc)
    tried = tuple((step, walk[-1].auc) for step, walk in zip(steps, walks, strict=False))
    return _path(walks[best], features, steps[best], tried, interrupted)


def _settled(terms: Terms | FarTerms, walk: list[Step]) -> list[Step]:
    """The walk with the AUC of its end as the fitted model has it.

    Along the walk scores are moved again and again, and rounding may part or join rows that tie.
    """
    last = walk[-1]
    end = replace(last, auc=rank(terms, last.weights).auc)
    return [*walk[:-1], end] if end.auc >= walk[0].auc else walk[:1]


def _tick(walk: int, n_walks: int, done: int, of: int) -> None:
    report(walk * of + done, n_walks * of)


def _path(
    walk: list[Step],
    features: tuple[str, ...],
    step: float | None = None,
    tried: tuple[tuple[float, float], ...] = (),
    interrupted: bool = False,
) -> SearchPath:
    return SearchPath(
        features,
        np.array([kept.weights for kept in walk]),
        np.array([kept.auc for kept in walk]),
        np.array([kept.moved for kept in walk]),
        np.array([kept.size for kept in walk]),
        step,
        tried,
        interrupted,
    )
