"""A scorecard as text, HTML and dataframe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weigh.bins import label
from weigh.frames import build
from weigh.views import Bar, Grid, View

if TYPE_CHECKING:
    from weigh.scorecard.card import Scorecard


def to_frame(card: Scorecard) -> Any:
    """One row per level."""
    columns: dict[str, list[Any]] = {"feature": [], "level": [], "points": [], "rows": []}
    for table in card.evidence:
        columns["feature"] += [table.name] * len(table.levels)
        columns["level"] += table.labels
        columns["points"] += card.points[table.name]
        columns["rows"] += table.counts.sum(axis=1).tolist()
    return build(columns, card.evidence.backend)


def title(card: Scorecard) -> str:
    """What the score says."""
    double, base = f"{card.points_to_double:g}", f"{card.base_score:g}"
    return (
        f"Scorecard for {label(card.pos_label)}: {base} points are odds of "
        f"{card.base_odds:g} to 1, and {double} points more double them"
    )


def notes(card: Scorecard) -> list[str]:
    """What rounding did, and what was changed by hand."""
    found, done = [], card.rounding
    if done is not None:
        ranks = "" if done.auc_before is None else (
            f"the AUC from {done.auc_before:.4f} to {done.auc_after:.4f}, and "
        )  # fmt: skip
        found.append(
            f"Rounding moved {ranks}a probability by {done.largest_change:.4f} at the most."
        )
    for edit in card.edits:
        why = f" ({edit.why})" if edit.why else ""
        text = f"{edit.feature} = {edit.level}: {edit.before} became {edit.after}{why}"
        found.append(f"By hand: {text}.")
    return found


def to_text(card: Scorecard, width: int = 100) -> str:
    """The card as plain text."""
    return _view(card).to_text(width)


def lines(card: Scorecard) -> list[tuple[str, ...]]:
    """Feature, level, points and rows, as people read them."""
    found: list[tuple[str, ...]] = [("Base", "", str(card.base_points), "")]
    for table in card.evidence:
        for i, name in enumerate(table.labels):
            first = table.name if i == 0 else ""
            rows = f"{table.counts[i].sum():,.0f}"
            found.append((first, name, str(card.points[table.name][i]), rows))
    return found


def to_html(card: Scorecard) -> str:
    """The card for a notebook."""
    return _view(card).to_html()


def _view(card: Scorecard) -> View:
    """The points of every level, with bars."""
    most = max((abs(p) for points in card.points.values() for p in points), default=1) or 1
    rows: list[tuple[str | Bar, ...]] = []
    for feature, level, points, count in lines(card):
        bar = Bar(int(points) / most) if level else ""
        rows.append((feature, level, points, bar, count))
    grid = Grid(("Feature", "Level", "Points", "", "Rows"), tuple(rows), n_names=2)
    return View(title(card), (grid,), notes=tuple(notes(card)))
