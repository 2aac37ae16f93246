"""Hold-out loss of every budget of features and levels, by cross-validation.

In each fold, features and levels are chosen without the hold-out rows, so that the loss is not
optimistic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle
from typing import Any

import numpy as np
from sklearn.base import clone

from weigh import engine
from weigh.arrays import Floats
from weigh.budget.small import Budget, SampleRows, TableRanking, shrink
from weigh.evidence import BOUND
from weigh.folds import Mask, check_folds, read_splits
from weigh.frames import Table, build
from weigh.layout import Grid, Shown, View
from weigh.metrics import auc
from weigh.metrics.numbers import columns_of
from weigh.plot.axes import AGAINST, OKABE_ITO, TOTAL, Drawing, new_figure
from weigh.progress import show_progress


@dataclass(frozen=True)
class MeanAndError:
    """A number and its standard error."""

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.4f} ±{self.error:.4f}"


@dataclass(frozen=True)
class Price:
    """Hold-out loss of a budget of `features`, with `levels` per feature.

    `n_features` and `total_levels` are means over the folds of what the models used. `loss` is in
    bits per row; `cost` is the loss minus that of the full model, paired by row. With more than two
    classes there is no `auc`. For the full model, `features` and `levels` are None.
    """

    features: int | None
    levels: int | None
    n_features: float
    total_levels: float
    loss: MeanAndError
    cost: MeanAndError
    auc: MeanAndError | None

    def to_dict(self) -> dict[str, Any]:
        """The numbers by name."""
        own = {**vars(self)}
        for name in ("loss", "cost", "auc"):
            found = own.pop(name)
            own[name] = None if found is None else found.value
            own[f"{name}_error"] = None if found is None else found.error
        return own


KNEE = (
    "Bits a row, with standard errors; * is the knee: the fewest levels within one standard error "
    "of the lowest loss"
)


@dataclass(frozen=True, eq=False, repr=False)
class Prices(Shown):
    """Hold-out loss and AUC against the number of features and levels.

    Attributes
    ----------
    full : Price
        The model that was given.
    prices : tuple of Price
        One for each budget.
    knee : Price
        The budget with the fewest levels whose loss is within one standard error of the lowest.
    n_rows, n_splits : int
        Hold-out rows, and folds.
    """

    full: Price
    prices: tuple[Price, ...]
    knee: Price
    n_rows: int
    n_splits: int

    def at(self, features: int, levels: int) -> Price:
        """The price of one budget."""
        for found in self.prices:
            if (found.features, found.levels) == (features, levels):
                return found
        tried = [(p.features, p.levels) for p in self.prices]
        raise KeyError(f"no budget of {features} features and {levels} levels; tried {tried}")

    def tell(self, found: Price | None = None) -> str:
        """Describe the loss of a budget in a sentence; default: the knee."""
        own = self.knee if found is None else found
        return (
            f"{own.n_features:.0f} features and {own.total_levels:.0f} levels: loss "
            f"{own.loss.value:.4f} bits a row, {abs(own.cost.value):.4f} "
            f"{'more' if own.cost.value > 0 else 'less'} than the whole model (standard error "
            f"{own.cost.error:.4f})."
        )

    def to_frame(self) -> Any:
        """One row for each budget, as an Arrow table."""
        return build(columns_of([found.to_dict() for found in self.prices]), None)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "full": self.full.to_dict(),
            "prices": [found.to_dict() for found in self.prices],
            "knee": self.knee.to_dict(),
            "rows": self.n_rows,
            "folds": self.n_splits,
        }

    def view(self) -> View:
        """The tables as data for text and pages."""
        title = f"What a budget costs: {self.n_rows:,} hold-out rows of {self.n_splits} folds"
        head = ("Features", "Levels each", "Levels", "Loss", "Cost", "AUC")
        rows = [self._row(found) for found in (self.full, *self.prices)]
        grid = Grid(head, tuple(rows), KNEE)
        return View(title, (grid,), (self.tell(),))

    def _row(self, found: Price) -> tuple[str, ...]:
        marked = "*" if found is self.knee else ""
        features = f"{found.n_features:.0f} (all)" if found is self.full else str(found.features)
        each = "-" if found.levels is None else str(found.levels)
        area = "-" if found.auc is None else str(found.auc)
        cost = "-" if found is self.full else str(found.cost)
        return (marked + features, each, f"{found.total_levels:.0f}", str(found.loss), cost, area)

    def plot(self) -> Drawing:
        """Plot loss, and AUC of two classes, by number of features, with a line per `levels`."""
        two = self.full.auc is not None
        figure, axes = new_figure(9.0 if two else 6.0, 4.2, 2 if two else 1)
        drawn = (("loss", "Loss, bits a row"), ("auc", "AUC"))
        for ax, (name, label) in zip(axes, drawn, strict=False):
            self._draw(ax, name)
            ax.set_ylabel(label)
            ax.set_xlabel("Features")
            ax.spines[["top", "right"]].set_visible(False)
        names = axes[0].get_legend_handles_labels()
        figure.legend(*names, loc="outside lower center", ncols=4, frameon=False)
        return Drawing(figure, tuple(axes))

    def _draw(self, ax: Any, name: str) -> None:
        """Draw one measure against the number of features."""
        colours = cycle(colour for colour in OKABE_ITO if colour != AGAINST)  # that of the knee
        for colour, levels in zip(colours, sorted({p.levels or 0 for p in self.prices})):  # noqa: B905
            own = [p for p in self.prices if p.levels == levels]
            found = [getattr(p, name) for p in own]
            ax.errorbar(
                [p.features for p in own],
                [f.value for f in found],
                [f.error for f in found],
                color=colour,
                marker="o",
                markersize=4,
                linewidth=1.2,
                capsize=2,
                label=f"{levels} levels each",
            )
        whole, knee = getattr(self.full, name).value, getattr(self.knee, name).value
        ax.axhline(whole, color=TOTAL, linestyle="--", linewidth=1, label="whole model")
        ring = {"facecolors": "none", "edgecolors": AGAINST, "linewidths": 2}
        ax.scatter([self.knee.features], [knee], s=140, zorder=5, label="knee", **ring)
        ax.xaxis.get_major_locator().set_params(integer=True)


LEVELS = (2, 3, 4, 6)
FEATURES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
"""Default numbers of features to try; numbers above the number of features mean all."""


def price(
    model: Any,
    X: Any,
    y: Any,
    features: Iterable[int] | None = None,
    levels: Iterable[int] = LEVELS,
    *,
    cv: Any = 5,
    sample_weight: Any = None,
    random_state: Any = 0,
) -> Prices:
    """Measure the hold-out loss of each budget of features and levels.

    Each fold fits the model, and simplifies it to each budget, without its hold-out rows. Seven
    numbers of features, four of levels and five folds are 140 simplified models. A terminal or a
    notebook shows a progress bar.

    Parameters
    ----------
    model : classifier
        A fitted classifier of this package, as in `simplify`.
    X, y : table, and array or str
        Rows with column names, and their classes or the name of their column.
    features : list of int, optional
        Numbers of features to try; by default 1, 2, 3, 4, 6, 8, 12 and so on, up to all.
    levels : list of int, default=(2, 3, 4, 6)
        Numbers of levels of a feature to try.
    cv : int, splitter or iterable, default=5
        Folds.
    sample_weight : array or str, optional
        Row weights, or the name of their column.
    random_state : int, RandomState or None, default=0
        Seed of the folds.

    Returns
    -------
    Prices
        Loss and AUC of every budget, with standard errors, and the `knee`: the budget with the
        fewest levels whose loss is within one standard error of the lowest.

    Examples
    --------
    >>> import weigh
    >>> people = weigh.datasets.titanic()
    >>> model = weigh.EducatedNB(pairs=0).fit(people, "Survived")
    >>> prices = weigh.price(model, people, "Survived", features=[1, 2, 3], levels=[2, 4])
    >>> prices.knee.features, prices.knee.levels
    (3, 4)
    """
    check_folds(cv, named=False)
    rows = SampleRows.read(model, X, y, sample_weight)
    sample = rows.sample
    splits = read_splits(cv, sample.labels, sample.kept, random_state)
    budgets = list_budgets(features, levels, len(sample.table.names))
    folds: list[list[Tried]] = []
    with show_progress("price"):
        for k, split in enumerate(splits):
            with engine.watch(lambda done, of: None):  # hide the progress of each fit
                folds.append(try_fold(model, rows, split, budgets))
            engine.report(k + 1, len(splits))
    held_out = np.concatenate([np.flatnonzero(split[1]) for split in splits])
    whole, *small = [_join(tried) for tried in zip(*folds, strict=True)]
    baseline = Baseline(rows.take_places(held_out), whole)
    prices = tuple(baseline.price(*both) for both in zip(budgets, small, strict=True))
    knee = baseline.find_knee(prices, small)
    return Prices(baseline.full, prices, knee, len(held_out), len(splits))


@dataclass(frozen=True, eq=False)
class Tried:
    """Probabilities of hold-out rows, and the features and levels of the model that gave them."""

    p: Floats
    features: float
    levels: float

    @classmethod
    def of(cls, model: Any, table: Table) -> Tried:
        """Predict a table with a model."""
        columns = {part.name for feature in model._learnt.features for part in feature.parts}
        levels = sum(len(feature.levels) for feature in model._learnt.features)
        return cls(model.predict_proba(table), len(columns), levels)


def _join(tried: Sequence[Tried]) -> Tried:
    """Concatenate the folds; numbers of features and levels become means."""
    means = [float(np.mean([getattr(t, name) for t in tried])) for name in ("features", "levels")]
    return Tried(np.concatenate([t.p for t in tried]), *means)


def list_budgets(features: Any, levels: Iterable[int], n: int) -> list[Budget]:
    """Budgets of every number of levels and every number of features, which is at most `n`."""
    asked = (*FEATURES, n) if features is None else [*features]
    every = [Budget(k, most) for most in sorted({*levels}) for k in sorted({*asked})]
    return [*dict.fromkeys(Budget(min(b.features, n), b.levels) for b in every)]


def try_fold(
    model: Any, rows: SampleRows, split: tuple[Mask, Mask], budgets: Sequence[Budget]
) -> list[Tried]:
    """Fit the model and every budget to the training rows, and predict the hold-out rows."""
    own, rest = rows.take(split[0]), rows.sample.table.rows(np.flatnonzero(split[1]))
    whole = clone(model)._fit_sample(own.sample)
    fine, ranking, found = own.fine(whole), None, [Tried.of(whole, rest)]
    for budget in budgets:
        if ranking is None or ranking.levels != budget.levels:
            ranking = TableRanking.of(fine.evidence_, own, budget.levels)
        found.append(Tried.of(shrink(own, fine, budget, ranking), rest))
    return found


@dataclass(frozen=True, eq=False)
class Baseline:
    """Hold-out rows with the predictions of the full model, to measure budgets against."""

    rows: SampleRows
    whole: Tried

    @cached_property
    def weight(self) -> Floats:
        """Share of each row in the total weight."""
        weight = self.rows.sample.weights
        return np.asarray(weight / weight.sum())

    def losses(self, tried: Tried) -> Floats:
        """Loss of each row in bits."""
        labels = self.rows.sample.labels
        p = tried.p[np.arange(len(labels)), labels]
        return np.asarray(-np.log2(np.clip(p, BOUND, 1.0)))

    def mean(self, values: Floats) -> MeanAndError:
        """The mean over rows, and its standard error."""
        mean = float(self.weight @ values)
        error = float(np.sqrt(self.weight**2 @ (values - mean) ** 2))
        return MeanAndError(mean, error)

    @cached_property
    def full(self) -> Price:
        """The model that was given."""
        return self.price(None, self.whole)

    def price(self, budget: Budget | None, tried: Tried) -> Price:
        """Loss, cost and AUC of a budget."""
        losses = self.losses(tried)
        two, sample = tried.p.shape[1] == 2, self.rows.sample
        area = auc(sample.labels, tried.p[:, 1], sample_weight=sample.weight) if two else None
        return Price(
            None if budget is None else budget.features,
            None if budget is None else budget.levels,
            tried.features,
            tried.levels,
            self.mean(losses),
            self.mean(losses - self.losses(self.whole)),
            None if area is None else MeanAndError(area.value, area.error),
        )

    def find_knee(self, prices: Sequence[Price], small: Sequence[Tried]) -> Price:
        """Budget with the fewest levels among those within one standard error of the lowest loss.

        The standard error is that of the paired difference from the budget with the lowest loss.
        """
        best = self.losses(small[int(np.argmin([p.loss.value for p in prices]))])
        gaps = [self.mean(self.losses(tried) - best) for tried in small]
        near = [p for p, gap in zip(prices, gaps, strict=True) if gap.value <= gap.error]
        return min(near, key=lambda p: (p.total_levels, p.loss.value))
