"""Time to an event, in discrete time: a binary model of the hazard of each period.

outcomes  reads and checks events, durations and entries, and the times to predict
periods   periods of follow-up, one row per row and period at risk, parameters of the hazard model
learner   `EducatedSurvival`
"""

from weigh.survival.learner import EducatedSurvival
from weigh.survival.outcomes import Outcomes, read_outcomes
from weigh.survival.periods import Periods, person_periods

__all__ = ["EducatedSurvival", "Outcomes", "Periods", "person_periods", "read_outcomes"]
