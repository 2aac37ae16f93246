"""Log odds to honest probability: a rising function from what a model says to what came true.

    spline       a natural cubic spline that rises everywhere
    calibrator   `SplineCalibrator`, for predictions of any model

`RecalibratedClassifier` fits one on held-out totals of a learner and keeps its table.
"""

from weigh.calibrate.calibrator import FITS, SplineCalibrator, recalibrate

__all__ = ["FITS", "SplineCalibrator", "recalibrate"]
