"""A model as an ONNX graph: text and doubles in; totals, predictions, contributions out.

Doubles throughout, because single precision would move rows that stand on a cut point.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from weigh.arrays import Floats
from weigh.bins import Feature, Kind
from weigh.errors import Extra
from weigh.evidence import BOUND, Curve
from weigh.evidence.exposure import OffsetColumn
from weigh.exports.targets import is_no_unicode, refuse_inexact, refuse_mixed, refuse_text
from weigh.formula import Formula, Input, Term

onnx = Extra("onnx", "ONNX exports need onnx", "onnx")

OPSET, ML_OPSET, IR = 17, 3, 8
OWN = "weigh:"
"""How names inside the graph begin."""

MISSING = "missing"
"""The key of the metadata that says which text stands for an answer that is not known."""


def missing_text(formula: Formula) -> str:
    """The text that represents missing text, which ONNX lacks; empty text is an ordinary value."""
    levels = {value for column in formula.inputs for value in column.values}
    texts = ["<missing>", *(f"<missing {n}>" for n in range(2, len(levels) + 3))]
    return next(text for text in texts if text not in levels)


def write(formula: Formula) -> bytes:
    """The bytes of the file.

    Inputs are columns of shape [rows, 1], by name: text as strings, everything else as doubles, in
    which NaN is missing and booleans are 0 and 1.
    """
    refuse_mixed(formula, "ONNX")
    refuse_inexact(formula, "ONNX")
    refuse_text(formula, "ONNX", is_no_unicode)
    graph = _Graph(missing_text(formula), input_names(formula))
    graph.hide(formula.inputs)
    parts = [graph.weigh(term, len(formula.prior)) for term in formula.terms]
    graph.add("Concat", parts, "contributions", axis=1)  # [rows, terms, totals]
    totals = _totals(graph, formula)
    graph.add("Identity", [totals], "totals")
    _link(graph, formula)
    helper = onnx.helper
    model = helper.make_model(
        helper.make_graph(
            graph.nodes, "weigh", _inputs(formula), _outputs(formula), initializer=graph.constants
        ),
        producer_name="weigh",
        ir_version=IR,
        opset_imports=[
            helper.make_opsetid("", OPSET),
            helper.make_opsetid("ai.onnx.ml", ML_OPSET),
        ],
    )
    helper.set_model_props(model, _metadata(formula, graph))
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def input_names(formula: Formula) -> dict[str, str]:
    """The input name of each column: its own name, unless the graph already uses it."""
    taken = {"", "totals", "probabilities", "estimate", "contributions"}
    return {
        c.name: f"column:{j}:{c.name}" if c.name in taken or c.name.startswith(OWN) else c.name
        for j, c in enumerate(formula.inputs)
    }


def _metadata(formula: Formula, graph: _Graph) -> dict[str, str]:
    return {
        "model": formula.description,
        "classes": json.dumps(formula.class_names, ensure_ascii=False),
        "features": json.dumps([term.name for term in formula.terms], ensure_ascii=False),
        "inputs": json.dumps(graph.names, ensure_ascii=False),
        MISSING: graph.missing,
    }


def _inputs(formula: Formula) -> list[Any]:
    names = input_names(formula)
    kinds = {Kind.TEXT: onnx.TensorProto.STRING}
    return [
        onnx.helper.make_tensor_value_info(
            names[column.name], kinds.get(column.kind, onnx.TensorProto.DOUBLE), ["rows", 1]
        )
        for column in formula.inputs
    ]


def _outputs(formula: Formula) -> list[Any]:
    n = len(formula.prior)
    shapes = {
        "totals": ["rows", n],
        prediction_name(formula): ["rows", len(formula.classes)],
        "contributions": ["rows", len(formula.terms), n],
    }
    make = onnx.helper.make_tensor_value_info
    return [make(name, onnx.TensorProto.DOUBLE, shape) for name, shape in shapes.items()]


class _Graph:
    """Nodes and constants."""

    def __init__(self, missing: str, names: dict[str, str]) -> None:
        self.missing, self.names, self.read = missing, names, names
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(
        self, op: str, inputs: list[str], output: str = "", domain: str = "", **more: Any
    ) -> str:
        """Add a node and return the name of what it gives."""
        name = output or f"{OWN}{len(self.nodes)}"
        node = onnx.helper.make_node(op, inputs, [name], domain=domain, **more)
        self.nodes.append(node)
        return name

    def constant(self, values: Any, kind: Any = np.float64) -> str:
        """Add a constant and return its name."""
        name = f"{OWN}constant:{len(self.constants)}"
        array = np.asarray(values, dtype=kind)
        self.constants.append(onnx.numpy_helper.from_array(array, name))
        return name

    def hide(self, inputs: Iterable[Input]) -> None:
        """Read a column as missing where it is not asked for."""
        hidden: dict[str, str] = {}
        for column in inputs:
            for ask in column.asked:
                places = self.constant([[*ask.places]], np.int64)
                found = self.count(self.add("Equal", [self.place(ask.feature), places]))
                asked = self.add("Greater", [found, self.constant(0, np.int64)])
                text = column.kind is Kind.TEXT
                none = self.constant(self.missing, object) if text else self.constant(np.nan)
                x = hidden.get(column.name, self.names[column.name])
                hidden[column.name] = self.add("Where", [asked, x, none])
        self.read = self.names | hidden

    def weigh(self, term: Term, n_totals: int) -> str:
        """The weights of a term, of shape [rows, 1, totals]."""
        return self.add("Gather", [self.constant(_dense(term, n_totals)), self.cells(term)], axis=0)

    def unknown(self, term: Term, number: float) -> str:
        """A number where a row has no level of a term, and 0 elsewhere, of shape [rows, 1]."""
        table = np.full([column.no_level + 1 for column in term.columns], number)
        for place in term.places:
            table[place] = 0.0
        return self.add("Gather", [self.constant(table.ravel()), self.cells(term)], axis=0)

    def cells(self, term: Term) -> str:
        """The place, or the number of the pair of places, of every row, of shape [rows, 1]."""
        places = [self.place(column) for column in term.columns]
        cells = places[0]
        if len(places) > 1:
            width = self.constant(term.columns[1].no_level + 1, np.int64)
            cells = self.add("Add", [self.add("Mul", [places[0], width]), places[1]])
        return cells

    def place(self, column: Feature) -> str:
        """The place of every row's level, of shape [rows, 1]."""
        if column.kind is Kind.TEXT:
            return self._place_text(column)
        x = self.read[column.name]
        missing = self.add("IsNaN", [x])
        place = self._pick_equal(column, x, self._count_cuts(column, x, missing))
        return self.add("Where", [missing, self.constant(column.missing_place, np.int64), place])

    def _count_cuts(self, column: Feature, x: str, missing: str) -> str:
        """How many cut points lie below a number; what is no code is no level, or `other`."""
        if column.cuts:
            return self.count(self.add("Greater", [x, self.constant([column.cuts])]))
        base = self.constant(0 if column.is_numeric else column.rest, np.int64)
        return self.add("Where", [missing, base, base])

    def _pick_equal(self, column: Feature, x: str, otherwise: str) -> str:
        """The place of the code that a number is, if it is one."""
        if not column.values:
            return otherwise
        values, places = zip(*column.placed_values, strict=True)
        same = self.add("Equal", [x, self.constant([[*map(float, values)]])])
        place = self.add("Mul", [self._whole(same), self.constant([places], np.int64)])
        found = self.add("ReduceSum", [place, self.constant([1], np.int64)], keepdims=1)
        known = self.add("Greater", [self.count(same), self.constant(0, np.int64)])
        return self.add("Where", [known, found, otherwise])

    def count(self, flags: str) -> str:
        """How many of a row's flags hold, of shape [rows, 1]."""
        axis = self.constant([1], np.int64)
        return self.add("ReduceSum", [self._whole(flags), axis], keepdims=1)

    def _whole(self, name: str) -> str:
        return self.add("Cast", [name], to=onnx.TensorProto.INT64)

    def _place_text(self, column: Feature) -> str:
        known = dict(column.placed_values) | {self.missing: column.missing_place}
        return self._encode(column, known, column.rest)

    def _encode(self, column: Feature, known: Mapping[Any, int], rest: int) -> str:
        """The number of each text of a column; `rest` for other texts."""
        return self.add(
            "LabelEncoder",
            [self.read[column.name]],
            domain="ai.onnx.ml",
            keys_strings=[*known],
            values_int64s=[*known.values()],
            default_int64=rest,
        )

    def offset(self, column: OffsetColumn) -> str:
        """What exposure or offset add to the total; NaN for an exposure that is not positive."""
        x, zero = self.read[column.name], self.constant(0.0)
        missing, added = self.add("IsNaN", [x]), x
        if column.role == "exposure":
            sound = self.add("Greater", [x, zero])
            added = self.add("Where", [sound, self.add("Log", [x]), self.constant(np.nan)])
        return self.add("Where", [missing, zero, added])

    def answers(self, column: Feature) -> str:
        """1 where a row has an answer, of shape [rows, 1]."""
        if column.kind is Kind.TEXT:
            known = self._encode(column, {self.missing: 0}, 1)
        else:
            known = self.add("Not", [self.add("IsNaN", [self.read[column.name]])])
        return self.add("Cast", [known], to=onnx.TensorProto.DOUBLE)


def _dense(term: Term, n_totals: int) -> Floats:
    """Weights at every place, or pair of places; zero where there is no level."""
    shape = [column.no_level + 1 for column in term.columns]
    table = np.zeros((*shape, n_totals))
    for place, weights in zip(term.places, term.weights, strict=True):
        table[place] = weights
    return table.reshape(-1, table.shape[-1])


def _totals(graph: _Graph, formula: Formula) -> str:
    prior, axis = graph.constant([formula.prior]), graph.constant([1], np.int64)
    sums = graph.add("ReduceSum", ["contributions", axis], keepdims=0)
    rule = formula.attenuation
    if rule is None:
        totals = graph.add("Add", [sums, prior])
        for column in formula.offsets:
            totals = graph.add("Add", [totals, graph.offset(column)])
        return totals if formula.curve is None else _apply(graph, formula.curve, totals)
    exponent, shift = _exponent(graph, formula), graph.constant([rule.shift.tolist()])
    if rule.form == "root":
        sums = graph.add("Mul", [graph.add("Add", [sums, prior]), exponent])
    else:
        sums = graph.add("Add", [graph.add("Mul", [sums, exponent]), prior])
    totals = graph.add("Add", [sums, shift])
    return totals if formula.curve is None else _apply(graph, formula.curve, totals)


def _exponent(graph: _Graph, formula: Formula) -> str:
    rule = formula.attenuation
    assert rule is not None
    if rule.form == "known":
        return _factor(graph, formula, rule.k)
    always = float(sum(not term.skips for term in formula.terms))
    n = graph.constant([[always + (rule.form == "root")]])
    for term in formula.terms:
        asked = [graph.answers(column) for column in term.columns if column.skip_missing]
        if asked:
            both = asked[0] if len(asked) == 1 else graph.add("Mul", asked)
            n = graph.add("Add", [n, both])
    k = graph.constant([[rule.k]])
    return graph.add("Div", [k, graph.add("Max", [n, k])])


def _factor(graph: _Graph, formula: Formula, k: float) -> str:
    """1/sqrt(1 + k s), with s the share of the evidence that is not known."""
    inner = graph.constant([[1.0]])
    for term, share in zip(formula.terms, formula.not_known, strict=True):
        if share:
            inner = graph.add("Add", [inner, graph.unknown(term, k * share)])
    return graph.add("Div", [graph.constant([[1.0]]), graph.add("Sqrt", [inner])])


def _apply(graph: _Graph, curve: Curve, totals: str) -> str:
    """The piece of each total, and its polynomial there."""
    uppers = graph.constant([[piece.upper for piece in curve.pieces[:-1]]])
    place = graph.count(graph.add("Greater", [totals, uppers]))

    def pick(values: list[float]) -> str:
        return graph.add("Gather", [graph.constant(values), place], axis=0)

    d = graph.add("Sub", [totals, pick([piece.start for piece in curve.pieces])])
    value = pick([piece.cubic[3] for piece in curve.pieces])
    for power in (2, 1, 0):
        lower = pick([piece.cubic[power] for piece in curve.pieces])
        value = graph.add("Add", [graph.add("Mul", [value, d]), lower])
    if curve.steps:
        low, high = graph.constant(BOUND), graph.constant(1 - BOUND)
        p = graph.add("Max", [graph.add("Min", [value, high]), low])
        rest = graph.add("Sub", [graph.constant(1.0), p])
        value = graph.add("Log", [graph.add("Div", [p, rest])])
    return graph.add("Add", [value, graph.constant(curve.shift)])


def prediction_name(formula: Formula) -> str:
    """The name of the output for probabilities or estimates."""
    return "estimate" if formula.estimates else "probabilities"


def _link(graph: _Graph, formula: Formula) -> None:
    if formula.estimates:
        graph.add("Exp" if formula.link == "log" else "Identity", ["totals"], "estimate")
        return
    if formula.link == "softmax":
        graph.add("Softmax", ["totals"], "probabilities", axis=1)
        return
    one, zero = graph.constant(1.0), graph.constant(0.0)
    small = graph.add("Exp", [graph.add("Neg", [graph.add("Abs", ["totals"])])])
    whole = graph.add("Add", [one, small])
    if formula.link == "logistic":
        against = graph.add("Less", ["totals", zero])
        first = graph.add("Div", [graph.add("Where", [against, one, small]), whole])
        second = graph.add("Div", [graph.add("Where", [against, small, one]), whole])
        graph.add("Concat", [first, second], "probabilities", axis=1)
        return
    low = graph.add("Min", ["totals", zero])
    top = graph.add("ReduceMax", [low], axes=[1], keepdims=1)
    parts = graph.add("Div", [graph.add("Exp", [graph.add("Sub", [low, top])]), whole])
    norm = graph.add("ReduceSum", [parts, graph.constant([1], np.int64)], keepdims=1)
    graph.add("Div", [parts, norm], "probabilities")
