"""category_encoders: its weights of evidence in place of levels, then logistic regression.

WOEEncoder adds 1 to the counts of both classes in every level, whatever the number of levels, and
pools nothing; missing and unknown levels get weights or 0. Numbers are no business of it: they are
standardised, the median standing for a gap, and enter the regression as lines.
"""

from typing import Any

from benchmarks.rivals.fitted import Prepared, as_text, categories, numbers


def fit(X: Any, y: Any) -> Prepared:
    from category_encoders import WOEEncoder
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    lines = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    prepare = make_column_transformer((WOEEncoder(), categories(X)), (lines, numbers(X)))
    model = make_pipeline(prepare, LogisticRegression(max_iter=1000))
    return Prepared(as_text, model.fit(as_text(X), y))


RIVALS = {"category_encoders": fit}
