"""Probability models that people can read.

A model is a prior and a table of weights of evidence; a prediction is a balance sheet.

    any table -> levels -> tally (adds) -> learner -> Evidence -> total -> probability -> sheet
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weigh import datasets, metrics
    from weigh.adjusted import AdjustedNB
    from weigh.bins.discretizer import MDLDiscretizer
    from weigh.boosted import BoostedNB, BoostedNBRegressor
    from weigh.c44 import C44Classifier
    from weigh.calibrate import SplineCalibrator
    from weigh.comparison import Comparison, compare
    from weigh.educated import EducatedNB
    from weigh.evaluation import Evaluation, evaluate
    from weigh.evidence import Evidence
    from weigh.exports import export
    from weigh.frames import NOT_KNOWN, Scan, blank, scan
    from weigh.naive import EvidenceNB
    from weigh.pages import calculator, report
    from weigh.perplexed import PerplexedNB
    from weigh.plot import (
        AttenuationPathDisplay,
        BalanceSheetDisplay,
        ContributionsDisplay,
        EvidenceDisplay,
        GainsDisplay,
        LiftDisplay,
        NetBenefitDisplay,
        NomogramDisplay,
        NormPathDisplay,
        ReliabilityDisplay,
        RoundsDisplay,
        SearchPathDisplay,
    )
    from weigh.recalibrated import RecalibratedClassifier
    from weigh.scorecard import Scorecard
    from weigh.scoring import score_table
    from weigh.sheet import BalanceSheet, conversion_table, reasons
    from weigh.store import load, save
    from weigh.weighted import WeightedNB

__version__ = "0.1.0"

__all__ = [
    "NOT_KNOWN",
    "AdjustedNB",
    "AttenuationPathDisplay",
    "BalanceSheet",
    "BalanceSheetDisplay",
    "BoostedNB",
    "BoostedNBRegressor",
    "C44Classifier",
    "Comparison",
    "ContributionsDisplay",
    "EducatedNB",
    "Evaluation",
    "Evidence",
    "EvidenceDisplay",
    "EvidenceNB",
    "GainsDisplay",
    "LiftDisplay",
    "MDLDiscretizer",
    "NetBenefitDisplay",
    "NomogramDisplay",
    "NormPathDisplay",
    "PerplexedNB",
    "RecalibratedClassifier",
    "ReliabilityDisplay",
    "RoundsDisplay",
    "Scan",
    "Scorecard",
    "SearchPathDisplay",
    "SplineCalibrator",
    "WeightedNB",
    "blank",
    "calculator",
    "compare",
    "conversion_table",
    "datasets",
    "evaluate",
    "export",
    "load",
    "metrics",
    "reasons",
    "report",
    "save",
    "scan",
    "score_table",
]

_HOMES = {
    "NOT_KNOWN": "frames",
    "AdjustedNB": "adjusted",
    "AttenuationPathDisplay": "plot",
    "BalanceSheet": "sheet",
    "BalanceSheetDisplay": "plot",
    "BoostedNB": "boosted",
    "BoostedNBRegressor": "boosted",
    "C44Classifier": "c44",
    "Comparison": "comparison",
    "ContributionsDisplay": "plot",
    "EducatedNB": "educated",
    "Evaluation": "evaluation",
    "Evidence": "evidence",
    "EvidenceDisplay": "plot",
    "EvidenceNB": "naive",
    "GainsDisplay": "plot",
    "LiftDisplay": "plot",
    "MDLDiscretizer": "bins.discretizer",
    "NetBenefitDisplay": "plot",
    "NomogramDisplay": "plot",
    "NormPathDisplay": "plot",
    "PerplexedNB": "perplexed",
    "RecalibratedClassifier": "recalibrated",
    "ReliabilityDisplay": "plot",
    "RoundsDisplay": "plot",
    "Scan": "frames",
    "Scorecard": "scorecard",
    "SearchPathDisplay": "plot",
    "SplineCalibrator": "calibrate",
    "WeightedNB": "weighted",
    "blank": "frames",
    "calculator": "pages",
    "compare": "comparison",
    "conversion_table": "sheet",
    "evaluate": "evaluation",
    "export": "exports",
    "load": "store",
    "reasons": "sheet",
    "report": "pages",
    "save": "store",
    "scan": "frames",
    "score_table": "scoring",
}


_MODULES = ("datasets", "metrics")


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: `weigh --help` must not wait for scikit-learn."""
    if name in _MODULES:
        return import_module(f"weigh.{name}")
    if name in _HOMES:
        return getattr(import_module(f"weigh.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'weigh' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
