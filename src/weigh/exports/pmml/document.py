"""Parts that all PMML documents share: columns, numbers, names and expressions."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from weigh.bins import Kind
from weigh.exports.targets import refuse_inexact, refuse_mixed, refuse_text
from weigh.formula import Formula, Input

NAMESPACE = "http://www.dmg.org/PMML-4_4"


def check(formula: Formula) -> None:
    """Raise an error for models that PMML cannot express."""
    rule = formula.attenuation
    if rule is not None and (rule.form != "known" or formula.curve is not None):
        raise ValueError(
            f"{formula.model_name} adjusts each row by its number of answers, which the PMML "
            "export does not support; export to sql, onnx, python or xlsx, or fit AdjustedNB or "
            "EducatedNB"
        )
    refuse_mixed(formula, "PMML")
    refuse_inexact(formula, "PMML")
    refuse_text(formula, "XML", _is_no_xml)


def _is_no_xml(text: str) -> bool:
    return any(
        (c < " " and c not in "\t\n\r") or "\ud800" <= c <= "\udfff" or c in "\ufffe\uffff"
        for c in text
    )


def node(tag: str, *children: Element, **attributes: str) -> Element:
    """An XML element with children and attributes."""
    made = Element(tag, attributes)
    made.extend(children)
    return made


def to_text(formula: Formula, model: Element) -> str:
    """The whole PMML document as text: header, data dictionary and model."""
    header = node("Header", node("Application", name="weigh"), description=formula.description)
    columns = [_data_field(column) for column in formula.inputs]
    if _has_target(formula):
        name = target_name(formula)
        target = node("DataField", name=name, optype="categorical", dataType="string")
        target.extend(node("Value", value=name) for name in formula.class_names)
        columns.append(target)
    dictionary = node("DataDictionary", *columns, numberOfFields=str(len(columns)))
    root = node("PMML", header, dictionary, model, xmlns=NAMESPACE, version="4.4")
    ElementTree.indent(root, "  ")
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _data_field(column: Input) -> Element:
    """The declaration of a column: a continuous double, or a categorical string.

    Numeric codes are declared continuous too, because some evaluators read the values of a
    categorical number as positions. Booleans are the texts true and false, because evaluators
    read a missing boolean as false.
    """
    number = column.kind is Kind.NUMBERS
    optype, data = ("continuous", "double") if number else ("categorical", "string")
    return node("DataField", name=column.name, optype=optype, dataType=data)


def mining_schema(formula: Formula, target: str = "") -> Element:
    """The mining schema of all columns, with missing and unseen values passed on unchanged."""
    schema = node("MiningSchema")
    for column in formula.inputs:
        schema.append(
            node("MiningField", name=column.name, usageType="active", invalidValueTreatment="asIs")
        )
    if target:
        schema.append(node("MiningField", name=target, usageType="target"))
    return schema


def _has_target(formula: Formula) -> bool:
    """Whether the document declares the classes: where it is a RegressionModel."""
    return len(formula.prior) > 1 or bool(formula.not_known)


def target_name(formula: Formula) -> str:
    """The name of the target, which differs from the names of all columns."""
    return own_name(formula, "class")


def own_name(formula: Formula, name: str) -> str:
    """A name with underscores appended until it differs from the names of all columns."""
    while name in formula.column_names:
        name = f"{name}_"
    return name


def spell(value: Any) -> str:
    """A value in the notation of PMML; a number is read back as the same double."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    return value if isinstance(value, str) else repr(float(value))


# ------------------------------------------------------------ expressions


def apply(function: str, *parts: Element) -> Element:
    """An Apply element: a function applied to expressions."""
    return node("Apply", *parts, function=function)


def field(name: str) -> Element:
    """A reference to a field."""
    return node("FieldRef", field=name)


def number(value: float) -> Element:
    """A constant of type double."""
    made = node("Constant", dataType="double")
    made.text = repr(float(value))
    return made


# ------------------------------------------------------------ the model


def model(
    tag: str, formula: Formula, outputs: list[Element], *parts: Element, **attributes: str
) -> Element:
    """A model element, which begins with the columns that it reads and the fields that it gives."""
    target = target_name(formula) if _has_target(formula) else ""
    head = mining_schema(formula, target), node("Output", *outputs)
    return node(tag, *head, *parts, modelName=formula.model_name, **attributes)


def output(formula: Formula, name: str, feature: str, *parts: Element, **more: str) -> Element:
    """A number that the model gives: its prediction, a probability, or what an expression says."""
    name = own_name(formula, name)
    kind = {"optype": "continuous", "dataType": "double", "feature": feature}
    return node("OutputField", *parts, name=name, **kind, **more)
