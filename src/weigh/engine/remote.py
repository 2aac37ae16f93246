"""Passes over a table on a Spark cluster: the same statistics, summed where the rows lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from weigh.bins import Feature
from weigh.distinct import Survey
from weigh.engine.surveys import Setting, check_room
from weigh.frames import Cluster, Sample, sum_samples
from weigh.tally import Rows, Tally, count_pairs

Surveys: TypeAlias = dict[str, Survey]


@dataclass(frozen=True)
class SurveyStep:
    """Add rows to what is known of some columns."""

    found: Surveys
    settings: Mapping[str, Setting]

    def begin(self) -> Surveys:
        """What was known before this pass; it came in a pickle, so it is nobody else's."""
        return self.found

    def add(self, found: Surveys, sample: Sample) -> Surveys:
        """Look at some more rows."""
        rows = Rows(sample.labels, sample.weight, len(sample.classes))
        for name, survey in found.items():
            survey.add(sample.table.column(name, self.settings[name].categorical), rows)
        check_room(found)
        return found

    def merge(self, one: Surveys, other: Surveys) -> Surveys:
        """What two sets of rows have shown."""
        for name, survey in one.items():
            survey.merge(other[name])
        check_room(one)
        return one


def look_at_cluster(
    sample: Sample, names: tuple[str, ...], found: Mapping[str, Survey], settings: Any
) -> None:
    """One pass over some columns."""
    table, chosen = sample.table, {name: found[name] for name in names}
    assert isinstance(table, Cluster)
    step = SurveyStep(chosen, {name: settings[name] for name in names})
    sum_samples(table, names, step)  # which adds to `found`


@dataclass(frozen=True)
class PairsStep:
    """Count the pairs of levels of some columns, two by two."""

    parts: Sequence[tuple[Feature, Feature]]

    def begin(self) -> Tally | None:
        """Nothing yet."""
        return None

    def add(self, found: Tally | None, sample: Sample) -> Tally | None:
        """Count some more rows."""
        rows = Rows(sample.labels, sample.weight, len(sample.classes))
        counts = [count_pairs(pair, sample.table, rows) for pair in self.parts]
        nothing = np.zeros(len(sample.classes))
        return self.merge(found, Tally(sample.classes, nothing, tuple(counts)))

    def merge(self, one: Tally | None, other: Tally | None) -> Tally | None:
        """The pairs of both."""
        return other if one is None else one if other is None else one + other


def count_cluster_pairs(sample: Sample, parts: Sequence[tuple[Feature, Feature]]) -> Tally:
    """The pairs of all crosses, in one pass."""
    table = sample.table
    assert isinstance(table, Cluster)
    names = tuple(part.name for pair in parts for part in pair)
    found = sum_samples(table, names, PairsStep(parts))
    assert found is not None
    return found
