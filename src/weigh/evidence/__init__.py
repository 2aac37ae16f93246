"""Evidence: a prior and one table of weights per feature. What every learner ends as.

total(x) = prior + sum over features j of table_j[level of x_j]

tables     `Evidence` and its `FeatureTable`s
estimate   counts to weights, with their uncertainty
show       the table as text, HTML and dataframe
"""

from weigh.evidence.estimate import Smoothing, weigh_tally
from weigh.evidence.show import hundredths
from weigh.evidence.tables import Evidence, FeatureTable, contrast, squeeze

__all__ = [
    "Evidence",
    "FeatureTable",
    "Smoothing",
    "contrast",
    "hundredths",
    "squeeze",
    "weigh_tally",
]
