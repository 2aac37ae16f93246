"""Tables in and out, on their way between files and models."""

from __future__ import annotations

from typing import Any


def label_text(label: Any) -> str:
    """A class label as people read it."""
    from weigh.bins import label as read

    return read(label)


def drop_columns(table: Any, names: tuple[str, ...]) -> Any:
    """The table less some columns, each of which it must have."""
    for name in names:
        find_column(table, name)
    return table.drop_columns(list(names))


def find_column(table: Any, name: str) -> Any:
    """A column by name, or an error that lists the names."""
    if name not in table.column_names:
        held = ", ".join(table.column_names)
        raise ValueError(f"the table has no column {name!r}; it holds {held}")
    return table[name]


def read_like(model: Any, data: str) -> Any:
    """Read a file with the types that the model was fitted on."""
    from weigh.frames import read_file

    features = [part for table in model.evidence_ for part in table.feature.parts]
    text = tuple(f.name for f in features if any(isinstance(v, str) for v in f.values))
    return read_file(data, text if model.evidence_.event_model == "levels" else ())


def score_columns(model: Any, table: Any) -> dict[str, Any]:
    """The class, totals and probabilities of every row."""
    evidence = model.evidence_
    totals = evidence.total(model._read(table))
    names = [label_text(label) for label in model.classes_.tolist()]
    heads = ["log_odds"] if len(names) == 2 else [f"total_{name}" for name in names]
    columns: dict[str, Any] = {"prediction": evidence.decide(totals)}
    columns |= {head: totals[:, k] for k, head in enumerate(heads)}
    probabilities = evidence.probabilities(totals)
    return columns | {f"probability_{name}": probabilities[:, k] for k, name in enumerate(names)}


def json_rows(table: Any) -> list[dict[str, Any]]:
    """Rows for JSON, which has neither NaN nor infinity."""

    def value(cell: Any) -> Any:
        return None if isinstance(cell, float) and cell - cell != 0 else cell

    return [{name: value(cell) for name, cell in row.items()} for row in table.to_pylist()]
