"""Which questions of a calculator depend on the answer to another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from weigh.bins import OTHER, label, printable
from weigh.formula import Input
from weigh.frames import canonical, key, warn_caller

Branches: TypeAlias = dict[int, tuple[int, tuple[int, ...]]]


def read_branches(given: Any, questions: Sequence[Input]) -> Branches:
    """Which questions depend on which: the place of another, and the levels that it must have."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ValueError(
            f"ask_if must be a dict such as {{'pain_site': ('pain', 'yes')}}, got {given!r:.80}"
        )
    branches = {}
    for name, condition in given.items():
        if isinstance(condition, str) or not isinstance(condition, Iterable):
            raise ValueError(_no_pair(name, condition))
        pair = [*condition]
        if len(pair) != 2:
            raise ValueError(_no_pair(name, condition))
        child, parent = (_find(column, questions) for column in (name, pair[0]))
        branches[child] = (parent, _levels(pair[1], questions[parent]))
        _warn_weighed(questions[child])
    _refuse_circles(branches, questions)
    return branches


def _no_pair(name: Any, condition: Any) -> str:
    return (
        f"ask_if for {name!r} must be a pair of a column and its level, such as ('pain', 'yes'), "
        f"got {condition!r:.80}"
    )


def _find(column: Any, questions: Sequence[Input]) -> int:
    names = [question.name for question in questions]
    if column not in names:
        raise ValueError(f"ask_if names {column!r}, but the columns are {names}")
    return names.index(column)


def _levels(wanted: Any, parent: Input) -> tuple[int, ...]:
    """The places of one level or several: among the choices, or among a number's intervals.

    After the choices comes `other`, where the page has "Another".
    """
    many = isinstance(wanted, Iterable) and not isinstance(wanted, str)
    numeric = parent.is_numeric
    rest = (label(OTHER),) if parent.first.other else ()
    labels = parent.first.labels if numeric else (*parent.labels, *rest)
    by_cuts = parent.first.cut_labels if numeric else ()
    keys = [] if numeric else [key(value) for value in parent.values]
    found = []
    for level in wanted if many else [wanted]:
        value = canonical(level)
        if key(value) in keys:
            found.append(keys.index(key(value)))
        elif label(value) in labels:
            found.append(labels.index(label(value)))
        elif label(value) in by_cuts:
            found.append(by_cuts.index(label(value)))
        else:
            raise ValueError(
                f"ask_if wants {parent.name!r} to be {level!r}, but its levels are {[*labels]}"
            )
    return tuple(found)


def _warn_weighed(child: Input) -> None:
    """A feature that weighs what is missing differs from one that was not asked."""
    if child.first.has_missing and not child.first.skip_missing:
        warn_caller(
            f"ask_if: not asked weighs nothing on the page, but the model takes a missing "
            f"{child.name!r} for a level; fit with missing={{{child.name!r}: 'skip'}}, so that "
            "both are the same",
            UserWarning,
        )


def _refuse_circles(branches: Branches, questions: Sequence[Input]) -> None:
    for start in branches:
        at, seen = start, {start}
        while at in branches:
            at = branches[at][0]
            if at in seen:
                name = printable(questions[start].name)
                raise ValueError(f"ask_if goes round in a circle at {name!r}; nothing can ask it")
            seen.add(at)
