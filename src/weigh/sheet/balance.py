"""The data of a balance sheet: prior, items, adjustments of their total, and the probability."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np

from weigh.arrays import Floats
from weigh.bins import label
from weigh.evidence import HUNDREDTHS, Evidence, Units, share_counts
from weigh.frames import Table, build, count_matrix
from weigh.layout import Shown, View
from weigh.sheet import show
from weigh.tally import smoothed_levels


@dataclass(frozen=True)
class Attenuated:
    """The step from the sum of the weights to the total, by attenuation.

    `before` is the sum of prior and items. The exponent multiplies it (form "root") or the items
    alone ("geometric" and "known"), and then `shift`, a change of the base rate, is added. With
    "known", n is the share of the evidence that is not known; otherwise the number of features or
    tokens. `perplexity` is that of these n under the positive class,

    PP = (P(x_1|C) ... P(x_n|C))^(-1/n)                                  (Carlos 2015, Eq. 5)

    where levels not seen in training are left out. It is None if no feature is left.
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
    """The attenuation of a table's only row; None if the model does not attenuate."""
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
        perplexity=None if rule.form == "known" else _perplexity(evidence, table, of),
        unit="tokens" if evidence.event_model == "counts" else "features",
    )


def _perplexity(evidence: Evidence, table: Table, of: int) -> float | None:
    """The perplexity of the levels of a table's only row under one class."""
    logs, n = 0.0, 0.0
    for j, part in enumerate(evidence):
        times = _times(evidence, table, j)
        seen = smoothed_levels(part) & (times > 0)
        share = share_counts(part, part.smoothing)[seen, of]
        logs, n = logs + float(times[seen] @ np.log(share)), n + float(times[seen].sum())
    return float(np.exp(-logs / n)) if n else None


def _times(evidence: Evidence, table: Table, j: int) -> Floats:
    """The number of times that the row has each level of a feature."""
    if evidence.event_model == "counts":
        return np.asarray(count_matrix(table).toarray()[0], dtype=np.float64)
    placed = evidence.features[j].read(table)
    times = np.zeros(len(evidence.tables[j].levels) + 1)
    times[placed.levels[placed.codes[0]]] = 1.0
    return times[:-1]


@dataclass(frozen=True)
class Recalibrated:
    """The step from the sum of the weights to the total, by recalibration on hold-out rows.

    `before` is the total of the weights, after the exponent if there is one; `after` is the
    recalibrated total. Adding `shift`, a change of the base rate, gives the final total.
    """

    before: float
    method: str
    after: float
    shift: float


def recalibrate_row(evidence: Evidence, table: Table, sign: Floats) -> Recalibrated | None:
    """The recalibration of a table's only row; None if the model does not recalibrate."""
    curve = evidence.recalibration
    if curve is None:
        return None
    raw, direction = evidence.raw_total(table)[0], float(sign[0])
    after = float(curve.apply(raw)[0]) - curve.shift
    return Recalibrated(
        before=direction * float(raw[0]),
        method=curve.method,
        after=direction * after,
        shift=direction * curve.shift + 0.0,
    )


def map_ends(evidence: Evidence, sign: Floats, ends: Floats) -> Floats:
    """Limits of an interval of log odds, recalibrated if the model recalibrates."""
    curve = evidence.recalibration
    return ends if curve is None else np.asarray(sign[0] * curve.apply(sign[0] * ends))


COVERAGE = 0.9
"""Coverage of the interval of the probability."""

REACH = NormalDist().inv_cdf((1 + COVERAGE) / 2)
"""Half of the width of such an interval, in standard errors."""


@dataclass(frozen=True)
class Item:
    """The weight of one feature of the case; `note` gives the reason where it weighs nothing.

    `words` is the feature and its level as one phrase, for pairs of features, for `other` with the
    value that it stands for, and for levels that have a name of the user's.
    """

    feature: str
    level: str
    weight: float
    note: str = ""
    relation: str = "="
    words: str = ""
    title: str = ""  # the feature in the user's words

    @property
    def shown(self) -> str:
        """The feature's title, or its column name where it has none."""
        return self.title or self.feature

    def __str__(self) -> str:
        text = self.words or " ".join(filter(None, (self.shown, self.relation, self.level)))
        return f"{text} ({self.note})" if self.note else text


@dataclass(frozen=True, repr=False)
class BalanceSheet(Shown):
    """One case explained: prior, items, total, probability.

    `pos_label` is the class that positive weights favour, and `against` the class it is compared
    with; None means all other classes. Against one class, prior and items add up to `total`, the
    log odds. Against all others, they add up to the total of `pos_label`, and `totals` has the
    totals of all classes, which the softmax turns into probabilities. If the model attenuates or
    recalibrates, `attenuation` or `recalibration` describes the step from the sum of the weights to
    `total`.
    """

    pos_label: Any
    against: Any
    prior: float
    items: tuple[Item, ...]
    total: float
    probability: float
    interval: tuple[float, float] | None
    totals: dict[Any, float] | None = None
    two_classes: bool = True
    link: str = "logistic"
    caveat: str = ""
    assumes: str = ""  # the assumption of the interval, where there is one
    no_interval: str = ""  # the reason, where there is no interval
    coverage: float = COVERAGE
    attenuation: Attenuated | None = None
    recalibration: Recalibrated | None = None
    backend: str | None = field(default=None, compare=False, repr=False)
    names: Mapping[Any, str] = field(default_factory=dict, compare=False)  # class names by label
    outcome: str = field(default="", compare=False)  # completes "Probability that"
    units: Units = HUNDREDTHS  # the unit in which weights are shown
    event_by: tuple[str, float] | None = None  # survival: time, and P(event by then)
    far: tuple[str, ...] = ()  # numbers far beyond the cut points, in words

    def name_of(self, class_label: Any) -> str:
        """The name of a class, or its label where it has no name."""
        return self.names.get(class_label) or label(class_label)

    @property
    def probability_name(self) -> str:
        """The caption of the probability."""
        if self.outcome and self.question == self.name_of(self.pos_label):
            return f"Probability that {self.outcome}"
        return f"Probability of {self.question}"

    @property
    def question(self) -> str:
        """The class whose probability this is; with its rival, if there are several."""
        rival = self.against is not None and not self.two_classes
        return (
            f"{self.name_of(self.pos_label)} rather than {self.name_of(self.against)}"
            if rival
            else self.name_of(self.pos_label)
        )

    @property
    def evidence_for(self) -> tuple[Item, ...]:
        """Items with positive weight, heaviest first."""
        return tuple(sorted((i for i in self.items if i.weight > 0), key=lambda i: -i.weight))

    @property
    def evidence_against(self) -> tuple[Item, ...]:
        """Items with negative weight, heaviest first."""
        return tuple(sorted((i for i in self.items if i.weight < 0), key=lambda i: i.weight))

    @property
    def not_known(self) -> tuple[Item, ...]:
        """Items without an answer, or with a value never seen in training: they weigh nothing."""
        return tuple(item for item in self.weightless if item.note)

    @property
    def weightless(self) -> tuple[Item, ...]:
        """Items of weight zero: those not known, and features without evidence."""
        return tuple(item for item in self.items if item.weight == 0)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return (
            {
                "pos_label": self.pos_label,
                "against": self.against,
                "prior": self.prior,
                "items": [
                    {k: v for k, v in vars(i).items() if k not in ("words", "title")}
                    for i in self.items
                ],
                "total": self.total,
                "probability": self.probability,
                "interval": self.interval and list(self.interval),
                "totals": self.totals and {label(c): t for c, t in self.totals.items()},
                "attenuation": self.attenuation and {**vars(self.attenuation)},
                "recalibration": self.recalibration and {**vars(self.recalibration)},
            }
            | ({} if self.event_by is None else {"event_by": [*self.event_by]})
            | self._points()
        )

    def _points(self) -> dict[str, Any]:
        """Base points, points of each item and score; empty unless the model is a scorecard."""
        units = self.units
        if not units.are_points:
            return {}
        points = [units.whole(item.weight) for item in self.items]
        base, score = units.total(self.prior), units.total(self.total)
        return {"base_points": base, "points": points, "score": score}

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per item, the prior first: feature, level, weight and note.

        The table is of the dataframe library of the row, or of `backend`, such as "polars"; for a
        dict, of that of the training table. The weights add up as those of the sheet do.
        """
        rows = (Item("Prior", "", self.prior), *self.items)
        names = ("feature", "level", "weight", "note")
        return build({n: [getattr(row, n) for row in rows] for n in names}, backend or self.backend)

    def to_text(self, width: int = 100) -> str:
        """The two-column layout as plain text, at most `width` characters wide."""
        return show.to_text(self, width)

    def view(self) -> View:
        """The sheet as one table with bars, for notebooks."""
        return show.to_view(self)


def conversion_table() -> list[tuple[float, int]]:
    """Probability and total weight of evidence times 100 (Table 4 of Ridgeway 2025).

    >>> conversion_table()[:2]
    [(0.1, -220), (0.2, -139)]
    """
    return [(p / 10, round(100 * float(np.log(p / (10 - p))))) for p in range(1, 10)]
