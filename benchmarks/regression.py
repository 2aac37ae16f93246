"""BoostedNBRegressor beside linear regression, binned ridge and a tree, on three data sets.

    WEIGH_DATA=... python -m benchmarks.regression

writes docs/papers/boosted_regression.md: means over one 10-fold cross-validation. The paper
describes the method and shows no figures for it.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

import weigh

PAGE = Path(__file__).parents[1] / "docs" / "papers" / "boosted_regression.md"
SETS = {
    "reg_bodyfat": ["density"],
    "reg_auto_mpg": [],
    "reg_abalone_rings": [],
}
OURS = {"one round": 1, "10 rounds": 10, "30 rounds": 30}

HEAD = """# Boosted regression, measured

Written by `python -m benchmarks.regression`: one 10-fold cross-validation (shuffled, seed 0) of
`BoostedNBRegressor`, all settings at their defaults but for the number of rounds. Rivals are
scikit-learn's: linear regression on standardised numbers and one-hot categories, ridge regression
on ten quantile bins one-hot (`KBinsDiscretizer`), and a regression tree with five rows in a leaf.
Body fat leaves out `density`, which gives the target by formula. "in 80%" is the share of held-out
targets between the 10% and the 90% quantile. Seconds are those of one fit.

The paper describes the method and shows no figures for it.
"""


def rivals(X: Any) -> dict[str, Any]:
    """Each with the same preparation of gaps and categories."""
    numbers = X.select_dtypes("number").columns.tolist()
    text = [name for name in X.columns if name not in numbers]
    fill = SimpleImputer(strategy="median")
    one_hot = (OneHotEncoder(handle_unknown="ignore"), text)

    def prepare(step: Any) -> Any:
        return make_column_transformer((make_pipeline(fill, step), numbers), one_hot)

    bins = KBinsDiscretizer(10, quantile_method="averaged_inverted_cdf")
    return {
        "linear regression": make_pipeline(prepare(StandardScaler()), LinearRegression()),
        "binned ridge": make_pipeline(prepare(bins), Ridge()),
        "regression tree": make_pipeline(
            prepare(StandardScaler()), DecisionTreeRegressor(min_samples_leaf=5, random_state=0)
        ),
    }


def measure(name: str) -> dict[str, np.ndarray[Any, Any]]:
    """RMSE, mean absolute error, coverage of an 80% interval, seconds."""
    X = weigh.datasets.load(name).to_pandas().drop(columns=SETS[name])
    y = X.pop("target").to_numpy(float)
    models = {
        label: weigh.BoostedNBRegressor(n_rounds=n, random_state=0) for label, n in OURS.items()
    }
    found: dict[str, list[tuple[float, ...]]] = {}
    for train, test in KFold(10, shuffle=True, random_state=0).split(X):
        for label, model in (models | rivals(X)).items():
            start = time.perf_counter()
            model.fit(X.iloc[train], y[train])
            seconds, missed = time.perf_counter() - start, model.predict(X.iloc[test]) - y[test]
            inside = np.nan
            if label in OURS:
                low, high = (model.predict_quantile(X.iloc[test], q) for q in (0.1, 0.9))
                inside = float(((y[test] >= low) & (y[test] <= high)).mean())
            row = (float((missed**2).mean()), float(np.abs(missed).mean()), inside, seconds)
            found.setdefault(label, []).append(row)
    means = {label: np.mean(rows, axis=0) for label, rows in found.items()}
    return {label: np.array([np.sqrt(m[0]), *m[1:]]) for label, m in means.items()}


def main() -> None:
    page = [HEAD]
    for name in SETS:
        rows = measure(name)
        print(name, rows["10 rounds"], file=sys.stderr, flush=True)
        page += [f"## {name.removeprefix('reg_')}", ""]
        page += ["| model | RMSE | mean absolute error | in 80% | seconds |"]
        page += ["| --- | --- | --- | --- | --- |"]
        for label, (rmse, mae, inside, seconds) in rows.items():
            ours = f"BoostedNBRegressor, {label}" if label in OURS else label
            share = "" if np.isnan(inside) else f"{inside:.2f}"
            page.append(f"| {ours} | {rmse:.2f} | {mae:.2f} | {share} | {seconds:.2f} |")
        page.append("")
    PAGE.write_text("\n".join(page).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
