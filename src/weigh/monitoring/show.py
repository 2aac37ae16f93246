"""Drift as a view: the verdict, the features by their effect, and what labels tell."""

from __future__ import annotations

from weigh.bins import label
from weigh.evaluation.show import bounded, number
from weigh.layout import Grid, View
from weigh.monitoring.checks import Check
from weigh.monitoring.result import Drift, FeatureDrift

MOST = 12
"""Features, levels and values that a page lists."""


def to_view(found: Drift) -> View:
    """Everything worth reading, the verdict first."""
    title = (
        f"Drift of {found.model}: {found.n_rows:,} new rows, {found.n_training:,.0f} training rows"
    )
    grids = [_features(found), _values(found), _checks(found), _quality(found), _moved(found)]
    left = len(found.features) - MOST
    notes = [f"... and {left} more features, of less effect." if left > 0 else "", _rule(found)]
    shown = tuple(grid for grid in grids if grid.rows)
    return View(title, shown, (found.verdict,), tuple(filter(None, notes)))


def _rule(found: Drift) -> str:
    return (
        "PSI is the population stability index, and Chance what sampling noise alone gives. "
        f"A significant check (p below {found.alpha:g}, adjusted for all checks) whose index "
        "exceeds chance by 0.01 is a notice, by 0.1 a warning, by 0.25 an alarm. "
        "Effect is the change of the mean contribution to the log odds, times 100."
    )


def _features(found: Drift) -> Grid:
    rows = tuple(
        (f.name, *_numbers(f.check), f"{100 * max(f.shift, key=abs):+.1f}", f.largest_change)
        for f in found.features[:MOST]
    )
    head = ("Feature", "Level", "PSI", "Chance", "p", "Effect", "Largest change of a share")
    return Grid(head, rows, "Features, the largest effect on the total first")


def _numbers(check: Check) -> tuple[str, str, str, str]:
    return check.level, number(check.index), number(check.chance), _p(check.adjusted)


def _p(value: float) -> str:
    return "< 0.0001" if value < 1e-4 else number(value)


def _values(found: Drift) -> Grid:
    odd = [f for f in found.features if f.new_values or f.vanished or _missing_differs(f)]
    rows = [
        (
            f.name,
            f"{100 * f.missing_before:.1f}%",
            f"{100 * f.missing_now:.1f}%",
            _list([f"{value} ({n:,})" for value, n in f.new_values.items()]),
            _list([*f.vanished]),
        )
        for f in odd[:MOST]
    ]
    head = ("Feature", "Missing before", "Missing now", "New values (rows)", "Vanished levels")
    return Grid(head, tuple(rows), "Missing, new and vanished values")


def _missing_differs(feature: FeatureDrift) -> bool:
    return feature.missing_before > 0 or feature.missing_now > 0


def _list(names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more or "-"


def _checks(found: Drift) -> Grid:
    named = [
        (f"weights of {check.name}" if check.about == "weights" else check.name, check)
        for check in found.checks
    ]
    rows = tuple((name, *_numbers(check)) for name, check in named)
    title = "The total" if not found.quality else "The total, calibration and weights"
    return Grid(("Check", "Level", "Index", "Chance", "p"), rows, title)


def _quality(found: Drift) -> Grid:
    rows = tuple(
        (
            label(q.pos_label),
            number(q.base_rate, 3),
            number(q.mean_prediction, 3),
            bounded(q.in_the_large, 2),
            bounded(q.slope, 2),
            bounded(q.auc, 2),
        )
        for q in found.quality
    )
    head = ("Class", "Base rate", "Mean prediction", "In the large", "Slope", "AUC")
    return Grid(head, rows, "Probabilities on the new rows, with 95% intervals")


def _moved(found: Drift) -> Grid:
    rows = tuple(
        (
            m.feature,
            m.level,
            label(m.pos_label),
            f"{100 * m.change:+.0f}",
            f"{100 * m.error:.0f}",
            _p(m.p_value),
        )
        for m in found.moved[:MOST]
    )
    head = ("Feature", "Level", "Class", "Change", "Error", "p")
    return Grid(head, rows, "Weights that moved, times 100", n_names=3)
