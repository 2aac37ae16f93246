"""Probabilities of more than two classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.frames import Floats, Integers
from weigh.metrics.scored import (
    Labels,
    check_probabilities,
    read_codes,
    read_matrix,
    shape_of,
)


def is_wide(y_prob: Any) -> bool:
    """Whether it has a column for each of more than two classes."""
    shape = shape_of(y_prob, "y_prob")
    return len(shape) == 2 and shape[1] > 2


def refuse(given: bool, name: str, value: Any) -> None:
    """What is said of one class where a column stands for each."""
    if given:
        raise ValueError(
            f"{name}={value!r:.60} is about one class against the rest, but the columns of y_prob "
            f"stand for every class; leave {name} out, or give the probability of one class in one "
            "dimension, named by pos_label, and no labels"
        )


@dataclass(frozen=True, eq=False)
class Many:
    """Rows of probabilities of every class, and the place of the true one."""

    codes: Integers
    p: Floats
    weight: Floats | None
    classes: list[Any]

    @classmethod
    def read(cls, y_true: Any, y_prob: Any, labels: Any, sample_weight: Any) -> Many:
        """A column for each class of `labels`, by default those of y_true in order."""
        true = Labels.read(y_true, sample_weight)
        known = true.values if labels is None else read_classes(labels)
        p = read_matrix(y_prob, "y_prob")
        if p.ndim == 1 and len(known) == 2:
            p = np.column_stack([1 - p, p])
        if p.ndim != 2 or p.shape[1] != len(known):
            raise ValueError(
                f"y_prob has shape {p.shape}, but there are {len(known)} classes ({known[:6]}); "
                "name those of its columns with labels"
            )
        check_probabilities(p, len(true.kept))
        if not np.allclose(p.sum(axis=1), 1.0, rtol=0, atol=1e-6):
            raise ValueError(
                "the probabilities of a row must add up to 1; divide them by their sum"
            )
        return cls(find(true, known), p[true.kept], true.weight, known)


def read_classes(labels: Any) -> list[Any]:
    """Classes in the order given, each once."""
    column = read_codes(labels, "labels")
    classes = [column.values[code] for code in column.codes]
    if not classes or None in classes or len({*classes}) < len(classes):
        raise ValueError(f"labels must name each class once, got {classes}")
    return classes


def find(rows: Labels, classes: list[Any]) -> Integers:
    """The place of each row's label among classes."""
    odd = [value for value in rows.values if value not in classes]
    if odd:
        raise ValueError(f"{odd[0]!r} is not among labels={classes}")
    places: Integers = np.array([classes.index(value) for value in rows.values])[rows.codes]
    return places
