"""Figures. Each display follows scikit-learn: hold the data, draw with `plot(ax=)`, never show.

evidence       the weights of the most important tables, as panels
contributions  contributions of tables to the totals of many rows
nomogram       a model as scales to add up by hand
curves         lift, gains, net benefit; ROC and precision-recall
scored         base class of these, and the reliability diagram
sheet          a balance sheet
paths          search paths of learners
panels         data of a panel, and heat maps of pairs
steps          a numeric feature: a step line
bars           categories: bars; scales of a nomogram
scales         points of a nomogram
selection      features and classes that a figure shows
labels         shortened names
axes           figures, axes and colours that all share
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
