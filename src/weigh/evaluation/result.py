"""Evaluation: the measures of a classifier as numbers, text, page and figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.bins import label
from weigh.errors import Parameter, ParameterError
from weigh.evaluation.findings import find
from weigh.evaluation.groups import Group, ManyGroup, compare_predictions, measure_groups
from weigh.evaluation.measures import Measures, Options, measure
from weigh.evaluation.multiclass import ManyMeasures, measure_many
from weigh.evaluation.page import Page
from weigh.evaluation.show import page
from weigh.frames import Value
from weigh.frames import build as build_frame
from weigh.layout import Shown
from weigh.metrics import COVERAGE, Scored, Stability
from weigh.metrics.numbers import columns_of, flatten, plain
from weigh.metrics.predicted import Predicted, Question
from weigh.metrics.scored import Labels, shape_of
from weigh.plot.axes import FOR, TOTAL, Drawing, new_figure
from weigh.plot.labels import shorten

THIN: dict[str, Any] = {"color": TOTAL, "linewidth": 0.8, "linestyle": "--"}


def draw_evaluation(found: Evaluation) -> Drawing:
    """Draw reliability, gains and net benefit side by side."""
    measures = found.validation
    if not isinstance(measures, Measures):
        raise ValueError(
            "the figure shows one class against the rest; choose it with pos_label, one of "
            f"{[*found.classes]}"
        )
    figure, axes = new_figure(11.0, 3.6, n_columns=3)
    _reliability(axes[0], measures)
    _gains(axes[1], measures)
    _net_benefit(axes[2], measures)
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    title = f"{found.model}: probability of {label(found.pos_label)}"
    figure.suptitle(shorten(title, 90), fontsize="medium", parse_math=False)
    return Drawing(figure, tuple(axes))


def _reliability(ax: Any, m: Measures) -> None:
    table = m.reliability
    ends = np.maximum((table.rate - table.rate_low, table.rate_high - table.rate), 0)
    ax.plot([0, 1], [0, 1], **THIN)
    ax.errorbar(table.mean_prediction, table.rate, yerr=ends, fmt="o", color=FOR, markersize=4)
    ax.set(xlabel="Predicted probability", ylabel="Observed rate")


def _gains(ax: Any, m: Measures) -> None:
    ax.plot([0, 1], [0, 1], **THIN)
    ax.plot([0, *m.gains.depth], [0, *m.gains.gain], marker="o", markersize=3, color=FOR)
    ax.set(xlabel="Share of rows, most probable first", ylabel="Share of positives found")


def _net_benefit(ax: Any, m: Measures) -> None:
    shown = [part for part in m.thresholds if np.isfinite(part.net_benefit)]
    at = [part.rates.threshold for part in shown]
    worth, all_ = ([getattr(part, name) for part in shown] for name in ("net_benefit", "treat_all"))
    ax.axhline(0, **THIN | {"linestyle": ":"})
    ax.plot(at, all_, label="treat all", **THIN)
    ax.plot(at, worth, marker="o", markersize=3, color=FOR, label="model")
    top = 1.1 * max([*worth, *all_, 1e-6])
    ax.set(xlabel="Threshold probability", ylabel="Net benefit", ylim=(-0.15 * top, top))
    ax.legend(frameon=False, fontsize="small")


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Shown):
    """Result of `evaluate`: measures on hold-out rows, on training rows and by group.

    It prints as a page, shows as HTML in notebooks, and `to_dict()` is plain data for JSON. With
    two classes `validation` and `training` are `Measures` of `pos_label`; with more,
    `ManyMeasures`.

    Attributes
    ----------
    model : str
        The name of the model.
    classes : tuple
        The labels of the classes.
    pos_label : label or None
        The positive class; None with more than two classes.
    validation : Measures or ManyMeasures
        Measures of the given rows.
    training : Measures, ManyMeasures or None
        Measures of the training rows, if given.
    stability : Stability or None
        Shift of the predictions from training to validation.
    groups : tuple of Group or ManyGroup
        Measures by the values of `by`.
    leaks : tuple of str
        Features that separate the classes of these rows perfectly on their own.
    training_rows : float or None
        The estimated share of these rows that the model was fitted on; None if not known.
    """

    model: str
    classes: tuple[Value, ...]
    pos_label: Value
    costs: tuple[float, float]
    coverage: float
    validation: Measures | ManyMeasures
    training: Measures | ManyMeasures | None = None
    stability: Stability | None = None
    by: str = ""
    groups: tuple[Group | ManyGroup, ...] = ()
    leaks: tuple[str, ...] = ()
    training_rows: float | None = None

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        sample_weight: Any = None,
        train: Any = None,
        by: Any = None,
        costs: Any = (1.0, 1.0),
        thresholds: Any = None,
        coverage: float = COVERAGE,
        labels: Any = None,
        pos_label: Any = None,
        name: str = "Predictions",
    ) -> Evaluation:
        """Evaluate given probabilities, without a model.

        Parameters
        ----------
        y_true : array
            True labels.
        y_prob : array of shape (n,), (n, 2) or (n, k)
            The probability of the positive class, or of every class in the order of `labels`.
        sample_weight : array, optional
            Row weights; a weight of two equals a row given twice, also in intervals (see
            `weigh.metrics.effective_weight`).
        train : pair or triple, optional
            Labels and probabilities of the training rows, and their weights.
        by : array, optional
            The group of each row.
        costs, thresholds, coverage
            As in `evaluate`.
        labels : array, optional
            Classes of the columns of `y_prob`. Default: those of y_true, sorted.
        pos_label : label, optional
            Positive class: by default the greater of two; with more classes, all.
        name : str, optional
            Name of the model.

        Examples
        --------
        >>> from weigh import Evaluation
        >>> found = Evaluation.from_predictions([0, 1, 1, 0], [0.2, 0.9, 0.6, 0.6])
        >>> found.validation.auc.value
        0.875
        """
        options = Options.read(costs, thresholds, coverage)
        samples = [Given(y_true, y_prob, sample_weight), *read_train(train)]
        found = [Labels.read(sample.first, sample.sample_weight).values for sample in samples]
        every = Labels.read([value for part in found for value in part]).values
        shape = shape_of(y_prob, "y_prob")
        question = Question.of_labels(every, 1 if len(shape) < 2 else shape[1], labels, pos_label)
        read = [question.read(part.first, part.second, part.sample_weight) for part in samples]
        return build(question, options, read, by, name)

    @property
    def findings(self) -> tuple[str, ...]:
        """The main results, in sentences."""
        return find(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; NaN and infinity become None."""
        return plain(self)  # type: ignore[no-any-return]

    def to_rows(self) -> list[dict[str, Any]]:
        """One row per sample and group, with all scalar measures."""
        samples = [("training", self.training), ("validation", self.validation)]
        known = [(name, part) for name, part in samples if part is not None]
        parts = [*known, *((f"{self.by} = {group.name}", group) for group in self.groups)]
        return [{"rows_of": name} | flatten(plain(part)) for name, part in parts]

    def to_frame(self, backend: str | None = None) -> Any:
        """The rows of `to_rows` as an Arrow table, or in another library such as "pandas"."""
        return build_frame(columns_of(self.to_rows()), backend)

    def plot(self) -> Drawing:
        """Draw reliability, gains and net benefit on the `axes_` of a new `figure_`."""
        return draw_evaluation(self)

    def view(self) -> Page:
        """The measures as data for text and pages."""
        return page(self)


@dataclass(frozen=True)
class Given:
    """A given pair, (X, y) or (labels, probabilities), with row weights."""

    first: Any
    second: Any
    sample_weight: Any = None


def read_train(train: Any) -> list[Given]:
    """The argument `train` as a list of no or one pair."""
    if train is None:
        return []
    if not isinstance(train, tuple | list) or len(train) not in (2, 3):
        raise ValueError(
            f"train must be a pair: (X, y), or labels and probabilities; got {type(train).__name__}"
        )
    return [Given(*train)]


def build(
    question: Question, options: Options, read: list[Predicted], by: Any, name: str, what: str = ""
) -> Evaluation:
    """Measure validation rows, training rows if given, and groups."""
    measures = [
        measure(part.rows, options)
        if isinstance(part.rows, Scored)
        else measure_many(_refuse_costs(part.rows, options), options.coverage)
        for part in read
    ]
    what = what or "group"
    return Evaluation(
        model=name,
        classes=question.classes,
        pos_label=question.pos_label,
        costs=options.costs,
        coverage=options.coverage,
        validation=measures[0],
        training=measures[1] if len(measures) > 1 else None,
        stability=compare_predictions(read[1].rows, read[0].rows) if len(read) > 1 else None,
        by="" if by is None else what,
        groups=() if by is None else measure_groups(by, what, read[0], question, options),
    )


def _refuse_costs(rows: Any, options: Options) -> Any:
    plain_options = Options(coverage=options.coverage)
    if options != plain_options:
        raise ParameterError(
            "costs and thresholds need one class against the rest; choose it with ",
            Parameter("pos_label"),
            f", one of {rows.classes}",
        )
    return rows
