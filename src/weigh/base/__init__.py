"""Base classes of learners: read a table, learn `Evidence`, predict and explain from it.

A learner stores its parameters and writes one method, `_learn(sample) -> Evidence`. A learner whose
result is not a table of weights derives from `TableEstimator`, which only reads tables.

columns      warnings about columns that look like something else
estimator    `TableEstimator`: any table in, and its columns as levels; `EvidenceModel` has
             evidence, `EvidenceClassifier` learns it
"""

from weigh.base.columns import check_listed, part_of_rows, warn_columns
from weigh.base.estimator import (
    EvidenceClassifier,
    EvidenceModel,
    TableEstimator,
    branch,
    read_sample,
    remember,
)
