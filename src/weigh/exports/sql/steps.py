"""Expressions for inputs, weights, totals, probabilities and reasons.

Each step is a query over the one before. Its columns have short names that are independent of the
user's names: k kept columns, x inputs, w weights, n number of answers, t totals, e powers,
s levels as text, m sizes of reasons, r reasons, a additions of exposure and offset.

The reasons of a row are the features with the largest |w|, in descending order. The reasons of a
scorecard are the features that lose most points against the best case, as reason-code texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from math import isinf
from typing import Any, TypeAlias

from weigh.bins import Condition, Feature
from weigh.evidence import BOUND, Curve
from weigh.evidence.exposure import OffsetColumn
from weigh.exports.sql.dialects import Dialect, exp, minus, name_column
from weigh.formula import Formula, Term

Pick: TypeAlias = Callable[[int], Any]


def case_of(term: Term, read: Mapping[str, Any], dialect: Dialect, pick: Pick, none: Any) -> Any:
    """A CASE expression: `pick` of the row's level, or `none` if the row has no level."""

    def walk(before: tuple[int, ...]) -> Any:
        """Nest the remaining columns, given the indices of the levels of those `before`."""
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
    """A CASE over the levels of one column.

    Tests without a result are left out, unless a final ELSE would catch their rows. A value that
    satisfies no test has no level.
    """
    tree, needed = exp.Case(), column.conditions[-1].holds == "any"
    for test in column.conditions:
        result = results[test.place]
        if test.holds == "any":
            return tree.else_(_or(result, none), copy=False)
        if needed or result is not None:
            tree.when(_condition(test, x.copy(), dialect), _or(result, none), copy=False)
    return tree.else_(_or(results[column.no_level], none), copy=False)


def _or(result: Any, none: Any) -> Any:
    return none.copy() if result is None else result.copy()


def _condition(test: Condition, x: Any, dialect: Dialect) -> Any:
    if test.holds == "missing":
        return exp.Is(this=x, expression=exp.null())
    if test.holds == "equal":
        return dialect.is_equal(x, test.value)
    return exp.LTE(this=x, expression=dialect.number(test.value, exact=True))


FAR = 700.0
"""Limit of exponents: beyond -700 and 700 some databases fail with underflow or overflow."""

Named = dict[str, Any]


def read_inputs(formula: Formula, dialect: Dialect) -> Named:
    """Every input column, cast once."""
    return {f"x{j}": dialect.read(column) for j, column in enumerate(formula.inputs)}


def hide_inputs(formula: Formula, dialect: Dialect) -> Named:
    """Columns of conditional questions, set to NULL in rows where the question is not asked."""
    found, read, null = {}, inputs_by_name(formula), exp.null()
    for j, column in enumerate(formula.inputs):
        tree = name_column(f"x{j}")
        for ask in column.asked:
            places = range(ask.feature.no_level + 1)
            results = {place: tree if place in ask.places else None for place in places}
            tree = _case(ask.feature, read[ask.feature.name], dialect, results, null)
        if column.asked:
            found[f"x{j}"] = tree
    return found


def weigh_terms(formula: Formula, dialect: Dialect) -> Named:
    """The weights of every table, and the number of answers if the model attenuates totals."""
    found, read = {}, inputs_by_name(formula)
    zero = dialect.number(0.0)
    for j, term in enumerate(formula.terms):
        for k in range(len(formula.prior)):
            rows = term.weights
            tree = case_of(term, read, dialect, lambda i: dialect.number(rows[i][k]), zero)  # noqa: B023
            found[f"w{j}_{k}"] = dialect.double(tree)
    if formula.attenuation is not None:
        count = _add_unknown if formula.not_known else _count_answers
        found["n"] = dialect.double(count(formula, read, dialect))
    for j, column in enumerate(formula.offsets):
        found[f"a{j}"] = dialect.double(_add_offset(column, read[column.name], dialect))
    return found


def _add_offset(column: OffsetColumn, x: Any, dialect: Dialect) -> Any:
    """What exposure or offset add to the total; NULL for an exposure that is not positive."""
    missing, zero = exp.Is(this=x, expression=exp.null()), dialect.number(0.0)
    tree = exp.Case().when(missing, zero)
    if column.role == "offset":
        return tree.else_(x.copy())
    return tree.when(exp.GT(this=x.copy(), expression=zero.copy()), exp.Ln(this=x.copy()))


def inputs_by_name(formula: Formula) -> dict[str, Any]:
    """The columns that hold the inputs in the steps, by the names of the inputs."""
    return {column.name: name_column(f"x{j}") for j, column in enumerate(formula.inputs)}


def _count_answers(formula: Formula, read: dict[str, Any], dialect: Dialect) -> Any:
    always = sum(not term.skips for term in formula.terms)
    parts = [dialect.number(float(always))]
    for term in formula.terms:
        if term.skips:
            asked = [c.name for c in term.columns if c.skip_missing]
            missing = [exp.Is(this=read[name].copy(), expression=exp.null()) for name in asked]
            none = reduce(lambda a, b: exp.Or(this=a, expression=b), missing)
            parts.append(exp.Case().when(none, dialect.number(0.0)).else_(dialect.number(1.0)))
    return add(parts)


def _add_unknown(formula: Formula, read: dict[str, Any], dialect: Dialect) -> Any:
    """The share of the evidence that is not known: of the terms in which a row has no level."""
    parts = [dialect.number(0.0)]
    for term, share in zip(formula.terms, formula.not_known, strict=True):
        if share:
            none = dialect.number(share)
            parts.append(case_of(term, read, dialect, lambda _: dialect.number(0.0), none))
    return add(parts)


def total_weights(formula: Formula, dialect: Dialect) -> Named:
    """The totals: prior plus weights, attenuated by the number of answers if the model does so."""
    return {f"t{k}": _total(formula, dialect, k) for k in range(len(formula.prior))}


def _total(formula: Formula, dialect: Dialect, k: int) -> Any:
    prior = dialect.double(dialect.number(formula.prior[k]))
    weights = [name_column(f"w{j}_{k}") for j in range(len(formula.terms))]
    weights += [name_column(f"a{j}") for j in range(len(formula.offsets))]
    rule = formula.attenuation
    if rule is None:
        return add([prior, *weights])
    n, most = name_column("n"), dialect.double(dialect.number(rule.k))
    if rule.form == "root":
        n = add([n, dialect.number(1.0)])
    if rule.form == "known":
        inner = add([dialect.number(1.0), times(n, _signed(dialect.number(rule.k)))])
        root = exp.Sqrt(this=inner)
        exponent = divide(dialect.double(dialect.number(1.0)), root)
    else:
        exponent = divide(most, dialect.largest([n, most.copy()]))
    shift = dialect.number(float(rule.shift[k]))
    if rule.form == "root":
        return add([times(add([prior, *weights]), exponent), shift])
    return add([prior, times(add(weights), exponent), shift])


def apply_curve(curve: Curve, dialect: Dialect) -> Named:
    """The recalibrated totals; an isotonic curve gives probabilities at this step."""
    t = name_column("t0")
    tree = exp.Case()
    for piece in curve.pieces:
        d = exp.Paren(this=exp.Sub(this=t.copy(), expression=_signed(dialect.number(piece.start))))
        value = _polynomial(piece.cubic, d, dialect)
        if isinf(piece.upper):
            return {"t0": dialect.double(tree.else_(value))}
        tree = tree.when(exp.LTE(this=t.copy(), expression=dialect.number(piece.upper)), value)
    raise AssertionError("the last piece of a curve has no upper end")


def _polynomial(cubic: Iterable[float], d: Any, dialect: Dialect) -> Any:
    """A polynomial by Horner's rule, without leading coefficients of 0."""
    coefficients = [*cubic]
    while len(coefficients) > 1 and coefficients[-1] == 0:
        coefficients.pop()
    tree = dialect.number(coefficients.pop())
    while coefficients:
        tree = add([dialect.number(coefficients.pop()), times(d.copy(), tree)])
    return tree


def shift_curve(curve: Curve, dialect: Dialect) -> Named:
    """The shift of the prior added to the totals, after probabilities are turned into log odds."""
    t = name_column("t0")
    if curve.steps:
        low, high = dialect.number(BOUND), dialect.number(1 - BOUND)
        clipped = exp.Case().when(exp.LT(this=t.copy(), expression=low), low.copy())
        clipped = clipped.when(exp.GT(this=t.copy(), expression=high), high.copy()).else_(t.copy())
        p = dialect.double(clipped)
        odds = divide(p, exp.Paren(this=exp.Sub(this=dialect.number(1.0), expression=p.copy())))
        t = exp.Ln(this=odds)
    return {"t0": add([t, dialect.number(curve.shift)])}


def find_top(formula: Formula, dialect: Dialect) -> Named:
    """The largest total, which is subtracted so that no exponential overflows.

    One-vs-rest totals use min(largest total, 0).
    """
    top = dialect.largest([name_column(f"t{k}") for k in range(len(formula.prior))])
    if formula.link == "ovr":
        zero = dialect.number(0.0)
        top = exp.Case().when(exp.LT(this=top, expression=zero), top.copy()).else_(zero.copy())
    return {"top": dialect.double(top)}


def raise_totals(formula: Formula, dialect: Dialect) -> Named:
    """The exponentials from which `share` computes the probabilities."""
    found = {}
    for k in range(len(formula.prior)):
        t, top, zero = name_column(f"t{k}"), name_column("top"), dialect.number(0.0)
        small = power(minus(exp.Abs(this=t)), dialect)
        if formula.link == "logistic":
            found[f"e{k}"] = small
        elif formula.link == "softmax":
            found[f"e{k}"] = power(exp.Sub(this=t.copy(), expression=top), dialect)
        else:
            low = exp.Case().when(exp.LT(this=t.copy(), expression=zero), t.copy())
            rise = power(exp.Sub(this=low.else_(zero.copy()), expression=top), dialect)
            found[f"e{k}"] = divide(rise, add([dialect.number(1.0), small]))
    return found


def share(formula: Formula, dialect: Dialect) -> list[Any]:
    """The probability of each class."""
    n = len(formula.prior)
    powers = [name_column(f"e{k}") for k in range(n)]
    if n > 1:
        return [divide(p, add([q.copy() for q in powers])) for p in powers]
    small, one = powers[0], dialect.number(1.0)
    below = exp.LT(this=name_column("t0"), expression=dialect.number(0.0))
    first = exp.Case().when(below, one).else_(small)
    second = exp.Case().when(below.copy(), small.copy()).else_(one.copy())
    whole = add([one.copy(), small.copy()])
    return [divide(first, whole), divide(second, whole.copy())]


def estimate(formula: Formula) -> list[Any]:
    """The predicted number: the total, or its exponential if the link is a logarithm."""
    total = name_column("t0")
    return [exp.Exp(this=total) if formula.link == "log" else total]


def power(x: Any, dialect: Dialect) -> Any:
    """The exponential of x <= 0, or 0 if x is below -FAR."""
    far = exp.LT(this=_paren(x.copy()), expression=minus(dialect.number(FAR)))
    return exp.Case().when(far, dialect.number(0.0)).else_(exp.Exp(this=x))


def add(parts: list[Any]) -> Any:
    """A sum from left to right, in the order in which Python adds."""
    return reduce(lambda a, b: exp.Add(this=a, expression=_signed(b)), parts)


def _signed(tree: Any) -> Any:
    """A negative number in parentheses, because two minus signs would begin a comment."""
    return exp.Paren(this=tree) if isinstance(tree, exp.Neg) else tree


def _paren(tree: Any) -> Any:
    return exp.Paren(this=tree) if isinstance(tree, exp.Binary) else tree


def times(a: Any, b: Any) -> Any:
    """A product."""
    return exp.Mul(this=_paren(a), expression=_signed(_paren(b)))


def divide(a: Any, b: Any) -> Any:
    """A quotient of doubles."""
    return exp.Div(this=_paren(a), expression=_paren(b), typed=True)


def say_levels(formula: Formula, dialect: Dialect) -> Named:
    """The level of every table as text: its phrase, or the reason text of a scorecard."""
    read, found = inputs_by_name(formula), {}
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
    """The size of the i-th reason: the largest |weight| or cost not yet named by a reason."""
    left = [_left(formula, j, i, dialect) for j in range(len(formula.terms))]
    return {f"m{i}": dialect.largest(left)}


def name_heaviest(formula: Formula, dialect: Dialect, i: int) -> Named:
    """The index of the table that gives the i-th reason; the first in case of ties."""
    tree, heaviest = exp.Case(), name_column(f"m{i}")
    for j in range(len(formula.terms)):
        same = exp.EQ(this=_left(formula, j, i, dialect), expression=heaviest.copy())
        tree = tree.when(same, exp.Literal.number(j))
    return {f"r{i}": tree}


def _left(formula: Formula, j: int, i: int, dialect: Dialect) -> Any:
    """The |weight| or cost of a table, or -1 if an earlier reason named it."""
    weight = name_column(f"w{j}_0")
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
    """The text of the i-th reason and its weight or cost; NULL and 0 if no reason is left."""
    text, weight = exp.Case(), exp.Case()
    left = exp.GT(this=name_column(f"m{i}"), expression=dialect.number(0.0))
    for j in range(len(formula.terms)):
        named = exp.EQ(this=name_column(f"r{i}"), expression=exp.Literal.number(j))
        both = exp.And(this=left.copy(), expression=named)
        text = text.when(both, name_column(f"s{j}"))
        weight = weight.when(both.copy(), name_column(f"w{j}_0"))
    if formula.costs is not None:
        weight = exp.Case().when(left, name_column(f"m{i}"))
    return {f"reason_{i + 1}": text, f"weight_{i + 1}": weight.else_(dialect.number(0.0))}
