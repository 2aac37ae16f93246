"""Figures. Each display follows scikit-learn: hold the data, draw with `plot(ax=)`, never show.

evidence       the weights of the most important tables, as panels
contributions  contributions of tables to the total of one row, or of many
nomogram       a model as scales to add up by hand
curves         lift, gains, net benefit; ROC and precision-recall
scored         base class of these, and the reliability diagram
paths          search paths of learners
panels         draws a panel: bars, a step line, or the heat map of a pair
scales         points and scales of a nomogram
selection      features, classes and levels that a figure shows
axes           figures, axes, colours and shortened names that all share
"""

from weigh.plot.contributions import BalanceSheetDisplay, ContributionsDisplay
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
