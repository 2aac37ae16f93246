"""Cases in which any two values of two arguments meet, in place of all combinations of them."""

from itertools import combinations, product

import pytest


def find_cases(axes: list[list]) -> list[tuple[int, ...]]:
    """Positions on the axes, greedily: the next case holds the most pairs that have not met yet."""
    left = {
        ((i, a), (j, b))
        for i, j in combinations(range(len(axes)), 2)
        for a, b in product(range(len(axes[i])), range(len(axes[j])))
    }
    every = [*product(*(range(len(axis)) for axis in axes))]
    chosen = []
    while left:
        case = max(every, key=lambda case: len(left & {*combinations([*enumerate(case)], 2)}))
        left -= {*combinations([*enumerate(case)], 2)}
        chosen.append(case)
    return sorted(chosen)


def every_pair(**axes):
    """Parametrise a test of three arguments or more; an axis of tuples names several: `a__b`."""
    lists = [[*axis] for axis in axes.values()]
    names = [name for joined in axes for name in joined.split("__")]
    cases = []
    for case in find_cases(lists):
        row = []
        for joined, axis, at in zip(axes, lists, case, strict=True):
            row += axis[at] if "__" in joined else [axis[at]]
        cases.append(tuple(row))
    return pytest.mark.parametrize(names, cases)
