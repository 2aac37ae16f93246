"""A comparison as text, as a page and as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from weigh.evaluation.measures import Measures
from weigh.evaluation.multiclass import ManyMeasures
from weigh.evaluation.page import Page, Section
from weigh.evaluation.show import number
from weigh.layout import percent
from weigh.plot.axes import FOR, TOTAL, Drawing, new_figure
from weigh.plot.labels import fit_all, shorten

if TYPE_CHECKING:
    from weigh.comparison.differences import Difference
    from weigh.comparison.result import Comparison, Entry


WRONG = "Misclassified"
LONGEST = 300
"""Characters of an error or a warning that are shown."""


def page(found: Comparison) -> Page:
    """The choice, the measures, the differences, and what went wrong."""
    title = (
        f"{len(found.entries)} learners on the same {found.n_splits} folds of {found.n_rows:,} rows"
    )
    words = (found.reason, f"The base rate alone has a loss of {found.base_loss:.4f} bits a row.")
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
    head = ("Learner", "Loss", WRONG, "AUC", "Brier", "Slope", "Intercept", "Fit s", "Predict s")
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
    title = "Hold-out rows: loss in bits a row, and seconds per fold"
    return Section(title, head, rows, tuple(notes))


def _numbers(entry: Entry) -> tuple[str, ...]:
    m = entry.measures
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
            shown = (apart.loss, apart.misclassification, apart.auc, apart.brier)
            rows.append((entry.name, *map(_difference, shown)))
    title = f"Differences from {found.best}, with paired {percent(found.coverage)} intervals"
    section = Section(title, ("Learner", "Loss", WRONG, "AUC", "Brier"), tuple(rows))
    return section if len(found.classes) == 2 else section.without(("AUC",))


def _difference(part: Difference) -> str:
    if part.value != part.value:
        return "-"
    known = part.high == part.high
    return f"{part.value:+.4f} ±{part.high - part.value:.4f}" if known else f"{part.value:+.4f}"


def draw_comparison(found: Comparison) -> Drawing:
    """How much more each learner loses than the best, with paired intervals."""
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
    ax.set_xlabel(f"Loss beyond that of {shorten(found.best or '', 30)}, bits", parse_math=False)
    return Drawing(figure, tuple(axes))
