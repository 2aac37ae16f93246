"""Figures. Each display follows scikit-learn: hold the data, draw with `plot(ax=)`, never show."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from weigh.bins import printable
from weigh.evidence import hundredths
from weigh.sheet import BalanceSheet, probability

FOR, AGAINST, TOTAL = "#0072B2", "#D55E00", "#4D4D4D"  # told apart by colour-blind eyes


class BalanceSheetDisplay:
    """A balance sheet as a waterfall from the prior to the total.

    Parameters
    ----------
    sheet : BalanceSheet
        The case to draw.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of that axes.
    """

    def __init__(self, sheet: BalanceSheet) -> None:
        if not isinstance(sheet, BalanceSheet):
            raise TypeError(f"a waterfall draws a BalanceSheet, not {type(sheet).__name__}")
        self.sheet = sheet

    @classmethod
    def from_estimator(cls, model: Any, row: Any, *, ax: Any = None, **choice: Any) -> Self:
        """Draw what a fitted model says about a row; `of` and `against` as in `balance_sheet`."""
        return cls(model.balance_sheet(row, **choice)).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure."""
        names, weights = self._bars()
        if ax is None:
            ax = _new_axes(len(names) + 1)
        starts = np.cumsum([0.0, *weights[:-1]])
        places = np.arange(len(names))
        colours = [FOR if weight >= 0 else AGAINST for weight in weights]
        ax.barh(places, weights, left=starts, color=colours, height=0.7)
        ax.barh(len(names), 100 * self.sheet.total, color=TOTAL, height=0.7)
        self._label(ax, names, starts + weights, weights)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _bars(self) -> tuple[list[str], np.ndarray[Any, Any]]:
        items = [item for item in self.sheet.items if item.weight]
        items = sorted(items, key=lambda item: -abs(item.weight))
        names = ["Prior", *(_shorten(printable(str(item))) for item in items)]
        return names, 100 * np.array([self.sheet.prior, *(item.weight for item in items)])

    def _label(self, ax: Any, names: list[str], ends: Any, weights: Any) -> None:
        total = 100 * self.sheet.total
        for place, (end, weight) in enumerate(zip([*ends, total], [*weights, total], strict=True)):
            side = "left" if weight >= 0 else "right"
            ax.annotate(
                hundredths(weight / 100),
                (end, place),
                xytext=(3 if weight >= 0 else -3, 0),
                textcoords="offset points",
                ha=side,
                va="center",
                fontsize="small",
            )
        ax.set_yticks(range(len(names) + 1), [*names, "Total"], parse_math=False)
        ax.invert_yaxis()
        ax.axvline(0, color="black", linewidth=0.8)
        ax.use_sticky_edges = False  # room for the numbers beyond the last bar
        ax.margins(x=0.12, y=0.02)
        of, chance = printable(self.sheet.question), probability(self.sheet.probability)
        ax.set_xlabel(f"Weight of evidence for {of}, times 100", parse_math=False)
        if self.sheet.interval is not None:
            chance += " ({} to {})".format(*map(probability, self.sheet.interval))
        ax.set_title(f"Probability of {of}: {chance}", parse_math=False)
        ax.spines[["top", "right"]].set_visible(False)


class NormPathDisplay:
    """Loss against the norm of the exponents, fold by fold: the paper's Figure 1.

    Parameters
    ----------
    path : NormPath
        `norm_path_` of an `AdjustedNB` (an element of it for more than two classes).

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of that axes.
    """

    def __init__(self, path: Any) -> None:
        self.path = path

    @classmethod
    def from_estimator(cls, model: Any, *, of: Any = None, ax: Any = None) -> Self:
        """Draw the search of a fitted `AdjustedNB(norm="cv")`; `of` chooses one of many classes."""
        path = getattr(model, "norm_path_", None)
        if path is None:
            raise ValueError(
                "the model has no path of norms: fit it with norm='cv' (a saved model keeps the "
                "norm alone)"
            )
        if isinstance(path, list):
            path = path[model.classes_.tolist().index(of) if of is not None else 0]
        return cls(path).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure."""
        if ax is None:
            ax = _new_axes(10)
        norms, losses = self.path.norms, self.path.losses
        for fold in losses.T:
            ax.plot(norms, fold, color=TOTAL, linewidth=0.8, alpha=0.5)
        summary = getattr(np, self.path.aggregate)(losses, axis=1)
        label = f"{self.path.aggregate} of folds"
        ax.plot(norms, summary, color=FOR, linewidth=2, label=label)
        ax.axvline(self.path.chosen, color=AGAINST, linestyle="--", label="chosen")
        if norms[-1] > 20 * norms[0]:
            ax.set_xscale("log")
        ax.set_xlabel("m, the sum of the squared exponents")
        ax.set_ylabel("loss of held-out rows, bits")
        ax.legend(frameon=False)
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class SearchPathDisplay:
    """The AUC as the search for weights raised it, step by step, with the feature that moved.

    Parameters
    ----------
    path : SearchPath
        `history_` of a `WeightedNB`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of that axes.
    """

    def __init__(self, path: Any) -> None:
        self.path = path

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None) -> Self:
        """Draw the search of a fitted `WeightedNB`."""
        path = getattr(model, "history_", None)
        if path is None:
            raise ValueError(
                "the model has no history of a search: fit a WeightedNB (a saved model keeps the "
                "weights alone)"
            )
        return cls(path).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure."""
        if ax is None:
            ax = _new_axes(10)
        auc = self.path.auc
        ax.plot(np.arange(len(auc)), auc, color=FOR, marker="o", markersize=4)
        self._name_stretches(ax)
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set_xlim(-0.5, len(auc) - 0.5)
        ax.set_xlabel("step kept")
        ax.set_ylabel("AUC that the search raises")
        steps = "1 step" if len(auc) == 2 else f"{len(auc) - 1} steps"
        ax.set_title(f"AUC from {auc[0]:.4f} to {auc[-1]:.4f} in {steps}")
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _name_stretches(self, ax: Any) -> None:
        """Name the features along the bottom, and shade every other one's steps."""
        stretches = self._stretches()
        for i, (first, last, feature) in enumerate(stretches):
            if i % 2 == 0:
                ax.axvspan(first - 0.5, last + 0.5, color=TOTAL, alpha=0.1, linewidth=0)
            ax.text(
                (first + last) / 2,
                0.02,
                _shorten(printable(feature), 24),
                rotation=90,
                ha="center",
                va="bottom",
                fontsize="small",
                parse_math=False,
                transform=ax.get_xaxis_transform(),
            )
        if stretches:  # room for the names below the line
            low, high = self.path.auc[[0, -1]]
            ax.set_ylim(bottom=low - 0.5 * (high - low))

    def _stretches(self) -> list[tuple[int, int, str]]:
        """Steps in succession that moved the same feature: the first, the last, its name."""
        moved = self.path.moved
        starts = np.flatnonzero(np.diff(moved, prepend=-2) != 0)
        ends = np.append(starts[1:], len(moved)) - 1
        return [
            (int(a), int(b), self.path.features[moved[a]])
            for a, b in zip(starts, ends, strict=True)
            if moved[a] >= 0
        ]


class RoundsDisplay:
    """What boosting did, round by round: the error eps, and the losses of the model so far.

    Parameters
    ----------
    rounds : Rounds
        `rounds_` of a `BoostedNB` (an element of it for more than two classes).

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the losses were drawn; the errors have an axis of their own on its right.
    figure_ : matplotlib Figure
        The figure of that axes.
    """

    def __init__(self, rounds: Any) -> None:
        self.rounds = rounds

    @classmethod
    def from_estimator(cls, model: Any, *, of: Any = None, ax: Any = None) -> Self:
        """Draw the rounds of a fitted `BoostedNB`; `of` chooses one of many classes."""
        rounds = getattr(model, "rounds_", None)
        if rounds is None:
            raise ValueError(
                "the model has no record of rounds: fit a BoostedNB (a saved model keeps what "
                "they came to alone)"
            )
        if isinstance(rounds, list):
            rounds = rounds[model.classes_.tolist().index(of) if of is not None else 0]
        return cls(rounds).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on a new figure."""
        if ax is None:
            ax = _new_axes(10)
        rounds, right = self.rounds, ax.twinx()
        places = np.arange(1, len(rounds) + 1)
        look = {"marker": "o", "markersize": 4}
        (eps,) = right.plot(places, rounds.errors, "s-", color=TOTAL, ms=4, label="error eps")
        lines = ax.plot(places, rounds.losses, color=FOR, label="loss, training rows", **look)
        if np.isfinite(rounds.held_out).any():
            told = "loss, held-out rows"
            lines += ax.plot(places, rounds.held_out, color=AGAINST, label=told, **look)
        lines.append(ax.axvline(rounds.chosen, color="black", linestyle="--", label="chosen"))
        ax.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
        ax.set_xlim(0.5, len(rounds) + 0.5)
        right.set_ylim(0, max(0.5, rounds.errors.max()) * 1.05)
        ax.set_xlabel("round")
        ax.set_ylabel("loss after the round, bits")
        right.set_ylabel("error eps of the round")
        above = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": 4}
        ax.legend(handles=[*lines, eps], frameon=False, **above)
        for axes in (ax, right):
            axes.spines["top"].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _new_axes(n_bars: int) -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plots need matplotlib: pip install 'weigh[plot]'") from None
    return pyplot.subplots(figsize=(8, 1.2 + 0.32 * n_bars), layout="constrained")[1]


def _shorten(text: str, most: int = 48) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
