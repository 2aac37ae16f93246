"""A RegressionModel: levels, weights and totals as derived fields.

It serves models of more than two classes, and those whose incomplete rows have a factor.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

from weigh.bins import Feature, Kind
from weigh.exports.pmml.document import (
    apply,
    field,
    model,
    node,
    number,
    output,
    own_name,
    spell,
)
from weigh.formula import Formula, Term


def write_regression(formula: Formula) -> Element:
    """A RegressionModel: the probability of a class is its share of the sum of all powers."""
    steps = node("LocalTransformations", *_levels(formula), *_totals(formula), *_powers(formula))
    kind = {"functionName": "classification", "normalizationMethod": "simplemax"}
    made = model("RegressionModel", formula, _outputs(formula), steps, **kind)
    for k, name in enumerate(formula.class_names):
        power = node("NumericPredictor", name=_own(formula, f"power {k}"), coefficient="1.0")
        made.append(node("RegressionTable", power, intercept="0.0", targetCategory=name))
    return made


def _own(formula: Formula, name: str) -> str:
    return own_name(formula, f"weigh {name}")


def _derived(name: str, expression: Element, kind: str = "double") -> Element:
    optype = "continuous" if kind == "double" else "categorical"
    return node("DerivedField", expression, name=name, optype=optype, dataType=kind)


def _levels(formula: Formula) -> list[Element]:
    """The index of every column's level: once for conditional questions, and once per table."""
    asks = [ask for column in formula.inputs for ask in column.asked]
    parents = dict.fromkeys(ask.feature for ask in asks)
    return [
        *(_derived(_parent(formula, p), _place(p), "integer") for p in parents),
        *(
            _derived(_level(formula, j, i), _place_if_asked(formula, column), "integer")
            for j, term in enumerate(formula.terms)
            for i, column in enumerate(term.columns)
        ),
    ]


def _parent(formula: Formula, feature: Feature) -> str:
    return _own(formula, f"level of {feature.name}")


def _level(formula: Formula, j: int, i: int) -> str:
    return _own(formula, f"level {j} {i}")


def _whole(place: int) -> Element:
    made = node("Constant", dataType="integer")
    made.text = str(place)
    return made


def _place_if_asked(formula: Formula, column: Feature) -> Element:
    """The index of a column's level, or of no level where the question is not asked."""
    tree = _place(column)
    for ask in column.asked:
        level = field(_parent(formula, ask.feature))
        same = [apply("equal", level, _whole(place)) for place in ask.places]
        asked = same[0] if len(same) == 1 else apply("or", *same)
        tree = apply("if", asked, tree, _whole(column.no_level))
    return tree


def _place(column: Feature) -> Element:
    """The index of a level: of a category by its value, of a number by its code or interval."""
    if column.kind is Kind.NUMBERS:
        tree = _interval(column) if column.is_numeric else _whole(column.rest)
        for value, place in reversed(column.placed_values):
            same = apply("equal", field(column.name), number(float(value)))  # type: ignore[arg-type]
            tree = apply("if", same, _whole(place), tree)
    else:
        tree = _category(column)
    missing = apply("isMissing", field(column.name))
    return apply("if", missing, _whole(column.missing_place), tree)


def _category(column: Feature) -> Element:
    """The index of a category, as one sum of indicators.

    Parsers fail on thousands of nested conditions. The text is written in attributes, because
    evaluators may trim the text of elements.
    """
    parts = [number(float(column.rest))]
    for value, place in column.placed_values:
        same = node("NormDiscrete", field=column.name, value=spell(value))
        parts.append(apply("*", number(float(place - column.rest)), same))
    return apply("round", apply("sum", *parts))


def _interval(column: Feature) -> Element:
    cuts = column.cuts or ()
    tree = _whole(len(cuts))
    for place, cut in reversed([*enumerate(cuts)]):
        inside = apply("lessOrEqual", field(column.name), number(cut))
        tree = apply("if", inside, _whole(place), tree)
    return tree


def _totals(formula: Formula) -> list[Element]:
    found = []
    for k, prior in enumerate(formula.prior):
        weights = []
        for j, term in enumerate(formula.terms):
            name = _own(formula, f"weight {j} {k}")
            values = [spell(row[k]) for row in term.weights]  # other levels weigh 0
            found.append(_derived(name, _look_up(formula, term, j, values, 0.0)))
            weights.append(field(name))
        total = apply("sum", number(prior), *weights)
        if formula.not_known:
            total = _scaled(formula, k, weights)
        found.append(_derived(_own(formula, f"total {k}"), total))
    return [*_factor(formula), *found] if formula.not_known else found


def _scaled(formula: Formula, k: int, weights: list[Element]) -> Element:
    """The total with the weights multiplied by the row's factor."""
    rule, factor = formula.attenuation, field(_own(formula, "factor"))
    assert rule is not None
    scaled = apply("*", apply("sum", *weights), factor)
    return apply("sum", number(formula.prior[k]), scaled, number(float(rule.shift[k])))


def _factor(formula: Formula) -> list[Element]:
    """The factor 1/sqrt(1 + k s), with s the share of the evidence that is not known."""
    assert formula.attenuation is not None
    found, parts = [], [number(0.0)]
    for j, (term, share) in enumerate(zip(formula.terms, formula.not_known, strict=True)):
        if share:
            name = _own(formula, f"not known {j}")
            found.append(
                _derived(name, _look_up(formula, term, j, ["0.0"] * len(term.places), share))
            )
            parts.append(field(name))
    inner = apply("*", number(formula.attenuation.k), apply("sum", *parts))
    whole = apply("/", number(1.0), apply("sqrt", apply("+", number(1.0), inner)))
    return [*found, _derived(_own(formula, "factor"), whole)]


def _look_up(formula: Formula, term: Term, j: int, values: list[str], default: float) -> Element:
    """A lookup from the levels of a term to values."""
    rows = node("InlineTable")
    columns = [f"level{i}" for i in range(len(term.columns))]
    for places, own in zip(term.places, values, strict=True):
        row = node("row")
        for name, value in zip([*columns, "weight"], [*map(str, places), own], strict=True):
            cell = node(name)
            cell.text = value
            row.append(cell)
        rows.append(row)
    if not term.places:
        return number(default)
    pairs = [
        node("FieldColumnPair", field=_level(formula, j, i), column=name)
        for i, name in enumerate(columns)
    ]
    return node(
        "MapValues",
        *pairs,
        rows,
        outputColumn="weight",
        defaultValue=spell(default),
        dataType="double",
    )


def _powers(formula: Formula) -> list[Element]:
    """Exponentials that are proportional to the probabilities.

    The largest total is subtracted before, so that none overflows.
    """
    names = [_own(formula, f"total {k}") for k in range(len(formula.prior))]
    zero = number(0.0)
    totals = [*map(field, names)] if len(names) > 1 else [zero, field(names[0])]
    top = apply("max", *totals)
    if formula.link == "ovr":
        top = apply("min", top, zero)
    found = [_derived(_own(formula, "top"), top)]
    for k, total in enumerate(totals):
        low = apply("min", total, zero) if formula.link == "ovr" else total
        power = apply("exp", apply("-", low, field(_own(formula, "top"))))
        if formula.link == "ovr":
            small = apply("exp", apply("*", number(-1.0), apply("abs", total)))
            power = apply("/", power, apply("+", number(1.0), small))
        found.append(_derived(_own(formula, f"power {k}"), power))
    return found


def _outputs(formula: Formula) -> list[Element]:
    totals = [
        output(formula, name, "transformedValue", field(_own(formula, f"total {k}")))
        for k, name in enumerate(formula.total_names)
    ]
    shares = zip(formula.class_names, formula.prediction_names, strict=True)
    return totals + [output(formula, name, "probability", value=label) for label, name in shares]
