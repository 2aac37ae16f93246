"""Drift: how new rows differ from training rows, what to do, and how that is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.bins import label
from weigh.evaluation.show import bounded, number
from weigh.evidence.units import digits_of, spell
from weigh.frames import Floats, Value
from weigh.layout import Grid, Shown, View, count_of
from weigh.metrics import Stability
from weigh.metrics.numbers import plain
from weigh.monitoring.checks import FEW, LEVELS, Check, worst
from weigh.monitoring.labels import Moved, Quality
from weigh.monitoring.numbers import NumberQuality

ADVICE = {
    "nothing": "Nothing needs to be done.",
    "get labels": "Check where these columns come from, and get labels of all classes to see "
    "whether the probabilities still hold.",
    "change the prior": "Probabilities are off by the same log odds everywhere: change the prior.",
    "recalibrate": "The weights hold, but the probabilities are not calibrated: recalibrate.",
    "refit": "The weights no longer hold: refit on recent rows.",
}

UNCHANGED = "probabilities still agree with the labels"
NUMBERS = {
    "get labels": "Check where these columns come from, and get the numbers of recent rows to see "
    "whether the estimates still hold.",
    "rescale": "Estimates are off by {} everywhere: correct them by it, or refit on recent rows.",
    "refit": "The estimates no longer hold: refit on recent rows.",
}
"""What to do about the model of a number."""


@dataclass(frozen=True, eq=False)
class FeatureDrift:
    """One table of a model: its check, the shares of its levels, and its effect on the total.

    `shift` is the change of the table's mean contribution, in nats: sum over levels of
    (new share - old share) * weight; by class of more than two.
    """

    check: Check
    stability: Stability
    shift: Floats
    missing_before: float
    missing_now: float
    new_values: dict[str, int]
    vanished: tuple[str, ...]

    @property
    def name(self) -> str:
        """The feature's name."""
        return self.check.name

    @property
    def effect(self) -> float:
        """The size of the shift; the largest of several classes."""
        return float(np.abs(self.shift).max())

    @property
    def largest_change(self) -> str:
        """The level whose share changed most."""
        change = np.abs(self.stability.actual - self.stability.expected)
        v = int(change.argmax())
        before, now = self.stability.expected[v], self.stability.actual[v]
        return f"{self.stability.labels[v]}: {100 * before:.1f}% to {100 * now:.1f}%"


@dataclass(frozen=True, eq=False, repr=False)
class Drift(Shown):
    """How new rows differ from the training rows of a model, and what to do about it.

    It prints as a page, shows as HTML in notebooks, and `to_dict()` is plain data for JSON.

    Attributes
    ----------
    features : tuple of FeatureDrift
        The tables, the largest effect on the total first.
    checks : tuple of Check
        The mean total; with labels also class frequencies, calibration, and weights by table.
    quality : tuple of Quality or NumberQuality
        With labels: calibration and AUC of the second of two classes, or of every one; of a number
        its mean, slope and deviance.
    link : str
        "identity" or "log" of a model of a number, and "" of classes.
    moved : tuple of Moved
        With labels: the levels whose weights changed significantly.
    points_per_nat : float or None
        Of a scorecard: the points of one nat, in favour of its good class (`pos_label`).
    """

    model: str
    classes: tuple[Value, ...]
    n_training: float
    n_rows: int
    alpha: float
    features: tuple[FeatureDrift, ...]
    checks: tuple[Check, ...]
    quality: tuple[Quality | NumberQuality, ...] = ()
    moved: tuple[Moved, ...] = ()
    points_per_nat: float | None = None
    link: str = ""

    @property
    def level(self) -> str:
        """The level of the most serious check: none, notice, warning or alarm."""
        return worst(self._every())

    @property
    def action(self) -> str:
        """What to do: nothing, get labels, change the prior, recalibrate or refit.

        Of a number: nothing, get labels, rescale or refit.
        """
        few = self.link and self.n_rows < FEW  # whose numbers are not checked
        if few or not any(part.in_the_large.is_known() for part in self.quality):
            return "get labels" if self.reaches("warning") else "nothing"
        raised = {check.about for check in self.checks if check.level != LEVELS[0]}
        steps = {"weights": "refit", "slope": "recalibrate", "in the large": "change the prior"}
        if self.link:
            steps = {"loss": "refit", "slope": "refit", "in the large": "rescale"}
        return next((step for about, step in steps.items() if about in raised), "nothing")

    @property
    def verdict(self) -> str:
        """What was found and what to do, in a few sentences."""
        raised = [check for check in self._every() if check.level == self.level]
        if self.level == LEVELS[0] and self.n_rows < FEW:
            return (
                f"Too few rows to tell ({self.n_rows}): no difference is significant, and fewer "
                f"than {FEW} rows show large changes only."
            )
        if self.level == LEVELS[0]:
            return "No drift: all differences are within sampling noise or too small to matter."
        named = [_describe(check) for check in raised[:3]]
        more = f" and {len(raised) - 3} more" if len(raised) > 3 else ""
        return f"{self.level.capitalize()} raised by {', '.join(named)}{more}. {self._advice()}"

    def _every(self) -> list[Check]:
        return [*(f.check for f in self.features), *self.checks]

    def _advice(self) -> str:
        if self.action == "nothing" and self.quality:
            if self.link and self.n_rows < FEW:
                return f"Too few rows ({self.n_rows}) to judge the estimates."
            told = "estimates still agree with the numbers" if self.link else UNCHANGED
            return f"The {told}: nothing needs to be done."
        first = self.quality[0] if self.quality else None
        if self.link and self.action in NUMBERS:
            factor = first is not None and first.in_the_large.value
            how = f"a factor of {factor:.3g}" if self.link == "log" else f"{factor:+.4g}"
            return NUMBERS[self.action].format(how)
        advice = ADVICE[self.action]
        if self.action == "change the prior" and len(self.quality) == 1:
            assert isinstance(first, Quality)
            advice += f" with_prior({first.wanted_rate:.3g}) does it."
        return advice

    def reaches(self, level: str) -> bool:
        """Whether the drift reaches a level ("notice", "warning" or "alarm")."""
        if level not in LEVELS:
            raise ValueError(f"level must be one of {', '.join(LEVELS)}, got {level!r}")
        return LEVELS.index(self.level) >= LEVELS.index(level)

    def to_html(self) -> str:
        """A page of its own, which needs no script."""
        return self.view().to_page()

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; what is no number is None."""
        return plain(self)  # type: ignore[no-any-return]

    def view(self) -> View:
        """The checks as data for text and pages."""
        return to_view(self)


def _describe(check: Check) -> str:
    return f"the weights of {check.name}" if check.about == "weights" else check.name


MOST = 12
"""Features, levels and values that a page lists."""


def to_view(found: Drift) -> View:
    """Everything worth reading, the verdict first."""
    new, old = count_of(found.n_rows, "new row"), count_of(found.n_training, "training row")
    title = f"Drift of {found.model}: {new}, {old}"
    grids = [_features(found), _values(found), _checks(found), _quality(found), _moved(found)]
    left = len(found.features) - MOST
    more = f"... and {left} more feature{'s' * (left > 1)}, of less effect." if left > 0 else ""
    notes = [more, _rule(found)]
    shown = tuple(grid for grid in grids if grid.rows)
    return View(title, shown, (found.verdict,), tuple(filter(None, notes)))


def _rule(found: Drift) -> str:
    return (
        "PSI is the population stability index, and Chance what sampling noise alone gives. "
        f"A significant check (p below {found.alpha:g}, adjusted for all checks) whose index "
        "exceeds chance by 0.01 is a notice, by 0.1 a warning, by 0.25 an alarm. "
        f"Effect is the change of the mean {_contribution(found)}."
    )


def _contribution(found: Drift) -> str:
    if found.points_per_nat is not None:
        return "points"
    if found.link == "identity":
        return f"contribution to the estimate, in the unit of {label(found.classes[0])}"
    if found.link:
        return "contribution to the logarithm of the estimate, times 100"
    two = len(found.classes) == 2
    of = f"log odds of {label(found.classes[1])}" if two else "totals"
    return f"contribution to the {of}, times 100"


def _scale(found: Drift) -> float:
    """What people read for one nat."""
    if found.link == "identity":
        return 1.0
    return 100.0 if found.points_per_nat is None else found.points_per_nat


def _features(found: Drift) -> Grid:
    rows = tuple(
        (
            f.name,
            *_numbers(f.check),
            _effect(found, f),
            f.largest_change,
        )
        for f in found.features[:MOST]
    )
    head = ("Feature", "Drift", "PSI", "Chance", "p", "Effect", "Largest change of a share")
    return Grid(head, rows, "Features, the largest effect on the total first")


def _effect(found: Drift, feature: FeatureDrift) -> str:
    shift = float(max(feature.shift, key=abs))
    if found.link == "identity":
        return spell(shift, digits_of(found.features[0].effect), "+")
    return f"{_scale(found) * shift:+.1f}"


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
    more = "calibration and deviance" if found.link else "calibration and weights"
    title = "The total" if not found.quality else f"The total, {more}"
    return Grid(("Check", "Drift", "Index", "Chance", "p"), rows, title)


def _number_quality(q: NumberQuality) -> Grid:
    digits = digits_of(q.mean_observed)
    rows = (
        ("Mean observed", spell(q.mean_observed, digits)),
        ("Mean estimate", spell(q.mean_estimate, digits)),
        ("Observed over estimate" if q.ratio else "Observed less estimate",
         bounded(q.in_the_large, 3)),
        (q.loss_name.capitalize(), bounded(q.loss, 3)),
        ("... with the mean corrected", bounded(q.corrected_loss, 3)),
        ("... of training rows left out", number(q.training_loss, 3)),
        ("Slope, with the mean corrected", bounded(q.slope, 2)),
    )  # fmt: skip
    return Grid(("", q.target), rows, "Estimates on the new rows, with 95% intervals")


def _quality(found: Drift) -> Grid:
    if any(isinstance(q, NumberQuality) for q in found.quality):
        return _number_quality(found.quality[0])  # type: ignore[arg-type]
    names = ("Base rate", "Mean prediction", "In the large", "Slope", "AUC")
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
        if isinstance(q, Quality)
    )
    title = "Probabilities on the new rows, with 95% intervals"
    if len(rows) == 1:  # one below the other, which needs little width
        ((of, *values),) = rows
        return Grid(("", of), tuple(zip(names, values, strict=True)), title)
    return Grid(("Class", *names), rows, title)


def _moved(found: Drift) -> Grid:
    rows = tuple(
        (
            m.feature,
            m.level,
            label(m.pos_label),
            f"{_scale(found) * m.change:+.0f}",
            f"{abs(_scale(found)) * m.error:.0f}",
            _p(m.p_value),
        )
        for m in found.moved[:MOST]
    )
    head = ("Feature", "Level", "Class", "Change", "Error", "p")
    units = "times 100" if found.points_per_nat is None else "in points"
    return Grid(head, rows, f"Weights that moved, {units}", n_names=3)
