"""Update a fitted `EducatedNB` with new rows, or merge models, without the earlier rows."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from scipy.stats import entropy
from sklearn.utils.validation import check_is_fitted

from weigh import engine
from weigh.base import read_sample
from weigh.bins import Binning, Cross, Feature
from weigh.educated.attenuation import keep_incomplete
from weigh.educated.blanks import zero_not_known
from weigh.educated.design import Target
from weigh.educated.learner import EducatedNB, fit_and_warn
from weigh.educated.loo import SEPARABLE
from weigh.educated.summary import (
    Beside,
    Summary,
    count_rows,
    levels_of,
    moved_rate,
    sources_of,
    split_pairs,
    summarise_rows,
)
from weigh.educated.tables import replace_tables
from weigh.educated.task import Task
from weigh.engine import Coded, CodedRows
from weigh.errors import Parameter, ParameterError
from weigh.evidence import Evidence, evidence_of, weigh_tally
from weigh.evidence.model import merge_provenance, refuse_different
from weigh.frames import FarTable, Sample
from weigh.parameters import read_caps, read_orders, read_settings
from weigh.tally import Tally


def summarise(model: Any, X: Any, y: Any, *, sample_weight: Any = None) -> EducatedNB:
    """Keep a summary of the training rows, so that an `EducatedNB` can be updated without them.

    The summary is the loss of the rows to second order at the fitted weights::

        loss(w) = constant - r'w + 1/2 w'H w

    with all weights in one vector, and the counts of their levels. It takes one pass, and holds
    n^2/2 numbers for n weights: 8 bytes each, a third more in a file.

    Parameters
    ----------
    model : EducatedNB
        Fitted model of two classes, or of more with `multiclass="softmax"`. It is not changed.
    X, y, sample_weight
        The rows that it was fitted to, as in `fit`.

    Returns
    -------
    EducatedNB
        A copy of the model with the attribute `summary_`, which `weigh.update`, `merge` and
        `weigh.save` use.

    Examples
    --------
    >>> import weigh
    >>> old, new = weigh.split(weigh.datasets.titanic(), "Survived", holdout=0.5)
    >>> model = weigh.EducatedNB().fit(old, "Survived")
    >>> model = weigh.summarise(model, old, "Survived")
    >>> weigh.update(model, new, "Survived").evidence_.class_counts.tolist()
    [1490.0, 711.0]
    """
    evidence = _check_model(model, "summarise")
    sample = _read(model, X, y, sample_weight)
    tally = count_rows(sample, levels_of(evidence), read_settings(model, sample.table))
    found = summarise_rows(evidence, sample, tally)
    if not found.is_of(evidence):
        raise ValueError(
            f"these rows are not those that the model was fitted to: they have "
            f"{_tell(tally)}, and it was fitted to {_tell(evidence)}; give the training rows, "
            "with their sample_weight"
        )
    kept: EducatedNB = copy.copy(model)
    kept.summary_ = replace(found, scales=_known_scales(model))
    return kept


def add_rows(model: EducatedNB, X: Any, y: Any, sample_weight: Any, half_life: Any) -> EducatedNB:
    """Refit the model to old and new rows; `half_life` reduces the weight of the old ones."""
    past = _summary_of(model, "update")
    sample = _read(model, X, y, sample_weight)
    features = [counts.feature for counts in past.tally.tables]
    batch = count_rows(sample, features, read_settings(model, sample.table))
    if half_life is not None:
        past = 0.5 ** (float(sample.class_counts.sum()) / half_life) * past
    _refuse_outgrown(model, past.tally + batch)
    new = _fit([model], past, sample, batch)
    evidence = new.evidence_
    on_all = count_rows(sample, levels_of(evidence), read_settings(model, sample.table))
    added = replace(summarise_rows(evidence, sample, on_all), scales=past.scales)
    new.summary_ = past + added
    known = getattr(model, "provenance_", None)
    if known is not None:
        new.provenance_ = known.add(sample.table, y)
    return new


def merge_models(models: Sequence[EducatedNB]) -> EducatedNB:
    """Fit one model to the rows of all models, from their summaries."""
    first = models[0]
    summaries = [_summary_of(model, "merge") for model in models]
    for other in models[1:]:
        _check_alike(first, other)
    whole = reduce(add, summaries)
    _refuse_outgrown(first, whole.tally)
    new = _fit(models, whole, None, None)
    new.summary_ = whole
    merge_provenance(new, models)
    return new


def _fit(
    models: Sequence[EducatedNB], past: Summary, sample: Sample | None, batch: Tally | None
) -> EducatedNB:
    """Fit scales and weights to new rows (if any) and to rows that are known by their summary.

    A summary has no blanked rows, so what only incomplete rows use is taken from the models.
    """
    model = models[0]
    tally = past.tally if batch is None else past.tally + batch
    known, old, scales = past.laid_on(tally), model.evidence_, past.scales
    features = [counts.feature for counts in tally.tables]
    coded, _ = split_pairs(features)
    rows = _no_rows(len(coded)) if sample is None else engine.code_rows(sample, coded)
    orders = read_orders(model.monotonic_cst, tally, old.column_names)
    target = Target(tally.class_counts)
    task = Task(
        rows,
        tally.tables,
        target,
        orders,
        pairs=sources_of(features),
        past=known.loss,
        scales=None if scales is None else np.array([scales[f.name] for f in features]),
    )
    with engine.one_blas_thread():
        fit = fit_and_warn(task)
        evidence = replace_tables(weigh_tally(tally, model.smoothing), tally.tables, [fit], ())
        evidence, passes = zero_not_known(evidence, Beside(rows, known.blanks), coded)  # type: ignore[arg-type]
    evidence = keep_incomplete(evidence, [one.evidence_ for one in models])
    rate = moved_rate(old)
    evidence = evidence if rate is None else evidence.with_prior(rate)
    new = copy.copy(model)._keep(replace(evidence, backend=old.backend, columns=old.columns))
    new.scales_, new.n_passes_ = fit.scales, fit.n_passes + passes[0]
    new.loosening_ = fit.loosening if scales is None else model.loosening_
    new.loo_loss_ = fit.loo_bits  # of the new rows only
    new.point_ = None  # refitted weights are not whole points any more
    new.pair_gains_ = np.full(len(features) - len(coded), np.nan)
    return new


def _known_scales(model: EducatedNB) -> dict[str, float] | None:
    """The scale of each feature if classes are nearly separable, when a quadratic is not enough."""
    least = SEPARABLE * float(entropy(model.evidence_.class_counts, base=2))
    if (getattr(model, "loosening_", None) or 1.0) == 1.0 and not model.loo_loss_ < least:
        return None
    return dict(zip(model.evidence_.names, model.scales_.tolist(), strict=True))


def _no_rows(n_features: int) -> Coded:
    return CodedRows([np.zeros(0, dtype=np.uint8)] * n_features, np.zeros(0, dtype=np.uint8))


def _read(model: EducatedNB, X: Any, y: Any, sample_weight: Any) -> Sample:
    sample = read_sample(model, X, y, sample_weight, model.classes_)
    if isinstance(sample.table, FarTable):
        sample.table.refuse("a summary is made of rows in memory or in files")
    return replace(sample, table=model._match(sample.table))


def _check_model(model: Any, what: str) -> Evidence:
    """The evidence of a model whose rows can be summarised; raises an error for other models."""
    if not isinstance(model, EducatedNB):
        raise ValueError(f"{what} takes an EducatedNB, got {type(model).__name__}")
    check_is_fitted(model, "evidence_")
    evidence = model.evidence_
    if evidence.link == "ovr":
        raise ParameterError(
            f"{what} takes classes that were fitted jointly; fit with ",
            Parameter("multiclass", "softmax"),
        )
    if model.ask_if is not None:
        raise ParameterError(
            f"{what} takes no model with ", Parameter("ask_if"), "; fit without it"
        )
    if edits := evidence.edits:
        made = "; ".join(edit.call for edit in edits)
        raise ValueError(
            f"this EducatedNB was edited by hand, which more rows would undo: {made}. {what} the "
            "model before its edits, then make them again: "
            "weigh.edit(updated, X, y).replay(edited.evidence_.edits).model"
        )
    return evidence


def _summary_of(model: Any, what: str) -> Summary:
    evidence = _check_model(model, what)
    found = getattr(model, "summary_", None)
    if found is None:
        raise ValueError(
            f"{what} needs a summary of the training rows, and this EducatedNB has none: make it "
            "with weigh.summarise(model, X, y) or `weigh fit --summary`, and load it with "
            "weigh.load(path, summary=True)"
        )
    if not found.is_of(evidence):
        raise ValueError(
            f"the summary and the model have different training rows ({_tell(found.tally)} against "
            f"{_tell(evidence)}); make it again with weigh.summarise(model, X, y)"
        )
    return found  # type: ignore[no-any-return]


def _tell(rows: Tally | Evidence) -> str:
    return ", ".join(
        f"{count:,g} of {label}"
        for label, count in zip(rows.classes.tolist(), rows.class_counts.tolist(), strict=True)
    )


def _check_alike(one: EducatedNB, other: EducatedNB) -> None:
    """Raise an error if parameters, classes or pairs differ: such summaries cannot be added."""
    for name in ("smoothing", "missing", "crosses", "max_levels", "monotonic_cst"):
        refuse_different(name, getattr(one, name), getattr(other, name))
    mine, theirs = (moved_rate(model.evidence_) for model in (one, other))
    if [*(mine if mine is not None else ())] != [*(theirs if theirs is not None else ())]:
        raise ValueError(f"the models differ in class_prior: {mine} against {theirs}")
    if one.classes_.tolist() != other.classes_.tolist():
        raise ValueError(
            f"the models differ in classes: {one.classes_.tolist()} against "
            f"{other.classes_.tolist()}"
        )
    _check_pairs(*({p.name: p for p in split_pairs(m.evidence_.features)[1]} for m in (one, other)))


def _check_pairs(mine: dict[str, Cross], theirs: dict[str, Cross]) -> None:
    for name in sorted(mine.keys() ^ theirs.keys()):
        raise ParameterError(
            f"the pair {name!r} is in one of the models only; fit both with ", Parameter("pairs", 0)
        )
    for name, pair in mine.items():
        if [part.cuts for part in pair.parts] != [part.cuts for part in theirs[name].parts]:
            raise ParameterError(
                f"the models differ in cut points of the pair {name!r}; fit both with ",
                Parameter("pairs", 0),
            )


def _refuse_outgrown(model: EducatedNB, tally: Tally) -> None:
    """Raise an error if a column exceeds `max_levels`: a summary cannot merge its levels."""
    most = read_caps(model, model.evidence_.column_names)
    for counts in tally.tables:
        for part in counts.feature.parts:
            cap = most.get(part.name)
            if cap is not None and not part.is_numeric and len(part.values) > cap:
                raise ParameterError(
                    f"column {part.name!r} now has {len(part.values)} levels, more than ",
                    Parameter("max_levels", cap),
                    "; fit all rows at once",
                )


def cut_points(model: Any) -> dict[str, Any]:
    """The cut points of each numeric column of a fitted model, to give as `bins` to another.

    Models of different rows can be merged if they share cut points. Each is a list of numbers, or
    `Binning(cuts=..., closed="left")` if bins include their lower limit.

    Examples
    --------
    >>> import weigh
    >>> north = weigh.EducatedNB().fit([{"age": a} for a in [20, 30, 40, 50] * 9], [0, 0, 1, 1] * 9)
    >>> cuts = weigh.cut_points(north)
    >>> south = weigh.EducatedNB(bins=cuts, pairs=0)
    """
    features = levels_of(evidence_of(model, numbers=True))
    parts = [part for f in features if not isinstance(f, Cross) for part in f.parts]
    return {part.name: _cuts_of(part) for part in parts if part.cuts is not None}


def _cuts_of(part: Feature) -> Any:
    return Binning(cuts=part.cut_points, closed="left") if part.left else [*(part.cuts or ())]
