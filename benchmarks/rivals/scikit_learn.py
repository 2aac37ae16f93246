"""scikit-learn: CategoricalNB on codes, and OrdinalEncoder + CategoricalNB on text.

CategoricalNB turns uint8 codes into int64 on the way in; OrdinalEncoder is asked for uint8 codes,
which spares it that much. Unknown levels are not allowed for, which spares it more.
"""

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegressionCV
from sklearn.naive_bayes import CategoricalNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder


def ridge_path() -> Any:
    """Nineteen strengths of ridge on five folds: about what APMR's search does.

    It has an intercept, which APMR has not, and stops at a looser gradient than APMR's 1e-6.
    """
    return LogisticRegressionCV(Cs=19, cv=5)


def on_codes() -> Any:
    return CategoricalNB()


def on_text() -> Any:
    return make_pipeline(OrdinalEncoder(dtype=np.uint8), CategoricalNB())


def on_counts() -> Any:
    """Documents by tokens. It keeps two weights for each token where there are two classes."""
    return MultinomialNB()
