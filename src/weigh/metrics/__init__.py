"""How good probabilities are: proper scores in bits, error and cost, ranking, calibration, drift.

Functions take `(y_true, y_prob, *, sample_weight=None, pos_label=None)` as in scikit-learn, or a
`Scored` in place of the first two, which is sorted once for all of them. The probability is that of
the positive class: the greater of two labels unless `pos_label` names it. A weight of two is a row
given twice, in intervals too; `effective_weight` makes sampling weights such weights. A row is
decided positive where its probability is above the threshold.

    numbers       thresholds, costs and coverages, checked
    scored        labels and probabilities, read and sorted
    predicted     what a classifier says of a table
    scores        loss in bits, Brier, misclassification
    thresholds    error rates, the threshold of least cost, net benefit
    auc           the area under the ROC curve, and differences
    curves        gains and lift
    reliability   reliability table, parts of the Brier score
    stability     population stability index
"""

from weigh.metrics.auc import AUC, AUCDifference, auc, auc_difference
from weigh.metrics.calibration_line import CalibrationLine, calibration_line
from weigh.metrics.curves import GainsCurve, LiftCurve, expected_cost, gains_curve, lift_curve
from weigh.metrics.numbers import COVERAGE
from weigh.metrics.predicted import effective_weight
from weigh.metrics.reliability import (
    BrierDecomposition,
    ReliabilityTable,
    brier_decomposition,
    clopper_pearson,
    reliability_table,
)
from weigh.metrics.scored import Groups, Scored
from weigh.metrics.scores import brier, loss_bits, misclassification_rate
from weigh.metrics.stability import Stability, population_stability_index
from weigh.metrics.thresholds import (
    BestThreshold,
    ErrorRates,
    NetBenefit,
    best_threshold,
    error_rates,
    net_benefit,
)

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
