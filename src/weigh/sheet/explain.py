"""From evidence and a row to a balance sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh import engine
from weigh.arrays import Floats, Integers
from weigh.bins import OTHER, Cross, Feature, spell_level, spotter
from weigh.bins.labels import quote_blanks
from weigh.errors import Parameter, ParameterError
from weigh.evidence import Evidence, FeatureTable, scale_variances
from weigh.evidence.feature_table import token_variance
from weigh.frames import NOT_KNOWN, Table, Value, canonical, count_matrix, did_you_mean
from weigh.sheet.balance import (
    REACH,
    Attenuated,
    BalanceSheet,
    Item,
    attenuate_row,
    map_ends,
    recalibrate_row,
)

UNSEEN = "not seen in training"


NO_ERRORS = "this learner's weights have no standard errors"
ONE_BY_ONE = (
    "with more than two classes each weight has an error, but their covariance is not known"
)
EDITED = "the tables were edited, so the errors of the fit no longer apply"

PRIOR = "that the weights are about as large as the fit expects"
"""The assumption of an interval that uses the covariance of all weights."""

SCALES = f"{PRIOR}, with known scales"
"""The assumption for model files whose covariance takes the scales as known."""

AT_RANDOM = ", and that the answers which are not known are left out at random"


@dataclass(frozen=True)
class _Line:
    """One row of the sheet before a class is chosen: weights and variances by class."""

    feature: str
    level: str
    note: str
    weights: Floats
    variances: Floats | None
    relation: str = "="
    times: float = 1.0
    not_known: bool = False
    unseen: bool = False  # a value that is no level, so that it could have any weight
    words: str = ""
    title: str = ""

    def item(self, sign: Floats) -> Item:
        """The line as an item for the chosen classes."""
        weight = float(sign @ self.weights) + 0.0  # no negative zero
        own = self.note, self.relation, self.words, self.title
        return Item(self.feature, self.level, weight, *own)


def explain(
    evidence: Evidence, table: Table, pos_label: Any, against: Any, no_errors: str = NO_ERRORS
) -> BalanceSheet:
    """The balance sheet of a table's only row; `no_errors` is the reason given for no interval."""
    classes, totals = evidence.classes.tolist(), evidence.total(table)
    a, b = choose_classes(classes, pos_label, against, int(totals[0].argmax()))
    if evidence.link == "ovr" and b >= 0:
        raise ValueError(
            "totals of one class against the rest cannot compare two classes; leave "
            "against out (sheets of AdjustedNB(multiclass='softmax') take it)"
        )
    lines = _lines(evidence, table)
    sheet = _add_up(evidence, table, totals, a, b, lines)
    parts = _variances(evidence, lines)
    scaled = _scale(evidence, parts, sheet.attenuation)
    error = _standard_error(evidence.link, scaled, totals[0], a, b)
    if evidence.covariance is not None:
        error = _joint_error(evidence, table, lines)
        if error is not None and sheet.attenuation is not None:
            error *= sheet.attenuation.exponent
    if error is None:
        return replace(sheet, no_interval=_why_none(evidence, parts, no_errors))
    step = sheet.recalibration
    centre = _log_odds(totals[0], a, b, evidence.link) if step is None else step.before
    interval = _interval(evidence, difference(len(classes), a, b), centre, error)
    blank = evidence.covariance is not None and any(line.not_known for line in lines)
    assumes = find_assumption(evidence) + (AT_RANDOM if blank else "")
    return replace(sheet, interval=interval, assumes=assumes)


def _add_up(
    evidence: Evidence, table: Table, totals: Floats, a: int, b: int, lines: list[_Line]
) -> BalanceSheet:
    """The sheet without its interval."""
    classes, row = evidence.classes.tolist(), totals[0]
    sign = difference(len(classes), a, b)
    prior, items = float(sign @ evidence.prior_row), tuple(line.item(sign) for line in lines)
    before = prior + sum(item.weight for item in items)
    probability = evidence.probabilities(totals)[0, a]
    if b >= 0 and len(classes) > 2:
        probability = _logistic(np.array([_log_odds(row, a, b, evidence.link)]))[0]
    return BalanceSheet(
        pos_label=classes[a],
        against=None if b < 0 else classes[b],
        prior=prior,
        items=items,
        total=float(sign @ row),
        probability=float(probability),
        interval=None,
        totals=dict(zip(classes, row.tolist(), strict=True)) if b < 0 else None,
        two_classes=len(classes) == 2,
        link=evidence.link,
        caveat=evidence.caveat,
        attenuation=attenuate_row(evidence, table, before, sign, a),
        recalibration=recalibrate_row(evidence, table, sign),
        backend=table.backend or evidence.backend,
        names=dict(zip(classes, evidence.class_names, strict=True)) if evidence.class_texts else {},
        outcome=evidence.outcomes[a] if evidence.outcomes else "",
        units=evidence.units if a else evidence.units.turned,
        far=_list_far(evidence, table),
    )


def _list_far(evidence: Evidence, table: Table) -> tuple[str, ...]:
    """The numbers of a table's only row that lie far beyond the cut points."""
    if evidence.event_model == "counts":
        return ()
    parts = {part.name: part for feature in evidence.features for part in feature.parts}
    return tuple(
        f"{part.shown} = {part.value(table):.10g}"
        for part in parts.values()
        if part.is_numeric and part.is_far(part.value(table))
    )


def _why_none(evidence: Evidence, parts: list[Floats | None], no_errors: str) -> str:
    """Why a sheet has no interval."""
    if evidence.link == "ovr":
        return "each class was fitted against the rest, so the errors have no common scale"
    if evidence.covariance is not None:
        return "a value was not seen in training, and could weigh anything"
    if any(table.known_errors is not None for table in evidence):
        many = "the model has too many weights to keep their covariance"
        return EDITED if evidence.edits else ONE_BY_ONE if len(evidence.classes) > 2 else many
    if any(part is None for part in parts) or evidence.prior_variances is None:
        return EDITED if evidence.edits and no_errors != NO_ERRORS else no_errors
    return "a level has no rows of a class, so its error is not known; fit with smoothing above 0"


def find_assumption(evidence: Evidence) -> str:
    """The assumption of intervals for rows without a blank."""
    if evidence.covariance is None:
        return "independent features"
    return PRIOR if evidence.scales_estimated else SCALES


def choose_classes(
    classes: list[Any], pos_label: Any, against: Any, most: int = 0
) -> tuple[int, int]:
    """Indices of the positive class and its rival; -1 stands for all other classes.

    With more than two classes, `most` is the positive one where none is named.
    """
    two, b = len(classes) == 2, find_class(classes, against, -1, "against")
    a = find_class(classes, pos_label, (1 - b if b >= 0 else 1) if two else most)
    b = 1 - a if two and b < 0 else b
    if a == b:
        both = Parameter("pos_label"), " and ", Parameter("against")
        raise ParameterError(*both, f" are both {classes[a]!r}; name two classes")
    return a, b


def refuse_classes(why: str, pos_label: Any, against: Any) -> None:
    """Raise an error if classes are named for a model that cannot compare two classes."""
    if pos_label is not None or against is not None:
        both = Parameter("pos_label"), " and ", Parameter("against")
        raise ParameterError(f"{why}: leave ", *both, " out")


def refuse_class_options(given: dict[str, Any], what: str = "numbers") -> None:
    """Raise an error for options that only apply to classifiers."""
    for name, value in given.items():
        if value is not None:
            raise ParameterError(
                Parameter(name),
                f" is not for this model, which predicts {what}; leave it out",
            )


def _interval(
    evidence: Evidence, sign: Floats, log_odds: float, error: float
) -> tuple[float, float]:
    """The interval of the probability: that of the raw log odds, with recalibrated limits."""
    ends = log_odds + REACH * error * np.array([-1.0, 1.0])
    low, high = _logistic(map_ends(evidence, sign, ends))
    return float(low), float(high)


def _logistic(log_odds: Floats) -> Floats:
    return engine.link(log_odds[:, None], "logistic")[:, 1]


def find_class(classes: list[Any], wanted: Any, default: int = 0, role: str = "pos_label") -> int:
    """The index of a class among those of a model."""
    if wanted is None:
        return default
    if wanted not in classes:
        meant = did_you_mean(wanted, classes)
        raise ParameterError(
            Parameter(role, wanted), f" is not a class of the model; these are: {classes}{meant}"
        )
    return classes.index(wanted)


def difference(n_classes: int, a: int, b: int) -> Floats:
    """The vector whose product with a row of weights is the weight for a against b (or rest)."""
    if n_classes == 2:
        return np.array([1.0 if a == 1 else -1.0])
    sign = np.zeros(n_classes)
    sign[a] = 1.0
    if b >= 0:
        sign[b] = -1.0
    return sign


def _log_odds(row: Floats, a: int, b: int, link: str) -> float:
    if len(row) == 1:
        return float(row[0] if a == 1 else -row[0])
    if b >= 0:
        return float(row[a] - row[b])
    logs = -np.logaddexp(0.0, -row) if link == "ovr" else row
    return float(logs[a] - np.logaddexp.reduce(np.delete(logs, a)))


def _scale(
    evidence: Evidence, parts: list[Floats | None], rule: Attenuated | None
) -> list[Floats | None]:
    """The variances of prior and weights, after the exponent if there is one."""
    e = 1.0 if rule is None else rule.exponent
    own = e if rule is not None and rule.form == "root" else 1.0
    scaled = [scale_variances(part, e) for part in parts]
    return [scale_variances(evidence.prior_variances, own), *scaled]


def _standard_error(
    link: str, parts: list[Floats | None], row: Floats, a: int, b: int
) -> float | None:
    """Standard error of the log odds for independent features; None if a variance is missing."""
    known = [part for part in parts if part is not None]
    if link == "ovr" or len(known) < len(parts):
        return None
    variance = np.sum(known, axis=0)
    if b >= 0:
        slope = np.zeros(len(variance))
        slope[[a, b]] = 1.0
    else:
        slope = np.exp(row - np.delete(row, a).max())
        slope[a] = 0.0
        slope /= slope.sum()
        slope[a] = 1.0
    used = slope > 0
    error = float(np.sqrt(slope[used] ** 2 @ variance[used]))
    return None if np.isnan(error) else error


def _joint_error(evidence: Evidence, table: Table, lines: list[_Line]) -> float | None:
    """Standard error of the log odds, from the covariance of the prior and the row's weights.

    An answer that is not known adds no variance: its weight, zero, is exact. A level not seen in
    training could have any weight, so there is no standard error.
    """
    if any(line.unseen for line in lines):
        return None
    return float(np.sqrt(total_variances(evidence, table)[0]))


def find_positions(evidence: Evidence, table: Table) -> Integers:
    """Table by row: where the row's weight is among all weights, the prior first; -1 for none."""
    found, start = np.empty((len(evidence), table.n_rows), dtype=np.int64), 1
    for j, placed in enumerate(engine.place(table, evidence.features)):
        levels, n = placed.levels[placed.codes].astype(np.int64), len(evidence[j].levels)
        found[j] = np.where(levels < n, start + levels, -1)
        start += n
    return found


def total_variances(evidence: Evidence, table: Table) -> Floats:
    """The variance of each row's total, from the covariance of prior and weights.

    x' C x, where x is one for the prior and for the row's levels, and zero elsewhere. It is zero
    for a model that has not kept its covariance.
    """
    found, covariance = np.zeros(table.n_rows), evidence.covariance
    if covariance is None:
        return found
    every = [np.zeros(table.n_rows, dtype=np.int64), *find_positions(evidence, table)]
    for i, own in enumerate(every):
        for other in every[: i + 1]:
            known = (own >= 0) & (other >= 0)
            found += np.where(known, (2 - (own is other)) * covariance[own, other], 0.0)
    return np.maximum(found, 0.0)


def items_of(evidence: Evidence, table: Table) -> list[Item]:
    """The weight of each feature of a two-class model for a table's only row."""
    return [line.item(np.ones(1)) for line in _lines(evidence, table)]


def _lines(evidence: Evidence, table: Table) -> list[_Line]:
    if evidence.event_model == "counts":
        return _token_lines(evidence, table)
    lines = []
    for part in evidence.scored:
        placed = part.feature.read(table)
        place = int(placed.levels[placed.codes[0]])
        known = place < len(part.levels)
        lines.append(_line(part, place, table) if known else _nothing(part, table))
    return lines


def _line(part: FeatureTable, place: int, table: Table) -> _Line:
    variances = None if part.variances is None else part.variances[place]
    note = UNSEEN if part.without_rows[place] else part.note
    values = [column.value(table) for column in part.feature.parts]
    text, relation = part.feature.tell_label(place, values), part.feature.relation(place)
    words, title = _words(part.feature, place, values), _title(part)
    weights = part.by_class[place]
    return _Line(part.name, text, note, weights, variances, relation, words=words, title=title)


def _words(feature: Feature | Cross, place: int, values: Sequence[Value]) -> str:
    """The phrase for a pair, `other`, or a level with a name of the user's; empty for others."""
    if isinstance(feature, Cross):
        return feature.phrase(place, values=values)
    if feature.levels[place] is OTHER and (told := spell_level(values[0])) != feature.labels[place]:
        new = spotter([feature])(canonical(values[0]))
        return f"{feature.phrase(place)} ({told}{', ' + UNSEEN if new else ''})"
    return feature.phrase(place, values=values) if feature.title or feature.texts else ""


def _title(part: FeatureTable) -> str:
    return part.shown if part.shown != part.name else ""


def _nothing(part: FeatureTable, table: Table) -> _Line:
    """The line of a value that is not a level: it weighs nothing."""
    feature, n_classes = part.feature, part.counts.shape[1]
    note = "no evidence" if feature.skips(table) else UNSEEN
    weights, variances = np.zeros(part.by_class.shape[1]), np.zeros(n_classes)
    blank = any(column.value(table) in (None, NOT_KNOWN) for column in feature.parts)
    return _Line(
        part.name,
        feature.spell(table),
        note,
        weights,
        variances,
        words=feature.phrase_values(table) if isinstance(feature, Cross) else "",
        not_known=blank and not feature.skip_missing,
        unseen=not blank,
        title=_title(part),
    )


def _token_lines(evidence: Evidence, table: Table) -> list[_Line]:
    """A line for each token that occurs: its weight times its count."""
    counts = count_matrix(table).toarray()[0]
    part, lines = evidence.tables[0], []
    for j in np.flatnonzero(counts):
        times = float(counts[j])
        variances = None if part.variances is None else part.variances[j]
        note = "" if part.counts[j].any() else UNSEEN
        name, weights = table.names[j], times * part.by_class[j]
        quoted = quote_blanks(name)
        title = quoted if quoted != name else ""
        own = _Line(name, f"{times:g}", note, weights, variances, times=times, title=title)
        lines.append(own)
    return lines


def _variances(evidence: Evidence, lines: list[_Line]) -> list[Floats | None]:
    """Variances of the independent parts of the sum; all tokens together are one part."""
    if evidence.event_model == "counts":
        return [_token_variance(lines, evidence)]
    return [line.variances for line in lines]


def _token_variance(lines: list[_Line], evidence: Evidence) -> Floats | None:
    """Variance of the sum over tokens, which share one Dirichlet and so are not independent.

    Var sum_v t_v ln p_v = sum_v t_v^2 trigamma(n_v + s) - (sum_v t_v)^2 trigamma(N + s m)
    """
    part = evidence.tables[0]
    if part.variances is None:
        return None
    common = token_variance(part)
    if not lines:
        return np.zeros(len(common))
    times, own = np.array([line.times for line in lines]), [line.variances for line in lines]
    variance = times**2 @ (np.array(own) + common) - times.sum() ** 2 * common
    return np.asarray(np.maximum(variance, 0.0))
