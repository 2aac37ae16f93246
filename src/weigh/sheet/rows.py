"""Many rows explained: the contribution of each table, and the levels of largest weight."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh import engine
from weigh.bins import Cross, Feature
from weigh.errors import Parameter, ParameterError
from weigh.evidence import Evidence, evidence_of
from weigh.frames import Floats, Integers, Table, build, count_matrix
from weigh.sheet.explain import difference, find_class


@dataclass(frozen=True, eq=False)
class Reasons:
    """The features of largest weight of each row; None and zero where fewer have a weight."""

    texts: np.ndarray[Any, np.dtype[np.object_]]
    weights: Floats
    unit: str = "weight"  # a scorecard's are costs

    def columns(self) -> dict[str, list[Any]]:
        """Columns reason_1, weight_1, reason_2 and so on."""
        found: dict[str, list[Any]] = {}
        for j in range(self.texts.shape[1]):
            found[f"reason_{j + 1}"] = self.texts[:, j].tolist()
            found[f"{self.unit}_{j + 1}"] = self.weights[:, j].tolist()
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
    if not isinstance(n, int | np.integer) or n < 1:
        raise ValueError(f"n must be a whole number of at least 1, got {n!r}")
    table = model._read(X)
    found = reason_columns(model, table, int(n), pos_label, only)
    return build(found, table.backend or model.evidence_.backend)


def reason_columns(
    model: Any, table: Table, n: int, pos_label: Any = None, only: str | None = None
) -> dict[str, list[Any]]:
    """The reasons of every row as columns: largest weights; for a scorecard, most points lost."""
    costs: Callable[[Table, int], dict[str, list[Any]]] | None = getattr(
        model, "_cost_columns", None
    )
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
    _check_only(only)
    weights = _of_class(evidence, table, pos_label)
    heavy = np.abs(weights) if only is None else np.maximum(SIGNS[only] * weights, 0.0)
    heaviest = np.argsort(-heavy, axis=1, kind="stable")[:, :n]
    told = np.take_along_axis(heavy, heaviest, axis=1) > 0
    texts = _texts(evidence, table, heaviest)
    texts[~told] = None
    return Reasons(texts, np.where(told, np.take_along_axis(weights, heaviest, axis=1), 0.0))


def find_tokens(
    evidence: Evidence, table: Table, n: int, pos_label: Any = None, only: str | None = None
) -> Reasons:
    """The n tokens of every document that contribute most, among those that occur in it."""
    _check_only(only)
    counts, tokens, by_class = count_matrix(table), table.names, evidence.tables[0].by_class
    texts = np.full((table.n_rows, n), None, dtype=object)
    weights = np.zeros((table.n_rows, n))
    for i, sign in enumerate(_signs(evidence, table, pos_label)):
        row = slice(counts.indptr[i], counts.indptr[i + 1])
        at, times = counts.indices[row], counts.data[row]
        adds = times * (by_class[at] @ sign)
        heavy = np.abs(adds) if only is None else np.maximum(SIGNS[only] * adds, 0.0)
        best = [k for k in np.lexsort((at, -heavy))[:n] if heavy[k] > 0]
        texts[i, : len(best)] = [_word(tokens[at[k]], times[k]) for k in best]
        weights[i, : len(best)] = adds[best]
    return Reasons(texts, weights)


def _word(token: str, times: float) -> str:
    return token if times == 1 else f"{token} ({times:g} times)"


def _signs(evidence: Evidence, table: Table, pos_label: Any) -> Floats:
    """Row by class, the factors that select the named class, or the row's most probable one."""
    classes = evidence.classes.tolist()
    if len(classes) == 2 or pos_label is not None:
        own = difference(len(classes), find_class(classes, pos_label, 1), -1)
        return np.tile(own, (table.n_rows, 1))
    return np.asarray(np.eye(len(classes))[evidence.total(table).argmax(axis=1)])


def _check_only(only: str | None) -> None:
    if only not in (None, *SIGNS):
        raise ValueError(f"only must be 'for' or 'against', got {only!r}")


def _of_class(evidence: Evidence, table: Table, pos_label: Any) -> Floats:
    """Weights by row and feature for the positive class."""
    weights = evidence.contributions(table)
    classes = evidence.classes.tolist()
    if evidence.estimates:
        return weights[:, :, 0]
    if len(classes) == 2:
        return weights[:, :, 0] if find_class(classes, pos_label, 1) == 1 else -weights[:, :, 0]
    if pos_label is not None:
        return weights[:, :, find_class(classes, pos_label)]
    best = evidence.total(table).argmax(axis=1)
    return np.take_along_axis(weights, best[:, None, None], axis=2)[:, :, 0]


def _texts(evidence: Evidence, table: Table, chosen: Integers) -> Any:
    """The phrases of the chosen features of each row."""
    texts = np.full(chosen.shape, None, dtype=object)
    for j, placed in enumerate(engine.place(table, evidence.features)):
        feature = evidence.features[j]
        phrases = [feature.phrase(i) for i in range(len(feature.levels))]
        rows, at = np.nonzero(chosen == j)
        levels = placed.levels[placed.codes[rows]]
        texts[rows, at] = np.array([*phrases, None], dtype=object)[levels]
        odd = _tell_misread(feature, table, placed.levels[placed.codes])
        for row, column in zip(rows.tolist(), at.tolist(), strict=True) if odd else ():
            texts[row, column] = odd.get(row, texts[row, column])
    return texts


def _tell_misread(feature: Feature | Cross, table: Table, levels: Integers) -> dict[int, str]:
    """Phrases of rows where a number other than 0 and 1 falls into a level named 0 or 1."""
    parts = [
        dict(zip(*map(np.ndarray.tolist, p.misread(table)), strict=True)) for p in feature.parts
    ]
    found = {}
    for row in {row for part in parts for row in part}:
        if levels[row] < len(feature.levels):
            values = [part.get(row) for part in parts]
            found[row] = feature.phrase(int(levels[row]), values=values)
    return found


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
