"""A model with one total as a Scorecard: characteristics with attributes, then the prediction."""

from __future__ import annotations

from math import isinf
from xml.etree.ElementTree import Element

from weigh.bins import Condition, Feature
from weigh.evidence import BOUND, Curve, Piece
from weigh.evidence.exposure import OffsetColumn
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


def write_scorecard(formula: Formula) -> Element:
    """A Scorecard with the prior as initial score and a partial score for every level."""
    costs = formula.costs
    every = (_characteristic(formula, *own) for own in enumerate(formula.terms))
    characteristics = node("Characteristics", *every)
    return model(
        "Scorecard",
        formula,
        _outputs(formula),
        characteristics,
        functionName="regression",
        algorithmName="weights of evidence",
        initialScore=spell(formula.prior[0]),
        useReasonCodes="true",
        reasonCodeAlgorithm="pointsAbove" if costs is None else "pointsBelow",
        baselineScore="0",
    )


def _characteristic(formula: Formula, place: int, term: Term) -> Element:
    """The characteristic of one table, with its reason code.

    Reasons are the features that favour the second class most; for a scorecard, those that lose
    most points.
    """
    costs = formula.costs
    texts = () if costs is None else costs.texts[place]
    usual = max(texts, key=texts.count, default=term.name)
    made = node(
        "Characteristic",
        name=own_name(formula, f"characteristic {place + 1}: {term.name}"),
        reasonCode=usual,
        baselineScore=spell(0.0 if costs is None else costs.baselines[place]),
    )
    made.extend(_attributes(term, texts, usual))
    return made


def _attributes(term: Term, texts: tuple[str, ...], usual: str) -> list[Element]:
    """The attributes of a table, in order: the first whose predicate holds applies.

    The last predicate always holds. A level has a reason code if its text is not the usual one.
    """
    column, *more = term.columns
    pairs: list[tuple[tuple[int, ...], Element]]
    if not (more or column.asked):
        pairs = [((test.place,), _test(column, test)) for test in column.conditions]
    else:
        pairs = [(place, _every(term.columns, place)) for place in term.places]
    found = []
    for place, predicate in pairs:
        level = term.lookup.get(place)
        weight = 0.0 if level is None else term.weights[level][0]
        found.append(node("Attribute", predicate, partialScore=spell(weight)))
        if texts and (text := texts[-1 if level is None else level]) != usual:
            found[-1].set("reasonCode", text)
    if not (pairs and pairs[-1][1].tag == "True"):
        found.append(node("Attribute", node("True"), partialScore="0.0"))
        if texts and texts[-1] != usual:
            found[-1].set("reasonCode", texts[-1])
    return found


def _test(column: Feature, test: Condition) -> Element:
    if test.holds == "missing":
        return node("SimplePredicate", field=column.name, operator="isMissing")
    if test.holds == "any":
        return node("True")
    operator = "equal" if test.holds == "equal" else "lessOrEqual"
    return node("SimplePredicate", field=column.name, operator=operator, value=spell(test.value))


def _every(columns: tuple[Feature, ...], places: tuple[int, ...]) -> Element:
    """The predicate that a row has a level of a table and that its questions are asked."""
    parts = [part for c, place in zip(columns, places, strict=True) for part in _is_level(c, place)]
    asks = [ask for column in columns for ask in column.asked]
    for ask in asks:
        levels = [_join("and", _is_level(ask.feature, place)) for place in ask.places]
        parts.append(_join("or", levels))
    return _join("and", parts)


def _join(operator: str, parts: list[Element]) -> Element:
    return (
        parts[0] if len(parts) == 1 else node("CompoundPredicate", *parts, booleanOperator=operator)
    )


def _is_level(column: Feature, place: int) -> list[Element]:
    """Predicates that a column has a level, valid whatever the order of the attributes."""
    if column.other and place == column.rest:
        return _is_other(column)
    own = [test for test in column.conditions if test.place == place]
    if column.cuts is None or place > len(column.cuts):
        tests = [_test(column, test) for test in own]
        one = len(tests) == 1
        return tests if one else [node("CompoundPredicate", *tests, booleanOperator="or")]

    def compare(operator: str, value: float) -> Element:
        return node("SimplePredicate", field=column.name, operator=operator, value=spell(value))

    parts = [node("SimplePredicate", field=column.name, operator="isNotMissing")]
    if place > 0:
        parts.append(compare("greaterThan", column.cuts[place - 1]))
    if place < len(column.cuts):
        parts.append(compare("lessOrEqual", column.cuts[place]))
    return parts + [compare("notEqual", float(v)) for v in column.values]  # type: ignore[arg-type]


def _is_other(column: Feature) -> list[Element]:
    """Predicates that a value is neither missing nor one of the levels."""
    known = [
        node("SimplePredicate", field=column.name, operator="notEqual", value=spell(value))
        for value in column.values
    ]
    return [node("SimplePredicate", field=column.name, operator="isNotMissing"), *known]


def _outputs(formula: Formula) -> list[Element]:
    score = own_name(formula, formula.score_name or "score")
    made = [output(formula, score, "predictedValue")]
    total = field(score) if formula.curve is None else _recalibrate(formula.curve, score)
    for column in formula.offsets:
        total = apply("+", total, _add_offset(column))
    said = own_name(formula, formula.total_names[0])
    made.append(output(formula, said, "transformedValue", total))
    for name, tree in zip(formula.prediction_names, _predictions(formula, said), strict=True):
        made.append(output(formula, name, "transformedValue", tree))
    return made + [_reason(formula, 1 + i) for i in range(min(3, len(formula.terms)))]


def _reason(formula: Formula, rank: int) -> Element:
    kind = {"optype": "categorical", "dataType": "string", "feature": "reasonCode"}
    name = own_name(formula, f"reason_{rank}")
    return node("OutputField", name=name, **kind, rank=str(rank))


def _add_offset(column: OffsetColumn) -> Element:
    """What exposure or offset add to the total; missing for an exposure that is not positive."""
    added = field(column.name)
    if column.role == "exposure":
        sound = apply("greaterThan", field(column.name), number(0.0))
        added = apply("if", sound, apply("ln", field(column.name)))
    return apply("if", apply("isMissing", field(column.name)), number(0.0), added)


def _predictions(formula: Formula, total: str) -> list[Element]:
    """The prediction from the total: the probability of each class, or a number."""
    if formula.estimates:
        return [apply("exp", field(total)) if formula.link == "log" else field(total)]
    powers = (apply("exp", apply("*", number(sign), field(total))) for sign in (1.0, -1.0))
    return [apply("/", number(1.0), apply("+", number(1.0), power)) for power in powers]


def _recalibrate(curve: Curve, score: str) -> Element:
    """The recalibrated log odds: the curve as nested conditions, one per piece."""
    tree = _polynomial(curve.pieces[-1], score)
    for piece in reversed(curve.pieces[:-1]):
        assert not isinf(piece.upper)
        inside = apply("lessOrEqual", field(score), number(piece.upper))
        tree = apply("if", inside, _polynomial(piece, score), tree)
    if curve.steps:
        p = apply("max", apply("min", tree, number(1 - BOUND)), number(BOUND))
        tree = apply("ln", apply("/", p, apply("-", number(1.0), p)))
    return apply("+", tree, number(curve.shift))


def _polynomial(piece: Piece, score: str) -> Element:
    d = apply("-", field(score), number(piece.start))
    tree = number(piece.cubic[-1])
    for coefficient in piece.cubic[-2::-1]:
        tree = apply("+", number(coefficient), apply("*", d, tree))
    return tree
