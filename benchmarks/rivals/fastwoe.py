"""fastwoe: weights of evidence by scikit-learn's TargetEncoder; naive Bayes on them.

Its predict_proba adds the weights up with the prior, so it is the closest kin of `EvidenceNB` here.
Numbers with 20 or more values are cut by a decision tree for each column. It computes Gini
coefficients, information values and their errors for every column while it fits, which `EvidenceNB`
does when asked. Its smoothing is next to none. Unknown levels are told to weigh nothing, quietly.
Categories go in as text.
"""

from typing import Any

from benchmarks.rivals.fitted import Prepared, as_text


def fit(X: Any, y: Any) -> Prepared:
    import pandas as pd
    from fastwoe import FastWoe

    model = FastWoe(unseen="prior").fit(as_text(X), pd.Series(y, index=X.index))
    return Prepared(as_text, model)


RIVALS = {"fastwoe": fit}
