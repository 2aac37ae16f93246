"""What a target cannot write, refused before anything is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weigh.bins import Kind
from weigh.formula import Formula
from weigh.frames import Value


def read_formula(model: Any) -> Formula:
    """The formula of a model whose rows have a level in every column."""
    formula = Formula.of(model)
    if formula.tokens:
        raise ValueError(
            "a model of documents (event_model='counts') has a column for every token and is not "
            "exported; weigh.save keeps it, and event_model='levels' can be exported"
        )
    return formula


def refuse_mixed(formula: Formula, target: str) -> None:
    """Targets whose columns have one type cannot hold every column that Python can."""
    for column in formula.inputs:
        if column.kind is Kind.MIXED:
            raise ValueError(
                f"column {column.name!r} holds values of several types, and a column of "
                f"{target} holds one; convert it to text before fitting"
            )


def refuse_text(formula: Formula, target: str, is_odd: Callable[[str], bool]) -> None:
    """Refuse names and levels that a target has no way to write."""
    named: dict[str, tuple[Any, ...]] = {
        "a column": formula.column_names,
        "a class": formula.class_names,
    }
    named |= {f"a level of {c.name!r}": c.values for c in formula.inputs}
    costs = () if formula.costs is None else formula.costs.texts
    named["a reason"] = tuple(text for texts in costs for text in texts)
    for what, texts in named.items():
        for text in texts:
            if isinstance(text, str) and is_odd(text):
                raise ValueError(
                    f"{what} is called {text!r}, which {target} cannot write; replace the "
                    "character before fitting"
                )


def refuse_inexact(formula: Formula, target: str) -> None:
    """Targets whose numbers are doubles cannot tell large whole numbers apart."""
    for column in formula.inputs:
        for value in column.values:
            if is_large(value):
                raise ValueError(
                    f"column {column.name!r} has the level {value}, and numbers of {target} "
                    "tell whole numbers below 2^53 apart; convert the column to text before "
                    "fitting"
                )


def is_large(value: Value) -> bool:
    """Whether a double takes a whole number for its neighbour: 2^53 is also 2^53 + 1."""
    return type(value) is int and abs(value) >= 2**53


def is_no_unicode(text: str) -> bool:
    """Whether text holds half a character, which no file can."""
    return any("\ud800" <= c <= "\udfff" for c in text)
