"""Measures of probabilities: loss in bits, error, cost, ranking, calibration, drift.

Functions take `(y_true, y_prob, *, sample_weight=None, pos_label=None)` as in scikit-learn, or a
`Scored` in place of the first two, which is sorted once for all functions. The probability is that
of the positive class: the greater of two labels unless `pos_label` names it. A weight of two equals
a row given twice, also in intervals; `effective_weight` rescales sampling weights. A row counts as
positive if its probability is above the cut-off. The modules::

    numbers           checks of thresholds, costs and coverages; numbers with intervals
    inputs            labels and probabilities, read and sorted
    predictions         predictions of a classifier for a table, with the true labels
    scores            loss in bits, Brier score, error rates at a cut-off
    costs             the cut-off of lowest cost, expected cost, net benefit
    ranking           the area under the ROC curve, differences, gains and lift
    reliability       reliability table, parts of the Brier score; the calibration line: slope and
                      intercept of a regression of the outcome on the log odds
    stability         population stability index
    survival          Kaplan-Meier, concordance and Brier score of rows that may be censored
"""

from weigh.metrics.costs import (
    BestThreshold,
    NetBenefit,
    best_threshold,
    expected_cost,
    net_benefit,
)
from weigh.metrics.inputs import Groups, Scored
from weigh.metrics.numbers import COVERAGE, clopper_pearson
from weigh.metrics.predictions import effective_weight
from weigh.metrics.ranking import (
    AUC,
    AUCDifference,
    GainsCurve,
    LiftCurve,
    auc,
    auc_difference,
    gains_curve,
    lift_curve,
)
from weigh.metrics.reliability import (
    BrierDecomposition,
    CalibrationLine,
    ReliabilityTable,
    brier_decomposition,
    calibration_line,
    reliability_table,
)
from weigh.metrics.scores import ErrorRates, brier, error_rates, loss_bits, misclassification_rate
from weigh.metrics.stability import Stability, population_stability_index

__all__ = [
    "AUC",
    "COVERAGE",
    "AUCDifference",
    "BestThreshold",
    "BrierDecomposition",
    "CalibrationLine",
    "ErrorRates",
    "GainsCurve",
    "Groups",
    "LiftCurve",
    "NetBenefit",
    "ReliabilityTable",
    "Scored",
    "Stability",
    "auc",
    "auc_difference",
    "best_threshold",
    "brier",
    "brier_decomposition",
    "calibration_line",
    "clopper_pearson",
    "effective_weight",
    "error_rates",
    "expected_cost",
    "gains_curve",
    "lift_curve",
    "loss_bits",
    "misclassification_rate",
    "net_benefit",
    "population_stability_index",
    "reliability_table",
]
