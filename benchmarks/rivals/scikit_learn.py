"""scikit-learn: CategoricalNB on codes, and OrdinalEncoder + CategoricalNB on text.

CategoricalNB turns uint8 codes into int64 on the way in; OrdinalEncoder is asked for uint8 codes,
which spares it that much. Unknown levels are not allowed for, which spares it more.
"""

from typing import Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import CategoricalNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from benchmarks.rivals.fitted import Pickled


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


def fit_logistic(table: Any, y: Any, categorical: list[str]) -> Pickled:
    """Ridge logistic regression, its strength by the log loss of five inner folds.

    Numbers are standardised after gaps were filled with the median, and a gap has a column of its
    own; categories are one-hot, a gap being one of them. A line per number is all it can draw.
    """
    numbers = [name for name in table.columns if name not in categorical]
    filled = SimpleImputer(strategy="median", add_indicator=True)
    prepare = make_column_transformer(
        (make_pipeline(filled, StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore"), categorical),
    )
    ridge = LogisticRegressionCV(
        Cs=np.logspace(-3, 3, 13),
        cv=StratifiedKFold(5, shuffle=True, random_state=0),
        scoring="neg_log_loss",
        max_iter=5000,
    )
    return Pickled(make_pipeline(prepare, ridge).fit(table, y))
