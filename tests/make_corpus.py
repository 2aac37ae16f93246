"""Write the corpus: model files of this release, with rows and what they were predicted to be.

Run `python -m tests.make_corpus` once, when a release is made. Files of released versions are
never written again: every later version must read them and predict the same.
"""

import json
from pathlib import Path
from unittest.mock import patch

import numpy as np

import weigh

CORPUS = Path(__file__).parent / "corpus"


def make_table(n=80):
    """A small table of every kind of column, made without random numbers."""
    i = np.arange(n)
    age = 20 + i * 7 % 50
    income = np.where(i % 11 == 3, -9.0, np.round(1000 * (1 + np.sin(i)), 2))
    rows = [
        {
            "age": int(age[k]),
            "income": None if k % 13 == 5 else float(income[k]),
            "town": [None, "North", "South", "East"][(k * k + k // 3) % 4],
            "owner": bool(k % 3),
        }
        for k in range(n)
    ]
    risk = (age > 40) ^ (i * (1 + i // 7) % 5 == 2)  # no column decides it alone
    return rows, risk.astype(int), np.round(income + 30 * age, 1)


def make_models():
    """Each learner once, fitted on the table."""
    rows, y, amount = make_table()
    three = np.array(["a", "b", "c"])[(y + np.arange(len(y)) // 5) % 3]
    codes = {"special_values": {"income": [-9]}}
    models = {
        "evidence": weigh.EvidenceNB(**codes),
        "adjusted": weigh.AdjustedNB(**codes, cv=3, random_state=0),
        "weighted": weigh.WeightedNB(cv=3, random_state=0),
        "boosted": weigh.BoostedNB(),
        "perplexed": weigh.PerplexedNB(cv=3, random_state=0),
        "educated": weigh.EducatedNB(**codes, pairs=[("age", "town")]),
        "grouped": weigh.EvidenceNB(bins={"town": [["North", "South"], ["East"]]}),
        "c44": weigh.C44Classifier(),
        "recalibrated": weigh.RecalibratedClassifier(weigh.EvidenceNB(), cv=3),
        "density": weigh.EvidenceNB(**codes, bins={"age": weigh.Density("kernel", cells=16)}),
        "vote": weigh.BoostedNB(combine="vote"),
        "mean": weigh.PerplexedNB(form="arithmetic"),
    }
    fitted = {name: model.fit(rows, y) for name, model in models.items()}
    asked = [row | {"town": row["town"] if row["owner"] else None} for row in rows]
    fitted["branching"] = weigh.EvidenceNB(ask_if={"town": ("owner", True)}).fit(asked, y)
    fitted["three-classes"] = weigh.EducatedNB(pairs=0).fit(rows, three)
    fitted["boosted-regressor"] = weigh.BoostedNBRegressor().fit(rows, amount)
    fitted["educated-regressor"] = weigh.EducatedRegressor(pairs=0, bins=4).fit(rows, amount)
    counts = weigh.EducatedRegressor(family="poisson", pairs=0, bins=4)
    fitted["exposure"] = counts.fit(
        [row | {"years": 0.5 + k % 3} for k, row in enumerate(rows)],
        np.arange(len(rows)) % 4,
        exposure="years",
    )
    fitted["margins"] = fit_margins(rows, y)
    each = weigh.RecalibratedClassifier(weigh.EvidenceNB(), method="spline", cv=3)
    fitted["rest"] = each.fit(rows, three)
    survival = weigh.EducatedSurvival(periods=4, bins=4, pairs=0)
    followed = [row | {"died": int(y[k]), "days": 1 + k % 9} for k, row in enumerate(rows)]
    fitted["survival"] = survival.fit(followed, ("died", "days"))
    fitted["scorecard"] = weigh.Scorecard(fitted["evidence"])
    return fitted


def fit_margins(rows, y):
    """A model whose pair has margins, whatever they gain: its file has format version 2."""
    home = "weigh.educated.attenuation"
    with patch(f"{home}.LEAST_GAIN", -np.inf), patch(f"{home}.MARGIN_GAIN", -np.inf):
        return weigh.EducatedNB(bins=4, pairs=[("age", "town")]).fit(rows, y)


def predict(model, rows):
    """The numbers that must stay as they are."""
    ways = ("predict_proba", "predict_hazard", "predict")
    scores = getattr(model, next(way for way in ways if hasattr(model, way)))(rows)
    return np.asarray(scores, dtype=float).tolist()


def main():
    """Write the files of this version."""
    folder = CORPUS / weigh.__version__
    folder.mkdir(parents=True, exist_ok=True)
    rows = [*make_table()[0][:6], {}, {"town": "West", "age": 1000}]
    expected = {}
    for name, model in make_models().items():
        weigh.save(model, folder / f"{name}.json")
        expected[name] = predict(model, rows)
    text = json.dumps({"rows": rows, "expected": expected}, indent=1)
    (folder / "predictions.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
