"""Base classes of learners: read a table, learn `Evidence`, predict and explain from it.

A learner stores its parameters and writes one method, `_learn(sample) -> Evidence`. A learner whose
result is not a table of weights derives from `BinnedEstimator`, which only finds levels.

columns      warnings about columns that look like something else
estimator    `TableEstimator` reads any table, `BinnedEstimator` finds the levels of its columns,
             `EvidenceClassifier` learns evidence of classes, `NumberEstimator` tables for numbers;
             `EvidenceModel` has evidence, learnt or given
"""

from weigh.base.columns import check_listed, part_of_rows, warn_columns
from weigh.base.estimator import (
    BinnedEstimator,
    Classifier,
    EvidenceClassifier,
    EvidenceModel,
    NumberEstimator,
    TableEstimator,
    branch,
    read_sample,
    remember,
)
