"""Whether new rows still look like those that a model was fitted on: `drift` returns one `Drift`.

checks    new rows on the levels of a model: their index, p-value, and the rule of an alarm
features  the shares of the levels of one table, new values and values within `other`
labels    calibration and weights on new rows whose classes are known
numbers   mean, slope and deviance on new rows whose numbers are known
events    observed and expected events of new rows whose outcomes are known
known     which of these checks a model has
traffic   the rows that a service has scored, from its /metrics
result    `Drift`: the checks, the verdict and what to do
show      its tables, for text and pages
series    `DriftDisplay`: drift over time, as small multiples
timeline  `drift_series`: several sets of new rows, as a table and a page
model     `drift` and `update`, from a model and a table; the totals of its rows
"""

from weigh.monitoring.model import drift, update
from weigh.monitoring.result import Drift
from weigh.monitoring.series import DriftDisplay
from weigh.monitoring.timeline import DriftSeries, drift_series

__all__ = ["Drift", "DriftDisplay", "DriftSeries", "drift", "drift_series", "update"]
