"""Rows to fit smaller models to, with the parameters of the model that was given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from weigh.base import EvidenceModel, read_sample
from weigh.bins import Feature
from weigh.budget.levels import list_bins
from weigh.educated import EducatedNB
from weigh.evidence import evidence_of
from weigh.frames import Integers, Sample
from weigh.parameters import is_count


@dataclass(frozen=True, eq=False)
class Rows:
    """A sample, and the parameters for reading its columns."""

    sample: Sample
    given: Mapping[str, Any]
    groups: Mapping[str, Any] = field(default_factory=dict)  # groups of categories, as in `bins`
    numbers: frozenset[str] = frozenset()  # numeric columns

    @classmethod
    def read(cls, model: Any, X: Any, y: Any, sample_weight: Any = None) -> Rows:
        """Read the columns that a fitted model uses."""
        if not isinstance(model, EvidenceModel):
            evidence_of(model)  # raises an error that says why it has no tables
            kind = type(model).__name__
            raise ValueError(f"expected a fitted classifier of this package, got {kind}")
        names = model._column_names()
        if model.event_model == "counts":
            raise ValueError("a model of documents has one table; there is nothing to simplify")
        sample = read_sample(EducatedNB(), X, y, sample_weight)
        if not sample.table.named:
            raise ValueError(
                "X has no column names, and a smaller model reads some of its columns by name; "
                "pass a dataframe, to fit and here"
            )
        table = model._match(sample.table)
        every = [f for f in model.evidence_.features if isinstance(f, Feature)]
        groups = {f.name: list_bins(f, np.arange(len(f.levels))) for f in every if f.groups}
        numbers = frozenset(f.name for f in every if f.is_numeric)
        own = replace(sample, table=table.select(names))
        return cls(own, model.get_params(deep=False), groups, numbers)

    def take(self, rows: Any) -> Rows:
        """Select some of the rows."""
        return replace(self, sample=self.sample.take(rows))

    def take_places(self, places: Integers) -> Rows:
        """Select rows by number; numbers may occur more than once."""
        own = self.sample
        weight = None if own.weight is None else own.weight[places]
        taken = replace(own, table=own.table.rows(places), labels=own.labels[places], weight=weight)
        return replace(self, sample=taken)

    def fine(self, model: Any) -> EducatedNB:
        """Return the model if it is an EducatedNB without pairs; otherwise fit one."""
        plain = isinstance(model, EducatedNB) and all(
            isinstance(table.feature, Feature) for table in model.evidence_
        )
        return model if plain else self.fit(self.sample.table.names)

    def fit(
        self, names: Sequence[str], bins: Mapping[str, Any] | None = None, pairs: int = 0
    ) -> EducatedNB:
        """Fit EducatedNB on some columns, with fine bins or given ones."""
        parameters = self._parameters(names, ("max_levels",) if bins is None else ())
        levels = self._fine(names) if bins is None else {name: bins[name] for name in names}
        learner = EducatedNB(bins=levels, pairs=pairs, **parameters)
        table = self.sample.table.select(tuple(names))
        return learner._fit_sample(replace(self.sample, table=table))

    def _fine(self, names: Sequence[str]) -> Any:
        """Fine bins of numeric columns; groups of categories are kept, as they may look numeric."""
        groups = {name: self.groups[name] for name in names if name in self.groups}
        cut = {name: "fine" for name in names if name in self.numbers}
        return {**cut, **groups} if groups else "fine"

    def _parameters(self, names: Sequence[str], more: Iterable[str]) -> dict[str, Any]:
        """Parameters of the given model, restricted to some columns."""
        every = ("categorical_features", "missing", "special_values", "monotonic_cst", *more)
        known = {name: self.given[name] for name in every if self.given.get(name) is not None}
        codes = known.get("special_values")
        kept = {name: self._kept(value, names) for name, value in known.items()}
        if codes is not None and not isinstance(codes, Mapping):
            kept["special_values"] = codes  # codes for all columns, not a list of columns
        return kept | {"class_prior": self.given.get("class_prior")}

    def _kept(self, value: Any, names: Sequence[str]) -> Any:
        """Restrict a parameter that is given by column; return one for all columns as it is."""
        every = self.sample.table.names
        if isinstance(value, str) or not isinstance(value, Iterable):
            return value
        if isinstance(value, Mapping):
            spelt = {every[k] if is_count(k) else k: v for k, v in value.items()}
            return {name: spelt[name] for name in names if name in spelt}
        listed = [*value]
        if len(listed) == len(every) and not any(isinstance(item, str) for item in listed):
            return [listed[every.index(name)] for name in names]  # one entry per column
        named = {every[item] if is_count(item) else item for item in listed}
        return [name for name in names if name in named]
