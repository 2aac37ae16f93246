"""Search for the weights with the highest AUC: run a walk for each step size, return the best.

`Walk.moves` lists the next candidate moves of a hill climb or a random walk in the order in which
they are tried. The search finds the first that raises the AUC and calls `Walk.accept`. With an
exact AUC the walks run one after the other; with histograms they share passes over the rows. A walk
records every accepted step, so an interrupted search returns the best so far.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeAlias

import numpy as np
from scipy.special import expit

from weigh.arrays import Floats, Integers
from weigh.engine import report, side_by_side
from weigh.weighted.auc import DistinctRows, Ranking, ScoredRows, rank
from weigh.weighted.histograms import binned_aucs

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
class AcceptedStep:
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
        return kind(self, step, AcceptedStep(self.start, auc))

    def can_improve(self, auc: float) -> bool:
        """Whether the AUC can still rise by `tol`."""
        return auc < 1 and 1 - auc >= self.tol

    def accepts(self, before: float, after: float) -> bool:
        """Whether a move that changes the AUC from `before` to `after` is accepted."""
        return after > before and after - before >= self.tol


class Walk(Protocol):
    """A search path under construction: the accepted steps, and the next candidate moves."""

    steps: list[AcceptedStep]
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

    def __init__(self, settings: WalkSettings, rate: float, start: AcceptedStep) -> None:
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
        self.steps.append(AcceptedStep(move.end, auc, move.moved, move.size))

    def n_done(self, n_failed: int) -> int:
        """Number of features with no direction left to try."""
        return self.n_max - len({j for j, _ in self._directions[n_failed:]})


class RandomWalk:
    """Change all weights at once in a random direction, each up, down or not at all.

    "monte_carlo" draws a direction for each move; "mcmc" keeps it while the AUC rises. No weight
    falls below 0.
    """

    n_max = PATIENCE

    def __init__(self, settings: WalkSettings, size: float, start: AcceptedStep) -> None:
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
        self.steps.append(AcceptedStep(self.moves()[place].end, auc, -1, self.size))
        again = self._pending[place : place + 1] if self.settings.method == "mcmc" else []
        self._pending = [*again, *self._pending[place + 1 :]]

    def n_done(self, n_failed: int) -> int:
        """Number of rejected moves in a row."""
        return n_failed


def step_factor(auc: float) -> float:
    """Step size of Eq. 5 at learning rate 1: O(auc)(1 - O(auc))^2, with O the logistic function."""
    o = expit(auc)
    return float(o * (1 - o) ** 2)


FIRST_BATCH = 4
"""Candidates per pass and walk after an accepted move; doubled each time that all are rejected."""

AnyRows: TypeAlias = DistinctRows | ScoredRows
Tick: TypeAlias = Callable[[int], None]


@dataclass(frozen=True)
class SearchPath:
    """Accepted steps of the search, from its start.

    `weights[i]` and `auc[i]` are the values after step i. Step i changed the weight of
    `features[moved[i]]` by `sizes[i]`, or all weights if `moved[i]` is -1. Step 0 is the start.
    `tried` lists each step size that was tried with the AUC it reached; `step` is the best.
    """

    features: tuple[str, ...]
    weights: Floats
    auc: Floats
    moved: Integers
    sizes: Floats
    step: float | None = None
    tried: tuple[tuple[float, float], ...] = ()
    interrupted: bool = False


def evaluate_start(rows: AnyRows, start: Floats, features: tuple[str, ...]) -> SearchPath:
    """Return the start and its AUC, without a search."""
    return _path([AcceptedStep(start, _score(rows, [start])[0])], features)


def search(
    rows: AnyRows, settings: WalkSettings, steps: tuple[float, ...], features: tuple[str, ...]
) -> SearchPath:
    """Run a walk for each step size and return the one with the highest AUC, the first if tied.

    KeyboardInterrupt ends the search and returns the best walk so far.
    """
    (auc,) = _score(rows, [settings.start])
    walks = [settings.walk(step, auc) for step in steps]
    begun: list[Walk] = []
    interrupted = False
    try:
        if isinstance(rows, ScoredRows):
            begun += walks
            _climb_in_shared_passes(rows, settings, walks)
        else:
            for i, walk in enumerate(walks):
                begun.append(walk)
                _climb(rows, settings, walk, _ticker(i, len(walks), walk.n_max))
    except KeyboardInterrupt:
        interrupted = True
    ended = [walk.steps for walk in begun or walks[:1]]
    paths = _rescore_ends(partial(_score, rows), settings.accepts, ended)
    best = max(range(len(paths)), key=lambda i: paths[i][-1].auc)
    tried = tuple((step, path[-1].auc) for step, path in zip(steps, paths, strict=False))
    return _path(paths[best], features, steps[best], tried, interrupted)


def _climb(rows: DistinctRows, settings: WalkSettings, walk: Walk, tick: Tick) -> None:
    """Run one walk with the exact AUC, trying one candidate after the other."""
    ranking = rank(rows, settings.start)

    def first_accepted(moves: Sequence[Move]) -> int | None:
        for place, move in enumerate(moves):
            if settings.accepts(ranking.auc, _auc_after(ranking, move)):
                ranking.accept()
                return place
            tick(walk.n_done(place + 1))
        return None

    while (place := first_accepted(walk.moves())) is not None:
        walk.accept(place, ranking.auc)
    tick(walk.n_max)


def _auc_after(ranking: Ranking, move: Move) -> float:
    if move.moved < 0:
        return ranking.try_weights(move.end)
    return ranking.try_shift(move.moved, move.size)


def _climb_in_shared_passes(
    rows: ScoredRows, settings: WalkSettings, walks: Sequence[Walk]
) -> None:
    """Run all walks with histograms: each pass over the rows tries some candidates of each walk."""
    done, of = [0] * len(walks), sum(walk.n_max for walk in walks)

    def tick(i: int, so_far: int) -> None:
        done[i] = so_far
        report(sum(done), of)

    def answer(asks: dict[int, Sequence[Move]]) -> list[list[float]]:
        aucs = iter(binned_aucs(rows, [move for moves in asks.values() for move in moves]))
        return [[next(aucs) for _ in moves] for moves in asks.values()]

    side_by_side(
        [_propose(settings, walk, partial(tick, i)) for i, walk in enumerate(walks)], answer
    )


def _propose(
    settings: WalkSettings, walk: Walk, tick: Tick
) -> Generator[Sequence[Move], list[float], None]:
    """Run one walk as a generator: yield candidate moves, receive their AUCs.

    After an accepted move few candidates are yielded, because an accepted one makes those after it
    obsolete.
    """
    failed, ahead = 0, FIRST_BATCH
    while moves := walk.moves()[failed : failed + ahead]:
        aucs, before = (yield moves), walk.steps[-1].auc
        place = next((i for i, auc in enumerate(aucs) if settings.accepts(before, auc)), None)
        if place is None:
            failed, ahead = failed + len(moves), 2 * ahead
        else:
            walk.accept(failed + place, aucs[place])
            failed, ahead = 0, FIRST_BATCH
        tick(walk.n_done(failed))
    tick(walk.n_max)


def _score(rows: AnyRows, weights: Sequence[Floats]) -> list[float]:
    """AUC under each of the given weights."""
    if isinstance(rows, ScoredRows):
        return binned_aucs(rows, [*map(Move, weights)])
    return [rank(rows, each).auc for each in weights]


def _rescore_ends(
    score: Callable[[Sequence[Floats]], list[float]],
    accepts: Callable[[float, float], bool],
    walks: Sequence[list[AcceptedStep]],
) -> list[list[AcceptedStep]]:
    """Recompute the AUC at the end of each walk from its weights, as the fitted model will have it.

    Totals that are updated at every step collect rounding errors, which can break or create ties.
    A last step that is no improvement without them is dropped; its predecessor is rescored, too.
    """
    ends = [walk[-2:] for walk in walks]
    aucs = iter(score([step.weights for end in ends for step in end]))  # one pass for all walks
    paths = [
        [*walk[:-2], *(replace(step, auc=next(aucs)) for step in end)]
        for walk, end in zip(walks, ends, strict=True)
    ]
    for path in paths:
        _drop_falls(path, score, accepts)
    return paths


def _drop_falls(
    path: list[AcceptedStep],
    score: Callable[[Sequence[Floats]], list[float]],
    accepts: Callable[[float, float], bool],
) -> None:
    """Drop steps from the end, whose last two are rescored, until every step kept is accepted.

    Steps are rescored from the end to the first that rises above the unrevised AUC before it.
    """
    last = len(path) - 1
    while last > 0:
        if not accepts(path[last - 1].auc, path[last].auc):
            del path[last:]
        elif last == 1 or accepts(path[last - 2].auc, path[last - 1].auc):
            return
        last -= 1
        if last > 0:
            (auc,) = score([path[last - 1].weights])
            path[last - 1] = replace(path[last - 1], auc=auc)


def _ticker(walk: int, n_walks: int, n_max: int) -> Tick:
    return lambda done: report(walk * n_max + done, n_walks * n_max)


def _path(
    walk: list[AcceptedStep],
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
