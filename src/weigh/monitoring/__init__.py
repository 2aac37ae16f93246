"""Whether new rows still look like those that a model was fitted on: `drift` returns one `Drift`.

checks   one comparison: its index, its p-value, and the rule that makes it a notice or an alarm
counts   new rows on the levels of a model
labels   calibration and weights on new rows whose classes are known
result   `Drift`: the checks, the verdict and what to do
show     the result as a view
model    from a model and a table
updating  `update`: new rows added to a model of counts
"""

from weigh.monitoring.model import drift
from weigh.monitoring.result import Drift
from weigh.monitoring.updating import update

__all__ = ["Drift", "drift", "update"]
