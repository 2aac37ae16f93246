"""The input of a fit: rows, levels and their counts, constraints, and the pairs to search for."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from weigh.arrays import Floats
from weigh.educated.design import Design, Source, Target
from weigh.educated.numbers import NumberTarget
from weigh.educated.prior import Centre, Prior, PriorBlock, is_silent, prior_of
from weigh.educated.quadratic import Quadratic
from weigh.educated.scales import FIRST
from weigh.educated.solve import Problem, State, state_at
from weigh.engine import Coded
from weigh.tally import Counts


@dataclass(frozen=True)
class PairRequest:
    """The pairs a user asks for: how many at most, which by name, and columns never to pair."""

    most: int | None = None  # None: as many as help
    named: tuple[frozenset[str], ...] = ()
    unpaired: frozenset[str] = frozenset()


NO_PAIRS = PairRequest(0)


@dataclass(frozen=True)
class Task:
    """The input of a fit: rows, levels, their counts, target, constraints and requested pairs."""

    rows: Coded
    counts: tuple[Counts, ...]
    target: Target | NumberTarget
    orders: tuple[int, ...] = ()  # by feature: 1 rises, -1 falls, 0 is free
    request: PairRequest = NO_PAIRS
    pairs: tuple[Source, ...] = ()  # maps to the last features, which are not coded themselves
    past: Quadratic | None = None  # approximate loss of earlier rows
    scales: Floats | None = None  # of each feature, if known
    tied: bool = False  # whether all pairs share one scale

    @property
    def n_coded(self) -> int:
        """The number of coded features, which come before the pairs."""
        return len(self.counts) - len(self.pairs)

    @property
    def sources(self) -> tuple[Source, ...]:
        """The map from coded levels to the levels of each feature and pair."""
        coded = self.counts[: self.n_coded]
        own = (Source.of(j, len(counts.counts)) for j, counts in enumerate(coded))
        return (*own, *self.pairs)

    def with_pairs(self, found: list[tuple[Counts, Source]]) -> Task:
        """The task with these pairs and no others."""
        counts = (*self.counts[: self.n_coded], *(counts for counts, _ in found))
        return replace(self, counts=counts, pairs=tuple(source for _, source in found))

    def keep(self, places: list[int]) -> Task:
        """The task with some of its pairs."""
        own = [*zip(self.counts[self.n_coded :], self.pairs, strict=True)]
        return self.with_pairs([own[place] for place in places])


def problem_of(task: Task) -> Problem:
    """The optimisation problem of a task: its design, and the prior of its weights."""
    silent = frozenset(j for j, c in enumerate(task.counts) if is_silent(c.counts))
    design = Design(task.sources, silent)
    blocks: list[PriorBlock] = []
    centres: list[Centre] = []
    for j, (counts, span) in enumerate(zip(task.counts, design.spans, strict=True)):
        tied = task.tied and j >= task.n_coded  # a cross of the user has its own scale
        own, held = prior_of(counts.feature, counts.counts, span.start, tied, task.target.noisy)
        blocks += own
        centres += held
    prior = Prior(tuple(blocks), tuple(centres))
    return Problem(task.rows, design, task.target, prior, past=task.past)


def widen(problem: Problem, start: State) -> State:
    """The starting point of a fit with more features, from a fit of the first of them."""
    weights = np.zeros((problem.n_weights, problem.target.n_totals))
    weights[: len(start.weights)] = start.weights
    scales = np.full(len(problem.prior.blocks), FIRST)
    scales[: len(start.scales)] = start.scales
    return state_at(problem, weights, scales)


def narrow(task: Task, state: State, places: list[int]) -> State:
    """The starting point of a fit with some of the pairs, from a fit with all of them."""
    problem = problem_of(task.keep(places))
    spans = state.problem.design.spans
    columns = [*range(task.n_coded), *(task.n_coded + place for place in places)]
    own = [np.arange(spans[j].start, spans[j].stop) for j in columns]
    at = np.concatenate([[0], *own]).astype(np.intp)
    blocks = state.problem.prior.blocks
    scale_at = {int(b.places[0]): s for b, s in zip(blocks, state.scales, strict=True)}
    scales: Floats = np.array([scale_at[int(at[b.places[0]])] for b in problem.prior.blocks])
    return state_at(problem, state.weights[at], scales)
