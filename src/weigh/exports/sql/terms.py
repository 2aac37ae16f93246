"""A term as a CASE: the first condition that holds decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from weigh.bins import Condition, Feature
from weigh.exports.sql.dialects import Dialect, import_sqlglot
from weigh.formula import Term

Pick: TypeAlias = Callable[[int], Any]


def case_of(term: Term, read: Mapping[str, Any], dialect: Dialect, pick: Pick, none: Any) -> Any:
    """What `pick` says of the row's level, or `none` where it has none."""

    def walk(before: tuple[int, ...]) -> Any:
        """The columns after those whose places are known."""
        if len(before) == len(term.columns):
            level = term.lookup.get(before)
            return None if level is None else pick(level)
        column = term.columns[len(before)]
        results = {place: walk((*before, place)) for place in range(column.no_level + 1)}
        if all(result is None for result in results.values()):
            return None
        return _case(column, read[column.name], dialect, results, none)

    tree = walk(())
    return none.copy() if tree is None else tree


def _case(column: Feature, x: Any, dialect: Dialect, results: Mapping[int, Any], none: Any) -> Any:
    """One column's tests. Those that come to nothing are left out where order allows it."""
    exp = import_sqlglot().exp
    tree, needed = exp.Case(), column.conditions[-1].holds == "any"
    for test in column.conditions:
        result = results[test.place]
        if test.holds == "any":
            return tree.else_(_or(result, none), copy=False)
        if needed or result is not None:
            tree.when(_condition(test, x.copy(), dialect), _or(result, none), copy=False)
    return tree.else_(none.copy(), copy=False)


def _or(result: Any, none: Any) -> Any:
    return none.copy() if result is None else result.copy()


def _condition(test: Condition, x: Any, dialect: Dialect) -> Any:
    exp = import_sqlglot().exp
    if test.holds == "missing":
        return exp.Is(this=x, expression=exp.null())
    if test.holds == "equal":
        return dialect.is_equal(x, test.value)
    return exp.LTE(this=x, expression=dialect.number(test.value, exact=True))
