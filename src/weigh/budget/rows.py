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
    """A sample, and the parameters with which its columns are read."""

    sample: Sample
    given: Mapping[str, Any]
    groups: Mapping[str, Any] = field(default_factory=dict)  # of categories, as `bins` has them
    numbers: frozenset[str] = frozenset()  # the columns that are cut

    @classmethod
    def read(cls, model: Any, X: Any, y: Any, sample_weight: Any = None) -> Rows:
        """Rows with the columns that a fitted model reads."""
        if not isinstance(model, EvidenceModel):
            evidence_of(model)  # which says why a model of numbers, or a stranger, has none
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
        """Some of the rows."""
        return replace(self, sample=self.sample.take(rows))

    def take_places(self, places: Integers) -> Rows:
        """Rows by number, some of them perhaps more than once."""
        own = self.sample
        weight = None if own.weight is None else own.weight[places]
        taken = replace(own, table=own.table.rows(places), labels=own.labels[places], weight=weight)
        return replace(self, sample=taken)

    def fine(self, model: Any) -> EducatedNB:
        """The model itself where it is an EducatedNB without pairs; or one fitted in its place."""
        plain = isinstance(model, EducatedNB) and all(
            isinstance(table.feature, Feature) for table in model.evidence_
        )
        return model if plain else self.fit(self.sample.table.names)

    def fit(
        self, names: Sequence[str], bins: Mapping[str, Any] | None = None, pairs: int = 0
    ) -> EducatedNB:
        """EducatedNB on some columns: finely cut, or on given levels."""
        parameters = self._parameters(names, ("max_levels",) if bins is None else ())
        levels = self._fine(names) if bins is None else {name: bins[name] for name in names}
        learner = EducatedNB(bins=levels, pairs=pairs, **parameters)
        table = self.sample.table.select(tuple(names))
        return learner._fit_sample(replace(self.sample, table=table))

    def _fine(self, names: Sequence[str]) -> Any:
        """Fine bins; groups of categories stay, which may be codes that look like numbers."""
        groups = {name: self.groups[name] for name in names if name in self.groups}
        cut = {name: "fine" for name in names if name in self.numbers}
        return {**cut, **groups} if groups else "fine"

    def _parameters(self, names: Sequence[str], more: Iterable[str]) -> dict[str, Any]:
        """The parameters that were given, of the columns that are left."""
        every = ("categorical_features", "missing", "special_values", "monotonic_cst", *more)
        known = {name: self.given[name] for name in every if self.given.get(name) is not None}
        codes = known.get("special_values")
        kept = {name: self._kept(value, names) for name, value in known.items()}
        if codes is not None and not isinstance(codes, Mapping):
            kept["special_values"] = codes  # of all columns, and no list of these
        return kept | {"class_prior": self.given.get("class_prior")}

    def _kept(self, value: Any, names: Sequence[str]) -> Any:
        """A parameter by column, without those that are not left; or one for all columns."""
        every = self.sample.table.names
        if isinstance(value, str) or not isinstance(value, Iterable):
            return value
        if isinstance(value, Mapping):
            spelt = {every[k] if is_count(k) else k: v for k, v in value.items()}
            return {name: spelt[name] for name in names if name in spelt}
        listed = [*value]
        if len(listed) == len(every) and not any(isinstance(item, str) for item in listed):
            return [listed[every.index(name)] for name in names]  # a mask, or an entry for each
        named = {every[item] if is_count(item) else item for item in listed}
        return [name for name in names if name in named]
