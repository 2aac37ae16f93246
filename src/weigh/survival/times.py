"""Times that survival is asked at: numbers from 0 to the longest duration of training."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from weigh.errors import Parameter, ParameterError
from weigh.frames import Floats
from weigh.parameters import is_number


def check_times(times: Any, horizon: float) -> Floats:
    """Times that survival can be predicted to."""
    found = np.atleast_1d(np.asarray(times))
    if found.dtype.kind not in "iuf" or found.ndim != 1 or not found.size:
        told = f" must be a number or a list of numbers, such as [365, 730]; got {times!r:.60}"
        raise ParameterError(Parameter("times"), told)
    odd = found[~((found >= 0) & (found <= horizon))]
    if len(odd):
        raise ParameterError(
            Parameter("times"),
            f" must be from 0 to {horizon:g}, the longest duration in training; got {odd[0]:.12g}",
        )
    return found.astype(np.float64)


def order_times(times: Any, horizon: float) -> Floats:
    """Times to score or evaluate, in order. By time 0 nothing has come, so it is refused."""
    found = np.unique(check_times(times, horizon))
    if found[0] <= 0:
        raise ParameterError(Parameter("times"), f" must be above 0 and at most {horizon:g}; got 0")
    names = [f"{time:.12g}" for time in found]
    alike = next((b for a, b in pairwise(names) if a == b), None)
    if alike is not None:
        told = f" has two times that are both {alike} to 12 digits; leave one of them out"
        raise ParameterError(Parameter("times"), told)
    return found


def check_time(time: Any, horizon: float) -> None:
    """Refuse what is no time in the follow-up."""
    if time is not None and not (is_number(time) and 0 < time <= horizon):
        told = (
            f" must be above 0 and at most {horizon:g}, the longest duration in training; got "
            f"{time!r}"
        )
        raise ParameterError(Parameter("time", part="time"), told)
