"""What each budget costs, as numbers, text and a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weigh.evaluation.page import Page, Section
from weigh.frames import build
from weigh.layout import Shown
from weigh.plot.axes import AGAINST, OKABE_ITO, TOTAL, Drawing, new_figure


@dataclass(frozen=True)
class Estimate:
    """A number and its standard error."""

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.4f} ±{self.error:.4f}"


@dataclass(frozen=True)
class Price:
    """What a budget of `features` and of `levels` a feature costs on hold-out rows.

    `n_features` and `total_levels` are what the models used, on average over the folds. `loss` is
    in bits a row, `cost` is the loss beyond that of the whole model, row by row. There is no `auc`
    of more than two classes. The whole model has no budget: `features` and `levels` are None.
    """

    features: int | None
    levels: int | None
    n_features: float
    total_levels: float
    loss: Estimate
    cost: Estimate
    auc: Estimate | None

    def to_dict(self) -> dict[str, Any]:
        """The numbers by name."""
        own: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("features", "levels", "n_features", "total_levels")
        }
        for name in ("loss", "cost", "auc"):
            found = getattr(self, name)
            own[name] = None if found is None else found.value
            own[f"{name}_error"] = None if found is None else found.error
        return own


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
        """What a budget costs, in a sentence; by default the knee."""
        own = self.knee if found is None else found
        return (
            f"{own.n_features:.0f} features and {own.total_levels:.0f} levels cost "
            f"{own.cost.value:.4f} bits (standard error {own.cost.error:.4f}) of "
            f"{self.full.loss.value:.4f}."
        )

    def to_frame(self) -> Any:
        """One row for each budget, as an Arrow table."""
        rows = [found.to_dict() for found in self.prices]
        return build({name: [row[name] for row in rows] for name in rows[0]}, None)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "full": self.full.to_dict(),
            "prices": [found.to_dict() for found in self.prices],
            "knee": self.knee.to_dict(),
            "rows": self.n_rows,
            "folds": self.n_splits,
        }

    def view(self) -> Page:
        """The tables as data for text and pages."""
        title = f"What a budget costs: {self.n_rows:,} hold-out rows of {self.n_splits} folds"
        head = ("Features", "Levels each", "Levels", "Loss", "Cost", "AUC")
        rows = [self._row(found) for found in (self.full, *self.prices)]
        section = Section("Bits a row, with standard errors; * is the knee", head, tuple(rows))
        return Page(title, (self.tell(),), (section,))

    def _row(self, found: Price) -> tuple[str, ...]:
        marked = "*" if found is self.knee else ""
        features = f"{found.n_features:.0f} (all)" if found is self.full else str(found.features)
        each = "-" if found.levels is None else str(found.levels)
        area = "-" if found.auc is None else str(found.auc)
        cost = "-" if found is self.full else str(found.cost)
        return (marked + features, each, f"{found.total_levels:.0f}", str(found.loss), cost, area)

    def plot(self) -> Drawing:
        """Draw loss, and AUC of two classes, by number of features: a line per `levels`."""
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
        """One measure against the number of features."""
        for colour, levels in zip(_colours(), _known(self.prices), strict=False):
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


def _colours() -> Sequence[str]:
    """Colours of lines, again and again, without that of the knee."""
    return [colour for colour in OKABE_ITO if colour != AGAINST] * 8


def _known(prices: Sequence[Price]) -> list[int]:
    return sorted({price.levels for price in prices if price.levels is not None})
