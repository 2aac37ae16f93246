"""What a recalibration did to the total of one row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.evidence import Evidence
from weigh.frames import Floats, Table


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
