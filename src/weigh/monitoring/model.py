"""`drift` compares new rows with the training rows of a model; `update` adds them to the model."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from sklearn.utils.validation import check_is_fitted

from weigh.educated import EducatedNB
from weigh.educated.updating import add_rows
from weigh.errors import Parameter, ParameterError, warn_caller
from weigh.evaluation.estimates import Estimated
from weigh.evidence import Evidence, evidence_of, inherit, is_sum, model_of
from weigh.frames import FarTable, Sample, Table, label_sample, match, read
from weigh.metrics.numbers import read_number
from weigh.monitoring.checks import check_distribution, check_means, compare_table, judge
from weigh.monitoring.counts import LevelCounts, Totals, count_rows, read_metrics
from weigh.monitoring.labels import OutcomeChecks, check_events, check_labels
from weigh.monitoring.numbers import check_numbers
from weigh.monitoring.result import Drift
from weigh.naive import EvidenceNB
from weigh.parameters import is_number
from weigh.store import version_of

LIGHT = 0.1
"""Least mean weight of the training rows without a warning. A smaller mean suggests weights that
were normalised, for example to a sum of one; an update with a half-life leaves larger means."""


def drift(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    metrics: Any = None,
    reference: Any = None,
    alpha: float = 0.01,
    exposure: Any = None,
) -> Drift:
    """Compare new rows with the training rows of a model, to find drift.

    The index of a feature is::

        PSI = sum over levels of (a - e) ln a/e

    with e the share of a level in the training rows and a its share in the new rows. Missing
    values, and values never seen in training, are levels of their own. Each check has a p-value
    that accounts for the noise of both samples. A check is a notice, a warning or an alarm if it is
    significant at `alpha`, adjusted for all checks, and its index exceeds chance by 0.01, 0.1 or
    0.25.

    The model stores the counts of its training rows, not their totals. So the check of the total
    compares means: its index is the squared shift in standard deviations. With `reference`, the PSI
    of the totals is checked, too.

    Parameters
    ----------
    model : classifier, Scorecard, EducatedRegressor, EducatedSurvival or BoostedNBRegressor
        Fitted model with tables of weights (`evidence_`).
    X : table
        New rows; any dataframe, array, list of dicts or scan.
    y : array, str or pair of str, optional
        Their classes or numbers, or the name of their column in X. With classes, calibration,
        ranking and weights are checked, too; with numbers, the mean estimate, the calibration slope
        and the deviance against that of training rows left out. For a survival model, y names the
        columns of event and duration, as in its `fit`; observed and expected events, as a whole and
        over time, and the weights are checked.
    metrics : path or str, optional
        In place of X: the counts of a service, a file or text with the response of /metrics.
    reference : table, optional
        Rows with the expected distribution of totals, such as the training or hold-out rows. The
        bins of the PSI of the totals are their deciles.
    alpha : float, default=0.01
        Probability of at least one finding if there is no drift.
    exposure : array, str or number, optional
        For a regressor with a log link, with y: as in `evaluate`.

    Returns
    -------
    Drift
        Prints as a page.

    Examples
    --------
    >>> import weigh
    >>> people = weigh.datasets.titanic()
    >>> model = weigh.EvidenceNB().fit(people, "Survived")
    >>> weigh.drift(model, people).level
    'none'
    >>> men = [{"Class": "3rd", "Sex": "Male", "Age": "Adult"}] * 500
    >>> found = weigh.drift(model, men)
    >>> found.level, found.features[0].name, found.action
    ('alarm', 'Sex', 'get labels')
    """
    alpha = read_alpha(alpha)
    given, model = model, model_of(model)
    evidence = _read_model(model, type(given).__name__)
    kind = kind_of(model, evidence)
    if (X is None) == (metrics is None):
        raise ValueError("drift takes new rows (X) or metrics, the counts of a service: give one")
    X = None if X is None else read(X)  # once: a reader of batches has no second pass
    rows = None if X is None else _read_rows(given, evidence, X, None if kind else y)
    seen, totals = _count(evidence, rows, metrics, given)
    features = [compare_table(evidence, *pair) for pair in zip(evidence, seen, strict=True)]
    known = check_known(model, evidence, rows, X, y, exposure)
    checks = [f.check for f in features] + check_means(evidence, totals)
    if reference is not None:
        expected = _count_reference(given, evidence, reference, totals)
        checks += check_distribution(evidence, expected, totals)
    checks = judge(checks + known.checks, alpha)
    features = [replace(f, check=check) for f, check in zip(features, checks, strict=False)]
    return Drift(
        model=type(given).__name__,
        classes=tuple(evidence.classes.tolist()),
        n_training=float(evidence.class_counts.sum()),
        n_rows=totals.n,
        alpha=alpha,
        features=tuple(sorted(features, key=lambda f: -f.effect)),
        checks=tuple(checks[len(features) :]),
        quality=tuple(known.quality),
        moved=tuple(sorted((m for m in known.moved if m.p_value < alpha), key=lambda m: m.p_value)),
        points_per_nat=evidence.units.scale if evidence.units.are_points else None,
        link=kind,
    )


def read_alpha(alpha: Any) -> float:
    """Check `alpha`, the probability of a finding without drift."""
    wanted = "between 0 and 1, such as 0.01"
    if not 0 < read_number(alpha, "alpha", wanted) < 1:
        raise ValueError(f"alpha must be {wanted}, got {alpha!r}")
    return float(alpha)


def _read_model(model: Any, name: str) -> Evidence:
    evidence = counted_evidence(model, name)
    rows = getattr(getattr(model, "provenance_", None), "rows", None)
    total = float(evidence.class_counts.sum())
    if rows is not None and total < LIGHT * rows:
        warn_caller(
            f"the training weights add up to {total:.3g} for {rows:,} rows; drift treats a weight "
            "of two as two rows, so it detects little; divide the weights by their mean",
            UserWarning,
        )
    return evidence


def counted_evidence(model: Any, name: str) -> Evidence:
    """The tables of a model, with the number of training rows at each level."""
    if hasattr(model, "predict_survival"):
        return model._population  # type: ignore[no-any-return]
    evidence = evidence_of(model, is_sum(model) or hasattr(model, "predict_quantile"))
    if evidence.event_model == "counts":
        raise ValueError(
            f"{name} was fitted with event_model='counts', but the words of a "
            "document are not independent rows; drift needs event_model='levels'"
        )
    return evidence


def _count(
    evidence: Evidence, rows: Table | Sample | None, metrics: Any, model: Any
) -> tuple[list[LevelCounts], Totals]:
    if rows is None:
        return read_metrics(metrics, evidence, version_of(model))
    return count_rows(evidence, rows.table if isinstance(rows, Sample) else rows)


def _count_reference(model: Any, evidence: Evidence, reference: Any, totals: Totals) -> Totals:
    if totals.each is None:
        raise ParameterError(
            Parameter("reference"), " needs the new rows: a service does not keep their totals"
        )
    return _count(evidence, _read_rows(model, evidence, reference, None), None, model)[1]


def _read_rows(model: Any, evidence: Evidence, X: Any, y: Any) -> Table | Sample:
    """The columns that the model reads, with the labels if y is given."""
    table = read(X)
    if isinstance(table, FarTable):
        table.refuse("drift counts rows in memory or from files")
    name = type(model).__name__
    if y is None:
        return match(table, evidence.column_names, table.named, name)
    sample = label_sample(table, y, classes=evidence.classes)
    if sample.classes[0] != evidence.classes[0]:  # a scorecard's second class is good
        counts = sample.class_counts[::-1]
        sample = replace(
            sample, labels=1 - sample.labels, classes=evidence.classes, class_counts=counts
        )
    return replace(sample, table=match(sample.table, evidence.column_names, table.named, name))


CURVE, HAZARD = "curve", "hazard"


def kind_of(model: Any, evidence: Evidence) -> str:
    """The kind of a model's totals, in one word.

    "" for log odds of classes; "identity" or "log" for the link of a regressor; "curve" for a
    regressor whose estimates are medians, read off a curve; "hazard" for the log odds of a hazard.
    """
    if hasattr(model, "predict_survival"):
        return HAZARD
    if hasattr(model, "predict_quantile"):
        return CURVE
    return evidence.link if evidence.estimates else ""


def check_known(
    model: Any, evidence: Evidence, rows: Table | Sample | None, X: Any, y: Any, exposure: Any
) -> OutcomeChecks:
    """The checks that need labels, numbers or events; none without y."""
    kind = kind_of(model, evidence)
    if exposure is not None and (y is None or kind in ("", HAZARD)):
        raise ParameterError(Parameter("exposure"), " is for numbers (y) only; leave it out")
    if kind == HAZARD and y is not None:
        return check_events(model, X, y)
    if kind and kind != HAZARD and y is not None:
        estimated = Estimated.of(model, X, y, None, exposure)
        quality, checks = check_numbers(model, estimated, float(evidence.class_counts.sum()))
        return OutcomeChecks(checks, [quality])
    return check_labels(evidence, rows) if isinstance(rows, Sample) else OutcomeChecks()


def update(
    model: Any, X: Any, y: Any, *, sample_weight: Any = None, half_life: float | None = None
) -> EvidenceNB | EducatedNB:
    """Add new rows to a fitted model, without the rows that it was fitted on.

    The new counts are::

        counts = 2^(-n/half_life) * old counts + new counts

    with n the weight of the new rows. The weights of `EvidenceNB` follow from the counts. Those of
    `EducatedNB` minimise the penalised loss of the new rows plus that of the old rows, which is
    taken from the model's summary (`weigh.summarise`) and fades in the same way. Its scales are
    estimated again.

    Cut points and pairs do not change; new categories are added. A prior that was set stays. An
    edited model (`weigh.edit`) raises an error, because new rows would undo the edits: update the
    model from before the edits, and `replay` them.

    Parameters
    ----------
    model : EvidenceNB or EducatedNB
        Fitted model without edits. It is not changed. An `EducatedNB` needs a summary.
    X : table
        New rows.
    y : array or str
        Class labels, or the name of their column in X.
    sample_weight : array or str, optional
        Row weights, or the name of their column in X.
    half_life : float, optional
        Number of new rows that halve the weight of the old ones. Default: old rows count in full.

    Returns
    -------
    EvidenceNB or EducatedNB
        The updated model. That of an `EducatedNB` has a summary of old and new rows.

    Examples
    --------
    >>> import weigh
    >>> people = weigh.datasets.titanic()
    >>> old, new = weigh.split(people, "Survived", holdout=0.5)
    >>> model = weigh.EvidenceNB().fit(old, "Survived")
    >>> weigh.update(model, new, "Survived").evidence_.class_counts.tolist()
    [1490.0, 711.0]
    >>> faded = weigh.update(model, new, "Survived", half_life=new.num_rows)
    >>> float(faded.evidence_.class_counts.sum()) == old.num_rows / 2 + new.num_rows
    True
    """
    if not isinstance(model, EvidenceNB | EducatedNB):
        raise ValueError(
            f"update takes an EvidenceNB or an EducatedNB, got {type(model).__name__}; fit others "
            f"to old and new rows together{', or recalibrate' * hasattr(model, 'predict_proba')}"
        )
    check_is_fitted(model, "evidence_")
    if half_life is not None and not (is_number(half_life) and half_life > 0):
        raise ParameterError(
            Parameter("half_life"), f" must be a positive number of rows, got {half_life!r}"
        )
    if isinstance(model, EducatedNB):
        return add_rows(model, X, y, sample_weight, half_life)
    new = copy.copy(model)
    if half_life is not None:
        table = read(X, allow_sparse=model.event_model == "counts")
        rows = label_sample(table, y, sample_weight, model.classes_).class_counts.sum()
        old, share = model.evidence_, 0.5 ** (float(rows) / half_life)
        tables = tuple(replace(table, counts=share * table.counts) for table in old)
        new._keep(replace(old, class_counts=share * old.class_counts, tables=tables))
        inherit(new, model)
    return new.partial_fit(X, y, sample_weight=sample_weight)
