"""Drift: how new rows differ from training rows, and the recommended action."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from weigh.frames import Value
from weigh.layout import Shown, View, list_few
from weigh.metrics.numbers import plain
from weigh.monitoring.checks import FEW, LEVELS, Check, FeatureDrift, worst
from weigh.monitoring.labels import EventQuality, Moved, Quality
from weigh.monitoring.numbers import NumberQuality
from weigh.monitoring.show import tell_rule, to_view

TOO_EARLY = "No events can be expected yet: no row was observed until the model's first event."


class ModelKind(NamedTuple):
    """One kind of model: the name of its predictions, and what to do if a check is raised.

    `steps` gives the action by the subject of a check, the most serious first, and `advice` a
    sentence by action.
    """

    predictions: str
    steps: dict[str, str]
    advice: dict[str, str]


REFIT = dict.fromkeys(("loss", "time", "weights", "slope"), "refit") | {"in the large": "rescale"}

CLASSES = ModelKind(
    "probabilities",
    {"weights": "refit", "slope": "recalibrate", "in the large": "change the prior"},
    {
        "nothing": "Nothing needs to be done.",
        "check the data": "The probabilities still agree with the labels.",
        "get labels": "Get labels of all classes to see whether the probabilities still hold.",
        "change the prior": "Probabilities are off by the same log odds everywhere: change the "
        "prior.",
        "recalibrate": "The weights hold, but the probabilities are not calibrated: recalibrate.",
        "refit": "The weights no longer hold: refit on recent rows.",
    },
)
NUMBERS = ModelKind(
    "estimates",
    REFIT,
    {
        "nothing": "The estimates still agree with the numbers: nothing needs to be done.",
        "check the data": "The estimates still agree with the numbers.",
        "get labels": "Get the numbers of recent rows to see whether the estimates still hold.",
        "rescale": "Estimates are off by {} everywhere: correct them by it, or refit on recent "
        "rows.",
        "refit": "The estimates no longer hold: refit on recent rows.",
    },
)
EVENTS = ModelKind(
    "hazards",
    REFIT,
    {
        "nothing": "The hazards still agree with the events: nothing needs to be done.",
        "check the data": "The hazards still agree with the events.",
        "get labels": "Get the events of recent rows to see whether the hazards still hold.",
        "rescale": "Events are {} times as frequent as expected: refit on recent rows.",
        "refit": "The hazards no longer hold: refit on recent rows.",
    },
)
KINDS = {"": CLASSES, "hazard": EVENTS}
"""The kind of a model by its link; others are regressors."""

AMOUNTS = {"log": "a factor of {:.3g}", "hazard": "{:.3g}"}
"""How far predictions are off in the large, by link."""

CORRECTIONS = ("change the prior", "rescale")
"""Actions that would hide the effect of a broken column."""

UNEXPLAINED = "All {} are off by the same amount: correct them only if the data are right."

MOST_VALUES = 100
"""Most values of a feature in `Drift.to_dict`."""


@dataclass(frozen=True, eq=False, repr=False)
class Drift(Shown):
    """How new rows differ from the training rows of a model, and the recommended action.

    It prints as a page, shows as HTML in notebooks, and `to_dict()` is plain data for JSON.

    Attributes
    ----------
    features : tuple of FeatureDrift
        Drift of each table, the largest effect on the total first.
    checks : tuple of Check
        The mean total; with labels also class frequencies, calibration, and weights by table.
    quality : tuple of Quality, NumberQuality or EventQuality
        With labels: calibration and AUC of the second of two classes, or of every class. With
        numbers: mean, slope and deviance. With events: observed and expected events, also over
        time.
    link : str
        Kind of the total: "" for classes; "identity" or "log" for a regressor, or "curve" if its
        estimates are medians, read off a curve; "hazard" for a survival model.
    moved : tuple of Moved
        With labels: the levels whose weights changed significantly.
    points_per_nat : float or None
        For a scorecard: the points of one nat in favour of its good class (`pos_label`).
    """

    model: str
    classes: tuple[Value, ...]
    n_training: float
    n_rows: int
    alpha: float
    features: tuple[FeatureDrift, ...]
    checks: tuple[Check, ...]
    quality: tuple[Quality | NumberQuality | EventQuality, ...] = ()
    moved: tuple[Moved, ...] = ()
    points_per_nat: float | None = None
    link: str = ""

    @property
    def level(self) -> str:
        """The level of the most serious check: none, notice, warning or alarm."""
        return worst(self.every)

    @property
    def action(self) -> str:
        """What to do: nothing, check the data, get labels, change the prior, recalibrate or refit.

        For a regressor or a survival model: nothing, check the data, get labels, rescale or refit.
        The data should be checked if features drift while the probabilities still agree with the
        labels. The same holds if a feature raises an alarm and all probabilities are off by the
        same log odds, because a broken column has this effect, too.
        """
        if self._is_unchecked() or not any(part.in_the_large.is_known() for part in self.quality):
            return "get labels" if self.reaches("warning") else "nothing"
        raised = {check.about for check in self.checks if check.level != LEVELS[0]}
        rest = "check the data" if _find_drifting(self) else "nothing"
        found = next((step for about, step in self._kind().steps.items() if about in raised), rest)
        return "check the data" if found in CORRECTIONS and _is_broken(self) else found

    @property
    def verdict(self) -> str:
        """What was found and what to do, in a few sentences."""
        raised = [check for check in self.every if check.level == self.level]
        events = [part for part in self.quality if isinstance(part, EventQuality)]
        early = "" if all(part.expected > 0 for part in events) else f" {TOO_EARLY}"
        if self.level == LEVELS[0] and self.n_rows < FEW:
            return (
                f"Too few rows to tell ({self.n_rows}): no difference is significant, and fewer "
                f"than {FEW} rows show large changes only."
            )
        if self.level == LEVELS[0]:
            none = "No drift: all differences are within sampling noise or too small to matter."
            return none + early
        named = list_few([_describe(check) for check in raised])
        return f"{self.level.capitalize()} raised by {named}. {self._advice()}{early}"

    @property
    def every(self) -> list[Check]:
        """All checks, those of the features first."""
        return [*(f.check for f in self.features), *self.checks]

    def _is_unchecked(self) -> bool:
        """Whether there are too few rows to check a regressor; the test of events is exact."""
        return self.link not in ("", "hazard") and self.n_rows < FEW

    def _advice(self) -> str:
        if self._is_unchecked() and self.quality:
            advice = f"Too few rows ({self.n_rows}) to judge the estimates."
        elif self.action == "nothing" and self.quality and not self.link:
            advice = f"{CLASSES.advice['check the data'][:-1]}: nothing needs to be done."
        else:
            advice = self._step()
        drifting, broken = _find_drifting(self), _is_broken(self)
        first, rest = _advise_columns(drifting, broken), _advise_values(drifting)
        ordered = [first, advice] if broken else [advice, first]
        return " ".join(filter(None, [*ordered, *rest]))

    def _step(self) -> str:
        """The advice for the action, in a sentence."""
        kind, first = self._kind(), self.quality[0] if self.quality else None
        off = any(c.about == "in the large" and c.level != LEVELS[0] for c in self.checks)
        if self.action == "check the data" and off:
            return UNEXPLAINED.format(kind.predictions)
        advice = kind.advice[self.action]
        if self.action == "rescale" and first is not None:
            amount = AMOUNTS.get(self.link, "{:+.4g}").format(first.in_the_large.value)
            return advice.format(amount)
        if self.action == "change the prior" and len(self.quality) == 1:
            assert isinstance(first, Quality)
            advice += f" with_prior({first.wanted_rate:.3g}) does it."
        return advice

    def _kind(self) -> ModelKind:
        return KINDS.get(self.link, NUMBERS)

    @property
    def notes(self) -> tuple[str, ...]:
        """The sentences below the tables: the meaning of columns and levels."""
        return (tell_rule(self),)

    def reaches(self, level: str) -> bool:
        """Whether the drift reaches a level ("notice", "warning" or "alarm")."""
        if level not in LEVELS:
            raise ValueError(f"level must be one of {', '.join(LEVELS)}, got {level!r}")
        return LEVELS.index(self.level) >= LEVELS.index(level)

    def to_html(self) -> str:
        """A self-contained HTML page without scripts."""
        return self.view().to_page()

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; NaN and infinity become None.

        Only the 100 most frequent of a feature's new values, and of its values within `other`, are
        kept, with the number of values left out.
        """
        data: dict[str, Any] = plain(self)
        return data | {"features": [_shorten(feature) for feature in data["features"]]}

    def view(self) -> View:
        """The checks as data for text and pages."""
        return to_view(self)


def _shorten(feature: dict[str, Any]) -> dict[str, Any]:
    """The plain data of a feature with at most `MOST_VALUES` values, because ids have very many."""
    short = dict(feature)
    for name in ("new_values", "within_other", "grown"):
        values = feature[name]
        short[name] = dict([*values.items()][:MOST_VALUES])
        short[f"{name}_left_out"] = max(len(values) - MOST_VALUES, 0)
    return short


def _is_broken(found: Drift) -> bool:
    """Whether a feature raises an alarm, as a broken column would."""
    return any(f.check.level == LEVELS[-1] for f in found.features)


def _find_drifting(found: Drift) -> list[FeatureDrift]:
    """The features with an alarm, then those with a warning."""
    return [f for level in LEVELS[:1:-1] for f in found.features if f.check.level == level]


def _describe(check: Check) -> str:
    return f"the {check.full_name()}" if check.about == "weights" else check.name


def _advise_columns(drifting: list[FeatureDrift], before_all: bool) -> str:
    """The advice to check the sources of features with a warning or an alarm."""
    names = [f.name for f in drifting]
    many, first = "s" * (len(names) == 1), " first" * before_all
    return f"Check where {_name_all(names)} come{many} from{first}." if names else ""


def _advise_values(drifting: list[FeatureDrift]) -> list[str]:
    """The advice for values that have no weight of their own."""
    advice = []
    new, read = (
        [f"{value} ({f.name})" for f in drifting if f.misread is odd for value in f.new_values]
        for odd in (False, True)
    )
    shared = [f"{value} ({f.name})" for f in drifting for value in f.grown]
    if new:
        advice.append(f"New values weigh nothing before an update or a refit: {list_few(new)}.")
    if read:
        advice.append(f"Columns of 0 and 1 have other values, read as 0 or 1: {list_few(read)}.")
    if shared:
        advice.append(f"Values that share the level other need a refit: {list_few(shared)}.")
    return advice


def _name_all(names: list[str]) -> str:
    if len(names) > 3:
        names = [*names[:3], f"{len(names) - 3} more"]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
