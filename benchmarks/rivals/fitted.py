"""What every rival's `fit(X, y)` returns, so that all of them are measured one way."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias


class Fitted(Protocol):
    """A fitted model."""

    def predict_proba(self, X: Any) -> Any:
        """The probabilities of 0 and of 1, one row each."""

    def size(self) -> int:
        """The bytes of its saved form."""


Fit: TypeAlias = Callable[[Any, Any], Fitted]


@dataclass(frozen=True)
class Pickled:
    """A model that is saved as a pickle."""

    model: Any

    def predict_proba(self, X: Any) -> Any:
        return self.model.predict_proba(X)

    def size(self) -> int:
        return len(pickle.dumps(self.model))


@dataclass(frozen=True)
class Prepared:
    """A model whose library wants its table prepared, or has no pipeline of its own."""

    prepare: Callable[[Any], Any]
    model: Any

    def predict_proba(self, X: Any) -> Any:
        return self.model.predict_proba(self.prepare(X))

    def size(self) -> int:
        return len(pickle.dumps((self.prepare, self.model)))


def categories(X: Any) -> list[str]:
    """The columns of categories."""
    return [*X.select_dtypes("category").columns]


def numbers(X: Any) -> list[str]:
    """The columns of numbers."""
    return [*X.select_dtypes("number").columns]


def as_text(X: Any) -> Any:
    """Categories as plain text with `missing` for gaps, for libraries that know neither."""
    return X.assign(**{c: X[c].astype(object).fillna("missing") for c in categories(X)})
