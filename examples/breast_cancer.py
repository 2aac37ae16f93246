"""Numbers to intervals to a balance sheet: scikit-learn's breast cancer data."""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score

import weigh


def main() -> None:
    data = load_breast_cancer()
    y = data.target_names[data.target]
    model = weigh.EvidenceNB(bins="mdl")
    accuracy = cross_val_score(model, data.data, y, cv=5).mean()
    print(f"accuracy in 5-fold cross-validation: {accuracy:.3f}\n")
    rows = [dict(zip(data.feature_names, row, strict=True)) for row in data.data]
    model.fit(rows, y)
    strongest = sorted(model.evidence_, key=lambda table: -table.information_value)[:5]
    for table in strongest:
        print(f"{table.name:<24}information value {table.information_value:5.2f}")
    print()
    print(model.balance_sheet(rows[0], pos_label="malignant"))


if __name__ == "__main__":
    main()
