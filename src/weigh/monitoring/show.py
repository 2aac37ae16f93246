"""The tables of a `Drift`: features, checks, quality and weights that moved."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from weigh.bins import label
from weigh.evaluation.show import bounded, number
from weigh.evidence.units import digits_of, spell
from weigh.layout import Grid, View, count_of, list_few, tabulate
from weigh.monitoring.checks import Check, FeatureDrift
from weigh.monitoring.labels import EventQuality, Quality
from weigh.monitoring.numbers import NumberQuality

if TYPE_CHECKING:
    from weigh.monitoring.result import Drift

MOST = 12
"""Most features and levels that a table lists."""


CONTRIBUTIONS = {
    "log": "logarithm of the estimate",
    "curve": "log odds of a larger number",
    "hazard": "log odds of the hazard",
}
"""The quantity that weights add up to, by kind of model."""

KNOWN = {"": "calibration and weights", "hazard": "events and weights"}
"""What is checked with labels, by kind of model; a regressor's are calibration and deviance."""


def to_view(found: Drift) -> View:
    """The verdict and all tables that have rows, as data for text and pages."""
    new, old = count_of(found.n_rows, "new row"), count_of(found.n_training, "training row")
    title = f"Drift of {found.model}: {new}, {old}"
    grids = [_features(found), _values(found), _others(found)]
    grids += [_checks(found), _quality(found), _events(found), _moved(found)]
    shown = tuple(grid for grid in grids if grid.rows)
    return View(title, shown, (found.verdict,), found.notes)


def explain_levels(alpha: float) -> str:
    """A definition of notice, warning and alarm, in sentences."""
    return (
        f"A check is significant if its p, adjusted for all checks together, is below {alpha:g}. "
        "A significant check whose index exceeds chance by 0.01 is a notice, by 0.1 a warning, by "
        "0.25 an alarm."
    )


def tell_rule(found: Drift) -> str:
    """The meaning of the columns and levels, in sentences."""
    effect = f"Effect is the change of the mean {_contribution(found)}."
    columns = "PSI is the population stability index, and Chance what sampling noise alone gives."
    return f"{columns} {explain_levels(found.alpha)} {effect}"


def _contribution(found: Drift) -> str:
    if found.points_per_nat is not None:
        return "points"
    if found.link == "identity":
        return f"contribution to the estimate, in the unit of {label(found.classes[0])}"
    if found.link:
        return f"contribution to the {CONTRIBUTIONS[found.link]}, times 100"
    two = len(found.classes) == 2
    of = f"log odds of {label(found.classes[1])}" if two else "totals"
    return f"contribution to the {of}, times 100"


def _scale(found: Drift) -> float:
    """The displayed value of one nat: 100, or the points of a scorecard."""
    if found.link == "identity":
        return 1.0
    return 100.0 if found.points_per_nat is None else found.points_per_nat


def _features(found: Drift) -> Grid:
    columns = _check_columns("PSI", lambda feature: feature.check) | {
        "Effect": lambda feature: _effect(found, feature),
        "Largest change of a share": lambda feature: feature.largest_change,
    }
    cells = tabulate(found.features[:MOST], {"Feature": lambda feature: feature.name} | columns)
    n = len(found.features)
    some = f" ({MOST} of {n}; the others have less effect)" if n > MOST else ""
    return Grid(*cells, f"Features, the largest effect on the total first{some}")


def _check_columns(index: str, check: Callable[[Any], Check]) -> dict[str, Callable[[Any], str]]:
    """The columns of a check: its level, its index, that of chance, and the adjusted p-value."""
    return {
        "Drift": lambda item: check(item).level,
        index: lambda item: number(check(item).index),
        "Chance": lambda item: number(check(item).chance),
        "p": lambda item: _p(check(item).adjusted),
    }


def _effect(found: Drift, feature: FeatureDrift) -> str:
    shift = float(max(feature.shift, key=abs))
    if found.link == "identity":
        return spell(shift, digits_of(found.features[0].effect), "+")
    return spell(_scale(found) * shift, 1, "+")


def _p(value: float) -> str:
    return "< 0.0001" if value < 1e-4 else number(value)


def _values(found: Drift) -> Grid:
    odd = [
        f
        for f in found.features
        if _new(f) or f.vanished or f.missing_before > 0 or f.missing_now > 0
    ]
    columns = {
        "Feature": lambda f: f.name,
        "Missing before": lambda f: f"{100 * f.missing_before:.1f}%",
        "Missing now": lambda f: f"{100 * f.missing_now:.1f}%",
        "New values (rows)": lambda f: list_few(_new(f)) or "-",
        "Vanished levels": lambda f: list_few(f.vanished) or "-",
    }
    return Grid(*tabulate(odd[:MOST], columns), "Missing, new and vanished values")


def _others(found: Drift) -> Grid:
    """The table of values at the level `other`: shares before, now, and of the largest values.

    The model does not store which values shared the level, only a limit of the share of each.
    """

    def spell_values(f: FeatureDrift) -> str:
        rows = f.within_other.items()
        return list_few([f"{v} ({n:,}: {100 * n / found.n_rows:.1f}%)" for v, n in rows])

    columns = {
        "Feature": lambda f: f.name,
        "Values (rows)": spell_values,
        "Other before": lambda f: f"{100 * f.other_before:.1f}%",
        "Other now": lambda f: f"{100 * f.other_now:.1f}%",
        "One value before": lambda f: f"at most {100 * f.most:.1f}%",
    }
    shared = [f for f in found.features if f.within_other]
    title = "New rows at the level other, the largest values"
    return Grid(*tabulate(shared[:MOST], columns), title, n_names=2)


def _new(feature: FeatureDrift) -> list[str]:
    new = [f"{value} ({n:,})" for value, n in feature.new_values.items()]
    return new + [f"{value} ({n:,}, in other)" for value, n in feature.grown.items()]


def _checks(found: Drift) -> Grid:
    more = KNOWN.get(found.link, "calibration and deviance")
    title = "The total" if not found.quality else f"The total, {more}"
    columns = {"Check": Check.full_name} | _check_columns("Index", lambda check: check)
    return Grid(*tabulate(found.checks, columns), title)


def _number_quality(q: NumberQuality) -> Grid:
    digits = digits_of(q.mean_observed)
    rows: tuple[tuple[str, str], ...] = (
        ("Mean observed", spell(q.mean_observed, digits)),
        ("Mean estimate", spell(q.mean_estimate, digits)),
        ("Observed over estimate" if q.ratio else "Observed less estimate",
         bounded(q.in_the_large, 3)),
        (q.loss_name.capitalize(), bounded(q.loss, 3)),
        ("... with the mean corrected", bounded(q.corrected_loss, 3)),
        ("... of training rows left out", number(q.training_loss, 3)),
        ("Slope, with the mean corrected", bounded(q.slope, 2)),
    )  # fmt: skip
    if q.training_error:
        rows = (
            *rows[:2],
            (
                "... plus the mean error of training rows left out",
                spell(q.mean_estimate + q.training_error, digits),
            ),
            *rows[2:],
            ("... of training rows left out", number(q.training_slope, 2)),
        )
    return Grid(("", q.target), rows, "Estimates on the new rows, with 95% intervals")


def _event_quality(q: EventQuality) -> Grid:
    rows = (
        ("Observed events", f"{q.observed:,.0f}"),
        ("Expected events", f"{q.expected:,.1f}"),
        ("Observed over expected", bounded(q.in_the_large, 2)),
        ("Slope of the hazards", bounded(q.slope, 2)),
        ("Concordance", number(q.concordance, 3)),
    )
    return Grid(("", q.event), rows, "Events on the new rows, with 95% intervals")


def _events(found: Drift) -> Grid:
    """The table of observed and expected events over time; empty without events."""
    known = [q for q in found.quality if isinstance(q, EventQuality)]
    columns = {
        f"Until {known[0].duration}" if known else "": lambda span: f"{span.until:g}",
        "Observed": lambda span: f"{span.observed:,.0f}",
        "Expected": lambda span: f"{span.expected:,.1f}",
        "Ratio": lambda span: bounded(span.ratio, 2),
    }
    return Grid(*tabulate([span for q in known for span in q.spans], columns), "Events over time")


def _quality(found: Drift) -> Grid:
    if any(isinstance(q, NumberQuality) for q in found.quality):
        return _number_quality(found.quality[0])  # type: ignore[arg-type]
    if any(isinstance(q, EventQuality) for q in found.quality):
        return _event_quality(found.quality[0])  # type: ignore[arg-type]
    columns = {
        "Class": lambda q: label(q.pos_label),
        "Base rate": lambda q: number(q.base_rate, 3),
        "Mean prediction": lambda q: number(q.mean_prediction, 3),
        "In the large": lambda q: bounded(q.in_the_large, 2),
        "Slope": lambda q: bounded(q.slope, 2),
        "AUC": lambda q: bounded(q.auc, 2),
    }
    head, rows = tabulate([q for q in found.quality if isinstance(q, Quality)], columns)
    title = "Probabilities on the new rows, with 95% intervals"
    if len(rows) == 1:  # transposed, to need less width
        return Grid(("", rows[0][0]), tuple(zip(head[1:], rows[0][1:], strict=True)), title)
    return Grid(head, rows, title)


def _moved(found: Drift) -> Grid:
    scale = _scale(found)
    columns = {
        "Feature": lambda moved: moved.feature,
        "Level": lambda moved: moved.level,
        "Class": lambda moved: label(moved.pos_label),
        "Change": lambda moved: f"{scale * moved.change:+.0f}",
        "Error": lambda moved: f"{abs(scale) * moved.error:.0f}",
        "p": lambda moved: _p(moved.p_value),
    }
    units = "times 100" if found.points_per_nat is None else "in points"
    cells = tabulate(found.moved[:MOST], columns)
    return Grid(*cells, f"Weights that moved, {units}", n_names=3)
