"""The parameters that learners share: check them, and read what they mean for a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np

from weigh.arrays import Floats
from weigh.bins import AND, ROOMY, Binning, Density, Rule, read_rules
from weigh.engine import Setting
from weigh.errors import Parameter, ParameterError
from weigh.frames import Declared, Table, Value, canonical, did_you_mean, key, list_names
from weigh.frames import is_count as is_count
from weigh.frames import is_number as is_number
from weigh.tally import Tally

FINE_RANGE, FINE_LEVELS = (24, ROOMY), 2048
"""Fewest and most levels of a column with bins="fine", and how many all columns have together, if
neither limit is reached. Where outer bins are halved, a column can have more."""

DEEPEST = 8
"""Largest depth of nested parameters: printing deeper ones may take forever."""


def check_parameters(learner: Any) -> None:
    """Raise an error for an invalid shared parameter; it names the parameter and valid values."""
    for name, value in learner.get_params(deep=False).items():
        _refuse_deep(name, value)
    _check_event_model(learner)
    _check_smoothing(learner)
    _check_bins(learner)
    _check_special(learner.special_values)
    _check_max_levels(learner)
    read_rules(learner.ask_if)
    for choice in _values(learner.missing):
        if choice not in ("level", "skip"):
            raise ValueError(
                f"missing must be 'level', 'skip', or a dict from column to these, got {choice!r}"
            )


def _refuse_deep(name: str, value: Any, depth: int = 0) -> None:
    if depth > DEEPEST:
        raise ParameterError(Parameter(name), f" is nested more than {DEEPEST} deep; flatten it")
    parts = value.values() if isinstance(value, Mapping) else value
    if isinstance(value, Mapping | list | tuple):
        for part in parts:
            _refuse_deep(name, part, depth + 1)


def _values(given: Any) -> Iterable[Any]:
    """Values of a parameter: the values of a dict by column, or the one for all columns."""
    return given.values() if isinstance(given, Mapping) else [given]


def _check_event_model(learner: Any) -> None:
    if learner.event_model not in ("levels", "counts"):
        raise ValueError(f"event_model must be 'levels' or 'counts', got {learner.event_model!r}")
    if learner.crosses is not None and learner.event_model == "counts":
        raise ValueError(
            "crosses needs columns with levels; tokens (event_model='counts') have none"
        )
    if learner.ask_if is not None and learner.event_model == "counts":
        raise ValueError(
            "ask_if needs columns with levels; tokens (event_model='counts') have none"
        )


def _check_smoothing(learner: Any) -> None:
    smoothing = learner.smoothing
    if np.ndim(smoothing):
        raise ValueError(
            "smoothing takes one number for all columns and levels, such as smoothing=1; got "
            f"{np.size(smoothing)} values"
        )
    named = isinstance(smoothing, str) and smoothing in learner._smoothings
    if not (named or (is_number(smoothing) and 0 <= smoothing < np.inf)):
        names = ", ".join(map(repr, learner._smoothings))
        raise ValueError(
            f"smoothing must be a number of at least 0, or one of {names}; got {smoothing!r}"
        )


def _check_bins(learner: Any) -> None:
    bins = learner.bins
    _refuse_names(bins)
    for rule in _values(bins):
        listed = isinstance(rule, Iterable) and not isinstance(rule, str)
        cuts = isinstance(bins, Mapping) and listed
        count = is_count(rule) and rule >= 2
        if isinstance(rule, Density):
            _check_density(learner)
        if isinstance(bins, Binning) and bins.cuts is not None:
            raise ValueError(
                "bins is a Binning with cut points for all columns; give them by column, such as "
                "{'age': Binning(cuts=[30, 50])}"
            )
        named = isinstance(rule, str) and rule in ("mdl", "fine")
        known = named or isinstance(rule, Binning | Density)
        if not (cuts or count or known):
            raise ValueError(
                "bins must be 'mdl', 'fine', a number of quantile bins of at least 2, a Binning, "
                "or a dict from column to one of these, to cut points, or to lists of the "
                f"categories that share a level, got {rule!r}"
            )


def _refuse_names(bins: Any) -> None:
    """Refuse groups of categories that have names: a level is called by its categories."""
    for column, rule in bins.items() if isinstance(bins, Mapping) else ():
        if isinstance(rule, Mapping):
            raise ParameterError(
                Parameter("bins"),
                f" of {column!r} names its groups, got {rule!r}: list them without names, as "
                f"{{{column!r}: {[*rule.values()]!r}}}. To name a level for people, use "
                "weigh.edit(model, X, y).rename",
            )


def _check_density(learner: Any) -> None:
    """Raise an error if the learner cannot use a Density, or if there are crosses."""
    if not learner._takes_densities:
        name = type(learner).__name__
        raise ValueError(
            f"bins contains a Density, which {name} does not support; use EvidenceNB, or give "
            "other bins"
        )
    if learner.crosses is not None:
        raise ValueError("bins contains a Density, which cannot be used with crosses; drop one")


def _check_special(given: Any) -> None:
    listed = isinstance(given, Iterable) and not isinstance(given, str | bytes)
    if not (given is None or listed or is_number(given)):
        raise ValueError(
            "special_values must list codes of all numeric columns, such as [-9, -8], or be a dict "
            f"from column to codes, such as {{'income': [-999]}}, got {given!r}"
        )


def _check_max_levels(learner: Any) -> None:
    given = learner.max_levels
    for most in _values(given):
        if not (most is None or (is_count(most) and most >= 1)):
            raise ValueError(
                "max_levels must be None, a whole number of at least 1, or a dict from column to "
                f"these, got {most!r}"
            )
    if given is not None and learner.event_model == "counts":
        raise ValueError(
            "max_levels is for categorical columns; for tokens (event_model='counts') set "
            "max_features of the vectorizer"
        )


def check_count(name: str, value: Any, least: int = 1) -> None:
    """Raise an error for a parameter that is no whole number of at least `least`."""
    if not (is_count(value) and value >= least):
        wants = f" must be a whole number of at least {least}, got {value!r}"
        raise ParameterError(Parameter(name), wants)


def read_settings(learner: Any, table: Table) -> dict[str, Setting]:
    """How each column is read, from the shared parameters."""
    names, categorical = table.names, _read_categorical(learner.categorical_features, table)
    declared = {**table.declared(), **_read_declared(learner.categorical_features, names)}
    bins = by_column(learner.bins, names, "bins", type(learner).bins)
    missing = by_column(learner.missing, names, "missing", "level")
    codes = () if learner.special_values is None else learner.special_values
    special = by_column(codes, names, "special_values", ())
    asked = {_name(column, names, "ask_if") for column, *_ in read_rules(learner.ask_if)}
    fine = int(np.clip(FINE_LEVELS // max(len(names), 1), *FINE_RANGE))
    most = read_caps(learner, names)
    named = {
        parameter: by_column(dict.fromkeys(given, True), names, parameter, False)
        for parameter, given in (("bins", learner.bins), ("special_values", codes))
        if isinstance(given, Mapping) and not isinstance(given, Everywhere)
    }
    settings = {}
    for name in names:
        rule = int(bins[name]) if is_count(bins[name]) else bins[name]
        left = isinstance(rule, Binning) and rule.closed == "left"
        if isinstance(rule, Binning) and rule.given is not None:
            rule = rule.given
        category = categorical[name]
        joined = _read_joined(rule, name)
        if joined:
            category, rule = True, type(learner).bins
        if category is None and not isinstance(rule, Rule):
            category = False  # a column with cut points is numeric, even if it is empty
        special_codes = _read_special(special[name], name)
        skips = missing[name] == "skip" or name in asked
        levels = None if category is False else declared.get(name)
        takes_text = {"bins": joined or isinstance(rule, Binning), "special_values": False}
        of_numbers = tuple(p for p, own in named.items() if own[name] and not takes_text[p])
        settings[name] = Setting(
            category, rule, special_codes, skips, fine, most[name], levels, joined, left, of_numbers
        )
    return settings


def _read_joined(rule: Any, name: str) -> tuple[tuple[Value, ...], ...]:
    """Categories of each level, if `bins` is a list of lists; empty if it has cut points."""
    if isinstance(rule, Rule):
        return ()
    if not any(isinstance(item, list | tuple) for item in rule):
        return ()
    if not all(isinstance(item, list | tuple) and len(item) for item in rule):
        raise ValueError(
            f"bins for column {name!r} must list the categories of each level, as "
            f"[['a', 'b'], ['c']], got {rule!r}"
        )
    joined = tuple(tuple(canonical(value) for value in item) for item in rule)
    every = [key(value) for values in joined for value in values]
    if len({*every}) < len(every):
        raise ValueError(f"bins for column {name!r} lists a category twice: {rule!r}; list it once")
    return joined


def read_caps(learner: Any, names: Sequence[str]) -> dict[str, int | None]:
    """Largest number of categories of each column that keep their own level; None is no limit."""
    given = by_column(learner.max_levels, names, "max_levels", None)
    return {name: None if most is None else int(most) for name, most in given.items()}


def read_crosses(given: Any, table: Table) -> tuple[tuple[str, str], ...]:
    """Pairs of columns to join; a column can be in one pair only."""
    pairs: list[tuple[str, str]] = []
    listed = isinstance(given, Iterable) and not isinstance(given, str | Mapping)
    for pair in given if listed else () if given is None else [given]:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise ValueError(f"crosses must be pairs, such as [('a', 'b')], got {given!r}")
        left, right = (_name(column, table.names, "crosses") for column in pair)
        joined = {name for other in pairs for name in other}
        if left == right or {left, right} & joined:
            twice = left if left == right or left in joined else right
            raise ValueError(f"crosses joins {twice!r} twice; a column can be in one pair only")
        name = f"{left}{AND}{right}"
        if name in [AND.join(other) for other in pairs]:
            raise ValueError(f"two of crosses would be called {name!r}; rename a column")
        if name in table.names:
            raise ValueError(f"crosses makes {name!r}, which is a column; rename it")
        pairs.append((left, right))
    return tuple(pairs)


def read_orders(given: Any, tally: Tally, names: Sequence[str]) -> tuple[int, ...]:
    """Monotonicity of each feature: 1 to rise, -1 to fall, 0 for none; empty if none is given."""
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        listed = [*given] if isinstance(given, Iterable) else [given]
        if len(listed) != len(names):
            raise ValueError(
                f"monotonic_cst has {len(listed)} entries for {len(names)} columns; give one "
                "for each column, or a dict such as {'age': 1}"
            )
        given = dict(zip(names, listed, strict=True))
    asked = {_name(column, names, "monotonic_cst"): sign for column, sign in given.items()}
    parts = [(t.feature.name, t.feature.parts) for t in tally.tables]
    numeric = {
        name for name, (part, *more) in parts if part.is_numeric or (part.ordered and not more)
    }
    for name, sign in asked.items():
        if not (is_number(sign) and sign in (-1, 0, 1)):
            raise ValueError(f"monotonic_cst for column {name!r} must be 1, 0 or -1, got {sign!r}")
        if sign and name not in numeric:
            raise ValueError(
                f"monotonic_cst names {name!r}, which has unordered categories or is part of a "
                "cross; it takes numeric columns and ordered categories"
            )
    return tuple(int(asked.get(t.feature.name, 0)) for t in tally.tables)


def read_columns(given: Any, table: Table, parameter: str) -> tuple[str, ...]:
    """Names of the columns in a parameter: a name or position, or a list of these."""
    if given is None:
        return ()
    listed = isinstance(given, Iterable) and not isinstance(given, str | Mapping)
    return tuple(_name(column, table.names, parameter) for column in (given if listed else [given]))


def read_pairs(given: Iterable[Any], table: Table) -> tuple[frozenset[str], ...]:
    """Pairs of columns, given by name or position."""
    pairs = []
    for pair in given:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise ValueError(
                f"pairs must list pairs of columns, such as [('a', 'b')], got {pair!r}"
            )
        pairs.append(frozenset(read_columns(pair, table, "pairs")))
        if len(pairs[-1]) < 2:
            raise ValueError(f"pairs joins {pair[0]!r} with itself; name two columns")
    return tuple(dict.fromkeys(pairs))


class Everywhere(dict[str, Any]):
    """A value for all columns as a dict, because one more column has a value of its own."""


def by_column(value: Any, names: Sequence[str], parameter: str, default: Any) -> dict[str, Any]:
    """Value of a parameter for each column: one for all, or a dict by name or position."""
    if not isinstance(value, Mapping):
        return dict.fromkeys(names, value)
    given = {_name(column, names, parameter): choice for column, choice in value.items()}
    return {name: given.get(name, default) for name in names}


def _name(column: Any, names: Sequence[str], parameter: str) -> str:
    if is_count(column) and -len(names) <= column < len(names):
        return names[int(column)]
    if column in names:
        return str(column)
    held = list_names(names) + did_you_mean(column, names)
    raise ParameterError(Parameter(parameter), f" names {column!r}, but the columns are {held}")


def _read_categorical(choice: Any, table: Table) -> dict[str, bool | None]:
    if choice is None:
        choice = ()
    if isinstance(choice, Mapping):
        named = {_name(column, table.names, "categorical_features") for column in choice}
        return {name: True if name in named else None for name in table.names}
    if isinstance(choice, str):
        if choice not in ("from_dtype", "all"):
            raise ValueError(
                "categorical_features must be 'from_dtype', 'all', a list of columns, or a dict "
                f"from column to levels, got {choice!r}"
            )
        return dict.fromkeys(table.names, True if choice == "all" else None)
    if not isinstance(choice, Iterable):
        raise ValueError(f"categorical_features must be a list of columns, got {choice!r}")
    chosen = list(choice)
    if chosen and all(isinstance(item, bool | np.bool_) for item in chosen):
        if len(chosen) != len(table.names):
            raise ValueError(
                f"categorical_features is a mask of length {len(chosen)}, but there are "
                f"{len(table.names)} columns; give one flag for each"
            )
        chosen = np.flatnonzero(chosen).tolist()
    names = {_name(column, table.names, "categorical_features") for column in chosen}
    return {name: name in names for name in table.names}


def _read_declared(choice: Any, names: Sequence[str]) -> dict[str, Declared]:
    """Levels that the user declares by column: a list is ordered, a set is not."""
    found = {}
    for column, levels in choice.items() if isinstance(choice, Mapping) else ():
        name = _name(column, names, "categorical_features")
        if isinstance(levels, str) or not isinstance(levels, Iterable):
            raise ValueError(
                f"categorical_features for column {name!r} must be a list of levels in their "
                f"order, or a set of levels without one, got {levels!r}"
            )
        found[name] = Declared.of(levels, ordered=not isinstance(levels, Set))
    return found


def _read_special(values: Any, name: str) -> tuple[Value, ...]:
    listed = isinstance(values, Iterable) and not isinstance(values, str)
    chosen = {canonical(value) for value in (values if listed else [values])}
    try:
        if not any(isinstance(value, str | bool) for value in chosen):
            return tuple(sorted(chosen, key=float))  # type: ignore[arg-type]
    except (TypeError, OverflowError):
        pass
    raise ValueError(f"special_values for column {name!r} must be numbers, got {values!r}")


def read_rate(rate: Any, classes: np.ndarray[Any, Any], parameter: str) -> Floats:
    """Class probabilities, given for the second of two classes, for all in order, or by label."""
    if isinstance(rate, Mapping):
        given = {key(canonical(label)): p for label, p in rate.items()}
        wanted = [key(label) for label in classes.tolist()]
        if set(given) != set(wanted):
            raise ValueError(f"{parameter} must name each of {classes.tolist()}, got {[*rate]}")
        rate = [given[label] for label in wanted]
    try:
        row = np.asarray(rate, dtype=np.float64)
    except (TypeError, ValueError):
        row = np.zeros(0)
    if row.ndim == 0:
        row = np.array([1 - row, row])
    if row.shape != classes.shape or not (row > 0).all() or not np.isclose(row.sum(), 1.0):
        one = f"a number between 0 and 1, the probability of {classes.tolist()[-1]!r}, or "
        raise ValueError(
            f"{parameter} must be {one if len(classes) == 2 else ''}positive probabilities of the "
            f"{len(classes)} classes that sum to 1, got {rate!r}"
        )
    return row
