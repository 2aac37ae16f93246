"""`levers`: search for the smallest changes of a case that cross a cut-off."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations, pairwise
from math import floor
from typing import Any

import numpy as np

from weigh.arrays import Floats
from weigh.bins import Feature, spell_level
from weigh.errors import Parameter, ParameterError
from weigh.formula import Input
from weigh.frames import NOT_KNOWN, Value, canonical, did_you_mean, match, read
from weigh.parameters import check_count, is_number
from weigh.recourse.changes import Case, ColumnOptions, Lever, Levers

DIRECTIONS = ("any", "up", "down")


def levers(
    model: Any,
    row: Any,
    may_change: Any,
    *,
    cut_off: float | None = None,
    pos_label: Any = None,
    costs: Mapping[str, float] | None = None,
    n: int = 3,
    most: int = 3,
) -> Levers:
    """The smallest changes of a case that cross a cut-off.

    The cost of a change is::

        cost = sum over changed columns of costs[column] (1 + share of training rows passed)

    The share counts training rows whose level lies between the old and the new one; it is 0 for
    categories without an order. For every set of up to `most` columns, the cheapest change that
    crosses is found. A set is left out if changing fewer of its columns is enough. The search is
    exact, also with pairs of features.

    Parameters
    ----------
    model : classifier of two classes or Scorecard
        Fitted model with tables of weights.
    row : mapping or table of one row
        The case.
    may_change : list or dict
        Columns that may change. A dict gives directions ("up" or "down" for numbers and ordered
        categories, or "any"), or a list of allowed values: finite numbers or categories seen in
        training.
    cut_off : float, optional
        Scorecard: lowest accepted score. Model: lowest accepted probability of `pos_label`.
        Default: even odds.
    pos_label : label, optional
        The wanted class. Default: the one that high scores favour, or `classes_[1]`.
    costs : dict, optional
        Cost of a change, by column. Default: 1.
    n : int, default=3
        Number of levers.
    most : int, default=3
        Largest number of columns that one lever changes.

    Examples
    --------
    >>> import weigh
    >>> model = weigh.EvidenceNB().fit(weigh.datasets.titanic(), "Survived")
    >>> found = weigh.levers(model, {"Class": "3rd", "Sex": "Male", "Age": "Adult"}, ["Sex"])
    >>> found[0].changes[0].after, round(found[0].probability, 2)
    ('Female', 0.65)
    """
    case = Case.read(model, row, pos_label, cut_off)
    for name, value in (("n", n), ("most", most)):
        check_count(name, value)
    options = read_options(case, may_change, costs or {})
    if case.crossed:
        return case.result(())
    found: dict[frozenset[str], Lever] = {}
    for size in range(1, min(most, len(options)) + 1):
        for chosen in combinations(options, size):
            names = frozenset(option.name for option in chosen)
            lever = case.cheapest(chosen)
            inner = [other.cost for own, other in found.items() if own < names]
            if lever is not None and lever.cost < min(inner, default=np.inf):
                found[names] = lever
    ranked = sorted(found.values(), key=lambda lever: (lever.cost, len(lever.changes)))
    return case.result(tuple(ranked[:n]))


def read_options(case: Case, may_change: Any, costs: Mapping[str, float]) -> list[ColumnOptions]:
    """Options of every column that may change and has other values."""
    if isinstance(may_change, str) or not isinstance(may_change, Iterable):
        raise ValueError(f"may_change must list columns, got {may_change!r}")
    asked = may_change if isinstance(may_change, Mapping) else dict.fromkeys(may_change, "any")
    known = {source.name: source for source in case.inputs}
    shown = {source.first.shown: source.name for source in case.inputs}
    own = shown | {name: name for name in known}
    asked = {own.get(name, name): rule for name, rule in asked.items()}
    costs = {own.get(name, name): cost for name, cost in costs.items()}
    for name in (*asked, *costs):
        if name not in known:
            what, meant = "may_change" if name in asked else "costs", did_you_mean(name, known)
            raise ParameterError(
                Parameter(what), f" names {name!r}, which is not a column of the model{meant}"
            )
    for name, cost in costs.items():
        if not (is_number(cost) and 0 < cost < np.inf):
            raise ValueError(f"costs for column {name!r} must be a positive number, got {cost!r}")
    found = [
        _options_of(case, known[name], rule, float(costs.get(name, 1.0)))
        for name, rule in asked.items()
    ]
    return [option for option in found if option.values]


def _options_of(case: Case, source: Input, rule: Any, cost: float) -> ColumnOptions:
    before = case.row[source.name]
    values = _list_values(source, before)
    if isinstance(rule, str):
        if rule not in DIRECTIONS:
            raise _no_rule(source, rule)
        values = _one_way(source, values, before, rule)
    else:
        values = [value for value in _read_values(source, rule) if value != before]
    shares, texts = _passed(case, source, before, values)
    gains = None
    if values and _stands_alone(case, source):
        gains = case.totals({source.name: values}) - case.total
    options = ColumnOptions(source.name, before, values, cost * (1 + shares), texts, gains)
    return options if gains is None else options.keep(_best(options.costs, gains))


def _no_rule(source: Input, rule: Any) -> ValueError:
    return ValueError(
        f"may_change for column {source.name!r} must be 'up', 'down', 'any' or a list of values, "
        f"got {rule!r}"
    )


def _read_values(source: Input, rule: Any) -> list[Value]:
    """Read a list of allowed values; raise an error for one that has no level in the model."""
    if isinstance(rule, Mapping) or not isinstance(rule, Iterable):
        raise _no_rule(source, rule)
    found = [canonical(value) for value in rule]
    for value in found:
        if source.is_numeric and not (is_number(value) and np.isfinite(value)):  # type: ignore[arg-type]
            raise ValueError(
                f"may_change for column {source.name!r} must list finite numbers, got {value!r}"
            )
        known = value is not None and value is not NOT_KNOWN
        if not (known and any(_place(part, value) < part.no_level for part in source.features)):
            seen = ", ".join(map(repr, source.values[:10]))
            more = ", ..." if len(source.values) > 10 else ""
            raise ValueError(
                f"may_change for column {source.name!r} lists {value!r}, which training did not "
                f"have; list some of {seen}{more}"
            )
    return found


def _list_values(source: Input, before: Value) -> list[Value]:
    """One value of every other level; for an interval, the value nearest to that of the row."""
    if not source.is_numeric:
        return [value for value in source.values if value != before]
    cuts, now = source.cuts, before if isinstance(before, int | float) else None
    whole = all(feature.whole for feature in source.features)
    ends = [-np.inf, *cuts, np.inf]
    found: list[Value] = []
    for low, high in pairwise(ends):
        if now is not None and low < now <= high:
            continue
        below = now is None or now > high
        above = floor(low) + 1 if whole and np.isfinite(low) else np.nextafter(low, np.inf)
        inside = high if below and np.isfinite(high) else above
        value = float(floor(inside) if whole else inside)
        if low < value <= high and value not in source.values:
            found.append(value)
    return found


def _one_way(source: Input, values: list[Value], before: Value, rule: str) -> list[Value]:
    ordered = source.is_numeric or source.first.ordered
    if rule == "any":
        return values
    if not ordered:
        raise ValueError(
            f"may_change for column {source.name!r} is {rule!r}, but its categories have no order"
        )
    places = {value: k for k, value in enumerate(source.values)}

    def rank(value: Any) -> float:
        return float(value) if source.is_numeric else places.get(value, np.nan)

    if before is None or before is NOT_KNOWN:
        return values
    sign = 1 if rule == "up" else -1
    return [value for value in values if sign * (rank(value) - rank(before)) > 0]


def _passed(
    case: Case, source: Input, before: Value, values: list[Value]
) -> tuple[Floats, list[str]]:
    """Share of training rows between the old level and each new one, and labels of the new ones."""
    table = next(
        (t for t in case.evidence if t.feature.parts == (t.feature,) == (source.first,)), None
    )
    if table is None:
        return np.zeros(len(values)), [*map(spell_level, values)]
    places = [_place(source.first, value) for value in (before, *values)]
    n, rows = source.first.n_in_order, table.counts.sum(axis=1)
    ends = np.concatenate([[0.0], np.cumsum(rows)]) / max(rows.sum(), 1.0)
    shares = np.zeros(len(values))
    for k, place in enumerate(places[1:]):
        if max(place, places[0]) < n:
            low, high = sorted((place, places[0]))
            shares[k] = ends[high] - ends[low + 1] if high > low else 0.0
    labels = (*table.labels, "")
    return shares, [labels[p] or spell_level(v) for p, v in zip(places[1:], values, strict=True)]


def _place(feature: Feature, value: Value) -> int:
    """Level number of a value in a feature."""
    if value is NOT_KNOWN:
        return feature.no_level
    table = match(read([{feature.name: value}]), (feature.name,), True, "levers")
    placed = feature.place(feature._column(table))
    return int(placed.levels[placed.codes[0]])


def _stands_alone(case: Case, source: Input) -> bool:
    """Whether the contribution of the column to the total depends on no other column."""
    evidence = case.evidence
    if evidence.attenuation is not None or evidence.recalibration is not None:
        return False
    using = [f for f in evidence.features if any(source.name == p.name for p in f.sources)]
    return len(using) == 1 and len(using[0].sources) == 1


def _best(costs: Floats, gains: Floats) -> list[int]:
    """Indices of the options that are not dominated: any that costs no more gains less."""
    order = np.lexsort((-gains, costs))
    kept, most = [], -np.inf
    for k in order.tolist():
        if gains[k] > most:
            kept.append(k)
            most = gains[k]
    return sorted(kept)
