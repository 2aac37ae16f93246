"""Time to an event, in discrete time: a binary model of the hazard of each period.

outcomes  events, durations and entries, and times to predict, as they are given and checked
periods   the periods of follow-up, one row for each row and period at risk, and their model
learner   `EducatedSurvival`
"""

from weigh.survival.learner import EducatedSurvival
from weigh.survival.outcomes import Outcomes, read_outcomes
from weigh.survival.periods import Periods, person_periods

__all__ = ["EducatedSurvival", "Outcomes", "Periods", "person_periods", "read_outcomes"]
