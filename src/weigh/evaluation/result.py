"""`evaluate` and `Evaluation`: the measures of a classifier as numbers, text, page and figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from weigh.engine import one_blas_thread
from weigh.errors import Parameter, ParameterError
from weigh.evaluation.decisions import Options
from weigh.evaluation.findings import find, find_leaks, find_training_rows
from weigh.evaluation.groups import Group, Grouping, ManyGroup, compare_predictions, measure_groups
from weigh.evaluation.measures import ManyMeasures, Measures, measure, measure_many
from weigh.evaluation.numbers import (
    NumberEvaluation,
    estimates_numbers,
    evaluate_numbers,
    refuse_exposure,
    refuse_times,
)
from weigh.evaluation.show import draw_evaluation, to_view
from weigh.frames import Value, keep_reader
from weigh.frames import build as build_frame
from weigh.layout import Shown, View
from weigh.metrics import COVERAGE, Scored, Stability
from weigh.metrics.inputs import Labels, shape_of
from weigh.metrics.numbers import columns_of, flatten, plain
from weigh.metrics.predictions import Predicted, Question, predict_rows
from weigh.plot.axes import Drawing
from weigh.sheet import refuse_class_options

if TYPE_CHECKING:
    from weigh.evaluation.survival import SurvivalEvaluation


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
        costs: Any = None,
        cut_off: Any = None,
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
        costs, cut_off, coverage
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
        options = Options.read(costs, cut_off, coverage)
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

    def view(self) -> View:
        """The measures as data for text and pages."""
        return to_view(self)


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
    first, *others = train
    return [Given(first, *others)]


def build(
    question: Question, options: Options, read: list[Predicted], by: Any, name: str, what: str = ""
) -> Evaluation:
    """Measure validation rows, training rows if given, and groups."""
    with one_blas_thread():  # products of long vectors are short work: threads would only wait
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
    if options == Options(coverage=options.coverage):
        return rows
    given = Parameter("cut_off") if options.cut_offs else Parameter("costs")
    raise ParameterError(
        given,
        " needs one class against the rest; choose it with ",
        Parameter("pos_label"),
        f", one of {rows.classes}",
    )


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    train: Any = None,
    by: Any = None,
    costs: Any = None,
    cut_off: Any = None,
    coverage: float = COVERAGE,
    pos_label: Any = None,
    exposure: Any = None,
    times: Any = None,
) -> Evaluation | NumberEvaluation | SurvivalEvaluation:
    """Measure how good a fitted model is, on hold-out rows.

    The main measure, beside that of the base rate alone, is::

        loss in bits = -mean of log2 P(class of the row)

    The others are misclassification, AUC, Brier score and its parts, reliability, the calibration
    line, lift, and error rates, cost and net benefit by cut-off, as in `weigh.metrics`. For a
    regressor: RMSE, mean absolute error, R2, deviance, calibration by decile, the coverage of its
    intervals, and by group observed over estimated. For a survival model: concordance, Brier score
    and calibration over time, and by group observed over expected events. A weight of two equals a
    row given twice, also in intervals: pass sampling weights through
    `weigh.metrics.effective_weight` first.

    Parameters
    ----------
    model : classifier, regressor or Scorecard
        Fitted model of this package or of scikit-learn, or a pipeline.
    X : table
        Rows; use hold-out rows.
    y : array or str
        Class labels or numbers, or the name of their column in X; for a survival model as in its
        `fit`.
    sample_weight : array or str, optional
        Row weights, or the name of their column.
    train : pair (X, y), optional
        Training rows, to compare with; a third item gives their weights.
    by : str, list of str, array or dataframe, optional
        Groups to evaluate: the name of a column of X, which need not be a feature, or the group of
        each row. A list of names such as ["sex", "race"] gives the combinations that occur, and so
        do the columns of a dataframe. A numeric column with more than 20 distinct values is cut
        into five bins of about equal size. Intervals, periods and dates are groups by their text.
    costs : pair, optional
        Costs of a false positive and of a false negative. Default: 1 and 1. They imply the cut-off
        cost_fp/(cost_fp + cost_fn).
    cut_off : float or list of float, optional
        Cut-offs of the probability of the positive class. The share of rows above each, precision,
        recall and specificity are shown with intervals, beside the counts. Groups are decided at
        a single cut-off; otherwise at that of the costs.
    coverage : float, default=0.95
        Coverage of intervals.
    pos_label : label, optional
        Positive class. Default: the second of two, or the bad class of a scorecard; with more
        classes, all.
    exposure : array, str or number, optional
        For a regressor with a log link: factor of the mean of each row. Default: the column that
        the model was fitted with; 1 evaluates estimates per unit of exposure.
    times : float or list of float, optional
        For a survival model: times at which to evaluate the probability of the event. Default: the
        times by which 10, 25, 50, 75 and 90% of the events have occurred.

    Returns
    -------
    Evaluation, NumberEvaluation or SurvivalEvaluation
        Prints as a page.

    Examples
    --------
    >>> import weigh
    >>> people = weigh.datasets.titanic()
    >>> model = weigh.EvidenceNB().fit(people, "Survived")
    >>> found = weigh.evaluate(model, people, "Survived", by="Class")
    >>> round(found.validation.loss.value, 3), [group.name for group in found.groups]
    (0.746, ['1st', '2nd', '3rd', 'Crew'])
    """
    X = keep_reader(X)
    of_classes = {"train": train, "cut_off": cut_off, "pos_label": pos_label, "costs": costs}
    found: Evaluation | NumberEvaluation | SurvivalEvaluation
    if hasattr(model, "predict_survival"):
        from weigh.evaluation.survival import evaluate_survival  # imports the learner

        more = {"exposure": exposure, "sample_weight": sample_weight}
        refuse_class_options(of_classes | more, "times")
        found = evaluate_survival(model, X, y, coverage, times, by)
    else:
        refuse_times(times)
        if estimates_numbers(model):
            refuse_class_options(of_classes)
            found = evaluate_numbers(model, X, y, sample_weight, coverage, exposure, by)
        else:
            refuse_exposure(exposure)
            options = Options.read(costs, cut_off, coverage)
            parts = (Given(X, y, sample_weight), *read_train(train))
            found = _evaluate_classes(model, parts, options, pos_label, by)
    return replace(found, training_rows=find_training_rows(model, X))


def _evaluate_classes(
    model: Any, parts: Sequence[Given], options: Options, pos_label: Any, by: Any
) -> Evaluation:
    """Evaluate a classifier on rows and, if they are given, on its training rows."""
    first = parts[0]
    X, named = first.first, isinstance(first.sample_weight, str)
    question, grouping = Question.of_model(model, pos_label), Grouping.of(X, by)
    predicted = [
        predict_rows(
            model,
            part.first,
            part.second,
            first.sample_weight if named and part.sample_weight is None else part.sample_weight,
            pos_label=pos_label,
            beside=grouping.names,
        )
        for part in parts
    ]
    name = type(model).__name__
    found = build(question, options, predicted, grouping.by, name, grouping.name)
    return replace(found, leaks=find_leaks(model, X, predicted[0]))
