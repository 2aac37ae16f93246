"""Figures. Each display follows scikit-learn: hold the data, draw with `plot(ax=)`, never show.

evidence   the weights of the most important tables, as panels
contributions  what tables add to many rows
nomogram   a model as scales to add up by hand
reliability  predictions against what came true
curves     lift, gains, net benefit
roc        ROC and precision-recall curves
scored     what these share
sheet      a balance sheet
paths      what a learner searched
panels     what a panel shows
steps      a number: steps over its axis
bars       categories: bars
pairmap    a pair: a heat map
scales     the points of a nomogram
rows       scales below each other
axis_limits  how far an axis of weights goes
classes    which classes a figure is about
selection  which features it draws
labels     names in few letters
names      names of bars, in the room that they have
axes       what they share
"""

from weigh.plot.contributions import ContributionsDisplay
from weigh.plot.curves import GainsDisplay, LiftDisplay, NetBenefitDisplay
from weigh.plot.evidence import EvidenceDisplay
from weigh.plot.nomogram import NomogramDisplay
from weigh.plot.paths import (
    AttenuationPathDisplay,
    NormPathDisplay,
    RoundsDisplay,
    SearchPathDisplay,
)
from weigh.plot.reliability import ReliabilityDisplay
from weigh.plot.roc import PrecisionRecallDisplay, ROCDisplay
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
