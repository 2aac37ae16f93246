"""Comparison of new rows with the training rows of a model: `drift` returns one `Drift`.

checks    counts of new rows by level, indices, p-values, and the levels of a check up to alarm
features  drift of one table: shares of its levels, new values, and values within `other`
labels    calibration and weights on new rows with known classes
numbers   mean, slope and deviance on new rows with known numbers
events    observed and expected events on new rows with known outcomes
known     the checks of labels, numbers or events, by the kind of the model
traffic   the counts of the rows that a service has scored, from its /metrics
result    `Drift`: the checks, the verdict and the recommended action
show      the tables of a `Drift`, for text and pages
series    `DriftDisplay`: drift over time, as small multiples
timeline  `drift_series`: several sets of new rows, as a table and a page
model     `drift` and `update`, from a model and a table; checks of the totals
"""

from weigh.monitoring.model import drift, update
from weigh.monitoring.result import Drift
from weigh.monitoring.series import DriftDisplay
from weigh.monitoring.timeline import DriftSeries, drift_series

__all__ = ["Drift", "DriftDisplay", "DriftSeries", "drift", "drift_series", "update"]
