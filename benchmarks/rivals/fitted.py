"""What every rival's `fit(table, y, categorical)` returns, so that quality is measured one way.

`table` is a pandas frame of floats and categories with gaps, `y` holds 0 and 1, and `categorical`
names the columns of categories.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any, Protocol


class Fitted(Protocol):
    """A fitted model."""

    def predict_proba(self, table: Any) -> Any:
        """The probabilities of 0 and of 1, one row each."""

    def size(self) -> int:
        """The bytes of its saved form."""


@dataclass(frozen=True)
class Pickled:
    """A model that is saved as a pickle."""

    model: Any

    def predict_proba(self, table: Any) -> Any:
        return self.model.predict_proba(table)

    def size(self) -> int:
        return len(pickle.dumps(self.model))
