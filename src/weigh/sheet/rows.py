"""Many rows explained: the contribution of each table, and the levels of largest weight."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import engine
from weigh.arrays import Floats, Integers
from weigh.bins import Cross, Feature
from weigh.errors import Parameter, ParameterError
from weigh.evidence import Evidence, check_model, evidence_of
from weigh.frames import Table, build, count_matrix
from weigh.parameters import check_count
from weigh.sheet.explain import difference, find_class


@dataclass(frozen=True, eq=False)
class Reasons:
    """The features of largest weight of each row; None and zero where fewer have a weight."""

    texts: np.ndarray[Any, np.dtype[np.object_]]
    weights: Floats
    unit: str = "weight"  # a scorecard's are costs

    def columns(self) -> dict[str, Any]:
        """Columns reason_1, weight_1, reason_2 and so on; without rows, weights are numbers too."""
        found: dict[str, Any] = {}
        for j in range(self.texts.shape[1]):
            found[f"reason_{j + 1}"] = self.texts[:, j].tolist()
            found[f"{self.unit}_{j + 1}"] = self.weights[:, j].copy()
        return found


SIGNS = {"for": 1.0, "against": -1.0}


def reasons(model: Any, X: Any, n: int = 3, pos_label: Any = None, only: str | None = None) -> Any:
    """Name the n levels of largest absolute weight in every row, heaviest first.

    For documents, these are the n tokens that contribute most: the weight of a token times its
    count. For a scorecard, they are the n features that cost a row most points, as in
    `Scorecard.reasons`.

    Parameters
    ----------
    model : classifier or Scorecard
        A fitted model with tables of weights.
    X : table
        Rows.
    n : int, default=3
        Number of reasons, at most one per feature.
    pos_label : label, optional
        Positive class. Default: `classes_[1]` of two; with more classes, the most probable one of
        each row.
    only : "for" or "against", optional
        Name only evidence for the positive class, or only evidence against it, which explains an
        adverse decision.

    Returns
    -------
    table
        Columns reason_1, weight_1, ... in the dataframe library of the rows; for dicts and arrays,
        of the training table. Null and zero where fewer features have a weight. For a scorecard:
        reason_1, cost_1, ...

    Examples
    --------
    >>> import weigh
    >>> people = weigh.datasets.titanic()
    >>> model = weigh.EvidenceNB().fit(people, "Survived")
    >>> table = weigh.reasons(model, people, n=2)
    >>> table["reason_1"][0].as_py(), round(table["weight_1"][0].as_py(), 2)
    ('Age = Child', 0.83)
    """
    check_count("n", n)
    check_model(model)
    table = model._read(X)
    found = reason_columns(model, table, int(n), pos_label, only)
    return build(found, table.backend or model.evidence_.backend)


def reason_columns(
    model: Any, table: Table, n: int, pos_label: Any = None, only: str | None = None
) -> dict[str, Any]:
    """The reasons of every row as columns: largest weights; for a scorecard, most points lost."""
    costs: Callable[[Table, int], dict[str, Any]] | None = getattr(model, "_cost_columns", None)
    if costs is None:
        evidence: Evidence = evidence_of(model, True)
        if hasattr(model, "_at_time"):  # the hazard: without a period, so time weighs nothing
            table = model._at_time(table)
        find = find_tokens if evidence.event_model == "counts" else find_reasons
        return find(evidence, table, n, pos_label, only).columns()
    for name, value in (("pos_label", pos_label), ("only", only)):
        if value is not None:
            raise ParameterError(
                "the reasons of a scorecard are what costs points: leave out ", Parameter(name)
            )
    return costs(table, n)


def find_reasons(
    evidence: Evidence, table: Table, n: int, pos_label: Any = None, only: str | None = None
) -> Reasons:
    """The n features of largest weight of every row; `only` keeps those of one sign."""
    signs = _signs(evidence, table, pos_label)
    weights = np.einsum("ijk,ik->ij", evidence.contributions(table), signs)

    def tell(j: int, rows: Integers, levels: Integers) -> Any:
        feature = evidence.scored[j].feature
        phrases = [*map(feature.phrase, range(len(feature.levels))), None]
        odd = _tell_misread(feature, table, dict(zip(rows.tolist(), levels.tolist(), strict=True)))
        found = np.array(phrases, dtype=object)[levels]
        return [*map(odd.get, rows.tolist(), found)] if odd else found

    return choose_reasons(evidence, table, n, weights, _rank(weights, only), tell)


def choose_reasons(
    evidence: Evidence,
    table: Table,
    n: int,
    weights: Floats,
    heavy: Floats,
    tell: Callable[[int, Integers, Integers], Any],
    unit: str = "weight",
) -> Reasons:
    """The n features of every row that are heaviest, if they are above 0.

    `tell` gives the texts of a feature at some rows and their levels.
    """
    heaviest = np.argsort(-heavy, axis=1, kind="stable")[:, :n]
    texts = np.full(heaviest.shape, None, dtype=object)
    for j, placed in enumerate(engine.place(table, [part.feature for part in evidence.scored])):
        rows, at = np.nonzero(heaviest == j)
        texts[rows, at] = tell(j, rows, placed.levels[placed.codes[rows]])
    kept = np.take_along_axis(heavy, heaviest, axis=1) > 0
    texts[~kept] = None
    return Reasons(texts, np.where(kept, np.take_along_axis(weights, heaviest, axis=1), 0.0), unit)


def find_tokens(
    evidence: Evidence, table: Table, n: int, pos_label: Any = None, only: str | None = None
) -> Reasons:
    """The n tokens of every document that contribute most, among those that occur in it."""
    counts, by_class = count_matrix(table), evidence.tables[0].by_class
    signs = np.repeat(_signs(evidence, table, pos_label), np.diff(counts.indptr), axis=0)
    weights = counts.data * np.einsum("ij,ij->i", by_class[counts.indices], signs)
    heavy = _rank(weights, only)
    texts = np.full((table.n_rows, n), None, dtype=object)
    shown = np.zeros((table.n_rows, n))
    for i, row in enumerate(map(slice, counts.indptr, counts.indptr[1:])):
        order = row.start + np.lexsort((counts.indices[row], -heavy[row]))[:n]
        best = order[heavy[order] > 0]
        told = zip(counts.indices[best], counts.data[best], strict=True)
        texts[i, : len(best)] = [
            f"{table.names[j]} ({times:g} times)" if times != 1 else table.names[j]
            for j, times in told
        ]
        shown[i, : len(best)] = weights[best]
    return Reasons(texts, shown)


def _rank(weights: Floats, only: str | None) -> Floats:
    """How heavy weights are; with `only`, those of the other sign weigh nothing."""
    if only not in (None, *SIGNS):
        raise ValueError(f"only must be 'for' or 'against', got {only!r}")
    return np.abs(weights) if only is None else np.maximum(SIGNS[only] * weights, 0.0)


def _signs(evidence: Evidence, table: Table, pos_label: Any) -> Floats:
    """Row by class, the factors that select the named class, or the row's most probable one."""
    n_classes = len(evidence.classes)
    if n_classes > 2 and pos_label is None:
        return np.asarray(np.eye(n_classes)[evidence.total(table).argmax(axis=1)])
    return np.tile(_sign(evidence, pos_label), (table.n_rows, 1))


def _tell_misread(
    feature: Feature | Cross, table: Table, levels: Mapping[int, int]
) -> dict[int, str]:
    """Phrases of rows where a number other than 0 and 1 falls into a level named 0 or 1."""
    parts = [
        dict(zip(*map(np.ndarray.tolist, p.misread(table)), strict=True)) for p in feature.parts
    ]
    odd = {row for part in parts for row in part if levels.get(row, np.inf) < len(feature.levels)}
    return {
        row: feature.phrase(levels[row], values=[part.get(row) for part in parts]) for row in odd
    }


def contribute(evidence: Evidence, table: Table, pos_label: Any = None) -> dict[str, Floats]:
    """The prior, each table and any recalibration, as columns that add up to the rows' totals.

    The total is the log odds of `pos_label` against the other of two classes. With more classes it
    is the total of `pos_label`, which the link turns into a probability together with the others.
    """
    sign = _sign(evidence, pos_label)
    names, weights = _weights(evidence, table, sign)
    prior = np.full(table.n_rows, float(sign @ evidence.prior_row))
    rule = evidence.attenuation
    if rule is not None:
        exponent = rule.exponent(evidence.observed(table))
        weights = weights * exponent[:, None]
        prior = (prior * exponent if rule.form == "root" else prior) + float(sign @ rule.shift)
    found = {_free("prior", names): prior} | dict(zip(names, weights.T, strict=True))
    if evidence.recalibration is not None:
        moved = (evidence.total(table) - evidence.raw_total(table)) @ sign
        found[_free("recalibration", found)] = moved
    return found


def _sign(evidence: Evidence, pos_label: Any) -> Floats:
    """The vector whose product with a row's totals is the total of the class."""
    classes = evidence.classes.tolist()
    if evidence.estimates:
        return np.ones(1)
    if len(classes) > 2 and pos_label is None:
        raise ValueError(
            f"the model has {len(classes)} classes, each with its own contributions; name one with "
            f"pos_label: {classes[:6]}"
        )
    return difference(len(classes), find_class(classes, pos_label, 1), -1)


def _weights(evidence: Evidence, table: Table, sign: Floats) -> tuple[tuple[str, ...], Floats]:
    """A name and a column for each table, or for each token of documents."""
    if evidence.event_model == "counts":
        tokens = count_matrix(table).toarray() * (evidence.tables[0].by_class @ sign)
        return evidence.column_names, np.asarray(tokens)
    return evidence.names, np.asarray(evidence.contributions(table) @ sign)


def _free(name: str, taken: Iterable[str]) -> str:
    """The name, with underscores appended until no column has it."""
    return name if name not in [*taken] else _free(f"{name}_", taken)
