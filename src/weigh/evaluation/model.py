"""evaluate: a fitted classifier, a table, and what came true."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from weigh.evaluation.findings import find_leaks, find_training_rows
from weigh.evaluation.measures import Options
from weigh.evaluation.numbers import (
    NumberEvaluation,
    estimates_numbers,
    evaluate_numbers,
    refuse_class_options,
    refuse_exposure,
)
from weigh.evaluation.result import Evaluation, Given, build, read_train
from weigh.frames import read
from weigh.metrics import COVERAGE
from weigh.metrics.predicted import Question, column_of, predict_rows


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    train: Any = None,
    by: Any = None,
    costs: Any = (1.0, 1.0),
    thresholds: Any = None,
    coverage: float = COVERAGE,
    pos_label: Any = None,
    exposure: Any = None,
) -> Evaluation | NumberEvaluation:
    """Say how good a fitted model is, on rows that it has not seen.

    loss in bits = -mean of log2 P(class of the row), beside that of the base rate alone

    and misclassification, AUC, Brier and its parts, reliability, the calibration line, lift, error
    rates, cost and net benefit by threshold, each as in `weigh.metrics`. A weight of two is a row
    given twice, in intervals too: sampling weights go through `weigh.metrics.effective_weight`
    first, or intervals are too narrow. Of a regressor: RMSE, mean absolute error, R2, deviance,
    calibration by decile, and the coverage of its intervals.

    Parameters
    ----------
    model : classifier, regressor or Scorecard
        Fitted: one of this package, of scikit-learn, or a pipeline.
    X : table
        Rows, best those that the model has not seen.
    y : array or str
        Class labels or numbers, or the name of the column of X that holds them.
    sample_weight : array or str, optional
        Row weights, or the name of their column.
    train : pair (X, y), optional
        The training rows, to see beside the others; a third item gives their weights.
    by : str or array, optional
        Measure each group too: the name of a column of X, which need not be one of the model's, or
        the group of each row. Numbers of more than 20 different values are cut into five intervals
        of about as many rows each.
    costs : pair, default=(1, 1)
        Of a false positive and of a false negative. Error rates of groups are at the threshold
        cost_fp/(cost_fp + cost_fn); to decide at 0.3, give (0.3, 0.7).
    thresholds : array, optional
        Those to show; by default 0.1, 0.2, ... 0.9.
    coverage : float, default=0.95
        Of intervals.
    pos_label : label, optional
        The class in question: by default the second of two, or the class that high scores of a
        scorecard favour; of more than two, all.
    exposure : array or str, optional
        Of a regressor with a log link: what each row's mean is multiplied by.

    Returns
    -------
    Evaluation or NumberEvaluation
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
    if estimates_numbers(model):
        own = {"train": train, "by": by, "thresholds": thresholds, "pos_label": pos_label}
        refuse_class_options(own | {"costs": None if costs == (1.0, 1.0) else costs})
        return evaluate_numbers(model, X, y, sample_weight, coverage, exposure)
    refuse_exposure(exposure)
    options = Options.read(costs, thresholds, coverage)
    question = Question.of_model(model, pos_label)
    groups = column_of(read(X), by, "by") if isinstance(by, str) else by
    named = isinstance(sample_weight, str)
    predicted = [
        predict_rows(
            model,
            part.first,
            part.second,
            sample_weight if named and part.sample_weight is None else part.sample_weight,
            pos_label=pos_label,
            beside=by,
        )
        for part in (Given(X, y, sample_weight), *read_train(train))
    ]
    name = by if isinstance(by, str) else str(getattr(by, "name", None) or "group")
    found = build(question, options, predicted, groups, type(model).__name__, name)
    leaks = find_leaks(model, X, predicted[0])
    return replace(found, leaks=leaks, training_rows=find_training_rows(model, X))
