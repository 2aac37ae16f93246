"""What a reader of a report has to bear in mind, in sentences."""

from __future__ import annotations

from typing import Any

import numpy as np

from weigh.bins import Cross
from weigh.evidence import FeatureTable, weigh_counts
from weigh.pages.subject import Subject
from weigh.tally import Counts

FEW = 30
"""A weight that rests on fewer training rows is told to be uncertain."""

NAMED = 5
"""Names that one sentence lists."""

TURNED = "{}: the effect reverses once the other features are included."
AGREE, FAINT = -0.5, 0.01


def caveats(subject: Subject) -> list[str]:
    """What limits the model, whatever the measures say."""
    return [
        *_rates(subject),
        *_turned(subject),
        *_rare(subject),
        "Weights describe associations in the training rows. They are not effects of changing a "
        "value.",
    ]


def _rates(subject: Subject) -> list[str]:
    evidence = subject.evidence
    if np.allclose(evidence.assumed_rate, evidence.base_rate):
        return []
    pairs = zip(subject.classes, evidence.assumed_rate.tolist(), strict=True)
    rates = ", ".join(f"{name} {rate:.1%}" for name, rate in pairs)
    return [f"The model assumes other class frequencies than its training rows had: {rates}."]


def _rare(subject: Subject) -> list[str]:
    """Levels of few rows; of tokens and pairs most are, and nobody wonders."""
    single = [table for table in subject.evidence if not isinstance(table.feature, Cross)]
    rows = [table.counts.sum(axis=1) for table in single]
    n = sum(int(((part > 0) & (part < FEW)).sum()) for part in rows)
    if not n or subject.evidence.event_model == "counts":
        return []
    of = sum(map(len, rows))
    return [f"{n:,} of {of:,} weights rest on fewer than {FEW} training rows."]


def _turned(subject: Subject) -> list[str]:
    names = [table.shown for table in subject.evidence if _is_turned(table)]
    if not names:
        return []
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    listed = f"{', '.join(names[:NAMED])}{more}"
    return [
        f"The effect reverses once the other features are included: {listed}. "
        "Check for correlated features."
    ]


def reversals(subject: Subject) -> list[str]:
    """Features whose weights run against those of their own counts, one by one."""
    known: Any = getattr(subject.model, "reversals_", None)
    if known is not None:
        told = [f"{text}." for text in known]
    else:
        told = [TURNED.format(table.shown) for table in subject.evidence if _is_turned(table)]
    return told or ["None: every feature has the direction that it has alone."]


def _is_turned(table: FeatureTable) -> bool:
    """Whether the weights run against those of its own counts, by more than noise."""
    if isinstance(table.feature, Cross) or table.by_class.shape[1] > 1:
        return False
    alone = weigh_counts(Counts(table.feature, table.counts), table.smoothing).by_class[:, 0]
    alone, own, share = alone - table.share @ alone, table.centred[:, 0], table.share
    spread = float(share @ own**2) * float(share @ alone**2)
    faint = float(share @ np.abs(own)) < FAINT
    return not faint and spread > 0 and float(share @ (own * alone)) < AGREE * spread**0.5
