"""The search for weights that rank: walks, one after the other or all of them in the same passes.

A walk keeps every step that raised the AUC, so that whatever ends it leaves the steps so far.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from weigh.engine import report, side_by_side
from weigh.frames import Floats, Integers
from weigh.weighted.auc import rank
from weigh.weighted.histograms import rank_binned
from weigh.weighted.terms import Scored, Terms
from weigh.weighted.walks import Climber, Move, Step, Walk

AHEAD = 4
"""Moves of a walk that are tried in one pass after a rise; twice as many after each failure."""

AnyTerms: TypeAlias = Terms | Scored
Tick: TypeAlias = Callable[[int], None]


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


def stay(terms: AnyTerms, start: Floats, features: tuple[str, ...]) -> SearchPath:
    """No search: the start and its AUC."""
    return _path([Step(start, _score(terms, [start])[0])], features)


def search(
    terms: AnyTerms, climber: Climber, steps: tuple[float, ...], features: tuple[str, ...]
) -> SearchPath:
    """The walk with the highest AUC; of equal ones that of the first step.

    KeyboardInterrupt ends the search with what it has found.
    """
    (auc,) = _score(terms, [climber.start])
    walks = [climber.walk(step, auc) for step in steps]
    begun: list[Walk] = []
    interrupted = False
    try:
        if isinstance(terms, Scored):
            begun += walks
            _climb_together(terms, climber, walks)
        else:
            for i, walk in enumerate(walks):
                begun.append(walk)
                _climb(terms, climber, walk, _ticker(i, len(walks), walk.most))
    except KeyboardInterrupt:
        interrupted = True
    paths = _settled(terms, [walk.steps for walk in begun or walks[:1]])
    best = max(range(len(paths)), key=lambda i: paths[i][-1].auc)
    tried = tuple((step, path[-1].auc) for step, path in zip(steps, paths, strict=False))
    return _path(paths[best], features, steps[best], tried, interrupted)


def _climb(terms: Terms, climber: Climber, walk: Walk, tick: Tick) -> None:
    """Try one move after the other, as each changes little in the ranking of the rows."""
    ranking = rank(terms, climber.start)

    def first_rise(moves: Sequence[Move]) -> int | None:
        for place, move in enumerate(moves):
            jump = move.moved < 0
            auc = ranking.jump(move.end) if jump else ranking.shift(move.moved, move.size)
            if climber.rises(ranking.auc, auc):
                ranking.keep()
                return place
            tick(walk.done(place + 1))
        return None

    while (place := first_rise(walk.moves())) is not None:
        walk.keep(place, ranking.auc)
    tick(walk.most)


def _climb_together(terms: Scored, climber: Climber, walks: Sequence[Walk]) -> None:
    """Let all walks try some moves in each pass over the rows."""
    done, of = [0] * len(walks), sum(walk.most for walk in walks)

    def tick(i: int, so_far: int) -> None:
        done[i] = so_far
        report(sum(done), of)

    def answer(asks: dict[int, Sequence[Move]]) -> list[list[float]]:
        aucs = iter(rank_binned(terms, [move for moves in asks.values() for move in moves]))
        return [[next(aucs) for _ in moves] for moves in asks.values()]

    side_by_side([_run(climber, walk, partial(tick, i)) for i, walk in enumerate(walks)], answer)


def _run(climber: Climber, walk: Walk, tick: Tick) -> Generator[Sequence[Move], list[float], None]:
    """Ask for some moves ahead: few after a rise, since more would be in vain."""
    failed, ahead = 0, AHEAD
    while moves := walk.moves()[failed : failed + ahead]:
        aucs, before = (yield moves), walk.steps[-1].auc
        place = next((i for i, auc in enumerate(aucs) if climber.rises(before, auc)), None)
        if place is None:
            failed, ahead = failed + len(moves), 2 * ahead
        else:
            walk.keep(failed + place, aucs[place])
            failed, ahead = 0, AHEAD
        tick(walk.done(failed))
    tick(walk.most)


def _score(terms: AnyTerms, weights: Sequence[Floats]) -> list[float]:
    """The AUC under each of some weights."""
    if isinstance(terms, Scored):
        return rank_binned(terms, [*map(Move, weights)])
    return [rank(terms, each).auc for each in weights]


def _settled(terms: AnyTerms, walks: list[list[Step]]) -> list[list[Step]]:
    """The walks with the AUC of their ends as the fitted model has it.

    Along a walk scores are moved again and again, and rounding may part or join rows that tie.
    """
    aucs = _score(terms, [walk[-1].weights for walk in walks])
    ends = [replace(walk[-1], auc=auc) for walk, auc in zip(walks, aucs, strict=True)]
    return [
        [*walk[:-1], end] if end.auc >= walk[0].auc else walk[:1]
        for walk, end in zip(walks, ends, strict=True)
    ]


def _ticker(walk: int, n_walks: int, most: int) -> Tick:
    return lambda done: report(walk * most + done, n_walks * most)


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
