"""What figures of labels and probabilities share: where both come from, and whose line is whose."""

from __future__ import annotations

from typing import Any, Self

from weigh.bins import label
from weigh.metrics import Scored
from weigh.metrics.predicted import Question, predict_rows
from weigh.plot.axes import OKABE_ITO, Display, inches
from weigh.plot.labels import legend_name, shorten

LINE, NARROW = "weigh: a model", 4.0
"""What marks the line of a model, and the inches from which on there is room for words."""


class ScoredDisplay(Display):
    """A figure of how well probabilities do; several models can share its axes.

    Parameters
    ----------
    scored : Scored
        Labels and probabilities.
    name : str, optional
        The model's, for the legend.
    pos_label : label, optional
        The positive class, for the axis.
    """

    def __init__(self, scored: Scored, *, name: str | None = None, pos_label: Any = None) -> None:
        self.scored = Scored.read(scored)
        self.name = name
        self.pos_label = pos_label

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **choice: Any,
    ) -> Self:
        """Draw how a fitted classifier does on a table.

        Parameters
        ----------
        model : classifier
            Fitted, with `predict_proba`.
        X : table
            Rows, best those that the model has not seen.
        y : array or str
            Class labels, or the name of the column of X that holds them.
        sample_weight : array or str, optional
            Row weights, or the name of their column.
        pos_label : label, optional
            The class in question: by default the second of two. Of more, one must be named, and is
            set against the rest.
        name : str, optional
            For the legend; by default the name of the model's class.
        ax : matplotlib Axes, optional
            Where to draw.
        **choice
            What the display's class takes besides.
        """
        question = Question.of_model(model, pos_label)
        pos_label = question.pos_label
        if pos_label is None:
            raise ValueError(
                f"the model has {len(question.classes)} classes; name one with pos_label, to set "
                "it against the rest"
            )
        scored = predict_rows(model, X, y, sample_weight, pos_label=pos_label).rows
        assert isinstance(scored, Scored)
        name = type(model).__name__ if name is None else name
        return cls(scored, name=name, pos_label=pos_label, **choice).plot(ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        sample_weight: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **choice: Any,
    ) -> Self:
        """Draw how probabilities do.

        Parameters
        ----------
        y_true : array
            True labels.
        y_prob : array of shape (n,) or (n, 2)
            The probability of the positive class; of two columns, the second.
        sample_weight : array, optional
            Row weights.
        pos_label : label, optional
            The positive class; by default the greater of two.
        name : str, optional
            For the legend.
        ax : matplotlib Axes, optional
            Where to draw.
        **choice
            What the display's class takes besides.
        """
        scored = Scored.read(y_true, y_prob, sample_weight, pos_label)
        return cls(scored, name=name, pos_label=pos_label, **choice).plot(ax=ax)

    @property
    def _about(self) -> str:
        """The class in question, if it is known."""
        return "" if self.pos_label is None else f" of {shorten(label(self.pos_label), 30)}"

    def _legend_name(self, ax: Any, text: str = "") -> str:
        """The model's name and a number or two, on two lines where one is too long."""
        name = None if self.name is None else legend_name(self.name)
        between = ":\n" if is_narrow(ax) else ": "
        return between.join(filter(None, (name, text))) or "model"


def refuse_no_positives(scored: Scored) -> None:
    """A share of the positives needs some."""
    if not scored.positive.any():
        raise ValueError("no row is of the positive class, so none can be found; give other rows")


def is_narrow(ax: Any) -> bool:
    """Whether only the most needed words have room."""
    return inches(ax, settled=False)[0] < NARROW


def next_colour(ax: Any) -> str:
    """The colour of the next model on axes that may show others."""
    n = sum(line.get_gid() == LINE for line in ax.lines)
    return OKABE_ITO[n % len(OKABE_ITO)]


def is_first(ax: Any) -> bool:
    """Whether no model is drawn there yet."""
    return not any(line.get_gid() == LINE for line in ax.lines)


def set_legend(ax: Any, **look: Any) -> None:
    """A legend of what has a name, none of them a formula."""
    size = "x-small" if is_narrow(ax) else "small"
    legend = ax.legend(frameon=False, fontsize=size, **look)
    for text in legend.get_texts():
        text.set_parse_math(False)
