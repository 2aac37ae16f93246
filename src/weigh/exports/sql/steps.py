"""From columns to weights, totals and probabilities: each step is a query over the one before.

Names inside are short and never those of the user: k kept columns, x inputs, w weights, n answers,
t totals, e powers, p probabilities, r reasons.

Reasons are what weighs most in a row: the largest |w|, then the largest of the others, and so on.
Of a scorecard: what costs most points against the best case, in the words of its reason codes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from math import isinf
from typing import Any, TypeAlias

from weigh.bins import Condition, Feature
from weigh.evidence import BOUND, Curve
from weigh.exports.sql.dialects import Dialect, import_sqlglot, minus, name_column
from weigh.formula import Formula, Term

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


FAR = 700.0
"""No database can take the exponential of less without underflow, or of more without overflow."""

Named = dict[str, Any]


def read_inputs(formula: Formula, dialect: Dialect) -> Named:
    """Every column, read once."""
    return {f"x{j}": dialect.read(column) for j, column in enumerate(formula.inputs)}


def hide_inputs(formula: Formula, dialect: Dialect) -> Named:
    """Columns that are asked for only where others have some level: null elsewhere."""
    found, read, null = {}, inputs_by_name(formula), import_sqlglot().exp.null()
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
    """Every term's weights, and how many answers a row has where that is asked."""
    found, read = {}, inputs_by_name(formula)
    zero = dialect.number(0.0)
    for j, term in enumerate(formula.terms):
        for k in range(len(formula.prior)):
            rows = term.weights
            tree = case_of(term, read, dialect, lambda i: dialect.number(rows[i][k]), zero)  # noqa: B023
            found[f"w{j}_{k}"] = dialect.double(tree)
    if formula.attenuation is not None:
        found["n"] = dialect.double(_count_answers(formula, read, dialect))
    return found


def inputs_by_name(formula: Formula) -> dict[str, Any]:
    """The inputs as the steps call them."""
    return {column.name: name_column(f"x{j}") for j, column in enumerate(formula.inputs)}


def _count_answers(formula: Formula, read: dict[str, Any], dialect: Dialect) -> Any:
    exp = import_sqlglot().exp
    always = sum(not term.skips for term in formula.terms)
    parts = [dialect.number(float(always))]
    for term in formula.terms:
        if term.skips:
            asked = [c.name for c in term.columns if c.skip_missing]
            lacks = [exp.Is(this=read[name].copy(), expression=exp.null()) for name in asked]
            none = reduce(lambda a, b: exp.Or(this=a, expression=b), lacks)
            parts.append(exp.Case().when(none, dialect.number(0.0)).else_(dialect.number(1.0)))
    return add(parts)


def total_weights(formula: Formula, dialect: Dialect) -> Named:
    """Prior and weights, after the exponent where there is one."""
    return {f"t{k}": _total(formula, dialect, k) for k in range(len(formula.prior))}


def _total(formula: Formula, dialect: Dialect, k: int) -> Any:
    prior = dialect.double(dialect.number(formula.prior[k]))
    weights = [name_column(f"w{j}_{k}") for j in range(len(formula.terms))]
    rule = formula.attenuation
    if rule is None:
        return add([prior, *weights])
    n, most = name_column("n"), dialect.double(dialect.number(rule.k))
    if rule.form == "root":
        n = add([n, dialect.number(1.0)])
    exponent = divide(most, dialect.largest([n, most.copy()]))
    shift = dialect.number(float(rule.shift[k]))
    if rule.form == "root":
        return add([times(add([prior, *weights]), exponent), shift])
    return add([prior, times(add(weights), exponent), shift])


def apply_curve(curve: Curve, dialect: Dialect) -> Named:
    """What totals are worth; of an isotonic curve, a probability so far."""
    exp, t = import_sqlglot().exp, name_column("t0")
    tree = exp.Case()
    for piece in curve.pieces:
        d = exp.Paren(this=exp.Sub(this=t.copy(), expression=_signed(dialect.number(piece.start))))
        value = _polynomial(piece.cubic, d, dialect)
        if isinf(piece.upper):
            return {"t0": dialect.double(tree.else_(value))}
        tree = tree.when(exp.LTE(this=t.copy(), expression=dialect.number(piece.upper)), value)
    raise AssertionError("the last piece of a curve has no upper end")


def _polynomial(cubic: Iterable[float], d: Any, dialect: Dialect) -> Any:
    """By Horner's rule, without the powers that are not there."""
    coefficients = [*cubic]
    while len(coefficients) > 1 and coefficients[-1] == 0:
        coefficients.pop()
    tree = dialect.number(coefficients.pop())
    while coefficients:
        tree = add([dialect.number(coefficients.pop()), times(d.copy(), tree)])
    return tree


def shift_curve(curve: Curve, dialect: Dialect) -> Named:
    """Probabilities to log odds where the curve gives them, and the change of the prior."""
    exp, t = import_sqlglot().exp, name_column("t0")
    if curve.steps:
        low, high = dialect.number(BOUND), dialect.number(1 - BOUND)
        clipped = exp.Case().when(exp.LT(this=t.copy(), expression=low), low.copy())
        clipped = clipped.when(exp.GT(this=t.copy(), expression=high), high.copy()).else_(t.copy())
        p = dialect.double(clipped)
        odds = divide(p, exp.Paren(this=exp.Sub(this=dialect.number(1.0), expression=p.copy())))
        t = exp.Ln(this=odds)
    return {"t0": add([t, dialect.number(curve.shift)])}


def find_top(formula: Formula, dialect: Dialect) -> Named:
    """The largest total, so that no power overflows; of one class against the rest 0 at most."""
    exp = import_sqlglot().exp
    top = dialect.largest([name_column(f"t{k}") for k in range(len(formula.prior))])
    if formula.link == "ovr":
        zero = dialect.number(0.0)
        top = exp.Case().when(exp.LT(this=top, expression=zero), top.copy()).else_(zero.copy())
    return {"top": dialect.double(top)}


def raise_totals(formula: Formula, dialect: Dialect) -> Named:
    """The powers that probabilities are made of."""
    exp, found = import_sqlglot().exp, {}
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
    """Probabilities of each class."""
    exp, n = import_sqlglot().exp, len(formula.prior)
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
    """The number that a total means."""
    total = name_column("t0")
    return [import_sqlglot().exp.Exp(this=total) if formula.link == "log" else total]


def power(x: Any, dialect: Dialect) -> Any:
    """The exponential of what is not above 0; of what is far below, 0."""
    exp = import_sqlglot().exp
    far = exp.LT(this=_paren(x.copy()), expression=minus(dialect.number(FAR)))
    return exp.Case().when(far, dialect.number(0.0)).else_(exp.Exp(this=x))


def add(parts: list[Any]) -> Any:
    """A sum, from left to right as Python adds."""
    exp = import_sqlglot().exp
    return reduce(lambda a, b: exp.Add(this=a, expression=_signed(b)), parts)


def _signed(tree: Any) -> Any:
    """A negative number in brackets: two signs in a row would begin a comment."""
    exp = import_sqlglot().exp
    return exp.Paren(this=tree) if isinstance(tree, exp.Neg) else tree


def _paren(tree: Any) -> Any:
    exp = import_sqlglot().exp
    return exp.Paren(this=tree) if isinstance(tree, exp.Binary) else tree


def times(a: Any, b: Any) -> Any:
    """A product."""
    return import_sqlglot().exp.Mul(this=_paren(a), expression=_signed(_paren(b)))


def divide(a: Any, b: Any) -> Any:
    """A quotient of doubles."""
    return import_sqlglot().exp.Div(this=_paren(a), expression=_paren(b), typed=True)


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
