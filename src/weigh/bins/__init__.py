"""A column's values become levels: categories, intervals, special codes, missing.

labels        how intervals are written; whole numbers where training had no others
levels        a `Feature` says which levels there are and finds the level of any value
crosses       two features joined into one, whose levels are pairs
cuts          where to cut numbers: Fayyad & Irani (1993), quantiles, given points
discretizer   the cuts alone, as a scikit-learn transformer
"""

from weigh.bins.crosses import AND, Cross
from weigh.bins.cuts import check_cuts, fine_cuts, mdl_cuts, midpoint, quantile_cuts
from weigh.bins.labels import BRIEF, WORDS, Notation, are_whole, spell_number
from weigh.bins.levels import (
    OTHER,
    Feature,
    Interval,
    Level,
    Placed,
    kind_of,
    label,
    printable,
    sort_values,
)

__all__ = [
    "AND",
    "BRIEF",
    "OTHER",
    "WORDS",
    "Cross",
    "Feature",
    "Interval",
    "Level",
    "Notation",
    "Placed",
    "are_whole",
    "check_cuts",
    "fine_cuts",
    "kind_of",
    "label",
    "mdl_cuts",
    "midpoint",
    "printable",
    "quantile_cuts",
    "sort_values",
    "spell_number",
]
