"""What weighs most in a row: the largest |w|, then the largest of the others, and so on.

Of a scorecard: what costs most points against the best case, in the words of its reason codes.
"""

from __future__ import annotations

from typing import Any

from weigh.exports.sql.dialects import Dialect, import_sqlglot, name_column
from weigh.exports.sql.steps import Named, case_of, inputs_by_name
from weigh.formula import Formula


def say_levels(formula: Formula, dialect: Dialect) -> Named:
    """Every term's level in words."""
    exp, read, found = import_sqlglot().exp, inputs_by_name(formula), {}
    for j, term in enumerate(formula.terms):
        phrases, none = term.phrases, exp.null()
        if formula.costs is not None:
            phrases = formula.costs.texts[j]
            none = dialect.label(phrases[-1])
        tree = case_of(term, read, dialect, lambda i: dialect.label(phrases[i]), none)  # noqa: B023
        found[f"s{j}"] = exp.cast(tree, "NVARCHAR(MAX)" if dialect.name == "tsql" else "TEXT",
                                  dialect="tsql" if dialect.name == "tsql" else None)  # fmt: skip
    return found


def find_heaviest(formula: Formula, dialect: Dialect, i: int) -> Named:
    """How heavy the i-th reason is: the heaviest term that no reason before it named."""
    left = [_left(formula, j, i, dialect) for j in range(len(formula.terms))]
    return {f"m{i}": dialect.largest(left)}


def name_heaviest(formula: Formula, dialect: Dialect, i: int) -> Named:
    """Which term that is; the first of several."""
    exp, tree = import_sqlglot().exp, import_sqlglot().exp.Case()
    heaviest = name_column(f"m{i}")
    for j in range(len(formula.terms)):
        same = exp.EQ(this=_left(formula, j, i, dialect), expression=heaviest.copy())
        tree = tree.when(same, exp.Literal.number(j))
    return {f"r{i}": tree}


def _left(formula: Formula, j: int, i: int, dialect: Dialect) -> Any:
    """How heavy a term is, or less than nothing where a reason before the i-th named it."""
    exp, weight = import_sqlglot().exp, name_column(f"w{j}_0")
    if formula.costs is None:
        weight = exp.Abs(this=weight)
    else:
        best = dialect.double(dialect.number(formula.costs.baselines[j]))
        weight = exp.Sub(this=best, expression=weight)
    if i == 0:
        return weight
    named = exp.In(this=exp.Literal.number(j), expressions=[name_column(f"r{h}") for h in range(i)])
    return exp.Case().when(named, dialect.number(-1.0)).else_(weight)


def tell_reason(formula: Formula, dialect: Dialect, i: int) -> Named:
    """The i-th reason in words, and its weight or cost; nothing where nothing is left."""
    exp, text, weight = (
        import_sqlglot().exp,
        import_sqlglot().exp.Case(),
        import_sqlglot().exp.Case(),
    )
    left = exp.GT(this=name_column(f"m{i}"), expression=dialect.number(0.0))
    for j in range(len(formula.terms)):
        named = exp.EQ(this=name_column(f"r{i}"), expression=exp.Literal.number(j))
        both = exp.And(this=left.copy(), expression=named)
        text = text.when(both, name_column(f"s{j}"))
        weight = weight.when(both.copy(), name_column(f"w{j}_0"))
    if formula.costs is not None:
        weight = exp.Case().when(left, name_column(f"m{i}"))
    return {f"reason_{i + 1}": text, f"weight_{i + 1}": weight.else_(dialect.number(0.0))}
