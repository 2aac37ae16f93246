"""Figures. Each display follows scikit-learn: hold the data, draw with `plot(ax=)`, never show.

evidence   the weights of the most important tables, as panels
contributions  what tables add to many rows
nomogram   a model as scales to add up by hand
curves     lift, gains, net benefit; ROC and precision-recall
scored     what these share
sheet      a balance sheet
paths      what a learner searched
panels     what a panel shows
steps      a number: steps over its axis
bars       categories: bars
scales     the points of a nomogram
selection  which features it draws
labels     names in few letters
axes       what they share
"""

from weigh.plot.contributions import ContributionsDisplay
from weigh.plot.curves import (
    GainsDisplay,
    LiftDisplay,
    NetBenefitDisplay,
    PrecisionRecallDisplay,
    ROCDisplay,
)
from weigh.plot.evidence import EvidenceDisplay
from weigh.plot.nomogram import NomogramDisplay
from weigh.plot.paths import (
    AttenuationPathDisplay,
    NormPathDisplay,
    RoundsDisplay,
    SearchPathDisplay,
)
from weigh.plot.scored import ReliabilityDisplay
from weigh.plot.sheet import BalanceSheetDisplay

__all__ = [
    "AttenuationPathDisplay",
    "BalanceSheetDisplay",
    "ContributionsDisplay",
    "EvidenceDisplay",
    "GainsDisplay",
    "LiftDisplay",
    "NetBenefitDisplay",
    "NomogramDisplay",
    "NormPathDisplay",
    "PrecisionRecallDisplay",
    "ROCDisplay",
    "ReliabilityDisplay",
    "RoundsDisplay",
    "SearchPathDisplay",
]
