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


def read_table(data: str, categorical: tuple[str, ...], drop: tuple[str, ...]) -> Any:
    """Read a file to learn from, with the columns that hold categories."""
    from weigh.frames import read_file

    table = drop_columns(read_file(data, categorical), drop)
    for name in categorical:
        codes = find_column(table, name).dictionary_encode()
        table = table.set_column(table.column_names.index(name), name, codes)
    return table


def read_like(model: Any, data: str, target: str | None = None) -> Any:
    """Read a file with the types that the model was fitted on."""
    from weigh.frames import read_file

    parts = [part for feature in model._learnt.features for part in feature.parts]
    text = [part.name for part in parts if any(isinstance(v, str) for v in part.values)]
    if model._learnt.event_model == "counts":
        text = []
    if target is not None and any(isinstance(label, str) for label in model.classes_.tolist()):
        text.append(target)
    return read_file(data, tuple(text))


def find_target(model: Any, table: Any) -> str:
    """The one column that is no feature and holds the model's classes and nothing else."""
    from weigh.frames import canonical, key

    classes = {key(canonical(label)) for label in model.classes_.tolist()}
    others = [name for name in table.column_names if name not in model._column_names()]
    found = [
        name
        for name in others
        if {key(canonical(value)) for value in table[name].unique().to_pylist()} <= classes
    ]
    if len(found) == 1:
        return str(found[0])
    which = f"{len(found)} ({', '.join(found)})" if found else "none"
    raise ValueError(
        f"which column is the target? Of those that are no features, {which} hold the classes "
        f"{', '.join(map(label_text, model.classes_.tolist()))}; name it with --target"
    )


def find_class(model: Any, text: str | None) -> Any:
    """A class by the name that it is shown by."""
    classes = {label_text(label): label for label in model.classes_.tolist()}
    if text is None:
        return None
    return classes.get(text, classes.get(text.lower(), text))


def score_columns(model: Any, table: Any) -> dict[str, Any]:
    """The class, the totals if there are any, and the probabilities of every row; or estimates."""
    if hasattr(model, "predict_quantile"):
        low, high = (model.predict_quantile(table, q) for q in (0.05, 0.95))
        return {"estimate": model.predict(table), "low": low, "high": high}
    names, learnt = [label_text(label) for label in model.classes_.tolist()], model._learnt
    if hasattr(model, "tree_"):
        probabilities = model.predict_proba(table)
        columns: dict[str, Any] = {"prediction": model.classes_[probabilities.argmax(axis=1)]}
    else:
        read = model._read(table)
        totals = learnt.total(read)
        heads = ["log_odds"] if len(names) == 2 else [f"total_{name}" for name in names]
        columns = {"prediction": model._decide(read, totals)}
        columns |= {head: totals[:, k] for k, head in enumerate(heads)}
        probabilities = learnt.probabilities(totals)
    return columns | {f"probability_{name}": probabilities[:, k] for k, name in enumerate(names)}


def explain_row(model: Any, row: Any, of: str | None, against: str | None) -> Any:
    """The balance sheet of a row, or its path; classes are named as they are shown."""
    if hasattr(model, "tree_"):
        if of is not None or against is not None:
            raise ValueError("a path shows every class: leave --of and --against out")
        return model.path(row)
    if hasattr(model, "predict_quantile"):
        if of is not None or against is not None:
            raise ValueError("an estimate has no classes: leave --of and --against out")
        return model.balance_sheet(row)
    if hasattr(model._learnt, "no_table"):
        raise ValueError(model._learnt.no_table)
    return model.balance_sheet(row, of=find_class(model, of), against=find_class(model, against))


def json_rows(table: Any) -> list[dict[str, Any]]:
    """Rows for JSON, which has neither NaN nor infinity."""

    def value(cell: Any) -> Any:
        return None if isinstance(cell, float) and cell - cell != 0 else cell

    return [{name: value(cell) for name, cell in row.items()} for row in table.to_pylist()]
