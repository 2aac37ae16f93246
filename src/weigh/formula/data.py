"""A formula as small JSON that `weigh.js` reads, and rows scored from it one by one."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from weigh import engine, numpy_kernels
from weigh.arrays import Floats
from weigh.bins import AND, Ask, Cross, Feature, Kind, finder, label, printable
from weigh.formula.formula import Formula, Input, Spread, Term
from weigh.frames import NOT_KNOWN, key

EXACT = 160
"""A covariance of more weights is stored as standard errors and 16-bit correlations, so that the
page stays small. Intervals are then exact to about six digits."""

PLACES = 1 << 16
"""Number of different values of sixteen bits."""

Labels: TypeAlias = Callable[[Feature], Sequence[str]]


def to_data(formula: Formula, labels: Labels = lambda feature: feature.labels) -> dict[str, Any]:
    """Columns, levels, weights and link as data for JSON; names are printable text.

    `labels` names the levels of a feature as the page shows them.
    """
    sources = [source for term in formula.terms for source in term.feature.sources]
    parts = {part: k for k, part in enumerate(dict.fromkeys(map(_always, sources)))}
    pool, curve, rule = _pool(formula), formula.curve, formula.attenuation
    return {
        "classes": [*map(printable, formula.class_names)],
        "link": formula.link,
        "rates": [*formula.rates],
        "prior": [*formula.prior],
        "priorVariances": _known(formula.prior_variances),
        "tokens": formula.tokens,
        "columns": _columns(formula),
        "parts": [] if formula.tokens else [_part(part, formula.inputs, labels) for part in parts],
        "pool": None if pool is None else _pack(pool),
        "tables": [
            _table(term, parts, pool, formula.tokens, labels)
            | ({"share": _pack(np.array(term.share, dtype="<f8"))} if formula.estimates else {})
            for term in formula.terms
        ],
        "attenuation": rule
        and {
            "k": rule.k,
            "form": rule.form,
            "shift": rule.shift.tolist(),
            **({"shares": [*formula.not_known]} if formula.not_known else {}),
        },
        "curve": curve
        and {
            "pieces": [[_finite(p.upper), p.start, *p.cubic] for p in curve.pieces],
            "shift": curve.shift,
            "steps": curve.steps,
        },
        "covariance": _covariance(formula.covariance),
        **_spread(formula.spread),
        **_known_columns(formula),
    }


def _spread(spread: Spread | None) -> dict[str, Any]:
    if spread is None:
        return {}
    errors = _pack(np.asarray(spread.errors, dtype="<f8"))
    return {"spread": {"power": spread.power, "dispersion": spread.dispersion, "errors": errors}}


def _known_columns(formula: Formula) -> dict[str, Any]:
    """The columns of exposure and offset, by their index."""
    if not formula.offsets:
        return {}
    names = [column.name for column in formula.inputs]
    known = [{"column": names.index(own.name), "role": own.role} for own in formula.offsets]
    return {"known": known}


def _always(part: Feature) -> Feature:
    """A feature without its conditions for being asked, which are stored with the column."""
    return replace(part, asked=())


def _finite(number: float) -> float | None:
    return number if np.isfinite(number) else None


def _known(values: Sequence[float] | None) -> list[float | None] | None:
    """Numbers for JSON: NaN becomes None, and infinity a large finite number."""
    if values is None:
        return None
    return [None if np.isnan(x) else float(np.clip(x, -1e300, 1e300)) for x in values]


def _columns(formula: Formula) -> list[dict[str, Any]]:
    if formula.tokens:
        return [{"name": printable(name), "kind": "count"} for name in formula.column_names]
    roles = {column.name: column.role for column in formula.offsets}
    read = {part.name for term in formula.terms for part in term.columns}
    return [
        {"name": printable(column.name), "kind": roles[column.name]}
        if column.name in roles and column.name not in read
        else _column(column, formula.inputs)
        for column in formula.inputs
    ]


def _column(column: Input, inputs: Sequence[Input]) -> dict[str, Any]:
    common: dict[str, Any] = {"name": printable(column.name), "missing": column.has_missing}
    if column.asked:
        common["ask"] = [_choices(ask, inputs) for ask in column.asked]
    if column.is_numeric:
        return common | {"kind": "number", "codes": [*column.values]}
    return common | {
        "kind": "choice",
        "choices": [*map(printable, column.labels)],
        "closed": column.kinds == {Kind.BOOLEANS} and len(column.choices) == 2,
    }


def _choices(ask: Ask, inputs: Sequence[Input]) -> list[Any]:
    """Index of the column that a question depends on, and the choices or intervals required."""
    at = [column.name for column in inputs].index(ask.feature.name)
    if ask.feature.is_numeric:
        return [at, [*ask.places]]
    choices = [*map(key, inputs[at].choices)]
    equal = {key(value): place for value, place in ask.feature.placed_values}
    rest = ask.feature.rest
    places = [*(equal.get(choice, rest) for choice in choices), rest]  # of another
    return [at, [i for i, place in enumerate(places) if place in ask.places]]


def _part(part: Feature, inputs: Sequence[Input], labels: Labels) -> dict[str, Any]:
    """One feature of one column: how the answers of the form map to its levels."""
    at = next(j for j, column in enumerate(inputs) if column.name == part.name)
    missing = part.missing_place if part.has_missing else -1
    found: dict[str, Any] = {"column": at, "missing": missing, "skip": part.skip_missing}
    equal = {key(value): place for value, place in part.placed_values}
    if part.is_numeric:
        found["cuts"] = [*(part.cuts or ())]
        found["specials"] = [value for _, value in equal]
        if any(number is not None for number in part.single_numbers):
            found["singles"] = [*part.single_numbers]
        if equals := [at for at in range(part.n_intervals) if part.relation(at) == "="]:
            found["equals"] = equals
    elif not part.groups and [*equal] == [*map(key, inputs[at].choices)]:
        found["n"] = len(equal)
    else:
        found["places"] = [equal.get(key(value), -1) for value in inputs[at].choices]
    if part.other:
        found["rest"] = part.rest
    own, asked = [*labels(part)], [*inputs[at].labels, label(None)]
    return found if own == asked[: len(own)] else found | {"labels": [*map(printable, own)]}


def _table(
    term: Term, parts: Mapping[Feature, int], pool: Floats | None, tokens: bool, labels: Labels
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": printable(term.name),
        "note": printable(term.note),
        "parts": [] if tokens else [parts[_always(part)] for part in term.columns],
        "unseen": [*term.unseen],
        "weights": _write(term.weights, pool),
        "variances": None if term.variances is None else _write(term.variances, pool),
    }
    if tokens:
        found["common"] = _known(term.shared)
    if isinstance(term.feature, Cross):
        ends = [part.no_level for part in term.columns]
        left, right = ([*labels(part), label(NOT_KNOWN)] for part in term.columns)
        names = {f"{left[i]}{AND}{right[j]}" for i, j in term.feature.pairs}
        found["pairs"] = [  # -1 is no level, as in weigh.js
            [-1 if at == end else at for at, end in zip(pair, ends, strict=True)]
            for pair in term.feature.pairs
        ]
        found["quoted"] = len(names) < len(term.feature.pairs)
    return found


def _pool(formula: Formula) -> Floats | None:
    """Distinct numbers of all tables, if storing indices into them is smaller; else None."""
    every = [rows for term in formula.terms for rows in (term.weights, term.variances)]
    flat = [np.ravel(np.array(rows, np.float64)) for rows in every if rows is not None]
    numbers = np.concatenate(flat or [np.empty(0)])
    pool = np.unique(numbers)
    small = len(pool) <= PLACES and 8 * len(pool) + 2 * len(numbers) < 8 * len(numbers)
    return pool if small else None


def _write(rows: Any, pool: Floats | None) -> str:
    """Encode numbers row by row, as doubles or as indices into the pool."""
    values = np.array(rows, dtype="<f8")
    return _pack(values if pool is None else np.searchsorted(pool, values).astype("<u2"))


def _covariance(covariance: Floats | None) -> dict[str, Any] | None:
    """The lower triangle, row by row."""
    if covariance is None:
        return None
    rows, columns = np.tril_indices(len(covariance))
    if len(covariance) <= EXACT:
        return {"data": _pack(covariance[rows, columns].astype("<f8"))}
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    known = np.where(errors > 0, errors, 1.0)
    shares = np.tril(covariance / np.outer(known, known), -1)
    most = float(np.abs(shares).max()) or 1.0
    packed = np.rint(32767 / most * shares[rows, columns]).astype("<i2")
    told = [float(f"{error:.9g}") for error in errors]
    return {"data": _pack(packed), "unit": most / 32767, "errors": told}


def _pack(values: np.ndarray[Any, Any]) -> str:
    return base64.b64encode(values.tobytes()).decode("ascii")


Row: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Scorer:
    """The total of a row: prior + sum over terms of the weight of its level.

    `weights` has the weight of each level of each term (a number for two classes, else one for
    each), and zero for no level, in the order in which `Evidence.total` adds them.
    """

    formula: Formula

    @cached_property
    def finders(self) -> tuple[Callable[[Row], int], ...]:
        """Functions from a row to the index of its level in each term; the last is no level."""
        return tuple(map(_place, self.formula.terms))

    @cached_property
    def weights(self) -> tuple[list[Any], ...]:
        """The weights of each term by place."""
        n = len(self.formula.prior)
        rows = ([*term.weights, (0.0,) * n] for term in self.formula.terms)
        return tuple([row[0] for row in own] if n == 1 else own for own in rows)

    def places(self, rows: Sequence[Row]) -> list[list[int]]:
        """The place of each row's level in each term; an absent field is not known."""
        finders = self.finders
        return [[find(row) for find in finders] for row in rows]

    @cached_property
    def answers(self) -> tuple[tuple[Callable[[Row], bool], ...], ...]:
        """Functions that tell whether a row has an answer, by column of each term."""
        return tuple(tuple(map(_answers, term.columns)) for term in self.formula.terms)

    @cached_property
    def features(self) -> tuple[str, ...]:
        """The columns that the tables read, in order: all but those of exposure and offset only."""
        read = {source.name for term in self.formula.terms for source in term.feature.sources}
        names = [column.name for column in self.formula.inputs]
        return tuple(name for name in names if name in read or self.formula.tokens)

    @cached_property
    def types(self) -> dict[str, frozenset[type]]:
        """The columns that rows may have, and the JSON types that they accept."""
        return {column.name: column.types for column in self.formula.inputs}

    def totals(self, rows: Sequence[Row]) -> Floats:
        """Totals of rows, equal to those of `Evidence.total`; an absent field is not known."""
        return self.finish(self.sums(self.places(rows)), rows)

    def sums(self, places: Sequence[Sequence[int]]) -> Floats:
        """Sums of prior and weights from the indices of levels, before any exponent or curve.

        With an attenuation they are sums of weights: `finish` adds the prior.
        """
        prior = [*self.formula.prior]
        start = prior if self.formula.attenuation is None else [0.0] * len(prior)
        add = self._add_one if len(start) == 1 else self._add_many
        return np.array([add(own, start) for own in places]).reshape(len(places), len(start))

    def finish(self, sums: Floats, rows: Sequence[Row]) -> Floats:
        """The totals of rows from their sums."""
        rule, curve, totals = self.formula.attenuation, self.formula.curve, sums
        if self.formula.offsets:
            totals = totals + np.array([[self.known(row)] for row in rows])
        if rule is not None:
            n = np.array([*map(self._observe, rows)], dtype=np.float64)
            totals = rule.apply(totals, np.array(self.formula.prior), n)
        if curve is None:
            return totals
        return np.array([[curve.at(total)] for total in totals[:, 0].tolist()])

    def known(self, row: Row) -> float:
        """What exposure and offset add to the total of a row."""
        return sum(column.add(row.get(column.name)) for column in self.formula.offsets)

    def probabilities(self, totals: Floats) -> Floats:
        """The probability of each class; of one row without threads, which take time to start."""
        if len(totals) != 1 or totals.shape[1] != 1:
            return engine.link(totals, self.formula.link)
        probabilities = np.empty((1, 2))
        numpy_kernels.for_rows(1).logistic(totals, probabilities)
        return probabilities

    def _add_one(self, places: Sequence[int], start: list[float]) -> float:
        total = start[0]
        for weights, place in zip(self.weights, places, strict=True):
            total += weights[place]
        return total

    def _add_many(self, places: Sequence[int], start: list[float]) -> list[float]:
        totals = start
        for weights, place in zip(self.weights, places, strict=True):
            totals = [t + w for t, w in zip(totals, weights[place], strict=True)]
        return totals

    def _observe(self, row: Row) -> float:
        """What the attenuation depends on.

        The number of terms in which the row has an answer, or a null that is a level; or the share
        of the evidence in terms without a level.
        """
        if shares := self.formula.not_known:
            terms = zip(shares, self.finders, self.formula.terms, strict=True)
            return sum(own for own, find, term in terms if own and find(row) == len(term.weights))
        return sum(all(answers(row) for answers in term) for term in self.answers)


def _answers(part: Feature) -> Callable[[Row], bool]:
    """From a row to whether it has an answer, or null where that is a level."""
    asked = _asked(part.asked)
    return lambda row: (
        part.name in row and not (part.skip_missing and row[part.name] is None) and asked(row)
    )


def _asked(asks: Sequence[Ask]) -> Callable[[Row], bool]:
    """From a row to whether a question is asked."""
    tests = [(ask.feature.name, finder(ask.feature), ask.places) for ask in asks]
    return lambda row: all(
        place(row.get(name, NOT_KNOWN)) in places for name, place, places in tests
    )


def _place(term: Term) -> Callable[[Row], int]:
    """From a row to the place of its level, or of no level, which is after the last."""
    if len(term.columns) == 1:
        return _place_in(term.columns[0])
    left, right = map(_place_in, term.columns)
    pairs, nothing = term.lookup, len(term.weights)
    return lambda row: pairs.get((left(row), right(row)), nothing)


def _place_in(part: Feature) -> Callable[[Row], int]:
    """From a row to the place of its level in a column, where its question is asked."""
    name, place = part.name, finder(part)
    if not part.asked:
        return lambda row: place(row.get(name, NOT_KNOWN))
    asked, nothing = _asked(part.asked), part.no_level
    return lambda row: place(row.get(name, NOT_KNOWN)) if asked(row) else nothing
