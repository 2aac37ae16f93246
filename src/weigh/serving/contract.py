"""The description of the API: OpenAPI for programs, and a page with examples for people."""

from __future__ import annotations

import copy
import json
import math
import shlex
import sys
from functools import partial
from typing import Any

import numpy as np

import weigh
from weigh.bins import OTHER, Feature, Interval, Joined, Kind
from weigh.evidence import Evidence, FeatureTable
from weigh.evidence.exposure import OffsetColumn
from weigh.formula import Formula, Input
from weigh.layout import asset, document, render
from weigh.serving.requests import ID

MOST_EXAMPLES = 10
LARGEST = sys.float_info.max
LIMITS = {"minimum": -LARGEST, "maximum": LARGEST}
ADDRESS = "127.0.0.1:8000"


def describe(formula: Formula, most_rows: int) -> dict[str, Any]:
    """The API of a model as an OpenAPI 3.1 document."""
    texts = {"error": {"type": "string"}, "field": {"type": ["string", "null"]}}
    schemas = {
        "Row": _row(formula),
        "Rows": _object({"rows": _list("Row") | {"maxItems": most_rows}}),
        "Score": _score(formula),
        "Scores": _object({"rows": _list("Score")}),
        "Sheet": {"type": "object"},
        "Refusal": _with(_object(texts), {"row": {"type": "integer"}}),
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": f"weigh: {formula.description}", "version": weigh.__version__},
        "paths": _paths(formula),
        "components": {"schemas": schemas},
    }


def add_examples(
    contract: dict[str, Any],
    row: dict[str, Any],
    score: dict[str, Any],
    sheet: dict[str, Any],
    refusal: dict[str, Any],
) -> dict[str, Any]:
    """The contract with an example row, its score and sheet, and the error for an unknown field."""
    asked = {"a row": {"value": row}, "many rows": {"value": {"rows": [row] * 2}}}
    told = {"a row": {"value": score}, "many rows": {"value": {"rows": [score] * 2}}}
    explained = {"a row": {"value": row}}, {"a row": {"value": sheet}}
    made = copy.deepcopy(contract)
    for path, (takes, gives) in {"/score": (asked, told), "/explain": explained}.items():
        post = made["paths"][path]["post"]
        _content(post["requestBody"])["examples"] = takes
        _content(post["responses"]["200"])["examples"] = gives
        refused = {"a field that the model does not have": {"value": refusal}}
        _content(post["responses"]["422"])["examples"] = refused
    return made


def _content(part: dict[str, Any]) -> dict[str, Any]:
    return part["content"]["application/json"]  # type: ignore[no-any-return]


def _paths(formula: Formula) -> dict[str, Any]:
    one_or_many = {"anyOf": [_ref("Row"), _ref("Rows")]}
    scores = {"anyOf": [_ref("Score"), _ref("Scores")]}
    explained = _post("The balance sheet of a row", _ref("Row"), _ref("Sheet"))
    page = _answers({"text/html": {"schema": {"type": "string"}}})
    unknown = {"description": "The class is none of the model's", "content": _json(_ref("Refusal"))}
    form = {"summary": "The model as a form", "responses": page | {"422": unknown}}
    stopping = {"description": "It is stopping", "content": _json(_ref("Refusal"))}
    ready = _answers(_json({})) | {"503": stopping}
    told = "The class, log odds and probabilities"
    if formula.estimates:
        told = f"The estimate of {formula.estimated}, and the 90% interval of a new row"
    return {
        "/score": {"post": _post(told, one_or_many, scores) | {"parameters": WISHES}},
        "/explain": {"post": explained | {"parameters": _parameters(formula)}},
        "/model": {"get": {"summary": "The model file", "responses": _answers(_json({}))}},
        "/healthz": {"get": {"summary": "Whether it lives", "responses": _answers(_json({}))}},
        "/metrics": {"get": {"summary": "Rows scored, by level", "responses": _answers(TEXT)}},
        "/readyz": {"get": {"summary": "Whether it takes requests", "responses": ready}},
        "/": {"get": form | {"parameters": _parameters(formula)[:1]}},
    }


WISHES: list[dict[str, Any]] = [
    {
        "name": "reasons",
        "in": "query",
        "description": "How many reasons to return: the levels of largest weight, or of a "
        "scorecard the features that cost most points.",
        "schema": {"type": "integer", "minimum": 0, "maximum": 9999},
    },
    {
        "name": "notes",
        "in": "query",
        "description": "true: list all fields that are not known or were never seen in training. "
        "false: list none. By default those never seen in training are listed.",
        "schema": {"type": "boolean"},
    },
]
TEXT = {"text/plain": {"schema": {"type": "string"}}}


def _post(summary: str, body: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    refused = {"content": _json(_ref("Refusal"))}
    return {
        "summary": summary,
        "requestBody": {"required": True, "content": _json(body)},
        "responses": _answers(_json(answer))
        | {
            "408": {"description": "The body did not arrive"} | refused,
            "413": {"description": "The body is too long"} | refused,
            "422": {"description": "The body cannot be read"} | refused,
        },
    }


def _answers(content: dict[str, Any]) -> dict[str, Any]:
    return {"200": {"description": "The answer", "content": content}}


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(name: str) -> dict[str, Any]:
    return {"type": "array", "items": _ref(name)}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def _row(formula: Formula) -> dict[str, Any]:
    return {
        "type": "object",
        "description": (
            "Absent fields count as not known. null is the level missing where training rows had "
            "missing values, and not known elsewhere."
        ),
        "properties": _id(formula)
        | {field.name: _field(field) for field in formula.inputs}
        | {column.name: _known(column) for column in formula.offsets},
        "additionalProperties": False,
    }


def _id(formula: Formula) -> dict[str, Any]:
    """The schema of the field `id`, which is passed through unless it is a column."""
    return {} if ID in formula.column_names else {ID: {"type": ["string", "integer", "null"]}}


def _field(field: Input) -> dict[str, Any]:
    types = [kind.json for kind in field.accepted]
    limits = LIMITS if Kind.NUMBERS in field.accepted else {}
    said = [value for value in field.values if value not in (math.inf, -math.inf)]
    examples = {"examples": said[:MOST_EXAMPLES]} if said else {}
    return {"type": [*types, "null"], **limits, **examples}


def _known(column: OffsetColumn) -> dict[str, Any]:
    """The schema of an exposure or an offset."""
    if column.role == "offset":
        told = "The offset, which is added to the total. Absent or null, it is 0."
        return {"type": ["number", "null"], "description": told} | LIMITS
    told = "The exposure, by which the estimate is multiplied. Absent or null, it is 1."
    limits = {"exclusiveMinimum": 0, "maximum": LARGEST}
    return {"type": ["number", "null"], "description": told} | limits


def _score(formula: Formula) -> dict[str, Any]:
    classes, number = [*formula.classes], {"type": "number"}
    if formula.estimates:
        per = {"estimate_of": {"type": "string"}} if formula.has_condition else {}
        estimate = _object({"estimate": number} | dict.fromkeys(("low", "high"), number) | per)
        return _with(estimate, _id(formula) | _details(formula))
    each = _object(dict.fromkeys(formula.class_names, number))
    total = {"log_odds": number} if len(classes) == 2 else {"totals": each}
    found = {"score": {"type": "integer"}} if formula.score_name else {"class": {"enum": classes}}
    own = _object({**found, **total, "probabilities": each})
    return _with(own, _id(formula) | _details(formula))


def _details(formula: Formula) -> dict[str, Any]:
    """The schemas of the optional parts of a response: reasons and notes."""
    text = {"type": "string"}
    whole = {"type": "integer"}
    card = {"reason": text, "cost": whole, "points": whole}
    reason = _object(card if formula.score_name else {"reason": text, "weight": {"type": "number"}})
    note = _object({"field": text, "note": text})
    return {
        "reasons": {"type": "array", "items": reason},
        "notes": {"type": "array", "items": note},
    }


def _with(schema: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """The schema of an object with more, optional properties."""
    return schema | {"properties": schema["properties"] | more}


def _parameters(formula: Formula) -> list[dict[str, Any]]:
    """The query parameters: the positive class, and a rival class if the model compares two."""
    if formula.estimates:
        return []
    classes = [*formula.class_names]
    roles = {"pos_label": "The class that positive weights favour."}
    if formula.link == "softmax":
        roles["against"] = "Its rival; otherwise all the others together."
    return [
        {"name": name, "in": "query", "description": text, "schema": {"enum": classes}}
        for name, text in roles.items()
    ]


def show(contract: dict[str, Any]) -> str:
    """The contract as a self-contained page."""
    paths = contract["paths"].items()
    calls = {path: _call(path, by["post"]) for path, by in paths if "post" in by}
    dump = partial(json.dumps, indent=1, ensure_ascii=False)
    told = {"contract": contract, "calls": calls, "address": ADDRESS, "dump": dump}
    body = render("contract.html", **told)
    return document(contract["info"]["title"], body, asset("weigh.pages", "page.css"))


def _call(path: str, operation: dict[str, Any]) -> str:
    """A curl command that sends the example request."""
    row = next(iter(_content(operation["requestBody"])["examples"].values()))["value"]
    return f"curl -d {shlex.quote(json.dumps(row, ensure_ascii=False))} {ADDRESS}{path}"


def example_row(evidence: Evidence) -> dict[str, Any]:
    """A row with a value of the most frequent training level in every column."""
    row = {part.name: _pick(part, 0) for f in evidence.features for part in f.parts}
    for table in evidence:
        if isinstance(table.feature, Feature):
            row[table.name] = _pick(table.feature, _most_common(table))
    return {name: row[name] for name in evidence.column_names}


def _most_common(table: FeatureTable) -> int:
    """The index of the most frequent level, without missing and other."""
    rows = table.counts.sum(axis=1)
    known = np.array([level not in (None, OTHER) for level in table.levels], dtype=bool)
    return int(np.where(known, rows, -1.0).argmax()) if len(rows) else 0


def _pick(feature: Feature, place: int) -> Any:
    """A value of the level at an index; None if there is none."""
    if place >= len(feature.levels):
        return None
    level = feature.levels[place]
    if level is OTHER:
        return None
    if isinstance(level, Interval):
        return _inside(level, feature.values, _width_beside(level, feature))
    if isinstance(level, Joined):
        level = level.values[0]
    return None if level in (np.inf, -np.inf) else level  # JSON has no infinity


def _width_beside(level: Interval, feature: Feature) -> float:
    """The width of the bin beside an open one; infinite if there is no bin with two ends."""
    bins = [own for own in feature.levels if isinstance(own, Interval)]
    beside = [own for own in bins if own.upper == level.lower or own.lower == level.upper]
    return float(min((own.upper - own.lower for own in beside), default=np.inf))


def _inside(interval: Interval, codes: tuple[Any, ...], beside: float) -> float:
    """A number with few digits inside an interval that is not a special code.

    An open interval is taken to be as wide as the bin `beside` it.
    """
    low, high = interval.lower, interval.upper
    if np.isinf(low) and np.isinf(high):
        tried = [1.0, 2.0, 3.0]
    elif np.isinf(low) or np.isinf(high):
        end, step = (high, -1.0) if np.isinf(low) else (low, 1.0)
        tried = [end + step * size for size in (beside / 2, abs(end), 1.0)] + [high]
    else:
        tried = [low + share * (high - low) for share in (0.5, 0.25)] + [high]
    short = [float(f"{x:.{digits}g}") for digits in (2, 4, 17) for x in tried]
    fits = [x for x in short if low < x <= high and np.isfinite(x) and x not in codes]
    return fits[0] if fits else float(np.nextafter(high, low))
