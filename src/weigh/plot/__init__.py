"""Figures. Each display follows scikit-learn: hold the data, draw with `plot(ax=)`, never show.

evidence   the weights of features, as panels
sheet      a balance sheet
paths      what a learner searched
panels     one feature's weights
question   which classes a figure is about
choose     which features it draws
labels     names in few letters
axes       what they share
"""

from weigh.plot.evidence import EvidenceDisplay
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
    "EvidenceDisplay",
    "NormPathDisplay",
    "RoundsDisplay",
    "SearchPathDisplay",
]
