"""The evidence of two classes seen from the other side."""

from __future__ import annotations

from dataclasses import replace

from weigh.evidence.curve import Recalibration
from weigh.evidence.tables import Evidence, FeatureTable
from weigh.frames import Floats


def flip(evidence: Evidence) -> Evidence:
    """The same evidence with its two classes in the other order: positive speaks for the first.

    total'(x) = -total(x), and what turned it into a probability is turned with it

    >>> import weigh
    >>> evidence = weigh.EvidenceNB().fit(weigh.datasets.titanic(), "Survived").evidence_
    >>> turned = flip(evidence)
    >>> turned.classes.tolist(), (100 * turned["Sex"].weights).round().tolist()
    (['Yes', 'No'], [-174.0, 57.0])
    """
    if len(evidence.classes) != 2:
        raise ValueError(f"only two classes can be turned round, not {len(evidence.classes)}")
    rule, worth = evidence.attenuation, evidence.recalibration
    return replace(
        evidence,
        classes=evidence.classes[::-1],
        class_counts=evidence.class_counts[::-1],
        prior=-float(evidence.prior_row[0]),
        tables=tuple(map(_turn_table, evidence.tables)),
        assumed_rate=evidence.assumed_rate[::-1],
        prior_variances=_swap(evidence.prior_variances),
        attenuation=rule and replace(rule, shift=-rule.shift),
        recalibration=worth and _turn_curve(worth),
        class_texts=evidence.class_texts[::-1],
        outcomes=evidence.outcomes[::-1],
        units=evidence.units.turned,
    )


def _swap(by_class: Floats | None) -> Floats | None:
    return None if by_class is None else by_class[..., ::-1]


def _turn_table(table: FeatureTable) -> FeatureTable:
    return replace(
        table,
        counts=table.counts[:, ::-1],
        by_class=-table.by_class + 0.0,  # no negative zero
        variances=_swap(table.variances),
    )


def _turn_curve(worth: Recalibration) -> Recalibration:
    """-f(-total): the points from right to left."""
    steps = worth.method == "isotonic"
    return replace(
        worth,
        points=-worth.points[::-1],
        levels=1 - worth.levels[::-1] if steps else -worth.levels[::-1],
        slopes=worth.slopes[::-1],
        shift=-worth.shift + 0.0,
    )
