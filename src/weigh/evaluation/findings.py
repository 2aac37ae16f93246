"""Findings: the main results in sentences, and features that may leak the target."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.bins import label
from weigh.evaluation.decisions import choose_of_groups
from weigh.evaluation.error_gaps import tell_error_gaps
from weigh.evaluation.groups import Group, tell_off
from weigh.evaluation.measures import ManyMeasures, Measures
from weigh.evidence import hash_files
from weigh.frames import Codes, Column, FarTable, Scan, Table, Value, is_of_files, is_sparse, read
from weigh.layout import list_few
from weigh.metrics import Scored
from weigh.metrics.numbers import Bounded
from weigh.metrics.predictions import Predicted

if TYPE_CHECKING:
    from weigh.evaluation.result import Evaluation


MEND = "Recalibration corrects this."
ALL = 0.98
"""Above this share of training rows, all rows are called training rows."""
SHOWN = 3
"""Most cut-offs with a sentence of their own; a table has all."""
VAGUE = 1.0
"""If the interval of the slope is wider, there are too few rows to judge calibration."""


def find(found: Evaluation) -> tuple[str, ...]:
    """Sentences on loss, ranking, calibration, decisions, training rows and leaks."""
    lines = [tell_training_rows(found.training_rows), _loss(found)]
    if isinstance(found.validation, Measures):
        of, measures = label(found.pos_label), found.validation
        lines += [
            _ranking(measures, of),
            *_calibration(found, measures, of),
            *_groups(found, measures),
        ]
        lines += [*_given(measures, of), _decision(found, measures)]
    else:
        lines.append(_confusion(found.validation, found.classes))
    lines += [*_training(found), tell_leaks(found.leaks) if found.leaks else ""]
    return tuple(filter(None, lines))


def beside_measures(found: Any) -> list[str]:
    """The findings without loss and ranking, which pages show as numbers."""
    first = int(bool(tell_training_rows(found.training_rows)))
    return [*found.findings[:first], *found.findings[first + 2 :]]


def tell_training_rows(share: float | None) -> str:
    """A warning that a share of the rows are training rows; empty if none are."""
    if not share:
        return ""
    which = "These are" if share > ALL else f"About {share:.0%} of these rows are"
    return (
        f"{which} training rows, so the measures are too favourable. "
        "Use hold-out rows: `weigh split`, or `weigh fit --holdout`."
    )


def _loss(found: Evaluation) -> str:
    measures = found.validation
    if not measures.base_loss:
        return "All rows belong to one class, so ranking and loss cannot be judged."
    start, alone = f"Loss: {measures.loss.value:.4f} bits a row", "always predicting the base rate"
    base = f"{alone} ({measures.base_loss:.4f})"
    if measures.explained < 0:
        return f"{start}, more than {base}."
    if measures.explained == 0:
        return f"{start}, as much as {base}."
    return f"{start}, {measures.explained:.1%} less than {base}."


def _ranking(measures: Measures, of: str) -> str:
    area = measures.auc
    if area.value != area.value:
        return ""
    start = (
        f"AUC {area.value:.3f}: a random row of {of} has a higher probability than a random other "
        f"row {area.value:.1%} of the time."
    )
    if area.low <= 0.5 <= area.high:
        return f"{start} This may be chance."
    if area.high < 0.5:
        return f"{start} The ranking is reversed: check for swapped classes."
    return start


def _calibration(found: Evaluation, measures: Measures, of: str) -> list[str]:
    mend = "" if found.training_rows else f" {MEND}"  # unknown from training rows
    slope, level = measures.slope, measures.in_the_large
    told = tell_slope(slope, "overconfident", "underconfident")
    if slope.high < 0:
        return [told]
    lines = [f"{told}{mend}"] if slope.has_interval() and not slope.holds(1) else []
    if level.has_interval() and not level.holds(0):
        off = "high" if level.value < 0 else "low"
        lines.append(
            f"Predictions are too {off}: mean {measures.mean_prediction:.1%} {of}, observed "
            f"{measures.base_rate.value:.1%}.{mend}"
        )
    return lines or [*filter(None, [told])]


def tell_slope(
    slope: Bounded, below: str, above: str, right: str = "no significant miscalibration"
) -> str:
    """A sentence on a calibration slope: what it means `below` or `above` 1, if that is sure.

    Empty for an unknown slope.
    """
    if not slope.is_known():
        return ""
    if not slope.has_interval():
        what = "too few rows for an interval"
    elif slope.high < 0:
        what = "higher predictions go with lower observed values"
    elif not slope.holds(1):
        what = f"{below if slope.value < 1 else above} (1 is right)"
    elif slope.high - slope.low > VAGUE:
        what = "too few rows to judge"
    else:
        what = right
    return f"Calibration slope {slope.spelled('{:.2f}'.format)}: {what}."


def _groups(found: Evaluation, measures: Measures) -> list[str]:
    """Sentences about the groups whose mean prediction is biased, or whose error rates differ."""
    groups = [group for group in found.groups if isinstance(group, Group)]
    off = [
        f"{group.name} (predicted {group.mean_prediction:.1%}, "
        f"observed {group.base_rate.value:.1%})"
        for group in groups
        if group.in_the_large.has_interval() and not group.in_the_large.holds(0)
    ]
    biased = tell_off(
        "Groups with biased predictions",
        off,
        [group.in_the_large for group in groups],
        found.coverage,
    )
    decided = choose_of_groups(measures.cut_offs, measures.decision)
    gaps = tell_error_gaps(groups, decided.rates.threshold, found.coverage)
    return [*filter(None, [biased]), *gaps]


def _given(measures: Measures, of: str) -> list[str]:
    """A sentence for each given cut-off: the rows above it, precision and recall."""
    told = []
    for part in measures.cut_offs[:SHOWN]:
        flagged, right, found = part.flagged.value, part.ppv.value, part.sensitivity.value
        start = f"At the cut-off {part.rates.threshold:.6g}, {flagged:.1%} of the rows are flagged"
        correct = f": {right:.1%} of them are {of} (precision)" if right == right else ""
        caught = f"; {found:.1%} of all {of} are flagged (recall)" if found == found else ""
        told.append(f"{start}{correct}{caught}.")
    return told


def _decision(found: Evaluation, measures: Measures) -> str:
    chosen, best = measures.decision, measures.best
    wrong, missed = found.costs
    text = (
        f"Cut-off {chosen.rates.threshold:.3g} for {label(found.pos_label)} (a false positive "
        f"costs {wrong:g}, a false negative {missed:g}): mean cost {chosen.cost:.4f} a row"
    )
    if best.cost >= chosen.cost:
        text += ", the lowest on these rows."
    else:
        text += f". The best cut-off on these rows is {best.rates.threshold:.3g} ({best.cost:.4f})."
    all_or_none = f"{measures.cost_of_all:.4f}, flagging none {measures.cost_of_none:.4f}"
    return f"{text} Flagging every row costs {all_or_none}."


def _confusion(measures: ManyMeasures, classes: tuple[Value, ...]) -> str:
    wrong = measures.confusion * (1 - np.eye(len(classes)))
    start = f"Misclassification: {measures.misclassification.value:.1%} of the rows"
    if not wrong.any():
        return f"{start}."
    true, said = np.unravel_index(wrong.argmax(), wrong.shape)
    share = wrong[true, said] / measures.confusion[true].sum()
    names = label(classes[true]), label(classes[said])
    return f"{start}; most often {names[0]} is taken for {names[1]}, {share:.1%} of the time."


def tell_leaks(leaks: Sequence[str]) -> str:
    """A sentence about columns that may leak the target."""
    alone = "alone tells" if len(leaks) == 1 else "each alone tell"
    return (
        f"Leak? {list_few(leaks)} {alone} the classes apart without a mistake: is it what is to be "
        "predicted, or known only after it?"
    )


def _training(found: Evaluation) -> list[str]:
    if found.training is None or found.stability is None:
        return []
    there, here = found.training.loss.value, found.validation.loss.value
    shift = f"{found.stability.shift} (PSI {found.stability.value:.3f})"
    return [
        f"Training rows: the loss was {there:.4f} there and is {here - there:+.4f} here; "
        f"shift of the predictions: {shift}."
    ]


def find_training_rows(model: Any, X: Any) -> float | None:
    """The estimated share of rows that the model was fitted on; None if not known.

    Rows are recognised by the sketch in the model's provenance. Rows that are too similar for it
    are recognised by their file, if X knows its file.
    """
    known: Any = getattr(model, "provenance_", None)
    found = _find_sketched(model, known, X)
    if found or known is None:
        return found
    return known.share_of_files if _is_of_fit(known, X) else found


def _is_of_fit(known: Any, X: Any) -> bool:
    """Whether a table was read from the files of the fit; not known for most tables."""
    if not (known.sha256 and known.rows):
        return False
    if isinstance(X, Scan):
        return bool(X.files) and hash_files(X.files) == known.sha256
    return is_of_files(X, known.sha256)


def _find_sketched(model: Any, known: Any, X: Any) -> float | None:
    """The share by the sketch; None if the model has none, or X lacks its columns."""
    sketch = getattr(known, "training_rows", None)
    if sketch is None or not hasattr(model, "_read"):  # such as a scorecard
        return None
    if known.columns is None:
        table = model._read(X)
    elif {*known.columns} <= {*(table := read(X)).names}:
        table = table.select(known.columns)
    else:
        return None
    return None if isinstance(table, FarTable) else sketch.overlap(table)


def tell_other_target(model: Any, y: Any) -> str:
    """A note that the model was fitted to a target of another name; empty otherwise."""
    known = getattr(getattr(model, "provenance_", None), "target", None)
    if known is None or not isinstance(y, str) or y == known:
        return ""
    return f"The model was fitted to {known!r}, and is evaluated on {y!r}."


LEAST, ROWS = 10, 5
"""Least number of rows of each class with a known value, and of rows per level.

The second keeps ids, which have a level per row, from being reported as leaks.
"""


def find_leaks(model: Any, X: Any, predicted: Predicted) -> tuple[str, ...]:
    """The model's features whose AUC, taken alone, is 1.

    A numeric feature separates the classes if their ranges do not overlap; a categorical feature
    does if no level has rows of two classes.
    """
    used = {str(name) for name in getattr(model, "feature_names_in_", ())}
    if not used or is_sparse(X):  # a token may well be in documents of one class only
        return ()
    table, rows = read(X), predicted.rows
    codes = rows.positive.astype(np.int64) if isinstance(rows, Scored) else rows.codes
    table = table.select(tuple(name for name in table.names if name in used))
    return list_leaks(table, predicted.kept, codes)


def list_leaks(table: Table, kept: Any, classes: Integers) -> tuple[str, ...]:
    """The columns of a table that each separate the classes perfectly, among the kept rows."""
    return tuple(name for name in table.names if _parts(table.column(name), kept, classes))


def _parts(column: Column, kept: Any, classes: Integers) -> bool:
    if isinstance(column, Codes):
        missing = np.array([value is None for value in column.values] or [True])
        places = column.codes[kept]
        known = ~missing[places]
        return _parts_levels(places[known], classes[known])
    values = column.values[kept]
    known = ~np.isnan(values)
    return _parts_numbers(values[known], classes[known])


def _parts_levels(codes: Integers, classes: Integers) -> bool:
    if not _enough(classes):
        return False
    n_classes = int(classes.max()) + 1
    size = (int(codes.max()) + 1) * n_classes
    counts = np.bincount(codes.astype(np.int64) * n_classes + classes, minlength=size)
    of_each = (counts.reshape(-1, n_classes) > 0).sum(axis=1)  # classes per level
    return int(of_each.max()) == 1 and ROWS * int(of_each.sum()) <= len(codes)


def _parts_numbers(values: Floats, classes: Integers) -> bool:
    if not _enough(classes):
        return False
    counts = np.bincount(classes)
    starts = (np.cumsum(counts) - counts)[counts > 0]
    by_class = values[np.argsort(classes, kind="stable")]
    ranges = zip(
        np.minimum.reduceat(by_class, starts), np.maximum.reduceat(by_class, starts), strict=True
    )
    return all(below[1] < above[0] for below, above in pairwise(sorted(ranges)))


def _enough(classes: Integers) -> bool:
    counts = np.bincount(classes)
    counts = counts[counts > 0]
    return len(counts) > 1 and int(counts.min()) >= LEAST
