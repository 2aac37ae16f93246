"""scikit-learn: CategoricalNB on codes, text and tables; logistic regression on one-hot columns.

CategoricalNB turns uint8 codes into int64 on the way in; on the text of the speed table
OrdinalEncoder is asked for uint8 codes, which spares it that much, and unknown levels are not
allowed for, which spares it more. In tables they are: CategoricalNB fails at a code that it has
not seen, so unknown and missing share the code 0. It takes no numbers: those are cut into ten
quantiles, the median standing for a gap.
"""

from typing import Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import CategoricalNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)

from benchmarks.rivals.fitted import Pickled, categories, numbers

QUANTILES = 10


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


def fit_naive(X: Any, y: Any) -> Pickled:
    codes = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1
    )
    intervals = KBinsDiscretizer(QUANTILES, encode="ordinal", strategy="quantile", subsample=None)
    prepare = make_column_transformer(
        (make_pipeline(codes, FunctionTransformer(_add_one)), categories(X)),
        (make_pipeline(SimpleImputer(strategy="median"), intervals), numbers(X)),
    )
    return Pickled(make_pipeline(prepare, CategoricalNB()).fit(X, y))


def _add_one(codes: Any) -> Any:
    return codes + 1


def fit_ridge(X: Any, y: Any) -> Pickled:
    """One strength of ridge, its default; levels that are rare stay columns of their own."""
    ridge = LogisticRegression(max_iter=1000)
    return Pickled(make_pipeline(_as_columns(X), ridge).fit(X, y))


def fit_logistic(X: Any, y: Any) -> Pickled:
    """Ridge logistic regression, its strength by the log loss of five inner folds."""
    ridge = LogisticRegressionCV(
        Cs=np.logspace(-3, 3, 13),
        cv=StratifiedKFold(5, shuffle=True, random_state=0),
        scoring="neg_log_loss",
        max_iter=5000,
    )
    return Pickled(make_pipeline(_as_columns(X), ridge).fit(X, y))


def _as_columns(X: Any) -> Any:
    """Numbers standardised after gaps were filled with the median, a gap having its own column.

    Categories are one-hot, a gap being one of them. A line per number is all they can draw.
    """
    filled = SimpleImputer(strategy="median", add_indicator=True)
    return make_column_transformer(
        (make_pipeline(filled, StandardScaler()), numbers(X)),
        (OneHotEncoder(handle_unknown="ignore"), categories(X)),
    )


RIVALS = {"CategoricalNB": fit_naive, "LogisticRegression": fit_ridge}
