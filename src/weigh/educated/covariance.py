"""The covariance of all weights, in a form that linear maps of the weights leave cheap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from weigh.frames import Floats, Integers


@dataclass(frozen=True)
class Covariance:
    """The sum dense + plus plus' - minus minus'.

    With few rows, `minus` has a column for each row: merging the weights of fine levels before the
    product is formed costs a fraction of merging the product.
    """

    dense: Floats
    plus: Floats
    minus: Floats

    @classmethod
    def of(cls, dense: Floats) -> Covariance:
        """A covariance that is one matrix."""
        none = np.zeros((len(dense), 0))
        return cls(dense, none, none)

    def mapped(self, apply: Callable[[Floats], Floats]) -> Covariance:
        """The covariance of A w, where `apply` multiplies each column of a matrix by A."""
        return Covariance(apply(apply(self.dense).T), apply(self.plus), apply(self.minus))

    def __matmul__(self, right: Floats) -> Floats:
        """The covariance times a matrix."""
        product: Floats = self.dense @ right + self.plus @ (self.plus.T @ right)
        product -= self.minus @ (self.minus.T @ right)
        return product

    def take(self, places: Integers) -> Covariance:
        """The covariance of w[places]; a place may occur several times."""
        dense = self.dense[np.ix_(places, places)]
        return Covariance(dense, self.plus[places], self.minus[places])

    def times(self, factor: float) -> Covariance:
        """The covariance times a positive number."""
        root = np.sqrt(factor)
        return Covariance(factor * self.dense, root * self.plus, root * self.minus)

    @property
    def diagonal(self) -> Floats:
        """The variance of each weight."""
        squares: Floats = (self.plus**2).sum(axis=1) - (self.minus**2).sum(axis=1)
        return self.dense.diagonal() + squares

    @property
    def matrix(self) -> Floats:
        """The sum."""
        whole: Floats = self.dense + self.plus @ self.plus.T
        whole -= self.minus @ self.minus.T
        return whole
