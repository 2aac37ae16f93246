"""AdjustedNB as the combiner of an ensemble: another model's probability is one more feature.

The other model's out-of-fold probability is cut into intervals like any number and gets an exponent
like any feature, so the balance sheet shows how much it adds to the rest.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import weigh


def main() -> None:
    data = load_breast_cancer()
    keep = [0, 1, 4, 5]  # a few plain measurements
    X, y = data.data[:, keep], data.target
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    neighbours = make_pipeline(StandardScaler(), KNeighborsClassifier(25))
    train, test = next(folds.split(X, y))
    inner = cross_val_predict(neighbours, X[train], y[train], cv=5, method="predict_proba")[:, 1]
    outer = neighbours.fit(X[train], y[train]).predict_proba(X[test])[:, 1]

    names = [*data.feature_names[keep], "neighbours say"]
    rows = [dict(zip(names, [*x, p], strict=True)) for x, p in zip(X[train], inner, strict=True)]
    new = [dict(zip(names, [*x, p], strict=True)) for x, p in zip(X[test], outer, strict=True)]
    alone = weigh.AdjustedNB(random_state=0).fit(X[train], y[train])
    combined = weigh.AdjustedNB(random_state=0).fit(rows, y[train])
    for name, exponent in zip(names, combined.exponents_, strict=True):
        print(f"{name:<18}{exponent:6.2f}")
    losses = {
        "the measurements alone": log_loss(y[test], alone.predict_proba(X[test])),
        "the neighbours alone": log_loss(y[test], np.column_stack([1 - outer, outer])),
        "combined": log_loss(y[test], combined.predict_proba(new)),
    }
    for what, loss in losses.items():
        print(f"loss of {what:<24}{loss / np.log(2):.3f} bits")
    print(combined.balance_sheet(new[0]))


if __name__ == "__main__":
    main()
