"""Log odds to honest probability: a rising function from what a model says to what came true.

    spline       a natural cubic spline that rises everywhere
    calibrator   `SplineCalibrator`, for predictions of any model
    multiclass   more than two classes: totals scaled, or a curve for each against the rest

`RecalibratedClassifier` fits one on held-out totals of a learner and keeps its table.
"""

from weigh.calibrate.calibrator import FITS, SplineCalibrator, recalibrate
from weigh.calibrate.multiclass import SCALINGS, Held, RestCurves

__all__ = ["FITS", "SCALINGS", "Held", "RestCurves", "SplineCalibrator", "recalibrate"]
