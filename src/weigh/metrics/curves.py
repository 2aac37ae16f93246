"""Gains and lift: how many positives the most probable rows hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.frames import Floats
from weigh.metrics.scored import Scored, read_matrix


@dataclass(frozen=True, eq=False)
class GainsCurve:
    """The share of positives (`gain`) among the most probable share of rows (`depth`).

    It begins at 0 and ends at 1. Rows of equal probability come together: between two points they
    are taken in random order, which is a straight line.
    """

    depth: Floats
    gain: Floats
    base_rate: float

    def at(self, depth: Any) -> Floats:
        """The gain at any depth."""
        return np.interp(_check_depth(depth), self.depth, self.gain)


@dataclass(frozen=True, eq=False)
class LiftCurve:
    """How many times the base rate the most probable share of rows (`depth`) holds."""

    depth: Floats
    lift: Floats
    base_rate: float

    def at(self, depth: Any) -> Floats:
        """The lift at any depth above 0."""
        at = _check_depth(depth)
        if (at == 0).any():
            raise ValueError("there is no lift at a depth of 0; give a share of rows above 0")
        gain = np.concatenate([[0.0], self.depth * self.lift])
        return np.asarray(np.interp(at, np.concatenate([[0.0], self.depth]), gain) / at)


def gains_curve(
    y_true: Any, y_prob: Any = None, *, sample_weight: Any = None, pos_label: Any = None
) -> GainsCurve:
    """The share of all positives that the most probable rows hold.

    gain(d) = share of the positives that are among the d n rows of highest probability

    Where there are no positives the gain is NaN.

    Parameters
    ----------
    y_true : array or Scored
        True labels.
    y_prob : array of shape (n,) or (n, 2)
        The probability of the positive class; of two columns, the second.
    sample_weight : array, optional
        Row weights; a weight of two is a row given twice.
    pos_label : label, optional
        The positive class; by default the greater of two.

    Examples
    --------
    >>> from weigh.metrics import gains_curve
    >>> curve = gains_curve([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.8])
    >>> curve.depth, curve.gain
    (array([0.  , 0.25, 0.5 , 0.75, 1.  ]), array([0. , 0.5, 0.5, 1. , 1. ]))
    """
    groups = Scored.read(y_true, y_prob, sample_weight, pos_label).groups
    depth = np.concatenate([[0.0], np.cumsum(groups.weight[::-1])])
    depth /= depth[-1]
    found = np.concatenate([[0.0], np.cumsum(groups.positives[::-1])])
    gain = found / found[-1] if found[-1] else np.full(len(found), np.nan)
    return GainsCurve(depth, gain, groups.base_rate)


def lift_curve(
    y_true: Any, y_prob: Any = None, *, sample_weight: Any = None, pos_label: Any = None
) -> LiftCurve:
    """How many times more positives the most probable rows hold than rows taken at random.

    lift(d) = gain(d)/d

    Parameters
    ----------
    y_true, y_prob, sample_weight, pos_label
        As in `gains_curve`.

    Examples
    --------
    >>> from weigh.metrics import lift_curve
    >>> lift_curve([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.8]).lift.round(2)
    array([2.  , 1.  , 1.33, 1.  ])
    """
    gains = gains_curve(y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label)
    depth = gains.depth[1:]
    return LiftCurve(depth, gains.gain[1:] / depth, gains.base_rate)


def _check_depth(depth: Any) -> Floats:
    at = read_matrix(depth, "depth")
    if not ((at >= 0) & (at <= 1)).all():
        raise ValueError(f"depth must be a share of rows from 0 to 1, got {depth!r}")
    return at
