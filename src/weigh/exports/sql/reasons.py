"""What weighs most in a row: the largest |w|, then the largest of the others, and so on."""

from __future__ import annotations

from typing import Any

from weigh.exports.formula import Formula
from weigh.exports.sql.dialects import Dialect, import_sqlglot, name_column
from weigh.exports.sql.steps import Named, inputs_by_name
from weigh.exports.sql.terms import case_of


def say_levels(formula: Formula, dialect: Dialect) -> Named:
    """Every term's level in words."""
    exp, read, found = import_sqlglot().exp, inputs_by_name(formula), {}
    for j, term in enumerate(formula.terms):
        phrases = term.phrases
        tree = case_of(term, read, dialect, lambda i: dialect.label(phrases[i]), exp.null())  # noqa: B023
        found[f"s{j}"] = exp.cast(tree, "NVARCHAR(MAX)" if dialect.name == "tsql" else "TEXT",
                                  dialect="tsql" if dialect.name == "tsql" else None)  # fmt: skip
    return found


def find_heaviest(formula: Formula, dialect: Dialect, i: int) -> Named:
    """How heavy the i-th reason is: the heaviest term that no reason before it named."""
    return {f"m{i}": dialect.largest([_left(j, i, dialect) for j in range(len(formula.terms))])}


def name_heaviest(formula: Formula, dialect: Dialect, i: int) -> Named:
    """Which term that is; the first of several."""
    exp, tree = import_sqlglot().exp, import_sqlglot().exp.Case()
    heaviest = name_column(f"m{i}")
    for j in range(len(formula.terms)):
        same = exp.EQ(this=_left(j, i, dialect), expression=heaviest.copy())
        tree = tree.when(same, exp.Literal.number(j))
    return {f"r{i}": tree}


def _left(j: int, i: int, dialect: Dialect) -> Any:
    """How heavy a term is, or less than nothing where a reason before the i-th named it."""
    exp = import_sqlglot().exp
    weight = exp.Abs(this=name_column(f"w{j}_0"))
    if i == 0:
        return weight
    named = exp.In(this=exp.Literal.number(j), expressions=[name_column(f"r{h}") for h in range(i)])
    return exp.Case().when(named, dialect.number(-1.0)).else_(weight)


def tell_reason(formula: Formula, dialect: Dialect, i: int) -> Named:
    """The i-th reason in words, and its weight; nothing where nothing is left that weighs."""
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
    return {f"reason_{i + 1}": text, f"weight_{i + 1}": weight.else_(dialect.number(0.0))}
