"""Comparison of new rows with the training rows of a model: `drift` returns one `Drift`.

New rows are counted by level. A check is an index with a p-value: of a table, of the totals, and,
if the outcomes are known, of classes, numbers or events. All checks are judged together.

counts   new rows by level, from a table or from the /metrics of a service
checks   tests, levels of a check up to alarm, and the checks of totals and of single tables
labels   calibration and weights on new rows with known classes, or with known events
numbers  mean, slope and deviance on new rows with known numbers
result   `Drift`: the checks, the verdict and the recommended action
show     the tables of a `Drift`, for text and pages
model    `drift` and `update`, from a model and a table
series   `drift_series` and `DriftDisplay`: several sets of new rows over time
"""

from weigh.monitoring.model import drift, update
from weigh.monitoring.result import Drift
from weigh.monitoring.series import DriftDisplay, DriftSeries, drift_series
