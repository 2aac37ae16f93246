"""Turn the values of a column into levels: categories, intervals, special codes, missing.

labels        text of levels; intervals read as whole numbers if training had no others
named_levels  the list of levels of a column, and their names
levels        `Feature`: the same, and the level of any value
conditions    kinds of values; rules from a value to its level, which exports translate;
              questions asked only if another feature has certain levels
uniting       merge the levels of two parts of the data
crosses       two features joined into one, whose levels are pairs of levels
cuts          cut points of numbers: Fayyad & Irani (1993), quantiles, given points
binning       `Binning`: constraints on levels, and the levels of largest IV that satisfy them
optimal       optimal grouping of neighbouring values by exact dynamic programming
kernels       compiled loops over the values of a column
reading       cut points and groups from the output of other libraries
density       `Density`: a grid for class densities, instead of bins
"""

from weigh.bins.binning import Binning, close_left
from weigh.bins.conditions import SINGLE, Ask, Condition, Kind, finder, read_rules, spotter
from weigh.bins.crosses import AND, Cross, coarsen, refine
from weigh.bins.cuts import ROOMY, check_cuts, fine_cuts, mdl_cuts, midpoint, quantile_cuts
from weigh.bins.density import Density, middles
from weigh.bins.labels import (
    BRIEF,
    MOST_OTHERS,
    OTHER,
    WORDS,
    Interval,
    Joined,
    Level,
    Notation,
    are_binary,
    are_counts,
    are_whole,
    label,
    printable,
    spell_few,
    spell_level,
    spell_number,
    to_right_closed,
)
from weigh.bins.levels import Feature, Placed, takes_truth
from weigh.bins.reading import read_bins
from weigh.bins.uniting import list_others, sort_values

Rule = str | int | Binning | Density
"""Types of `bins` by which cut points are found; other types give the cut points themselves."""
