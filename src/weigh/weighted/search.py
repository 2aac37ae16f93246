"""Search for the weights with the highest AUC: run a walk for each step size, return the best.

With an exact AUC the walks run one after the other; with histograms they share passes over the
rows. A walk records every accepted step, so an interrupted search returns the best so far.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from weigh.engine import report, side_by_side
from weigh.frames import Floats, Integers
from weigh.weighted.auc import DistinctRows, Ranking, ScoredRows, rank
from weigh.weighted.histograms import binned_aucs
from weigh.weighted.walks import Move, Step, Walk, WalkSettings

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
    return _path([Step(start, _score(rows, [start])[0])], features)


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
    walks: Sequence[list[Step]],
) -> list[list[Step]]:
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
    path: list[Step],
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
