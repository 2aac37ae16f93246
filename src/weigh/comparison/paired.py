"""Two models on the same rows: what every challenge says, of classes or of numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from weigh.comparison.differences import Difference
from weigh.layout import Shown, View, percent
from weigh.metrics.numbers import plain


class Paired(Shown, ABC):
    """A model in use and its challenger: `loss` is new less old, row by row."""

    loss: Difference

    @property
    @abstractmethod
    def unit(self) -> str:
        """What the loss is in."""

    @property
    @abstractmethod
    def met(self) -> Sequence[tuple[str, float | None]]:
        """The names of the models, and the estimated share of rows that each was fitted on."""

    @abstractmethod
    def view(self) -> View:
        """The tables and sentences that are shown."""

    @property
    def verdict(self) -> str:
        """Which model has the smaller loss, in a sentence."""
        value, error = self._tell(self.loss.value, "+"), self._tell(self.loss.error)
        gap = f"{value} {self.unit} (standard error {error})"
        if self.loss.low <= 0 <= self.loss.high or not np.isfinite(self.loss.error):
            return f"The losses do not differ significantly: {gap}, new less old."
        better = "new" if self.loss.value < 0 else "old"
        return f"The {better} model has the smaller loss: {gap}, new less old."

    def _tell(self, value: float, sign: str = "") -> str:
        return f"{value:{sign}.4f}"

    @property
    def warnings(self) -> tuple[str, ...]:
        """That rows were training rows of a model, in sentences."""
        return tuple(
            f"About {percent(round(share, 2))} of the rows were training rows of {name}: its "
            "numbers are too good. Use hold-out rows."
            for name, share in self.met
            if share
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; what is no number is None."""
        return plain(self)  # type: ignore[no-any-return]

    def to_html(self) -> str:
        """A page of its own, which needs no script."""
        return self.view().to_page()
