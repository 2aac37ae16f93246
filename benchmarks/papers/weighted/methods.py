"""The methods that are compared, and the ways in which each is tried."""

from __future__ import annotations

from typing import Any

FOLDS = 5
AUC, ACCURACY, BITS, SECONDS = range(4)

WAYS = (  # where intervals are found, and how probabilities are smoothed
    ("whole set", "as printed"),
    ("whole set", "ours"),
    ("training part", "ours"),
)
_UP, _BOTH, _GAIN = "hill_climbing", "hill_climbing_both_ways", "gain_ratio+hill_climbing"
METHODS: dict[str, Any] = {
    "C4.4": None,
    "NB": None,
    "G": {"method": "gain_ratio", "choose_on": "training"},
    "HC": {"method": _UP, "choose_on": "training"},
    "MC": {"method": "monte_carlo", "choose_on": "training"},
    "MCMC": {"method": "mcmc", "choose_on": "training"},
    "G-HC": {"method": _GAIN, "choose_on": "training"},
    "G-MCMC": {"method": "gain_ratio+mcmc", "choose_on": "training"},
    "BW": {"method": _BOTH, "choose_on": "training"},
    "HC cv": {"method": _UP, "choose_on": "cv"},
    "G-HC cv": {"method": _GAIN, "choose_on": "cv"},
    "BW cv": {"method": _BOTH, "choose_on": "cv"},
}


def shown(way: int) -> list[str]:
    """The methods that are tried: a few to show what smoothing does."""
    if WAYS[way] == ("whole set", "ours"):
        return ["NB", "G", "HC", "G-HC"]
    return [*METHODS]


def places(way: int) -> list[int]:
    return [[*METHODS].index(method) for method in shown(way)]
