"""A column's values become levels: categories, intervals, special codes, missing.

labels        how intervals are written; whole numbers where training had no others
levels        a `Feature` says which levels there are and finds the level of any value
conditions    kinds of values; from a value to its level, as data that other languages render;
              questions that are asked only where another has some level
uniting       the levels of two parts of the rows as one
crosses       two features joined into one, whose levels are pairs
cuts          where to cut numbers: Fayyad & Irani (1993), quantiles, given points
binning       limits of the levels of a column, and the best levels within them
optimal       the best way to join neighbouring parts: exact dynamic programming
kernels       its hot loops
reading       cut points and groups from the output of other libraries
codes         numbers that look like codes, such as -9 or 999
density       a grid for a density in each class, in place of bins
discretizer   the cuts alone, as a scikit-learn transformer
"""

from weigh.bins.binning import Binning, close_left
from weigh.bins.codes import find_codes
from weigh.bins.conditions import SINGLE, Ask, Condition, Kind, finder, read_rules
from weigh.bins.crosses import AND, Cross, coarsen, refine
from weigh.bins.cuts import check_cuts, fine_cuts, mdl_cuts, midpoint, quantile_cuts
from weigh.bins.density import Density, middles
from weigh.bins.labels import (
    BRIEF,
    OTHER,
    WORDS,
    Interval,
    Joined,
    Level,
    Notation,
    are_binary,
    are_whole,
    hold_lower_ends,
    label,
    printable,
    spell_number,
)
from weigh.bins.levels import Feature, Placed
from weigh.bins.reading import read_bins
from weigh.bins.uniting import sort_values

Rule = str | int | Binning | Density
"""What finds cut points; anything else gives them."""

__all__ = [
    "AND",
    "BRIEF",
    "OTHER",
    "SINGLE",
    "WORDS",
    "Ask",
    "Binning",
    "Condition",
    "Cross",
    "Density",
    "Feature",
    "Interval",
    "Joined",
    "Kind",
    "Level",
    "Notation",
    "Placed",
    "Rule",
    "are_binary",
    "are_whole",
    "check_cuts",
    "close_left",
    "coarsen",
    "find_codes",
    "finder",
    "fine_cuts",
    "hold_lower_ends",
    "label",
    "mdl_cuts",
    "middles",
    "midpoint",
    "printable",
    "quantile_cuts",
    "read_bins",
    "read_rules",
    "refine",
    "sort_values",
    "spell_number",
]
