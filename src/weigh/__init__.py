"""Probability models that people can read.

A model is a prior and a table of weights of evidence; a prediction is a balance sheet.

    any table -> levels -> tally (adds) -> learner -> Evidence -> total -> probability -> sheet
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weigh import datasets as datasets
    from weigh import metrics as metrics
    from weigh.adjusted import AdjustedNB as AdjustedNB
    from weigh.bins import Binning as Binning
    from weigh.bins import Density as Density
    from weigh.bins import read_bins as read_bins
    from weigh.boosted import BoostedNB as BoostedNB
    from weigh.boosted import BoostedNBRegressor as BoostedNBRegressor
    from weigh.budget import Prices as Prices
    from weigh.budget import price as price
    from weigh.budget import simplify as simplify
    from weigh.c44 import C44Classifier as C44Classifier
    from weigh.calibrate import SplineCalibrator as SplineCalibrator
    from weigh.comparison import Challenge as Challenge
    from weigh.comparison import Comparison as Comparison
    from weigh.comparison import challenge as challenge
    from weigh.comparison import compare as compare
    from weigh.editing import Editor as Editor
    from weigh.editing import edit as edit
    from weigh.educated import EducatedNB as EducatedNB
    from weigh.educated import EducatedRegressor as EducatedRegressor
    from weigh.educated.updating import cut_points as cut_points
    from weigh.educated.updating import summarise as summarise
    from weigh.evaluation import Evaluation as Evaluation
    from weigh.evaluation import evaluate as evaluate
    from weigh.evidence import Evidence as Evidence
    from weigh.exports import export as export
    from weigh.frames import NOT_KNOWN as NOT_KNOWN
    from weigh.frames import Scan as Scan
    from weigh.frames import blank as blank
    from weigh.frames import read_file as read_file
    from weigh.frames import scan as scan
    from weigh.holdout import split as split
    from weigh.monitoring import Drift as Drift
    from weigh.monitoring import DriftDisplay as DriftDisplay
    from weigh.monitoring import DriftSeries as DriftSeries
    from weigh.monitoring import drift as drift
    from weigh.monitoring import drift_series as drift_series
    from weigh.monitoring import update as update
    from weigh.naive import EvidenceNB as EvidenceNB
    from weigh.pages.calculator_page import calculator as calculator
    from weigh.pages.report_page import report as report
    from weigh.perplexed import PerplexedNB as PerplexedNB
    from weigh.plot import AttenuationPathDisplay as AttenuationPathDisplay
    from weigh.plot import BalanceSheetDisplay as BalanceSheetDisplay
    from weigh.plot import ContributionsDisplay as ContributionsDisplay
    from weigh.plot import EvidenceDisplay as EvidenceDisplay
    from weigh.plot import GainsDisplay as GainsDisplay
    from weigh.plot import LiftDisplay as LiftDisplay
    from weigh.plot import NetBenefitDisplay as NetBenefitDisplay
    from weigh.plot import NomogramDisplay as NomogramDisplay
    from weigh.plot import NormPathDisplay as NormPathDisplay
    from weigh.plot import PrecisionRecallDisplay as PrecisionRecallDisplay
    from weigh.plot import ReliabilityDisplay as ReliabilityDisplay
    from weigh.plot import ROCDisplay as ROCDisplay
    from weigh.plot import RoundsDisplay as RoundsDisplay
    from weigh.plot import SearchPathDisplay as SearchPathDisplay
    from weigh.recalibrated import RecalibratedClassifier as RecalibratedClassifier
    from weigh.recourse import levers as levers
    from weigh.scorecard import Scorecard as Scorecard
    from weigh.scoring import score_table as score_table
    from weigh.screening import Screening as Screening
    from weigh.screening import screen as screen
    from weigh.sheet import BalanceSheet as BalanceSheet
    from weigh.sheet import conversion_table as conversion_table
    from weigh.sheet import reasons as reasons
    from weigh.store import load as load
    from weigh.store import save as save
    from weigh.survival import EducatedSurvival as EducatedSurvival
    from weigh.survival import person_periods as person_periods
    from weigh.transformers import MDLDiscretizer as MDLDiscretizer
    from weigh.transformers import WeightOfEvidence as WeightOfEvidence
    from weigh.weighted import WeightedNB as WeightedNB

__version__ = "0.1.0"

_HOMES = {  # every public name and its module: a new learner adds one line
    name: module
    for module, names in {
        "adjusted": "AdjustedNB",
        "bins": "Binning Density read_bins",
        "boosted": "BoostedNB BoostedNBRegressor",
        "budget": "price Prices simplify",
        "c44": "C44Classifier",
        "calibrate": "SplineCalibrator",
        "comparison": "Challenge challenge compare Comparison",
        "editing": "edit Editor",
        "educated": "EducatedNB EducatedRegressor",
        "educated.updating": "cut_points summarise",
        "evaluation": "evaluate Evaluation",
        "evidence": "Evidence",
        "exports": "export",
        "frames": "blank NOT_KNOWN read_file Scan scan",
        "holdout": "split",
        "monitoring": "Drift drift drift_series DriftDisplay DriftSeries update",
        "naive": "EvidenceNB",
        "pages.calculator_page": "calculator",
        "pages.report_page": "report",
        "perplexed": "PerplexedNB",
        "plot": "AttenuationPathDisplay BalanceSheetDisplay ContributionsDisplay "
        "EvidenceDisplay GainsDisplay LiftDisplay NetBenefitDisplay NomogramDisplay "
        "NormPathDisplay PrecisionRecallDisplay ReliabilityDisplay ROCDisplay "
        "RoundsDisplay SearchPathDisplay",
        "recalibrated": "RecalibratedClassifier",
        "recourse": "levers",
        "scorecard": "Scorecard",
        "scoring": "score_table",
        "screening": "screen Screening",
        "sheet": "BalanceSheet conversion_table reasons",
        "store": "load save",
        "survival": "EducatedSurvival person_periods",
        "transformers": "MDLDiscretizer WeightOfEvidence",
        "weighted": "WeightedNB",
    }.items()
    for name in names.split()
}

_MODULES = ("datasets", "metrics")

__all__ = [*_HOMES, *_MODULES]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: `weigh --help` must not wait for scikit-learn."""
    if name in _MODULES:
        return import_module(f"weigh.{name}")
    if name in _HOMES:
        return getattr(import_module(f"weigh.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'weigh' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*_HOMES, *_MODULES, "__version__"]
