"""The columns that a model asks for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from weigh.bins import SINGLE, Cross, Feature, Kind, label, sort_values
from weigh.frames import Value, key


@dataclass(frozen=True)
class Input:
    """A column that the model asks for, and the features that read it: one, or some of pairs."""

    name: str
    features: tuple[Feature, ...]

    @property
    def first(self) -> Feature:
        """The first feature that reads it."""
        return self.features[0]

    @property
    def is_numeric(self) -> bool:
        """Whether its numbers are cut into intervals."""
        return self.first.is_numeric

    @cached_property
    def kinds(self) -> frozenset[Kind]:
        """What it held in training; empty where it had no value."""
        return frozenset().union(*(feature.kinds for feature in self.features))

    @property
    def kind(self) -> Kind:
        """What it holds as one kind."""
        return Kind.of_all(self.kinds)

    @property
    def accepted(self) -> tuple[Kind, ...]:
        """The kinds of values that it takes: any, where training saw none."""
        return tuple(kind for kind in SINGLE if kind in (self.kinds or SINGLE))

    @cached_property
    def types(self) -> frozenset[type]:
        """The types of JSON that it takes."""
        return frozenset().union(*(kind.types for kind in self.accepted))

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """The categories or special codes that any feature knows, in order."""
        values = sort_values({key(value) for part in self.features for value in part.values})
        return tuple(map(float, values)) if self.is_numeric else values  # type: ignore[arg-type]

    @property
    def has_missing(self) -> bool:
        """Whether missing is a level."""
        return any(feature.has_missing for feature in self.features)

    @property
    def labels(self) -> tuple[str, ...]:
        """The values as people read them."""
        if self.is_numeric:
            return tuple(label(value) for value in self.values)
        whole = replace(self.first, values=self.values, has_missing=self.has_missing)
        return whole.labels[: len(self.values)]

    @cached_property
    def cuts(self) -> tuple[float, ...]:
        """All cut points, in order."""
        return tuple(sorted({cut for feature in self.features for cut in feature.cuts or ()}))

    @cached_property
    def other(self) -> tuple[Kind, ...]:
        """The kinds of the values that share the level `other`."""
        return tuple(sorted({kind for feature in self.features for kind in feature.other}))


def list_inputs(
    features: Iterable[Feature | Cross], column_names: Iterable[str]
) -> tuple[Input, ...]:
    """The columns that features read, in the order of the table."""
    parts: dict[str, list[Feature]] = {}
    for feature in features:
        for part in feature.parts:
            parts.setdefault(part.name, []).append(part)
    return tuple(Input(name, tuple(parts[name])) for name in column_names if name in parts)
