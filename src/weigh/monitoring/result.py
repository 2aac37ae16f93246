"""Drift: how new rows differ from training rows, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.evaluation.values import plain
from weigh.frames import Floats, Value
from weigh.metrics import Stability
from weigh.monitoring.checks import LEVELS, Check, worst
from weigh.monitoring.labels import Moved, Quality

ADVICE = {
    "nothing": "Nothing needs to be done.",
    "get labels": "Check where these columns come from, and get labels of all classes to see "
    "whether the probabilities still hold.",
    "change the prior": "Probabilities are off by the same log odds everywhere: change the prior.",
    "recalibrate": "The weights hold, but the probabilities are not calibrated: recalibrate.",
    "refit": "The weights no longer hold: refit on recent rows.",
}


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
class Drift:
    """How new rows differ from the training rows of a model, and what to do about it.

    It prints as a page, shows as HTML in notebooks, and `to_dict()` is plain data for JSON.

    Attributes
    ----------
    features : tuple of FeatureDrift
        The tables, the largest effect on the total first.
    checks : tuple of Check
        The mean total; with labels also class frequencies, calibration, and weights by table.
    quality : tuple of Quality
        With labels: calibration and AUC of the second of two classes, or of every one.
    moved : tuple of Moved
        With labels: the levels whose weights moved significantly.
    """

    model: str
    classes: tuple[Value, ...]
    n_training: float
    n_rows: int
    alpha: float
    features: tuple[FeatureDrift, ...]
    checks: tuple[Check, ...]
    quality: tuple[Quality, ...] = ()
    moved: tuple[Moved, ...] = ()

    @property
    def level(self) -> str:
        """The level of the most serious check: none, notice, warning or alarm."""
        return worst(self._every())

    @property
    def action(self) -> str:
        """What to do: nothing, get labels, change the prior, recalibrate or refit."""
        if not any(part.in_the_large.is_known() for part in self.quality):
            return "get labels" if self.reaches("warning") else "nothing"
        raised = {check.about for check in self.checks if check.level != LEVELS[0]}
        steps = {"weights": "refit", "slope": "recalibrate", "in the large": "change the prior"}
        return next((step for about, step in steps.items() if about in raised), "nothing")

    @property
    def verdict(self) -> str:
        """What was found and what to do, in a few sentences."""
        raised = [check for check in self._every() if check.level == self.level]
        if self.level == LEVELS[0]:
            return "No drift: all differences are within sampling noise or too small to matter."
        named = [_describe(check) for check in raised[:3]]
        more = f" and {len(raised) - 3} more" if len(raised) > 3 else ""
        return f"{self.level.capitalize()} raised by {', '.join(named)}{more}. {self._advice()}"

    def _every(self) -> list[Check]:
        return [*(f.check for f in self.features), *self.checks]

    def _advice(self) -> str:
        if self.action == "nothing" and self.quality:
            return "The probabilities still agree with the labels: nothing needs to be done."
        advice = ADVICE[self.action]
        if self.action == "change the prior" and len(self.quality) == 1:
            advice += f" with_prior({self.quality[0].wanted_rate:.3g}) does it."
        return advice

    def reaches(self, level: str) -> bool:
        """Whether the drift is of a level or a higher one."""
        if level not in LEVELS:
            raise ValueError(f"level must be one of {', '.join(LEVELS)}, got {level!r}")
        return LEVELS.index(self.level) >= LEVELS.index(level)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; what is no number is None."""
        return plain(self)  # type: ignore[no-any-return]

    def to_text(self, width: int = 100) -> str:
        """The page as plain text, at most `width` characters wide."""
        from weigh.monitoring.show import to_view

        return to_view(self).to_text(width)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        from weigh.monitoring.show import to_view

        return to_view(self).to_html()


def _describe(check: Check) -> str:
    return f"the weights of {check.name}" if check.about == "weights" else check.name
