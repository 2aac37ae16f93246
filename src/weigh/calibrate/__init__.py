"""Recalibration: increasing curves from a model's log odds to calibrated log odds.

    spline       an increasing natural cubic spline
    calibrator   `SplineCalibrator`, for predictions of any model, and the other methods
    multiclass   more than two classes: scaled totals, or a curve for each class against the rest

`RecalibratedClassifier` fits one of them to hold-out totals of a learner and keeps its tables.
"""

from weigh.calibrate.calibrator import FITS, SplineCalibrator, recalibrate
from weigh.calibrate.multiclass import SCALINGS, HoldOutTotals, RestCurves
