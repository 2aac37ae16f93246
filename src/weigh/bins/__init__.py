"""A column's values become levels: categories, intervals, special codes, missing.

levels        a `Feature` says which levels there are and finds the level of any value
crosses       two features joined into one, whose levels are pairs
cuts          where to cut numbers: Fayyad & Irani (1993), quantiles, given points
discretizer   the cuts alone, as a scikit-learn transformer
"""

from weigh.bins.crosses import AND, Cross
from weigh.bins.cuts import check_cuts, fine_cuts, mdl_cuts, midpoint, quantile_cuts
from weigh.bins.levels import Feature, Interval, Level, Placed, label, printable, sort_values

__all__ = [
    "AND",
    "Cross",
    "Feature",
    "Interval",
    "Level",
    "Placed",
    "check_cuts",
    "fine_cuts",
    "label",
    "mdl_cuts",
    "midpoint",
    "printable",
    "quantile_cuts",
    "sort_values",
]
