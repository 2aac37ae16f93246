"""What an exponent or a recalibration did to the total of one row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.evidence import Evidence, share_counts
from weigh.frames import Floats, Table, count_matrix
from weigh.tally import smoothed_levels


@dataclass(frozen=True)
class Attenuated:
    """From what the weights add up to, to the total.

    `before` is the sum of prior and items. The exponent multiplies it (form "root") or the items
    alone ("geometric"), and then `shift`, a change of the base rate, is added. `perplexity` is that
    of the n features or tokens under the class in question,

    PP = (P(x_1|C) ... P(x_n|C))^(-1/n)                                  (Carlos 2015, Eq. 5)

    without what was never seen in training; None where nothing is left.
    """

    before: float
    n: float
    exponent: float
    form: str
    shift: float
    perplexity: float | None
    unit: str


def attenuate_row(
    evidence: Evidence, table: Table, before: float, sign: Floats, of: int
) -> Attenuated | None:
    """What the rule does to a table's only row, if there is one."""
    rule = evidence.attenuation
    if rule is None:
        return None
    n = evidence.observed(table)
    return Attenuated(
        before=before,
        n=float(n[0]),
        exponent=float(rule.exponent(n)[0]),
        form=rule.form,
        shift=float(sign @ rule.shift) + 0.0,
        perplexity=_perplexity(evidence, table, of),
        unit="tokens" if evidence.event_model == "counts" else "features",
    )


def _perplexity(evidence: Evidence, table: Table, of: int) -> float | None:
    """Of the levels that a table's only row has, under one class."""
    logs, n = 0.0, 0.0
    for j, part in enumerate(evidence):
        times = _times(evidence, table, j)
        seen = smoothed_levels(part) & (times > 0)
        share = share_counts(part, part.smoothing)[seen, of]
        logs, n = logs + float(times[seen] @ np.log(share)), n + float(times[seen].sum())
    return float(np.exp(-logs / n)) if n else None


def _times(evidence: Evidence, table: Table, j: int) -> Floats:
    """How often the row has each level of a feature."""
    if evidence.event_model == "counts":
        return np.asarray(count_matrix(table).toarray()[0], dtype=np.float64)
    placed = evidence.features[j].read(table)
    times = np.zeros(len(evidence.tables[j].levels) + 1)
    times[placed.levels[placed.codes[0]]] = 1.0
    return times[:-1]


@dataclass(frozen=True)
class Recalibrated:
    """From what the weights add up to, to what that was worth on rows held out.

    `before` is the total of the weights, after the exponent if there is one; `after` is what the
    method makes of it. Then `shift`, a change of the base rate, is added, which gives the total.
    """

    before: float
    method: str
    after: float
    shift: float


def recalibrate_row(evidence: Evidence, table: Table, sign: Floats) -> Recalibrated | None:
    """What the recalibration does to a table's only row, if there is one."""
    worth = evidence.recalibration
    if worth is None:
        return None
    raw, direction = evidence.raw_total(table)[0], float(sign[0])
    after = float(worth.apply(raw)[0]) - worth.shift
    return Recalibrated(
        before=direction * float(raw[0]),
        method=worth.method,
        after=direction * after,
        shift=direction * worth.shift + 0.0,
    )


def map_ends(evidence: Evidence, sign: Floats, ends: Floats) -> Floats:
    """The ends of an interval of log odds after the recalibration, if there is one."""
    worth = evidence.recalibration
    return ends if worth is None else np.asarray(sign[0] * worth.apply(sign[0] * ends))
