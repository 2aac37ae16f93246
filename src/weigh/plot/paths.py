"""Search paths of learners: the loss, AUC or criterion at each step."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from weigh.plot.axes import AGAINST, FOR, TOTAL, Display, shorten
from weigh.sheet import find_class


class _PathDisplay(Display):
    """A figure of the record that a search leaves on its model."""

    RECORD: str
    WANTED: str
    """The attribute of the model that holds the record, and how to fit a model that has one."""

    def __init__(self, path: Any) -> None:
        self.path = path

    @classmethod
    def from_estimator(cls, model: Any, *, pos_label: Any = None, ax: Any = None) -> Self:
        """Draw the search of a fitted model; `pos_label` chooses one of more than two classes."""
        record = getattr(model, cls.RECORD, None)
        if record is None:
            raise ValueError(f"the model has no {cls.WANTED}")
        if isinstance(record, list):
            record = record[find_class(model.classes_.tolist(), pos_label)]
        elif pos_label is not None:
            raise ValueError("the model has one search for all classes; leave pos_label out")
        return cls(record).plot(ax=ax)


class NormPathDisplay(_PathDisplay):
    """Loss against the norm of the exponents, fold by fold: the paper's Figure 1.

    Parameters
    ----------
    path : NormPath
        `norm_path_` of an `AdjustedNB` (an element of it for more than two classes).
    """

    RECORD = "norm_path_"
    WANTED = "path of norms: fit it with norm='cv' (a saved model keeps the norm alone)"

    def _draw(self, ax: Any) -> None:
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
        ax.set_ylabel("loss of folds, by tables of all rows, bits")
        ax.legend(frameon=False)


class SearchPathDisplay(_PathDisplay):
    """AUC by step of the search for weights, with the feature that changed.

    Parameters
    ----------
    path : SearchPath
        `history_` of a `WeightedNB`.
    """

    RECORD = "history_"
    WANTED = "history of a search: fit a WeightedNB (a saved model keeps the weights alone)"

    def _draw(self, ax: Any) -> None:
        auc = self.path.auc
        ax.plot(np.arange(len(auc)), auc, color=FOR, marker="o", markersize=4)
        self._name_stretches(ax)
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set_xlim(-0.5, len(auc) - 0.5)
        ax.set_xlabel("step kept")
        ax.set_ylabel("AUC that the search raises")
        steps = "1 step" if len(auc) == 2 else f"{len(auc) - 1} steps"
        ax.set_title(f"AUC from {auc[0]:.4f} to {auc[-1]:.4f} in {steps}")

    def _name_stretches(self, ax: Any) -> None:
        """Name the features along the bottom, and shade every other one's steps."""
        stretches = self._stretches()
        for i, (first, last, feature) in enumerate(stretches):
            if i % 2 == 0:
                ax.axvspan(first - 0.5, last + 0.5, color=TOTAL, alpha=0.1, linewidth=0)
            ax.text(
                (first + last) / 2,
                0.02,
                shorten(feature, 24),
                rotation=90,
                ha="center",
                va="bottom",
                fontsize="small",
                parse_math=False,
                transform=ax.get_xaxis_transform(),
            )
        if stretches:  # space for the names below the line
            low, high = self.path.auc[[0, -1]]
            ax.set_ylim(bottom=low - 0.5 * (high - low))

    def _stretches(self) -> list[tuple[int, int, str]]:
        """Runs of steps that changed the same feature: first step, last step, its name."""
        moved = self.path.moved
        starts = np.flatnonzero(np.diff(moved, prepend=-2) != 0)
        ends = np.append(starts[1:], len(moved)) - 1
        return [
            (int(a), int(b), self.path.features[moved[a]])
            for a, b in zip(starts, ends, strict=True)
            if moved[a] >= 0
        ]


class RoundsDisplay(_PathDisplay):
    """Boosting by round: the error eps, and the losses of the model so far.

    Parameters
    ----------
    rounds : Rounds
        `rounds_` of a `BoostedNB` (an element of it for more than two classes).

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes of the losses; the errors have their own axis on its right.
    figure_ : matplotlib Figure
        The figure of that axes.
    """

    RECORD = "rounds_"
    WANTED = "record of rounds: fit a BoostedNB (a saved model keeps what they came to alone)"

    def __init__(self, rounds: Any) -> None:
        super().__init__(rounds)
        self.rounds = rounds

    def _draw(self, ax: Any) -> None:
        rounds, right = self.path, ax.twinx()
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
        right.spines["top"].set_visible(False)


class AttenuationPathDisplay(_PathDisplay):
    """Criterion by value of k, at every k that `PerplexedNB` tried.

    Parameters
    ----------
    path : AttenuationPath
        `attenuation_path_` of a `PerplexedNB`.
    """

    RECORD = "attenuation_path_"
    WANTED = (
        "path of k: fit a PerplexedNB with attenuation='likelihood', 'calibrated' or 'flat' "
        "(a saved model keeps the k alone)"
    )

    def _draw(self, ax: Any) -> None:
        k, label = self.path.k, CRITERIA[self.path.by]
        ax.plot(k, self.path.criterion, color=FOR, marker="o", markersize=3, label=label)
        chosen = f"chosen: k = {self.path.chosen:.3g}"
        ax.axvline(self.path.chosen, color=AGAINST, linestyle="--", label=chosen)
        if k[-1] > 20 * k[0]:
            ax.set_xscale("log")
        ax.set_xlabel("k, the attenuation coefficient (the last is naive Bayes)")
        ax.set_ylabel(label)
        ax.legend(frameon=False)


CRITERIA = {
    "flat": "deviation of the posteriors' histogram",
    "calibrated": "RMSE of held-out rows' reliability",
    "likelihood": "loss of held-out rows, bits",
}
