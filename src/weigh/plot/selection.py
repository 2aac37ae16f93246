"""What a figure of weights shows: features, classes, and the levels of each panel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.bins import Cross, Feature, Interval, printable
from weigh.chart_data import NumberAxis
from weigh.evidence import Evidence, FeatureTable, hundredths, rule
from weigh.evidence.ranking import has_tokens, sort_levels
from weigh.evidence.units import Amounts, spell, words_of
from weigh.parameters import check_count
from weigh.plot.axes import AGAINST, ALLOWED, FOR, OKABE_ITO, brief_labels, usual_weights
from weigh.sheet import REACH, choose_classes, difference, find_class, refuse_classes


@dataclass(frozen=True, eq=False)
class WeightLine:
    """One line of weights for a class or a pair of classes, or one for each of many classes.

    The product of a row of `signs` and a level's weights by class is the weight of that line.
    """

    names: tuple[str, ...]
    signs: Floats
    about: str
    scale: float = 100.0  # of the numbers drawn
    digits: int = 0  # their decimal places
    caption: str = ""  # what they are; empty for weights of evidence
    per_nat: float = 100.0  # the number drawn for a nat, or 100 times the smallest of amounts

    @property
    def words(self) -> str:
        """What the numbers drawn are, in words."""
        return self.caption or f"Weight of evidence for {self.about}, times 100"

    @property
    def step(self) -> float:
        """The smallest difference of two numbers as shown."""
        return 10.0**-self.digits

    @property
    def allowed(self) -> float:
        """How far a rare level may lie from the others on the axes: 1.5 nats, for amounts alike."""
        return self.per_nat * ALLOWED * self.step

    def weights(self, table: FeatureTable) -> Floats:
        """Weights by level and line."""
        return np.asarray(table.by_class @ self.signs.T)

    def errors(self, table: FeatureTable) -> Floats | None:
        """Standard errors by level and line; None where the learner has none."""
        if len(self.signs) == 1 and np.count_nonzero(self.signs) == 2:
            if table.variances is None:
                return None
            pair = table.variances @ np.abs(self.signs.T)  # each class has its own Dirichlet
            return np.asarray(np.sqrt(pair))
        if table.errors is None:
            return None
        errors = table.errors.reshape(table.by_class.shape)
        return np.column_stack([errors[:, sign != 0] for sign in self.signs])

    def importance(self, table: FeatureTable) -> float:
        """Mean distance of a training row's weight from the mean weight, averaged over lines."""
        weights = self.weights(table)
        return float((table.share @ np.abs(weights - table.share @ weights)).mean())


def ask(evidence: Evidence, pos_label: Any = None, against: Any = None) -> WeightLine:
    """The classes that a figure shows: by default `classes[1]` of two; with more, every class."""
    if evidence.estimates:
        refuse_classes("a regressor has no classes", pos_label, against)
        return _ask_number(evidence)
    classes = evidence.classes.tolist()
    two, b = len(classes) == 2, find_class(classes, against, -1, "against")
    if b >= 0 and not two:
        _check_rival(evidence, pos_label)
    if not two and pos_label is None:
        return _ask_each(evidence)
    a, b = choose_classes(classes, pos_label, against)
    names = evidence.class_names
    about = names[a]
    if b >= 0 and not two:
        about += f" rather than {names[b]}"
    about, signs = printable(about), difference(len(classes), a, b)[None, :]
    if evidence.units.are_points:  # which are those of the good class, whatever the question
        per_nat = evidence.units.scale
        scale = per_nat if a else -per_nat
        caption = f"Points; high scores favour {printable(names[-1])}"
        return WeightLine((about,), signs, about, scale, caption=caption, per_nat=per_nat)
    return WeightLine((about,), signs, about)


def _ask_number(evidence: Evidence) -> WeightLine:
    """The line of a regressor: in the unit of the target, or the logarithm of a factor."""
    name, signs = printable(evidence.class_names[0]), np.ones((1, 1))
    words = words_of(evidence)
    if isinstance(words, Amounts):
        caption = f"Change of the estimate of {name}"
        return WeightLine((name,), signs, name, 1.0, words.digits, caption)
    caption = f"Change of the logarithm of {name}, times 100 (roughly percent)"
    return WeightLine((name,), signs, name, caption=caption)


def _check_rival(evidence: Evidence, pos_label: Any) -> None:
    if pos_label is None:
        raise ValueError("against= needs pos_label=, the class to compare it with")
    if evidence.link == "ovr":
        raise ValueError(
            "weights of one class against the rest cannot compare two classes; "
            "leave against out (tables of AdjustedNB(multiclass='softmax') take it)"
        )


def _ask_each(evidence: Evidence) -> WeightLine:
    """A line for each class; with more classes than colours, for those with the most rows."""
    most = np.argsort(-evidence.class_counts, kind="stable")[: len(OKABE_ITO)]
    chosen = np.sort(most)
    names = tuple(printable(evidence.class_names[k]) for k in chosen)
    n_classes = len(evidence.classes)
    about = "each class" if len(chosen) == n_classes else f"{len(chosen)} of {n_classes} classes"
    return WeightLine(names, np.eye(n_classes)[chosen], about)


@dataclass(frozen=True, eq=False)
class Choice:
    """The features that a figure draws, in order, and those that it leaves out."""

    drawn: tuple[FeatureTable, ...]
    left_out: tuple[FeatureTable, ...] = ()
    sort: str | None = None
    by_name: bool = False

    def first(self, n: int) -> Choice:
        """The choice with only the first n features drawn."""
        return replace(self, drawn=self.drawn[:n], left_out=(*self.drawn[n:], *self.left_out))

    @property
    def remainder(self) -> str:
        """The number of tables drawn, in words; empty if all are drawn or features were named."""
        n = len(self.left_out)
        if not n or self.by_name:
            return ""
        by = {"importance": ", by importance", "information_value": ", by information value"}
        return f"{len(self.drawn)} of {len(self.drawn) + n} tables{by.get(self.sort or '', '')}"


def choose(
    evidence: Evidence,
    question: WeightLine,
    features: str | Sequence[str] | None,
    sort: str | None,
    most: int,
    name: str = "max_features",
) -> Choice:
    """The named features, or the first ones of the sorted features."""
    if features is not None:
        names = [features] if isinstance(features, str) else [*dict.fromkeys(features)]
        named = tuple(_find(evidence, name) for name in names)
        others = tuple(table for table in evidence if table.name not in names)
        return Choice(named, others, by_name=True)
    check_count(name, most)
    if not len(evidence):
        raise ValueError("the model has no feature to draw")
    tables = [*evidence]
    if sort == "importance":
        tables.sort(key=lambda table: -question.importance(table))
    elif sort == "information_value":
        tables.sort(key=lambda table: -table.information_value)
    elif sort is not None:
        raise ValueError(f"sort must be 'importance', 'information_value' or None, got {sort!r}")
    return Choice(tuple(tables), (), sort).first(most)


def _find(evidence: Evidence, name: str) -> FeatureTable:
    try:
        return evidence[name]
    except KeyError as error:
        raise ValueError(f"features: {error.args[0]}") from None


def after(evidence: Evidence) -> str:
    """How the sum of a row's weights is adjusted, in words; empty if it is not."""
    curve, attenuation = evidence.recalibration, evidence.attenuation
    recalibrated = "" if curve is None else f"The total is then recalibrated ({curve.method})."
    told = rule(evidence)
    if attenuation is not None and attenuation.form == "known":  # the formula is in print
        way = "up" if attenuation.k < 0 else "down"
        told = f"If answers are not known, the other weights are scaled {way}."
    return " ".join(filter(None, (told, recalibrated)))


MOST_LEVELS = 30
LETTER, LABEL = 0.072, 0.16
"""Inches: the width of a small letter, and the height of a label with its spacing."""

ORDERS = ("weight", "own")


@dataclass(frozen=True, eq=False)
class Panel:
    """The levels of a table that are drawn, with weights and intervals as they are shown.

    `half` is half of the interval's length, by level and line. The first levels of a numeric
    feature are its bins, which are drawn on `axis`; special codes and missing follow.
    """

    name: str
    labels: tuple[str, ...]
    weights: Floats
    half: Floats | None
    share: Floats
    axis: NumberAxis | None
    left_out: int
    cross: Cross | None
    places: Integers
    colours: tuple[str, str] = (FOR, AGAINST)
    question: WeightLine = WeightLine((), np.ones((1, 1)), "")
    tokens: bool = False

    @property
    def is_grid(self) -> bool:
        """Whether the table is drawn as a heat map: two features, and one line of weights."""
        return self.cross is not None and self.weights.shape[1] == 1

    def text(self, weight: float) -> str:
        """A weight on its scale as text, with its sign."""
        return spell_drawn(self.question, weight)

    @property
    def n_intervals(self) -> int:
        """The number of levels that are bins on the axis."""
        return 0 if self.axis is None else len(self.axis.cuts) + 1

    @property
    def has_gaps(self) -> bool:
        """Whether a pair has combinations without rows."""
        return self.cross is not None and len(self.places) < self.cells

    @property
    def cells(self) -> int:
        """The number of cells of a heat map."""
        return 0 if self.cross is None else int(np.prod([len(p.levels) for p in self.cross.parts]))

    @property
    def is_noise(self) -> Any:
        """Which weights do not differ significantly from zero: their interval includes it."""
        if self.half is None:
            return np.zeros(self.weights.shape, dtype=bool)
        return np.abs(self.weights) < np.nan_to_num(self.half, nan=np.inf)


@dataclass(frozen=True)
class Room:
    """The space of a panel: width and height in inches, and the maximum letters of a label."""

    width: float
    height: float
    letters: int

    def left_of(self, labels: Sequence[str]) -> float:
        """The width that remains beside the labels."""
        return self.width - LETTER * max(map(len, labels), default=0) - 0.1


def spell_drawn(question: WeightLine, weight: float) -> str:
    """A number of a figure as text, with its sign."""
    if question.caption:
        return spell(weight, question.digits, "+")
    return hundredths(weight / 100)


def panel_of(
    table: FeatureTable,
    question: WeightLine,
    most: int = MOST_LEVELS,
    order: str = "weight",
) -> Panel:
    """The levels to draw: all bins, and the other levels of highest rank (`sort_levels`)."""
    share, feature = table.share, table.feature
    weights = question.scale * question.weights(table)
    kept, axis = _kept(table, sort_levels(table, weights), len(question.signs), most), None
    if feature.cuts:
        axis = NumberAxis.of(feature.cuts, share[: len(feature.cuts) + 1])
    elif (
        order == "weight"
        and weights.shape[1] == 1
        and isinstance(feature, Feature)
        and not feature.ordered
    ):  # ordered categories and pairs keep their order
        kept = kept[np.argsort(-weights[kept, 0], kind="stable")]
    errors = question.errors(table)
    known = errors is not None and bool(np.isfinite(errors[kept]).any())
    occur = share > 0
    return Panel(
        name=f"{table.shown} ({table.note})" if table.note else table.shown,
        labels=tuple(brief_labels(feature)[i] for i in kept),
        weights=weights[kept],
        half=question.scale * REACH * errors[kept] if known and errors is not None else None,
        share=share[kept],
        axis=axis,
        left_out=int(occur.sum() - occur[kept].sum()),
        cross=feature if isinstance(feature, Cross) else None,
        places=kept,
        question=question,
        tokens=has_tokens(table),
    )


def _kept(table: FeatureTable, order: Integers, n_lines: int, most: int) -> Integers:
    """Indices of bins and of the other levels of highest rank; all levels of a heat map."""
    is_interval = np.array([isinstance(level, Interval) for level in table.levels], dtype=bool)
    places = np.flatnonzero((table.share > 0) | is_interval)
    free = places[~is_interval[places]]
    if len(free) <= most or (isinstance(table.feature, Cross) and n_lines == 1):
        return places
    kept = order[np.isin(order, free)][:most]
    return np.sort(np.concatenate([places[is_interval[places]], kept]))


def limits_of(panels: Sequence[Panel]) -> tuple[float, float]:
    """Limits of the shared axis: the weights of most rows, and not much more for rare levels."""
    drawn = [panel for panel in panels if not panel.is_grid] or [*panels]
    lines = [(line, panel.share) for panel in drawn for line in panel.weights.T]
    usual = np.concatenate([[0.0], *(usual_weights(*line) for line in lines)])
    ends = np.concatenate([[0.0], *(_ends(panel) for panel in drawn)])
    question = drawn[0].question
    more = max(0.5 * float(np.ptp(usual)), question.allowed)
    low, high = max(ends.min(), usual.min() - more), min(ends.max(), usual.max() + more)
    margin = 0.04 * (high - low) + 0.5 * question.step
    return float(low - margin), float(high + margin)


def largest_of_maps(panels: Sequence[Panel]) -> float:
    """The largest weight of the heat maps that differs significantly from zero, or of all weights.

    It sets the colours of all maps of a figure, so that these can be compared.
    """
    maps = [panel for panel in panels if panel.is_grid]
    told = [np.abs(panel.weights[~panel.is_noise]) for panel in maps]
    if not sum(map(len, told)):
        told = [np.abs(panel.weights.ravel()) for panel in maps]
    return float(np.concatenate([[0.0], *told]).max())


def _ends(panel: Panel) -> Floats:
    half = 0.0 if panel.half is None else np.nan_to_num(panel.half)
    return np.concatenate([(panel.weights - half).ravel(), (panel.weights + half).ravel()])
