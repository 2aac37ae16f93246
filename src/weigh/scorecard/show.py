"""A scorecard as text, HTML and dataframe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.bins import label
from weigh.bins.labels import EXACT
from weigh.evidence import Evidence, find_reversed, plain_shares, plain_woe
from weigh.evidence.show import others
from weigh.frames import build
from weigh.layout import Bar, Grid, View
from weigh.scorecard.bands import spell_count

if TYPE_CHECKING:
    from weigh.scorecard.card import Scorecard


BASES, SIGNS = ("separate", "spread", "lowest"), ("good", "bad")


def read_choices(base: str, woe: str) -> tuple[str, str]:
    """Where base points are printed, and for which class WoE is positive."""
    for name, value, known in (("base", base, BASES), ("woe", woe, SIGNS)):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")
    return base, woe


def shifts(card: Scorecard) -> list[int]:
    """The points that are added to each feature in print, and subtracted from the base points."""
    points = [*card.points.values()]
    if card.base == "lowest":
        return [-min(own, default=0) for own in points]
    share, more = divmod(card.base_points, max(len(points), 1)) if card.base == "spread" else (0, 0)
    return [share + (j < more) for j in range(len(points))]


HALF = 0.5
"""Rows added to both counts of a level that has no goods or no bads."""


def level_columns(card: Scorecard) -> dict[str, list[Any]]:
    """One entry per level: the columns that are usual in credit scoring.

    WoE = ln((goods of the level/all goods)/(bads of the level/all bads)), positive where the risk
    is lower (`card.woe` turns it round); IV = (share of goods - share of bads) times WoE. Both
    describe the counts of one feature alone. A level without goods or without bads has half a row
    added to both. Where features share the base points, so does an answer that is not known.
    """
    sign = 1.0 if card.woe == "good" else -1.0
    found: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for table, shift in zip(card.evidence, shifts(card), strict=True):
        counts = np.vstack([table.counts, np.zeros((int(shift != 0), 2))])
        rows, bads = counts.sum(axis=1), counts[:, 0]
        shares, woe = plain_shares(counts), plain_woe(counts)
        columns = {
            "rows": rows,
            "share": rows / max(rows.sum(), HALF),
            "bads": bads,
            "bad_rate": np.divide(bads, rows, out=np.full(len(rows), np.nan), where=rows > 0),
            "woe": sign * woe + 0.0,
            "iv": (shares[:, 1] - shares[:, 0]) * woe,
        }
        found["feature"] += [table.name] * len(rows)
        found["level"] += [*table.labels, "not known"][: len(rows)]
        for name, column in columns.items():
            found[name] += column.tolist()
        found["points"] += [p + shift for p in (*card.points[table.name], 0)][: len(rows)]
    return found


def count_levels(card: Scorecard) -> tuple[tuple[tuple[float, float], ...], ...]:
    """By feature and level: rows, and bads of them."""
    columns = [(t.counts.sum(axis=1).tolist(), t.counts[:, 0].tolist()) for t in card.evidence]
    return tuple(tuple(zip(*pair, strict=True)) for pair in columns)


COLUMNS = ("feature", "level", "rows", "share", "bads", "bad_rate", "woe", "iv", "points")


def to_frame(card: Scorecard, backend: str | None = None) -> Any:
    """One row per level."""
    return build(level_columns(card), backend or card.evidence.backend)


def title(card: Scorecard, good: str = "") -> str:
    """The scale of the score, in words; `good` is a display name of the good class."""
    double, base = f"{card.points_to_double:g}", f"{card.base_score:g}"
    odds = f"odds of {card.base_odds:g} to 1 for {good or label(card.pos_label)}"
    return f"Scorecard: {base} points are {odds}, and {double} points more double them"


def notes(card: Scorecard, shown: Evidence) -> list[str]:
    """Notes on the effect of rounding, and on changes by hand."""
    found, done = [], card.rounding
    if done is not None:
        before, after = (f"{auc:.4f}" for auc in (done.auc_before or 0.0, done.auc_after or 0.0))
        moved = (
            f"left the AUC at {after}"
            if before == after
            else f"moved the AUC from {before} to {after}"
        )
        ranks = "" if done.auc_before is None else f"{moved} and "
        found.append(
            f"On the rows that the card was made from, rounding {ranks}changed no probability by "
            f"more than {done.largest_change:.4f}."
        )
    against = [table.shown for table in find_reversed(shown)]
    if against:
        found.append(
            f"Points run against the WoE of {', '.join(against)} as a whole (correlation over the "
            "training rows below -0.5): the effect reverses once the other features are included. "
            "Check for correlated features. Single levels of other features may differ from their "
            "WoE, too."
        )
    if idle := [t.shown for t in shown if not any(card.points[t.name])]:
        verb = "has" if len(idle) == 1 else "have"
        found.append(f"{', '.join(idle)} {verb} no effect: every level has 0 points.")
    found += others(shown)
    for edit in card.edits:
        told = (edit.why, edit.who, edit.when[:10])
        why = f" ({', '.join(filter(None, told))})" if any(told) else ""
        found.append(f"By hand: {edit.words}{why}.")
    return found


HEAD = ("Feature", "Level", "Rows", "Share", "Bads", "Bad rate", "WoE", "IV", "Points", "")

SPARE = ("Share", "IV", "Bads", "Rows")
"""Columns that narrow text leaves out, in this order: the others say what they say, or more."""


def view(card: Scorecard, shown: Evidence | None = None) -> View:
    """Every level with its counts and points, and a bar for the points.

    `shown` is the evidence of the card with display names.
    """
    found, shown = level_columns(card), shown or card.evidence
    features = {table.name: table for table in shown}
    levels = {
        name: dict(zip(table.labels, table.feature.spelt(EXACT), strict=True))
        for name, table in features.items()
    }
    most = max(map(abs, found["points"]), default=1) or 1
    blank = ("",) * 6
    base = card.base_points - sum(shifts(card))
    rows: list[tuple[str | Bar, ...]] = [("Base", "", *blank, str(base), "")] if base else []
    for i, feature in enumerate(found["feature"]):
        first = i == 0 or feature != found["feature"][i - 1]
        own = {name: column[i] for name, column in found.items()}
        points = own["points"]
        rows.append(
            (
                features[feature].shown if first else "",
                levels[feature].get(own["level"], own["level"]),
                spell_count(own["rows"]),
                f"{100 * own['share']:.1f}%",
                spell_count(own["bads"]),
                f"{100 * own['bad_rate']:.1f}%" if own["rows"] else "",
                f"{round(own['woe'], 2) + 0.0:.2f}",  # 0.00, not -0.00
                f"{own['iv']:.3f}",
                str(points),
                Bar(points / most),
            )
        )
    grid = Grid(HEAD, tuple(rows), n_names=2, spare=SPARE)
    share = ("share of goods", "share of bads")
    ratio = "/".join(share if card.woe == "good" else share[::-1])
    explained = (
        f"Bads are cases of {shown.class_names[0]}. WoE is ln({ratio}) of one feature alone; "
        "points come from all features together."
    )
    heading = title(card, shown.class_names[1])
    return View(heading, (grid,), notes=(explained, *notes(card, shown)))
