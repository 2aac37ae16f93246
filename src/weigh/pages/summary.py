"""The first two pages of a report: what it predicts, how good it is, what matters, what to mind."""

from __future__ import annotations

from typing import Any

import numpy as np

from weigh.evaluation import Evaluation, Measures
from weigh.evaluation.show import bounded, number
from weigh.evaluation.values import Bounded
from weigh.evidence import FeatureTable, hundredths
from weigh.pages.subject import Subject

MOST = 12
"""Tables that the summary lists."""

LONGEST = 48
"""Characters of a level."""


def lead(subject: Subject, found: Evaluation) -> list[str]:
    """What the model predicts, what it was fitted on, and what it is judged on."""
    evidence = subject.evidence
    counted = zip(subject.classes, evidence.class_counts, evidence.base_rate, strict=True)
    shares = ", ".join(f"{name} {count:,.6g} ({rate:.1%})" for name, count, rate in counted)
    n_levels = sum(len(table.levels) for table in evidence)
    return [
        _predicts(subject),
        f"{subject.name}, fitted on {evidence.class_counts.sum():,.6g} rows: {shares}. It is a "
        f"prior and {len(evidence):,} tables of {n_levels:,} weights in all.",
        f"It is judged here on {found.validation.n_rows:,} rows.",
    ]


def _predicts(subject: Subject) -> str:
    if subject.of is None:
        return (
            f"This model predicts the probability of each of {len(subject.classes)} classes. A "
            "positive weight favours the class whose column it is in."
        )
    of = subject.classes[subject.of]
    what = subject.evidence.probability_of(subject.of)
    return (
        f"This model predicts the {what[0].lower()}{what[1:]}. On this page a positive weight "
        f"favours {of}, and a row that is flagged is taken for {of}."
    )


def key_measures(found: Evaluation) -> list[tuple[str, str]]:
    """The few measures that everybody asks for; all of them are in the details."""
    m = found.validation
    told = [
        ("Rows", f"{m.n_rows:,}"),
        ("Log loss, bits a row", bounded(m.loss, 4, 3)),
        ("Loss saved against the base rate", _percent(m.explained)),
    ]
    if not isinstance(m, Measures):
        return [
            *told,
            ("Misclassified", _percent(m.misclassification.value)),
            ("AUC, mean of the classes", number(m.mean_auc)),
        ]
    area = Bounded(m.auc.value, m.auc.low, m.auc.high)
    return [
        *told,
        ("AUC", bounded(area, 3)),
        ("Calibration slope (1 is right)", bounded(m.slope, 2)),
        ("Observed rate", _percent(m.base_rate.value)),
        ("Mean prediction", _percent(m.mean_prediction)),
        (f"Misclassified at {m.decision.rates.threshold:.3g}",
         _percent(m.decision.rates.misclassification)),
    ]  # fmt: skip


def _percent(share: float) -> str:
    return "-" if share != share else f"{share:.1%}"


def rank_tables(subject: Subject) -> dict[str, Any]:
    """The most important tables: how much each matters, and from which to which level it goes."""
    tables = sorted(subject.evidence.tables, key=lambda table: -table.importance)
    most = max((table.importance for table in tables), default=0.0) or 1.0
    total = sum(table.importance for table in tables) or 1.0
    rest = tables[MOST:]
    share = sum(table.importance for table in rest) / total
    return {
        "rows": [_rank(subject, table, most) for table in tables[:MOST]],
        "rest": f"{len(rest):,} more tables have {share:.0%} of the importance." if rest else "",
        "fitted": any(table.added_loss is not None for table in tables),
        "one": subject.of is not None,
    }


def _rank(subject: Subject, table: FeatureTable, most: float) -> dict[str, Any]:
    lost = table.added_loss
    return {
        "name": table.shown,
        "importance": f"{100 * table.importance:.0f}",
        "share": round(100 * table.importance / most, 1),
        "lost": "" if lost is None else f"{lost:.4f}",
        "ends": _ends(subject, table),
    }


def _ends(subject: Subject, table: FeatureTable) -> list[str]:
    """The levels of the least and the greatest weight, of those that some rows have."""
    places = np.flatnonzero(table.counts.any(axis=1))
    if subject.of is None or len(places) < 2:
        return []
    column = subject.of if table.by_class.shape[1] > 1 else 0
    weights, texts = table.by_class[:, column], subject.levels(table.feature)
    order = places[np.argsort(weights[places], kind="stable")]
    return [f"{hundredths(weights[i])} {_cut(texts[i])}" for i in (int(order[0]), int(order[-1]))]


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
