"""The checks of new rows with known outcomes, by the kind of the model."""

from __future__ import annotations

from typing import Any

import numpy as np

from weigh.bins import label
from weigh.errors import Parameter, ParameterError
from weigh.evaluation.estimates import Estimated
from weigh.evidence import Evidence
from weigh.frames import Sample, Table
from weigh.metrics.stability import compare_counts
from weigh.monitoring.checks import Check, compare_samples, expected_index
from weigh.monitoring.events import check_events
from weigh.monitoring.labels import Known, Labelled, compare_weights, measure
from weigh.monitoring.numbers import check_numbers

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
) -> Known:
    """The checks that need labels, numbers or events; none without y."""
    kind = kind_of(model, evidence)
    if exposure is not None and (y is None or kind in ("", HAZARD)):
        raise ParameterError(Parameter("exposure"), " is for numbers (y) only; leave it out")
    if kind == HAZARD and y is not None:
        return check_events(model, X, y)
    if kind and kind != HAZARD and y is not None:
        told = Estimated.of(model, X, y, None, exposure)
        quality, checks = check_numbers(model, told, float(evidence.class_counts.sum()))
        return Known(checks, [quality])
    return _check_labels(evidence, rows) if isinstance(rows, Sample) else Known()


def _check_labels(evidence: Evidence, sample: Sample) -> Known:
    rows = Labelled(evidence, sample, evidence.probabilities(evidence.total(sample.table)))
    known = Known([_check_classes(evidence, sample)])
    for c in rows.places:
        quality, checks = measure(rows, c)
        known.quality.append(quality)
        known.checks.extend(checks)
        shift = quality.in_the_large.value
        if np.isfinite(shift):
            held, moved = compare_weights(rows, c, shift)
            known.checks.extend(held)
            known.moved.extend(moved)
    return known


def _check_classes(evidence: Evidence, sample: Sample) -> Check:
    """A check of the class frequencies against those of training, or of the prior if it was set."""
    n_old, new = float(evidence.class_counts.sum()), sample.class_counts
    given = evidence.given_rate
    old = evidence.class_counts if given is None else given * n_old
    names = [label(c) for c in evidence.classes.tolist()]
    index = compare_counts(names, old, new).value
    chance = expected_index(len(old), n_old, float(new.sum()))
    return Check("class frequencies", "classes", index, chance, compare_samples(old, new))
