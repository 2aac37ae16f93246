"""A comparison as text, as a page and as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from weigh.comparison.differences import BITS, spell_loss
from weigh.comparison.number_task import NumberDifferences, NumberMeasures
from weigh.evaluation.measures import Measures
from weigh.evaluation.multiclass import ManyMeasures
from weigh.evaluation.page import Page, Section
from weigh.evaluation.show import number
from weigh.evidence.units import digits_of, spell
from weigh.layout import count_of, percent
from weigh.plot.axes import FOR, TOTAL, Drawing, new_figure
from weigh.plot.labels import fit_all, shorten

if TYPE_CHECKING:
    from weigh.comparison.differences import Difference, Differences
    from weigh.comparison.result import Comparison, Entry


WRONG = "Misclassified"
LONGEST = 300
"""Largest number of characters shown of an error or a warning."""


def page(found: Comparison) -> Page:
    """Page with the recommendation, measures, differences, errors and warnings."""
    learners, rows = count_of(len(found.entries), "learner"), count_of(found.n_rows, "row")
    title = f"{learners} on the same {found.n_splits} folds of {rows}"
    base = spell_loss(found.base_loss, found.loss_name)
    alone = f"The mean alone has a {found.loss_name} of {base}."
    if found.loss_name == BITS:
        alone = f"The base rate alone has a loss of {base} {BITS}."
    words = (found.reason, alone)
    fitted = [entry for entry in found.entries if entry.measures is not None]
    sections = []
    if fitted:
        sections.append(_measures(found, fitted))
    if len(fitted) > 1:
        sections.append(_differences(found, fitted))
    failed = [(f"{entry.name}: {_short(entry.error)}",) for entry in found.entries if entry.error]
    if failed:
        sections.append(Section("Could not be fitted", ("Learner, and why",), tuple(failed)))
    return Page(title, words, tuple(sections))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _measures(found: Comparison, fitted: list[Entry]) -> Section:
    names: tuple[str, ...] = ("Loss", WRONG, "AUC", "Brier", "Slope", "Intercept")
    if found.loss_name != BITS:
        names = ("Loss", "RMSE", "Absolute error", "R2", "Slope")
    head = ("Learner", *names, "Fit s", "Predict s")
    rows = tuple(
        (
            f"{entry.name} (chosen)" if entry.name == found.choice else entry.name,
            *_numbers(entry),
            f"{entry.fit_seconds:.2g}",
            f"{entry.predict_seconds:.2g}",
        )
        for entry in fitted
    )
    notes = [
        f"{entry.name} warned: {_short(text)}" for entry in fitted for text in entry.warnings[:2]
    ]
    told = f"in {BITS}" if found.loss_name == BITS else f"is the {found.loss_name}"
    title = f"Hold-out rows: loss {told}, and seconds per fold"
    return Section(title, head, rows, tuple(notes))


def _numbers(entry: Entry) -> tuple[str, ...]:
    m = entry.measures
    if isinstance(m, NumberMeasures):
        amounts = [spell(value, digits_of(value)) for value in (m.loss.value, m.rmse, m.mae)]
        return (*amounts, f"{m.r2:.3f}", f"{m.slope:.2f}")
    if isinstance(m, Measures):
        line = (number(m.line.slope, 2), number(m.line.intercept, 2))
        shown = (m.loss.value, m.misclassification.value, m.auc.value, m.brier.value)
        return (*(number(value) for value in shown), *line)
    assert isinstance(m, ManyMeasures)
    line = (number(m.line.slope, 2), number(m.line.intercept, 2))
    shown = (m.loss.value, m.misclassification.value, m.mean_auc, m.brier.value)
    return (*(number(value) for value in shown), *line)


def _differences(found: Comparison, fitted: list[Entry]) -> Section:
    rows = []
    for entry in fitted:
        apart = entry.differences
        if entry.name != found.best and apart is not None:
            shown = [_difference(part, found.loss_name) for part in _shown(apart)]
            rows.append((entry.name, *shown))
    title = f"Differences from {found.best}, with paired {percent(found.coverage)} intervals"
    if found.loss_name != BITS:
        return Section(title, ("Learner", "Loss", "Absolute error"), tuple(rows))
    section = Section(title, ("Learner", "Loss", WRONG, "AUC", "Brier"), tuple(rows))
    return section if len(found.classes) == 2 else section.without(("AUC",))


def _shown(apart: Differences | NumberDifferences) -> tuple[Difference, ...]:
    if isinstance(apart, NumberDifferences):
        return apart.loss, apart.absolute
    return apart.loss, apart.misclassification, apart.auc, apart.brier


def _difference(part: Difference, unit: str) -> str:
    if part.value != part.value:
        return "-"
    value = spell_loss(part.value, unit, "+")
    known = part.high == part.high
    return f"{value} ±{spell_loss(part.high - part.value, unit)}" if known else value


def draw_comparison(found: Comparison) -> Drawing:
    """Plot the difference of each learner's loss from the lowest, with paired intervals."""
    fitted = [entry for entry in found.entries if entry.differences is not None]
    if not fitted:
        raise ValueError(f"no learner could be fitted, so nothing can be drawn: {found.reason}")
    figure, axes = new_figure(8.0, 1.2 + 0.34 * len(fitted))
    ax = axes[0]
    names = [
        f"{entry.name} (chosen)" if entry.name == found.choice else entry.name for entry in fitted
    ]
    for place, entry in enumerate(fitted):
        assert entry.differences is not None
        part = entry.differences.loss
        ends = np.nan_to_num([[part.value - part.low], [part.high - part.value]])
        ax.errorbar([part.value], [place], xerr=np.maximum(ends, 0), fmt="o", color=FOR)
    ax.axvline(0, color=TOTAL, linewidth=0.8, linestyle="--")
    ax.margins(y=0.6 / len(fitted))
    ax.set_yticks(range(len(names)), fit_all(names, 10.0, 3.2), parse_math=False)
    ax.invert_yaxis()
    ax.spines[["top", "right"]].set_visible(False)
    unit = "bits" if found.loss_name == BITS else found.loss_name
    ax.set_xlabel(f"Loss beyond that of {shorten(found.best or '', 30)}, {unit}", parse_math=False)
    return Drawing(figure, tuple(axes))
