"""What learners share: read a table, learn `Evidence`, predict and explain from it.

A learner stores its parameters and writes one method, `_learn(sample) -> Evidence`. One that ends
as something else than a table builds on `TableEstimator`, which reads and nothing more.

estimator    `TableEstimator`: any table in, and its columns as levels
classifier   `EvidenceModel` has evidence; `EvidenceClassifier` learns it
"""

from weigh.base.classifier import EvidenceClassifier, EvidenceModel
from weigh.base.estimator import TableEstimator, branch, read_sample, remember, warn_ids

__all__ = [
    "EvidenceClassifier",
    "EvidenceModel",
    "TableEstimator",
    "branch",
    "read_sample",
    "remember",
    "warn_ids",
]
