"""The tables and the figure of an evaluation of a classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.bins import label
from weigh.evaluation.decisions import Decision, choose_of_groups
from weigh.evaluation.groups import Group, ManyGroup, notes_of
from weigh.evaluation.measures import ManyMeasures, Measures
from weigh.layout import Grid, View, fold_rest, percent, tabulate
from weigh.metrics.numbers import Bounded
from weigh.plot.axes import FOR, TOTAL, Drawing, new_figure, shorten

if TYPE_CHECKING:
    from weigh.evaluation.result import Evaluation

HUGE = 1e4
"""Larger numbers are shown with two significant digits."""

MOST_CLASSES = 8
"""Most classes for which the confusion matrix is shown as a square table."""


def to_view(found: Evaluation) -> View:
    """The tables of an evaluation, the most important first."""
    names = [label(value) for value in found.classes]
    if isinstance(found.validation, ManyMeasures):
        title = f"{found.model}: probabilities of {len(names)} classes"
        own = (_by_class(found.validation), *_confusion(found.validation, names))
        grids = (_summary(found), *own, *_many_groups(found))
        return View(title, fold_rest(grids), found.findings)
    of = label(found.pos_label)
    rest = [name for name in names if name != of]
    against = rest[0] if len(rest) == 1 else "the rest"
    title = f"{found.model}: probability of {of} against {against}"
    own = (
        _reliability(found.validation),
        _gains(found.validation, of),
        _thresholds(found.validation),
    )
    rest_of_page = fold_rest((_summary(found), *own, *_groups(found)))
    return View(title, (*_decisions(found, of), *rest_of_page), found.findings)


# ------------------------------------------------------------ numbers


def number(value: float, digits: int = 4) -> str:
    """A number as text, or a dash for NaN."""
    if value != value:
        return "-"
    text = f"{value:.{digits}f}" if abs(value) < HUGE else f"{value:.2g}"
    return text.removeprefix("-") if float(text) == 0 else text


def bounded(value: Bounded, digits: int = 3, ends: int | None = None, why: str = "") -> str:
    """A number and its interval as text, or the reason why it is not defined.

    `ends` is the number of digits of the interval's limits.
    """
    if not value.is_known():
        text = number(value.value)
        return f"{'not defined' if text == '-' else text}: {why}" if why else text
    if not value.has_interval():
        return number(value.value, digits)
    low, high = (number(end, ends or digits) for end in (value.low, value.high))
    return f"{number(value.value, digits)} ({low} to {high})"


def rows_of(measures: Measures | ManyMeasures | Group | ManyGroup) -> str:
    """The number of rows as text, and their weight if it differs."""
    weight = "" if measures.weight == measures.n_rows else f" (weight {measures.weight:,.6g})"
    return f"{measures.n_rows:,}{weight}"


# ------------------------------------------------------------ tables


def _summary(found: Evaluation) -> Grid:
    """A table with one line per measure and one column per sample."""
    samples = [part for part in (found.training, found.validation) if part is not None]
    columns = [_column(m) if isinstance(m, Measures) else _many_column(m) for m in samples]
    head = ("", "Value") if len(columns) == 1 else ("", "Training", "Validation")
    rows = [(name, *(column[name] for column in columns)) for name in columns[0]]
    if found.stability is not None:
        moved = f"{found.stability.value:.4f} ({found.stability.shift})"
        rows.append(("Population stability index", "", moved))
    return Grid(head, tuple(rows), f"Measures, with {percent(found.coverage)} intervals")


def _column(m: Measures) -> dict[str, str]:
    why, parts = m.not_defined_because, m.brier_parts
    area = Bounded(m.auc.value, m.auc.low, m.auc.high)
    return {
        "Rows": rows_of(m),
        "Base rate": bounded(m.base_rate),
        "Mean prediction": number(m.mean_prediction, 3),
        "Loss, bits a row": bounded(m.loss, 4, 3),
        "  of the base rate alone": number(m.base_loss),
        "  share of it saved": number(m.explained, 3),
        "Misclassification at 0.5": bounded(m.misclassification),
        "AUC": bounded(area, 4, 3, why),
        "  Gini, 2 AUC - 1": bounded(m.gini, 4, 3, why),
        "  Kolmogorov-Smirnov": number(m.ks),
        "Brier score": bounded(m.brier, 4, 3),
        "  reliability": number(parts.reliability),
        "  less resolution": number(parts.generalised_resolution),
        "  plus uncertainty": number(parts.uncertainty),
        "Calibration slope": bounded(m.slope, why=why),
        "  intercept": bounded(m.intercept, why=why),
        "  in the large": bounded(m.in_the_large, why=why),
        "Reliability RMSE, over rows": number(m.reliability_rmse),
        "Expected calibration error": number(m.reliability.expected_calibration_error),
        "Lift of the top tenth": number(m.top_tenth_lift, 2),
        f"Cost a row at {m.decision.rates.threshold:.3g}": number(m.decision.cost),
        "  at its best cut-off": number(m.best.cost),
        "  of flagging all": number(m.cost_of_all),
        "  of flagging none": number(m.cost_of_none),
    }


def _reliability(m: Measures) -> Grid:
    table = m.reliability
    columns = {
        "Predicted": lambda i: f"{table.low[i]:g} to {table.high[i]:g}",
        "Rows": lambda i: f"{table.weight[i]:,.6g}",
        "Mean prediction": lambda i: number(float(table.mean_prediction[i]), 3),
        "Observed": lambda i: number(float(table.rate[i]), 3),
        f"{percent(table.coverage)} interval": lambda i: (
            f"{table.rate_low[i]:.3f} to {table.rate_high[i]:.3f}"
        ),
    }
    title = "Reliability: predicted and observed frequencies"
    return Grid(*tabulate(range(len(table)), columns), title)


def _gains(m: Measures, of: str) -> Grid:
    head = ("Top", *(f"{depth:.0%}" for depth in m.gains.depth))
    found = ("found", *(number(gain, 2) for gain in m.gains.gain))
    lift = ("lift", *(number(lift, 2) for lift in m.gains.lift))
    title = f"Gains: the share of all {of} that the most probable rows hold"
    return Grid(head, (found, lift), title)


def _decisions(found: Evaluation, of: str) -> tuple[Grid, ...]:
    """The rates with intervals, and the counts, at each given cut-off; empty without one."""
    parts = found.validation.cut_offs if isinstance(found.validation, Measures) else ()
    if not parts:
        return ()
    at = {"Cut-off": lambda part: f"{part.rates.threshold:.6g}"}
    rates = {
        "Flagged": lambda part: bounded(part.flagged, 3, 2),
        "Precision (PPV)": lambda part: bounded(part.ppv, 3, 2),
        "Recall (sens.)": lambda part: bounded(part.sensitivity, 3, 2),
        "Specificity": lambda part: bounded(part.specificity, 3, 2),
    }
    counts = {
        "True positives": lambda part: f"{part.rates.true_positives:,.6g}",
        "False positives": lambda part: f"{part.rates.false_positives:,.6g}",
        "True negatives": lambda part: f"{part.rates.true_negatives:,.6g}",
        "False negatives": lambda part: f"{part.rates.false_negatives:,.6g}",
    }
    title = f"Decisions: a row is flagged where its probability of {of} is above the cut-off"
    note = f"{percent(found.coverage)} intervals in parentheses."
    return (
        Grid(*tabulate(parts, at | rates), title, (note,)),
        Grid(*tabulate(parts, at | counts), "Decisions: counts of rows"),
    )


def list_decisions(m: Measures) -> list[tuple[str, Decision]]:
    """The decisions at each cut-off, with the cut-offs as text; some of them are marked."""
    marked = {"given": m.cut_offs, "costs": (m.decision,), "best": (m.best,)}
    every = {part.rates.threshold: part for part in m.thresholds}
    marks: dict[float, list[str]] = {}
    for mark, parts in marked.items():
        for part in parts:
            every[part.rates.threshold] = part
            marks.setdefault(part.rates.threshold, []).append(mark)
    told = {at: f" ({', '.join(found)})" for at, found in marks.items()}
    return [(f"{at:.3g}{told.get(at, '')}", every[at]) for at in sorted(every)]


def _thresholds(m: Measures) -> Grid:
    rows = tuple((text, *_threshold(part)) for text, part in list_decisions(m))
    head = ("Cut-off", "Flagged", "Sens.", "Spec.", "PPV", "NPV", "Cost", "Net benefit", "if all")
    title = "Cut-offs: a row is flagged where its probability is above"
    note = "costs: the cut-off that the costs imply; best: the cut-off of least cost on these rows."
    return Grid(head, rows, title, (note,))


def _threshold(part: Decision) -> tuple[str, ...]:
    r = part.rates
    shares = (r.flagged, r.sensitivity, r.specificity, r.ppv, r.npv)
    costs = (part.cost, part.net_benefit, part.treat_all)
    return (*(number(x, 2) for x in shares), *(number(x, 3) for x in costs))


def _groups(found: Evaluation) -> tuple[Grid, ...]:
    groups = [group for group in found.groups if isinstance(group, Group)]
    if not groups or not isinstance(found.validation, Measures):
        return ()
    decided = choose_of_groups(found.validation.cut_offs, found.validation.decision)
    by, at = found.by, decided.rates.threshold
    return _calibration_by(by, groups), _errors_by(by, groups, at)


def _calibration_by(by: str, groups: list[Group]) -> Grid:
    columns = {
        by: lambda group: group.name,
        "Rows": rows_of,
        "Base rate": lambda group: bounded(group.base_rate, 2),
        "Predicted": lambda group: number(group.mean_prediction, 2),
        "Slope": lambda group: bounded(group.slope, 2),
        "In the large": lambda group: bounded(group.in_the_large, 2),
    }
    return Grid(*tabulate(groups, columns), f"Calibration by {by}")


def _errors_by(by: str, groups: list[Group], at: float) -> Grid:
    columns = {
        by: lambda group: group.name,
        "AUC": lambda group: bounded(group.auc, 2),
        "False positive rate": lambda group: bounded(group.false_positive_rate, 2),
        "False negative rate": lambda group: bounded(group.false_negative_rate, 2),
        "Flagged": lambda group: bounded(group.flagged, 2),
    }
    title = f"Ranking and decisions by {by}, deciding at {at:.3g}"
    return Grid(*tabulate(groups, columns), title, notes_of(groups))


# ------------------------------------------------------------ more than two classes


def _many_column(m: ManyMeasures) -> dict[str, str]:
    return {
        "Rows": rows_of(m),
        "Loss, bits a row": bounded(m.loss, 4, 3),
        "  of the base rates alone": number(m.base_loss),
        "  share of it saved": number(m.explained, 3),
        "Misclassification": bounded(m.misclassification),
        "AUC, mean of the classes": number(m.mean_auc),
        "Brier score": bounded(m.brier, 4, 3),
    }


def _by_class(m: ManyMeasures) -> Grid:
    columns = {
        "Class": lambda part: label(part.label),
        "Base rate": lambda part: bounded(part.base_rate, 2),
        "Predicted": lambda part: number(part.mean_prediction, 2),
        "Found": lambda part: bounded(part.found, 2),
        "AUC": lambda part: bounded(Bounded(part.auc.value, part.auc.low, part.auc.high), 2),
        "Slope": lambda part: bounded(part.slope, 2),
        "ECE": lambda part: number(part.expected_calibration_error, 3),
    }
    return Grid(*tabulate(m.by_class, columns), "Each class against the rest")


def _confusion(m: ManyMeasures, names: list[str]) -> tuple[Grid, ...]:
    """The confusion matrix, or for many classes the most frequent errors of each class."""
    title = "Confusion: true classes by row, the most probable by column"
    if len(names) <= MOST_CLASSES:
        rows = tuple(
            (name, *(f"{x:,.6g}" for x in row))
            for name, row in zip(names, m.confusion, strict=True)
        )
        return (Grid(("", *names), rows, title),)
    lines = []
    for c, name in enumerate(names):
        wrong = [(m.confusion[c, k], k) for k in range(len(names)) if k != c and m.confusion[c, k]]
        taken = [f"{names[k]} ({x:,.6g})" for x, k in sorted(wrong, key=lambda pair: -pair[0])[:3]]
        lines.append((name, f"{m.confusion[c].sum():,.6g}", ", ".join(taken)))
    return (Grid(("Class", "Rows", "Most often taken for"), tuple(lines), "Confusion"),)


def _many_groups(found: Evaluation) -> tuple[Grid, ...]:
    groups = [group for group in found.groups if isinstance(group, ManyGroup)]
    if not groups:
        return ()
    columns = {
        found.by: lambda group: group.name,
        "Rows": rows_of,
        "Loss, bits": lambda group: bounded(group.loss),
        "Misclassification": lambda group: bounded(group.misclassification),
    }
    more = "Base rates, AUC and calibration of groups are of one class: name it with pos_label."
    title, notes = f"Loss and misclassification by {found.by}", (*notes_of(groups), more)
    return (Grid(*tabulate(groups, columns), title, notes),)


# ------------------------------------------------------------ figure

THIN: dict[str, Any] = {"color": TOTAL, "linewidth": 0.8, "linestyle": "--"}


def draw_evaluation(found: Evaluation) -> Drawing:
    """Draw reliability, gains and net benefit side by side."""
    measures = found.validation
    if not isinstance(measures, Measures):
        raise ValueError(
            "the figure shows one class against the rest; choose it with pos_label, one of "
            f"{[*found.classes]}"
        )
    figure, axes = new_figure(11.0, 3.6, n_columns=3)
    _draw_reliability(axes[0], measures)
    _draw_gains(axes[1], measures)
    _draw_net_benefit(axes[2], measures)
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    title = f"{found.model}: probability of {label(found.pos_label)}"
    figure.suptitle(shorten(title, 90), fontsize="medium", parse_math=False)
    return Drawing(figure, tuple(axes))


def _draw_reliability(ax: Any, m: Measures) -> None:
    table = m.reliability
    ends = np.maximum((table.rate - table.rate_low, table.rate_high - table.rate), 0)
    ax.plot([0, 1], [0, 1], **THIN)
    ax.errorbar(table.mean_prediction, table.rate, yerr=ends, fmt="o", color=FOR, markersize=4)
    ax.set(xlabel="Predicted probability", ylabel="Observed rate")


def _draw_gains(ax: Any, m: Measures) -> None:
    ax.plot([0, 1], [0, 1], **THIN)
    ax.plot([0, *m.gains.depth], [0, *m.gains.gain], marker="o", markersize=3, color=FOR)
    ax.set(xlabel="Share of rows, most probable first", ylabel="Share of positives found")


def _draw_net_benefit(ax: Any, m: Measures) -> None:
    shown = [part for part in m.thresholds if np.isfinite(part.net_benefit)]
    at = [part.rates.threshold for part in shown]
    worth, all_ = ([getattr(part, name) for part in shown] for name in ("net_benefit", "treat_all"))
    ax.axhline(0, **THIN | {"linestyle": ":"})
    ax.plot(at, all_, label="treat all", **THIN)
    ax.plot(at, worth, marker="o", markersize=3, color=FOR, label="model")
    top = 1.1 * max([*worth, *all_, 1e-6])
    ax.set(xlabel="Cut-off", ylabel="Net benefit", ylim=(-0.15 * top, top))
    ax.legend(frameon=False, fontsize="small")
