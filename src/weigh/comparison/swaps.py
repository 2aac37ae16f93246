"""Two classifiers on the same rows: differences, calibration, and rows that change sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from weigh.arrays import Integers
from weigh.bins import label
from weigh.comparison.differences import BITS, Difference, Paired, paired
from weigh.errors import Parameter, ParameterError
from weigh.evaluation.findings import find_training_rows
from weigh.evaluation.show import bounded, number
from weigh.frames import Value
from weigh.layout import Grid, View, count_of
from weigh.metrics import COVERAGE, Scored, auc, auc_difference, calibration_line
from weigh.metrics.numbers import Bounded, read_threshold
from weigh.metrics.predictions import Predicted, Question, predict_rows


@dataclass(frozen=True)
class ModelMeasures:
    """Measures of one of the two models, with 95% intervals; the loss is in bits per row."""

    name: str
    loss: Bounded
    auc: Bounded
    mean_prediction: float
    in_the_large: Bounded
    slope: Bounded
    above: float  # the share of rows above the cut-off
    training_rows: float | None  # the estimated share of rows that it was fitted on

    @classmethod
    def of(cls, name: str, rows: Scored, cut_off: float, met: float | None) -> ModelMeasures:
        """Measure one model."""
        weight, mean = rows.weights, paired(rows.losses, rows.weights, COVERAGE)
        area, line = auc(rows), calibration_line(rows)
        return cls(
            name,
            Bounded(mean.value, mean.low, mean.high),
            Bounded(area.value, area.low, area.high),
            float(np.average(rows.p, weights=weight)),
            Bounded.normal(line.in_the_large, line.in_the_large_error, COVERAGE),
            Bounded.normal(line.slope, line.slope_error, COVERAGE),
            float(np.average(rows.p > cut_off, weights=weight)),
            met,
        )


@dataclass(frozen=True, eq=False)
class SwapCell:
    """One cell of the swap table: rows above the cut-off for both, one or neither of the models.

    `rate` is their observed rate of the positive class; `places` are their row numbers, from 0.
    """

    name: str
    weight: float
    rate: Bounded  # of the positive class
    places: Integers

    @classmethod
    def of(cls, name: str, rows: Scored, inside: Any, numbers: Integers) -> SwapCell:
        """Make the cell of the rows marked by `inside`."""
        weight = rows.weights
        own = float(weight[inside].sum())
        positives = float(weight[inside & rows.positive].sum())
        return cls(name, own, Bounded.share(positives, own, COVERAGE), numbers[inside])

    def tell(self, name: str) -> str:
        """Text with the number of rows, and the share of the positive class."""
        if not self.rate.is_known():
            return "no rows"
        return f"{count_of(self.weight, 'row')} ({_percent(self.rate.value)} of them {name})"


@dataclass(frozen=True, eq=False, repr=False)
class Challenge(Paired):
    """Two models on the same rows: paired differences, calibration, and the swap set.

    Attributes
    ----------
    old, new : ModelMeasures
        The model in use and its challenger: loss, AUC, calibration.
    pos_label : label
        The positive class.
    n_rows, base_rate : float
        The weight of the rows, and the share of the positive class.
    loss, auc : Difference
        New minus old, paired by row, with standard errors. A negative difference of the loss
        favours the new model.
    cut_off : float
        Probability of the positive class above which a row is positive.
    swaps : tuple of SwapCell
        Rows above the cut-off for both models, only the new one, only the old one, and neither.
    scores : str
        The scores of the old scorecard that are above the cut-off, such as "below 540"; empty where
        the cut-off was given as a probability.
    """

    old: ModelMeasures
    new: ModelMeasures
    pos_label: Value
    n_rows: float
    base_rate: float
    loss: Difference
    auc: Difference
    cut_off: float
    swaps: tuple[SwapCell, ...]
    scores: str = ""

    @property
    def unit(self) -> str:
        """Unit of the loss."""
        return BITS

    @property
    def met(self) -> Sequence[tuple[str, float | None]]:
        """The names of the models, and the share of rows that each was fitted on."""
        return [(side.name, side.training_rows) for side in (self.old, self.new)]

    def named(self, old: str, new: str) -> Self:
        """A copy that calls the models by other names, such as those of their files."""
        return replace(self, old=replace(self.old, name=old), new=replace(self.new, name=new))

    def at_score(self, score: float, above: bool) -> Self:
        """A copy whose cut-off is a score of the old model, a scorecard.

        `above` says whether the flagged rows are those with at least this score.
        """
        side = "of at least" if above else "below"
        return replace(self, scores=f"{side} {score:g}")

    @property
    def flagged(self) -> str:
        """Which rows are flagged, in words."""
        name = label(self.pos_label)
        if not self.scores:
            return f"a probability of {name} above {self.cut_off:g}"
        return f"a score {self.scores} (a probability of {name} above {self.cut_off:.3g})"

    @property
    def findings(self) -> tuple[str, ...]:
        """Conclusions from the numbers, in sentences."""
        _, entered, left, _ = self.swaps
        name = label(self.pos_label)
        found = (
            self.verdict,
            f"At {self.flagged}, the new model alone flags "
            f"{entered.tell(name)}, and the old model alone {left.tell(name)}.",
        )
        return (*found, *self.warnings)

    def view(self) -> View:
        """The tables and sentences that are shown."""
        sides = (self.old, self.new)
        rows = (
            ("Loss, bits a row", *(bounded(s.loss) for s in sides), _gap(self.loss)),
            ("AUC", *(bounded(s.auc) for s in sides), _gap(self.auc)),
            ("Mean prediction", *(number(s.mean_prediction) for s in sides), ""),
            ("Calibration in the large", *(bounded(s.in_the_large, 2) for s in sides), ""),
            ("Calibration slope", *(bounded(s.slope, 2) for s in sides), ""),
            ("Share flagged", *(_percent(s.above) for s in sides), ""),
        )
        name = label(self.pos_label)
        cells = tuple((c.name, f"{c.weight:,.6g}", c.rate.spelled(_percent)) for c in self.swaps)
        swaps = Grid(
            ("", "Rows", f"Observed {name}"),
            cells,
            f"Flagged: {self.flagged}",
        )
        about = f"{count_of(self.n_rows, 'row')}, {_percent(self.base_rate)} of them {name}"
        return self._lay_out(about, rows, swaps)


def _gap(found: Difference) -> str:
    return f"{number(found.value)} ({number(found.error)})"


def _percent(share: float) -> str:
    return "-" if share != share else f"{100 * share:.1f}%"


def challenge_classes(
    models: tuple[Any, Any],
    tables: tuple[Any, Any],
    y: Any,
    cut_off: float | None,
    sample_weight: Any,
    pos_label: Any,
) -> Challenge:
    """Compare two classifiers that may need different tables of the same rows."""
    asked = _ask(models, pos_label)
    cut_off = 0.5 if cut_off is None else _read_cut_off(models, asked, cut_off)
    found = [
        predict_rows(model, X, y, sample_weight, pos_label=asked)
        for model, X in zip(models, tables, strict=True)
    ]
    met = [find_training_rows(model, X) for model, X in zip(models, tables, strict=True)]
    names = [type(model).__name__ for model in models]
    return _compare(names, found, met, asked, cut_off)


def _read_cut_off(models: tuple[Any, Any], pos_label: Value, cut_off: Any) -> float:
    """Read a probability; a score is refused with the probability that it stands for."""
    found = read_threshold(cut_off)
    if 0 <= found <= 1:
        return found
    cards = [model for model in models if hasattr(model, "probability")]
    told = f"; {_tell_score(cards[0], pos_label, found)}" if cards and found == found else ""
    wants = f" must be a probability from 0 to 1{told}"
    raise ParameterError(Parameter("cut_off", cut_off), wants)


def _tell_score(card: Any, pos_label: Value, score: float) -> str:
    """The probability that a cut-off of a scorecard stands for: scores are whole numbers."""
    share, good = float(card.probability(score - 0.5)), pos_label != card.adverse
    side, p = ("at least", share) if good else ("below", 1 - share)
    return f"a score of {side} {score:g} is a probability of {label(pos_label)} above {p:.6g}"


def _ask(models: tuple[Any, Any], pos_label: Any) -> Value:
    """Positive class of the old model, for both; raise an error if they differ in classes."""
    old, new = (Question.of_model(model, pos_label) for model in models)
    if {*old.classes} != {*new.classes}:
        raise ValueError(
            f"the old model has the classes {[*old.classes]} and the new one {[*new.classes]}; "
            "fit both to the same classes"
        )
    if old.pos_label is None:
        raise ParameterError(
            f"the models have {len(old.classes)} classes; name one with ",
            Parameter("pos_label"),
            ", to compare it with the rest",
        )
    return old.pos_label


def _compare(
    names: list[str], found: list[Predicted], met: list[Any], pos_label: Value, cut_off: float
) -> Challenge:
    old, new = (part.rows for part in found)
    assert isinstance(old, Scored)
    assert isinstance(new, Scored)
    weight, numbers = old.weights, np.flatnonzero(found[0].kept)
    before, after = old.p > cut_off, new.p > cut_off
    sides = {
        "both": before & after,
        "new only": after & ~before,
        "old only": before & ~after,
        "neither": ~(before | after),
    }
    area = auc_difference(new, old)
    return Challenge(
        old=ModelMeasures.of(names[0], old, cut_off, met[0]),
        new=ModelMeasures.of(names[1], new, cut_off, met[1]),
        pos_label=pos_label,
        n_rows=float(weight.sum()),
        base_rate=float(np.average(old.positive, weights=weight)),
        loss=paired(new.losses - old.losses, weight, COVERAGE),
        auc=Difference(area.value, area.error, area.low, area.high),
        cut_off=cut_off,
        swaps=tuple(SwapCell.of(name, old, inside, numbers) for name, inside in sides.items()),
    )
