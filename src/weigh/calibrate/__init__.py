"""Log odds to honest probability: a rising function from what a model says to what came true.

    spline       a natural cubic spline that rises everywhere
    calibrator   `SplineCalibrator`, for predictions of any model
    scaling      more than two classes: totals scaled, which tables of weights take in
    rest         more than two classes: a curve for each against the rest

`RecalibratedClassifier` fits one on held-out totals of a learner and keeps its table.
"""

from weigh.calibrate.calibrator import FITS, SplineCalibrator, recalibrate
from weigh.calibrate.rest import RestCurves
from weigh.calibrate.scaling import SCALINGS, Held

__all__ = ["FITS", "SCALINGS", "Held", "RestCurves", "SplineCalibrator", "recalibrate"]
