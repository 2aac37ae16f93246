"""Second-order approximation of the loss of rows, kept so that later rows can be added.

    loss(w) ~ constant - right' w + 1/2 w' H w

The loss is a sum over rows, so quadratics of different rows can be added, even if they were
computed at different weights. The prior is not included.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.arrays import Floats, Integers


@dataclass(frozen=True, eq=False)
class Quadratic:
    """A quadratic function of weights by level and total; each group of totals has one Hessian.

    >>> near = Quadratic.about(np.array([[2.0]]), 5.0, 1.0, np.array([[3.0]]), np.ones((1,) * 5))
    >>> loss, slopes = near.at(np.array([[1.0]]))
    >>> loss, slopes.item()
    (2.5, 2.0)
    """

    constant: float
    size: float  # sum of the absolute slopes of all rows
    right: Floats  # level by total
    hessian: Floats  # group by total by level by total by level

    @classmethod
    def about(
        cls, point: Floats, loss: float, size: float, slopes: Floats, hessian: Floats
    ) -> Quadratic:
        """The quadratic with this loss, gradient and Hessian at a point."""
        bent = multiply_hessian(hessian, point)
        constant = loss - float((point * slopes).sum()) + 0.5 * float((point * bent).sum())
        return cls(constant, size, bent - slopes, hessian)

    @classmethod
    def none(cls, n_levels: int, n_totals: int, each: int) -> Quadratic:
        """The quadratic of no rows, which is zero; `each` totals share a Hessian."""
        hessian = np.zeros((n_totals // each, each, n_levels, each, n_levels))
        return cls(0.0, 0.0, np.zeros((n_levels, n_totals)), hessian)

    def at(self, point: Floats) -> tuple[float, Floats]:
        """The loss and its gradient at a point."""
        bent = multiply_hessian(self.hessian, point)
        loss = self.constant + float((point * (0.5 * bent - self.right)).sum())
        return loss, bent - self.right

    def __add__(self, other: Quadratic) -> Quadratic:
        return Quadratic(
            self.constant + other.constant,
            self.size + other.size,
            self.right + other.right,
            self.hessian + other.hessian,
        )

    def __rmul__(self, share: float) -> Quadratic:
        """Multiply the weight of all rows by a share."""
        constant, size = share * self.constant, share * self.size
        return Quadratic(constant, size, share * self.right, share * self.hessian)

    def laid_on(self, places: Integers, n_levels: int) -> Quadratic:
        """Copy with more levels; the present levels move to the given places."""
        groups, each = self.hessian.shape[:2]
        out = Quadratic.none(n_levels, self.right.shape[1], each)
        out.right[places] = self.right
        totals = np.arange(each)
        out.hessian[np.ix_(np.arange(groups), totals, places, totals, places)] = self.hessian
        return Quadratic(self.constant, self.size, out.right, out.hessian)


def multiply_hessian(hessian: Floats, point: Floats) -> Floats:
    """The Hessian times a point, group by group."""
    groups, each, n_levels = hessian.shape[:3]
    own = point.T.reshape(groups, each, n_levels)
    bent = np.einsum("gatbs,gbs->gat", hessian, own, optimize=True)
    return np.ascontiguousarray(bent.reshape(groups * each, n_levels).T)
