"""A file scored by PyPMML, which runs PMML4S on Java and knows nothing of this package."""

from __future__ import annotations

from typing import Any

from weigh.exports.pmml.document import own_name
from weigh.formula import Formula


def run(text: str, formula: Formula, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the file says of rows, by name of output."""
    try:
        import pypmml
    except ImportError:
        raise ImportError("scoring the file needs pypmml and Java: pip install pypmml") from None
    model = pypmml.Model.fromString(text)
    asked, told = model.inputNames, model.outputNames
    cells = [[row[name] for name in asked] for row in rows]
    return [dict(zip(told, model.predict(row), strict=True)) for row in cells]


def output_names(formula: Formula, names: tuple[str, ...]) -> list[str]:
    """What outputs are called in the file, where a column has the name already."""
    return [own_name(formula, name) for name in names]
