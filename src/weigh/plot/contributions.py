"""Contributions of tables to the totals of many rows, as a swarm of points for each table."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from weigh import engine
from weigh.bins import Feature
from weigh.evidence import Evidence, FeatureTable, evidence_of, with_labels
from weigh.frames import Floats, Integers, Table
from weigh.parameters import is_count
from weigh.plot.axes import TOTAL, Display, inches
from weigh.plot.labels import fit_all, wrap
from weigh.plot.selection import after, ask

MOST_ROWS = 2000
"""Maximum number of points per table; with more rows, an evenly spaced subset is drawn."""

SLICES, WIDE, SWARM = 80, 8.0, 0.42
"""Number of slices of the axis in which points are spread, width in inches, and half-width of a
swarm.
"""

UNORDERED = "#8C8C8C"


class ContributionsDisplay(Display):
    """Contribution of each table to the totals of many rows: one point for each row.

    Tables are sorted by their mean absolute contribution to these rows. A point is the weight of
    the row's level, times 100. Its colour shows the value of a numeric feature, from light (low) to
    dark (high); categories and missing values are grey.

    Parameters
    ----------
    evidence : Evidence
        `evidence_` of a model.
    table : Table
        The rows, as the model reads them.
    n : int, default=10
        Number of tables to draw, the most important first.
    pos_label, against : label, optional
        Positive class, and the class it is compared with. Required for more than two classes.
    labels : dict, optional
        Your names of columns, levels and classes, as in `report`.

    Attributes
    ----------
    names_ : list of str
        The tables, from top to bottom.
    weights_ : ndarray of shape (n_rows, n)
        The weight of each row and table, times 100.

    Examples
    --------
    >>> from weigh import ContributionsDisplay, EvidenceNB
    >>> from weigh.datasets import titanic
    >>> model = EvidenceNB().fit(titanic(), "Survived")
    >>> display = ContributionsDisplay.from_estimator(model, titanic())
    >>> display.names_
    ['Sex', 'Class', 'Age']
    """

    def __init__(
        self,
        evidence: Evidence,
        table: Table,
        *,
        n: int = 10,
        pos_label: Any = None,
        against: Any = None,
        labels: Any = None,
    ) -> None:
        if not (is_count(n) and n >= 1):
            raise ValueError(f"n must be a whole number of 1 or more, got {n!r}")
        self.evidence = with_labels(evidence_of(evidence), labels)
        self.question = ask(self.evidence, pos_label, against)
        if len(self.question.signs) > 1:
            raise ValueError(
                f"the model has {len(self.evidence.classes)} classes; name the one that positive "
                "weights favour with pos_label"
            )
        if self.evidence.event_model == "counts":
            raise ValueError("a model of documents has one table; draw its EvidenceDisplay")
        placed = engine.place(table, self.evidence.features)
        levels = [part.levels[part.codes] for part in placed]
        weights = [
            100 * np.append(self.question.weights(t)[:, 0], 0.0)[at]
            for t, at in zip(self.evidence, levels, strict=True)
        ]
        matters = [float(np.abs(w - w.mean()).mean()) for w in weights]
        self._chosen = np.argsort(-np.array(matters), kind="stable")[:n].tolist()
        self.names_ = [self.evidence[j].shown for j in self._chosen]
        self.weights_ = np.column_stack([weights[j] for j in self._chosen])
        self._levels = [levels[j] for j in self._chosen]

    @classmethod
    def from_estimator(cls, model: Any, X: Any, *, ax: Any = None, **choice: Any) -> Self:
        """Draw the contributions to the rows of a table; other arguments are those of the class."""
        evidence = evidence_of(model)
        return cls(evidence, model._read(X), **choice).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        return WIDE, 1.3 + 0.42 * len(self.names_)

    def _draw(self, ax: Any) -> None:
        width, _ = inches(ax)
        rows = _some(len(self.weights_))
        low, high = float(self.weights_.min()), float(self.weights_.max())
        margin = 0.03 * (high - low) + 0.5
        ax.axvline(0, color=TOTAL, linewidth=0.8, zorder=1)
        for place, levels in enumerate(self._levels):
            weights = self.weights_[rows, place]
            apart = _set_apart(weights, low - margin, high + margin)
            colours = _colours(self.evidence[self._chosen[place]], levels[rows])
            ax.scatter(weights, place + apart, c=colours, s=7, linewidth=0, zorder=3)
        names = fit_all(self.names_, 10, 0.3 * width)
        ax.set_yticks(range(len(names)), names, parse_math=False)
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.set_xlim(low - margin, high + margin)
        ax.set_xlabel(self._words(len(rows), 0.65 * width), fontsize="small", parse_math=False)

    def _words(self, n: int, width: float) -> str:
        total, tables = len(self.weights_), len(self.evidence)
        shown = f"{n:,} of {total:,} rows" if n < total else f"{total:,} rows"
        some = f"; {len(self.names_)} of {tables} tables" if len(self.names_) < tables else ""
        about = f"Weight of evidence for {self.question.about}, times 100"
        key = f"One point for each row ({shown}{some}); light is a low number, dark a high one."
        return "\n".join(wrap(text, width) for text in (about, key, after(self.evidence)) if text)


def _some(n_rows: int) -> Integers:
    """Indices of an evenly spaced subset of the rows, or of all if they are few."""
    return np.unique(np.linspace(0, max(n_rows - 1, 0), min(n_rows, MOST_ROWS)).astype(np.intp))


def _set_apart(weights: Floats, low: float, high: float) -> Floats:
    """The vertical offset of each point, so that points of about the same weight do not overlap."""
    part = np.minimum(((weights - low) / (high - low) * SLICES).astype(np.intp), SLICES - 1)
    order = np.argsort(part, kind="stable")
    counts = np.bincount(part, minlength=SLICES)
    rank = np.empty(len(part))
    rank[order] = np.arange(len(part)) - np.repeat(np.cumsum(counts) - counts, counts)
    side = np.where(rank % 2 == 0, 1.0, -1.0) * ((rank + 1) // 2)
    return np.asarray(side / max(float(counts.max(initial=1)), 12.0) * 2 * SWARM)


def _colours(table: FeatureTable, levels: Integers) -> Any:
    """Colours from light to dark along the bins of a number; grey for levels without an order."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgba

    ramp = LinearSegmentedColormap.from_list("height", ["#F0C890", "#0072B2", "#08204A"])
    feature, colours = table.feature, np.tile(to_rgba(UNORDERED), (len(levels), 1))
    if isinstance(feature, Feature) and feature.cuts:
        n = len(feature.cuts) + 1
        below = np.concatenate([[0.0], np.cumsum(table.share[:n])])
        height = (below[:-1] + below[1:]) / (2 * max(below[-1], 1e-12))
        known = levels < n
        colours[known] = ramp(height[levels[known]])
    return colours
