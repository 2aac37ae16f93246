"""`challenge`: compare a model in use with its possible successor on the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from weigh.comparison.differences import Difference, Paired, paired
from weigh.comparison.swaps import Challenge, challenge_classes
from weigh.evaluation.estimates import Estimated, name_loss, shared_power
from weigh.evaluation.findings import find_training_rows
from weigh.evaluation.numbers import (
    NumberEvaluation,
    estimates_numbers,
    evaluate_estimates,
    refuse_exposure,
)
from weigh.evaluation.show import bounded
from weigh.evidence.units import digits_of, spell
from weigh.frames import keep_reader
from weigh.layout import View, count_of, share_of
from weigh.metrics import COVERAGE
from weigh.sheet import refuse_class_options


@dataclass(frozen=True, eq=False, repr=False)
class NumberChallenge(Paired):
    """Two regressors on the same rows: paired differences, errors and calibration.

    Attributes
    ----------
    old, new : NumberEvaluation
        Evaluation of the model in use, and of its challenger.
    loss : Difference
        Mean loss of the new model minus that of the old one, with its standard error.
    absolute : Difference
        The difference of the mean absolute errors.
    measure : str
        Name of the loss: "squared error", or "deviance" if both models have the same family.
    training_rows : tuple
        The estimated share of rows that each model was fitted on; None if it is not known.
    """

    old: NumberEvaluation
    new: NumberEvaluation
    n_rows: float
    loss: Difference
    absolute: Difference
    measure: str
    training_rows: tuple[float | None, float | None]

    @property
    def unit(self) -> str:
        """Unit of the loss."""
        return f"in mean {self.measure}"

    @property
    def met(self) -> Sequence[tuple[str, float | None]]:
        """The names of the models, and the share of rows that each was fitted on."""
        return [*zip((self.old.model, self.new.model), self.training_rows, strict=True)]

    def named(self, old: str, new: str) -> Self:
        """A copy that calls the models by other names, such as those of their files."""
        return replace(self, old=replace(self.old, model=old), new=replace(self.new, model=new))

    @property
    def findings(self) -> tuple[str, ...]:
        """Conclusions from the numbers, in sentences."""
        exposed = (self.old.exposure,) if self.old.exposure else ()
        return (self.verdict, *exposed, *self.warnings)

    def _tell(self, value: float, sign: str = "") -> str:
        return spell(value, digits_of(value), sign)

    def view(self) -> View:
        """The tables and sentences that are shown."""
        sides, spell = (self.old, self.new), self.old.spell
        gap = self._gap(self.absolute)
        rows = [
            ("RMSE", *(s.rmse.spelled(spell) for s in sides), ""),
            ("Mean absolute error", *(s.mae.spelled(spell) for s in sides), gap),
            (f"Mean {self.measure}", *map(self._loss, sides), self._gap(self.loss)),
            ("Mean estimate", *(spell(s.mean_estimate) for s in sides), ""),
            ("Calibration slope (1 is right)", *(bounded(s.slope, 2) for s in sides), ""),
            ("Rows inside 90% intervals", *(share_of(s.covered.value) for s in sides), ""),
        ]
        about = (
            f"estimates of {self.old.target} ({count_of(self.n_rows, 'row')}, mean "
            f"{spell(self.old.mean_observed)})"
        )
        return self._lay_out(about, rows)

    def _loss(self, side: NumberEvaluation) -> str:
        """The mean loss of a model."""
        return f"{side.deviance if self.measure == 'deviance' else side.rmse.value**2:.4g}"

    def _gap(self, found: Difference) -> str:
        return f"{self._tell(found.value, '+')} ({self._tell(found.error)})"


def challenge_numbers(
    models: tuple[Any, Any], tables: tuple[Any, Any], y: Any, sample_weight: Any, exposure: Any
) -> NumberChallenge:
    """Compare two regressors that may need different tables of the same rows."""
    pairs = [*zip(models, tables, strict=True)]
    old, new = (Estimated.of(model, X, y, sample_weight, exposure) for model, X in pairs)
    power = shared_power((old.power, new.power), (old.means, new.means))
    sides = [
        evaluate_estimates(model, X, part, COVERAGE)
        for (model, X), part in zip(pairs, (old, new), strict=True)
    ]
    first, second = (find_training_rows(model, X) for model, X in pairs)
    errors = [np.abs(part.numbers - part.means) for part in (old, new)]
    return NumberChallenge(
        old=sides[0],
        new=sides[1],
        n_rows=float(old.weight.sum()),
        loss=paired(new.losses(power) - old.losses(power), old.weight, COVERAGE),
        absolute=paired(errors[1] - errors[0], old.weight, COVERAGE),
        measure=name_loss(power),
        training_rows=(first, second),
    )


def challenge(
    old: Any,
    new: Any,
    X: Any,
    y: Any,
    *,
    cut_off: float | None = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    exposure: Any = None,
) -> Challenge | NumberChallenge:
    """Compare a model in use with its challenger on the same rows.

    difference = mean over rows of (loss of new - loss of old),   loss = -log2 p(true class)

    with the standard error of the mean of the rows' differences. The swap set is the rows that are
    above the cut-off for one model and not for the other. The loss of regressors is the deviance if
    both have the same family, and the squared error otherwise.

    Parameters
    ----------
    old, new : classifiers, Scorecards or regressors
        Fitted models: two with the same classes, or two regressors.
    X, y : table, and array or str
        Rows that neither was fitted on, and their classes or numbers, or the name of their column.
    cut_off : float, optional
        Cut-off of the probability of the positive class, also for scorecards, whose scales may
        differ. Default: 0.5. Not for regressors.
    sample_weight : array or str, optional
        Row weights, or the name of their column.
    pos_label : label, optional
        The positive class. Default: `classes_[1]` of the old model, or its bad class if it is a
        Scorecard. With more than two classes it must be given, and is compared with the rest.
    exposure : array, str or number, optional
        For regressors with a log link, as in `evaluate`.

    Returns
    -------
    Challenge or NumberChallenge
        Prints as a page.

    Examples
    --------
    >>> import weigh
    >>> train, rest = weigh.split(weigh.datasets.titanic(), "Survived", random_state=0)
    >>> old = weigh.EvidenceNB().fit(train, "Survived")
    >>> new = weigh.EducatedNB().fit(train, "Survived")
    >>> found = weigh.challenge(old, new, rest, "Survived")
    >>> found.loss.value < 0
    True
    >>> [cell.name for cell in found.swaps]
    ['both', 'new only', 'old only', 'neither']
    """
    given = {"cut_off": cut_off, "sample_weight": sample_weight, "pos_label": pos_label}
    X = keep_reader(X)
    return challenge_each((old, new), (X, X), y, **given, exposure=exposure)


def challenge_each(
    models: tuple[Any, Any],
    tables: tuple[Any, Any],
    y: Any,
    *,
    cut_off: float | None = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    exposure: Any = None,
) -> Challenge | NumberChallenge:
    """Compare two models that may need different tables of the same rows."""
    if _estimate_numbers(models):
        refuse_class_options({"cut_off": cut_off, "pos_label": pos_label})
        return challenge_numbers(models, tables, y, sample_weight, exposure)
    refuse_exposure(exposure)
    return challenge_classes(models, tables, y, cut_off, sample_weight, pos_label)


def _estimate_numbers(models: tuple[Any, Any]) -> bool:
    """Whether both models are regressors; raise an error if only one is."""
    old, new = map(estimates_numbers, models)
    if old != new:
        number, other = (type(model).__name__ for model in (models if old else models[::-1]))
        raise ValueError(
            f"{number} estimates numbers and {other} predicts classes; compare two of a kind"
        )
    return old
