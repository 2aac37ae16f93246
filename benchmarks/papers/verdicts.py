"""Whether a figure that a paper prints comes out again: one rule, in both directions."""

from __future__ import annotations

REPRODUCED = "reproduced"
UNEXPLAINED = "not reproduced: unexplained"
EXACT = 1e-9
"""Slack for decimals that have no exact binary form."""


def unit(printed: str) -> float:
    """One unit of the last digit of a figure as it is printed.

    >>> unit("0.37"), unit("-55"), unit("12.1")
    (0.01, 1.0, 0.1)
    """
    digits = printed.partition(".")[2]
    return float(f"1e-{len(digits)}") if digits else 1.0


def comes_out(ours: float, printed: str, deviation: float = 0.0) -> bool:
    """Whether ours differs, up or down, by the deviation at most, beside what rounding hides.

    Rounding hides half a unit of the last digit that is printed.

    >>> comes_out(0.364, "0.36"), comes_out(0.37, "0.36"), comes_out(17.2, "16.8", 2.0)
    (True, False, True)
    """
    return abs(ours - float(printed)) <= deviation + unit(printed) / 2 + EXACT


def judge(ours: float, printed: str, deviation: float = 0.0, why: str = "unexplained") -> str:
    """The verdict on a cell: reproduced, or not and why.

    >>> judge(30.0, "16", 10.0, "an outlier")
    'not reproduced: an outlier'
    """
    if comes_out(ours, printed, deviation):
        return REPRODUCED
    return f"not reproduced: {why}"
