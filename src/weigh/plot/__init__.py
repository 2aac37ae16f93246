"""Figures. Each display follows scikit-learn: hold the data, draw with `plot(ax=)`, never show.

sheet   a balance sheet
paths   what a learner searched
axes    what they share
"""

from weigh.plot.paths import (
    AttenuationPathDisplay,
    NormPathDisplay,
    RoundsDisplay,
    SearchPathDisplay,
)
from weigh.plot.sheet import BalanceSheetDisplay

__all__ = [
    "AttenuationPathDisplay",
    "BalanceSheetDisplay",
    "NormPathDisplay",
    "RoundsDisplay",
    "SearchPathDisplay",
]
