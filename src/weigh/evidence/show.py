"""The evidence as plain text and as a dataframe; long tables are shortened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.arrays import Floats
from weigh.bins import OTHER, Cross, label, printable, spell_level
from weigh.bins.labels import EXACT
from weigh.chart_data import outline
from weigh.evidence.ranking import (
    choose_levels,
    has_tokens,
    head_counts,
    rank_tables,
    tell_left_out,
    tell_more,
)
from weigh.evidence.units import Amounts, Words, digits_of, hundredths, words_of
from weigh.frames import Value, build
from weigh.layout import Grid, View, list_few

if TYPE_CHECKING:
    from weigh.evidence.feature_table import FeatureTable
    from weigh.evidence.tables import Evidence


ROWS = 8
"""Maximum number of intervals of a feature in print."""


def summarise(table: FeatureTable, most: int | None = ROWS) -> FeatureTable:
    """The table with at most `most` intervals, joined; other levels are unchanged."""
    feature = table.feature
    if most is None or len(feature.cuts or ()) < most:
        return table
    assert feature.cuts is not None
    n, rows = len(feature.cuts) + 1, table.counts.sum(axis=1)
    return join_intervals(table, [g.start for g in outline(table.by_class[:n], rows[:n], most)])


def join_intervals(table: FeatureTable, starts: Sequence[int]) -> FeatureTable:
    """Join neighbouring intervals of a numeric table; `starts` holds the first of each group.

    A joined interval has the mean weight of its rows. Its variance is the mean of theirs, because
    the model still distinguishes these levels.
    """
    feature = table.feature
    assert not isinstance(feature, Cross)
    assert feature.cuts is not None
    rows = table.counts.sum(axis=1)
    firsts = np.array([*starts, *range(len(feature.cuts) + 1, len(rows))])
    heavy = np.maximum(rows, 1e-9)[:, None]

    def mean(values: Floats | None) -> Floats | None:
        if values is None:
            return None
        return np.asarray(np.add.reduceat(values * heavy, firsts) / np.add.reduceat(heavy, firsts))

    errors = table.known_errors
    squares = mean(None if errors is None else errors**2)
    weights = mean(table.by_class)
    assert weights is not None
    return replace(
        table,
        feature=feature.with_cuts(start - 1 for start in starts[1:]),
        counts=np.add.reduceat(table.counts, firsts),
        by_class=weights,
        variances=mean(table.variances),
        known_errors=None if squares is None else np.sqrt(squares),
    )


MOST_LEVELS, MOST_FEATURES, MOST_CLASSES = 20, 60, 6
BAR = 6
SHOWN = (-2.0, -1.0, 0.0, 1.0, 2.0)
WHOLE: dict[str, Callable[[FeatureTable], float | None]] = {
    "importance": lambda table: table.importance,
    "added loss": lambda table: table.added_loss,
    "information value": lambda table: table.information_value,
}
"""Statistics of a whole table, by the name of their column in the dataframe."""


def to_frame(evidence: Evidence) -> Any:
    """Dataframe with one row per level: weights, errors, counts, statistics of the table."""
    columns: dict[str, list[Any]] = {"feature": [], "level": []}
    columns |= {name: [] for name in (*weight_names(evidence), *count_names(evidence))}
    known = [name for name in WHOLE if any(_is_known(WHOLE[name](t)) for t in evidence)]
    columns |= {
        name: [WHOLE[name](table) for table in evidence for _ in table.levels] for name in known
    }
    if any(table.note for table in evidence):
        columns["note"] = [table.note for table in evidence for _ in table.levels]
    for table in evidence:
        columns["feature"] += [table.name] * len(table.levels)
        columns["level"] += table.labels
        numbers = np.column_stack([table.by_class, _errors(table), table.counts])
        names = [*weight_names(evidence), *count_names(evidence)]
        for name, column in zip(names, numbers.T, strict=True):
            columns[name] += column.tolist()
    return build(columns, evidence.backend)


def table_to_frame(table: FeatureTable, backend: str | None) -> Any:
    """Dataframe with one row per level of a table, which does not know the names of classes."""
    errors = _errors(table)
    n = table.by_class.shape[1]
    columns: dict[str, list[Any]] = {"level": [*table.labels]}
    for k in range(n):
        columns[f"weight {k}" if n > 1 else "weight"] = table.by_class[:, k].tolist()
    for k in range(n):
        columns[f"error {k}" if n > 1 else "error"] = errors[:, k].tolist()
    columns[head_counts([table]).lower()] = table.counts.sum(axis=1).tolist()
    return build(columns, backend)


def _is_known(value: float | None) -> bool:
    return value is not None and not np.isnan(value)


def weight_names(evidence: Evidence) -> list[str]:
    """The columns of weights and of errors."""
    if len(evidence.classes) == 2 or evidence.estimates:
        return ["weight", "error"]
    names = [label(c) for c in evidence.classes.tolist()]
    return [f"weight {name}" for name in names] + [f"error {name}" for name in names]


def count_names(evidence: Evidence) -> list[str]:
    """The columns of counts."""
    if evidence.estimates:
        return ["rows"]
    return [f"count {label(c)}" for c in evidence.classes.tolist()]


def _errors(table: FeatureTable) -> Floats:
    errors = np.full(table.by_class.shape, np.nan) if table.errors is None else table.errors
    return errors.reshape(table.by_class.shape)


def spell_rows(evidence: Evidence) -> str:
    """The number of training rows, or of rows and periods of a hazard, as text."""
    periods = " and periods" if evidence.form == "hazard" else ""
    return f"{spell_count(evidence.class_counts.sum())} rows{periods}"


def title(evidence: Evidence) -> str:
    """Title of the table: unit of the weights, the class they favour, and number of rows."""
    names, rows = [label(c) for c in evidence.classes.tolist()], spell_rows(evidence)
    if evidence.link == "identity":
        return f"Weights in the unit of {names[0]}, added to the prior ({rows})"
    if evidence.link == "log":
        return f"Factors of {evidence.class_names[0]}, by which the prior is multiplied ({rows})"
    if evidence.units.are_points:
        return f"Points for {names[1]} against {names[0]} ({rows})"
    if evidence.form == "hazard":
        return f"Weights of the hazard of {names[1]}, times 100 ({rows})"
    if len(names) == 2:
        return f"Weights of evidence for {names[1]} against {names[0]}, times 100 ({rows})"
    more = f"; {len(names) - MOST_CLASSES} more classes" if len(names) > MOST_CLASSES else ""
    return f"Weights of evidence for each class, times 100 ({rows}{more})"


def spell_factor(k: float, digits: int) -> str:
    """The factor of the weights of an incomplete row.

    >>> spell_factor(-0.7739, 4)
    '1/sqrt(1 - 0.7739 s)'
    """
    return f"1/sqrt(1 {'-' if k < 0 else '+'} {abs(k):.{digits}g} s)"


MARGINS = " If only one answer of a pair is known, the pair has another weight: its margins."


def rule(evidence: Evidence) -> str:
    """Sentence about the attenuation of totals; empty if there is none."""
    attenuation = evidence.attenuation
    if attenuation is None:
        return ""
    k = f"{attenuation.k:.4g}"
    if attenuation.form == "known":
        margins = any(table.margins is not None for table in evidence)
        return (
            "If answers are not known, the weights are multiplied by "
            f"{spell_factor(attenuation.k, 4)}; s is the share of the evidence that is not known."
            f"{MARGINS if margins else ''}"
        )
    root = attenuation.form == "root"
    what = "prior and weights" if root else "weights, but not the prior,"
    base = f"{k}/(n + 1)" if root else f"{k}/n"
    unit = "tokens" if evidence.event_model == "counts" else "features that have an answer"
    text = f"A row's {what} are multiplied by min(1, {base}); n counts its {unit}"
    if attenuation.shift.any():
        text += f"; then {' '.join(map(hundredths, attenuation.shift))} for another base rate"
    return f"{text}."


def worth(evidence: Evidence) -> str:
    """Sentence about the recalibration, with examples; empty if there is none."""
    curve = evidence.recalibration
    if curve is None or evidence.units.are_points:  # the scorecard explains its scores
        return ""
    pairs = zip(SHOWN, curve.apply(np.array(SHOWN)) - curve.shift, strict=True)
    told = ", ".join(f"{hundredths(x)} is worth {hundredths(y)}" for x, y in pairs)
    text = f"A row's total is then recalibrated ({curve.method}): {told}"
    if curve.shift:
        text += f"; then {hundredths(curve.shift)} for another base rate"
    return f"{text}."


def edited(evidence: Evidence) -> str:
    """Sentence about changes by hand: how often, and the last one; empty without changes."""
    if not evidence.edits:
        return ""
    n, last = len(evidence.edits), evidence.edits[-1]
    times = "once" if n == 1 else f"{n} times, last"
    return (
        f"Edited by hand {times} by {last.who} on {last.when[:10]}: evidence_.edits (--about) "
        "lists what and why."
    )


MOST_LISTED = 12
"""Maximum number of categories of a level `other` in a note."""


def others(evidence: Evidence) -> list[str]:
    """Sentences on the categories that share the level `other`."""
    parts = [part for feature in evidence.features for part in feature.parts if part.others]
    return [
        f"{name} = {OTHER}: {_list_others(part.others)}."
        for name, part in {part.shown: part for part in reversed(parts)}.items()
    ][::-1]


def _list_others(values: Sequence[Value]) -> str:
    return list_few([*map(spell_level, values)], most=MOST_LISTED)


def to_text(evidence: Evidence, width: int = 100, max_rows: int | None = ROWS) -> str:
    """The table of weights as plain text.

    If it is too wide, headings are folded, then bars and added losses are left out, then names are
    folded, and only then are the other columns left out.
    """
    bars = words_of(evidence).bars
    for left_out in ((), (bars,), (bars, LOSS), (bars, LOSS, "Error", "IV", "Importance")):
        grid = _grid(evidence, left_out, max_rows)
        folded = LOSS in left_out and grid.fits(width)
        if folded or replace(grid, n_names=0).fits(width, folded=True):
            break
    joined = [t for t in evidence if summarise(t, max_rows) is not t]
    foot = [rule(evidence), worth(evidence), edited(evidence), *others(evidence)]
    foot.append(JOINED if joined else "")
    return View(title(evidence), (grid,), notes=tuple(filter(None, foot))).to_text(width)


LOSS = "Added loss"
JOINED = (
    "Neighbouring bins are joined to keep the table short. Every bin: to_text(max_rows=None), or "
    "weigh show --all."
)


JOINED_TABLE = "Neighbouring bins are joined: labels and weights hold every bin."


def _grid(evidence: Evidence, left_out: tuple[str, ...], max_rows: int | None) -> Grid:
    bars, names = words_of(evidence).bars, ["Feature", "Level", *_headings(evidence)]
    if len(evidence.prior_row) == 1:
        names.append(bars)
    lines = _lines(evidence, max_rows)
    told = [any(len(row) > j and row[j] for row in lines) for j in range(len(names))]
    shown = [j for j, name in enumerate(names) if name not in left_out and told[j]]
    return Grid(tuple(names), tuple(lines), n_names=2).take(shown)


def _headings(evidence: Evidence) -> list[str]:
    whole = [head_counts(evidence), "Importance", LOSS, "IV"]
    if len(evidence.prior_row) == 1:
        return [words_of(evidence).heading, "Error", *whole]
    return [label(c) for c in evidence.classes.tolist()[:MOST_CLASSES]] + whole


def name_start(evidence: Evidence) -> str:
    """Name of the first line of the table: prior, or base points."""
    return words_of(evidence).start if evidence.units.are_points else "Prior"


def stands_alone(evidence: Evidence) -> bool:
    """Whether the start is not on the scale of the weights: a mean, or base points."""
    return evidence.estimates or evidence.units.are_points


def bar_scale(evidence: Evidence) -> float:
    """The weight of a bar of full length: the largest, and that of the prior if it is one."""
    parts = [table.by_class for table in evidence]
    parts += [] if stands_alone(evidence) else [evidence.prior_row]
    largest = max((float(np.abs(part).max(initial=0.0)) for part in parts), default=0.0)
    return max(words_of(evidence).smallest, largest) or 1.0


def _lines(evidence: Evidence, max_rows: int | None) -> list[tuple[str, ...]]:
    prior, words, scale = evidence.prior_row[:MOST_CLASSES], words_of(evidence), bar_scale(evidence)
    one = len(prior) == 1
    empty = ("",) * (5 if one else 4)
    bar = (_bar(0.0 if stands_alone(evidence) else prior[0], scale),) if one else ()
    lines = [(name_start(evidence), "", *map(words.prior, prior), *empty, *bar)]
    most = {*map(id, rank_tables(evidence)[: None if max_rows is None else MOST_FEATURES])}
    for table in evidence:  # in their original order
        lines += _feature_lines(table, scale, max_rows, words) if id(table) in most else []
    left = tell_more(len(evidence) - len(most))
    return [*lines, (left,)] if left else lines


def _feature_lines(
    table: FeatureTable, scale: float, max_rows: int | None, words: Words
) -> list[tuple[str, ...]]:
    two, short = table.by_class.shape[1] == 1, summarise(table, max_rows)
    lines: list[tuple[str, ...]] = []
    names = short.feature.spelt(EXACT)
    for i in choose_levels(short, None if max_rows is None else MOST_LEVELS):
        weights = tuple(map(words.weight, short.by_class[i, :MOST_CLASSES]))
        error = (_error(_errors(short)[i, 0], words),) if two else ()
        bar = (_bar(short.by_class[i, 0], scale),) if two else ()
        rows = spell_count(short.counts[i].sum())
        first = f"{table.shown} ({table.note})" if table.note else table.shown
        whole = _whole(table, words) if not lines else ("", "", "")
        lines.append((first if not lines else "", names[i], *weights, *error, rows, *whole, *bar))
    return [*lines, *(("", text) for text in _left_out(short, max_rows))]


def _whole(table: FeatureTable, words: Words) -> tuple[str, str, str]:
    """Importance, added loss in bits, and information value, as text; empty if not defined."""
    lost, value = table.added_loss, table.information_value
    added = "" if lost is None else f"{lost / np.log(2):.4f}"
    return words.error(table.importance), added, "" if np.isnan(value) else f"{value:.2f}"


def _left_out(table: FeatureTable, max_rows: int | None) -> list[str]:
    text = "" if max_rows is None else tell_left_out(table, MOST_LEVELS)
    return [text] if text else []


def spell_count(total: float) -> str:
    """Number of rows, or their weight if it is not a whole number."""
    return f"{total:,.0f}" if total == round(total) or total >= 1000 else f"{total:,.4g}"


def words_alone(table: FeatureTable) -> Words:
    """How weights of a table are written that stands alone, without its evidence."""
    largest = float(np.abs(table.by_class).max(initial=0.0))
    return Words() if table.counts.shape[1] > 1 else Amounts(digits=digits_of(largest))


def feature_text(table: FeatureTable) -> str:
    """One feature on its own, level by level, with bins joined where there are many."""
    note, short = f" ({table.note})" if table.note else "", summarise(table)
    words = words_alone(table)
    importance, lost, value = _whole(table, words)
    added = f", added loss {lost} bits a row" if lost else ""
    told = f", information value {value}" if value else ""
    unit = "times" if has_tokens(table) else "rows"
    lines = [f"{table.name}{note}: importance {importance}{added}{told}"]
    for i in choose_levels(short, MOST_LEVELS):
        weights = " ".join(map(words.weight, short.by_class[i, :MOST_CLASSES]))
        name, n = short.labels[i], spell_count(short.counts[i].sum())
        lines.append(f"  {name}: {weights}  ({n} {unit})")
    lines += [f"  {text}" for text in _left_out(short, ROWS)]
    lines += [f"  {OTHER} is {_list_others(p.others)}" for p in table.feature.parts if p.others]
    lines += [f"  {text}" for text in _margins(table, words)]
    lines += [] if short is table else [JOINED_TABLE]
    return "\n".join(map(printable, lines))


def _margins(table: FeatureTable, words: Words) -> list[str]:
    """The weights of a pair of which one answer is not known."""
    if table.margins is None:
        return []
    scored = table.scored
    places = np.flatnonzero(scored.feature.is_half)[:MOST_LEVELS].tolist()  # type: ignore[union-attr]
    return [f"{scored.labels[i]}: {words.weight(scored.by_class[i, 0])}" for i in places]


def _error(error: float, words: Words) -> str:
    return "" if np.isnan(error) else words.error(error)


def _bar(weight: float, scale: float) -> str:
    length = round(BAR * abs(weight) / scale)
    left = "█" * length if weight < 0 else ""
    right = "█" * length if weight > 0 else ""
    return f"{left:>{BAR}}|{right:<{BAR}}"
