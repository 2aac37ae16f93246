"""Tables and models that the tests of both pages use."""

import numpy as np
import pyarrow as pa
from tests.exported import Incomplete

import weigh

WEIRD = [
    "<script>document.title='broken'</script>",
    "</script><img src=x onerror=alert(1)>",
    "\"quoted\" 'twice' & <b>bold</b>",
    "😀 über ~tilde",
    "~rate",
    "x" * 200,
    "a=b&c#d%20e+f",
]

ASKED = "<u>Is it?</u>"


def mixed(n=400, seed=0, n_classes=2):
    """Numbers with gaps and codes, text, booleans, integers as categories."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    age = np.where(rng.random(n) < 0.1, np.nan, rng.normal(40 + 9 * y, 12).round(1))
    income = np.where(rng.random(n) < 0.2, -999.0, rng.normal(10 * y, 8).round())
    colour = [
        None if r < 0.15 else ("red", "green", "blue", "black", "white")[int(5 * r)]
        for r in np.clip(rng.random(n) + 0.1 * (y == 1), 0, 0.99)
    ]
    return pa.table(
        {
            "age": pa.array(age, from_pandas=True),
            "income": income,
            "colour": colour,
            "member": rng.random(n) < 0.3 + 0.2 * (y == 1),
            "y": [f"class {k}" for k in y],
        }
    )


CODES = {"income": [-999.0, -1.0]}
JOINED = [["white", "red"], ["black"]]
LEARNERS = {
    "naive": weigh.EvidenceNB(special_values=CODES),
    "skipping": weigh.EvidenceNB(special_values=CODES, missing="skip", smoothing=0.5),
    "unsmoothed": weigh.EvidenceNB(smoothing=0),
    "prior": weigh.EvidenceNB(class_prior=[0.9, 0.1]),
    "crossed": weigh.EvidenceNB(crosses=[("colour", "age")], missing="skip"),
    "rare": weigh.EvidenceNB(max_levels={"colour": 2, "member": 1}),
    "joined": weigh.EvidenceNB(bins={"colour": JOINED}, crosses=[("colour", "age")]),
    "rare crossed": weigh.EvidenceNB(max_levels=2, crosses=[("colour", "age")], missing="skip"),
    "rare pairs": weigh.EducatedNB(max_levels=2, pairs=[("colour", "age")]),
    "adjusted": weigh.AdjustedNB(random_state=0),
    "weighted": weigh.WeightedNB(random_state=0),
    "boosted": weigh.BoostedNB(random_state=0),
    "perplexed": weigh.PerplexedNB(random_state=0, attenuation=2.5),
    "root": weigh.PerplexedNB(attenuation=2, missing="skip"),
    "geometric": weigh.PerplexedNB(attenuation=2, missing="skip", form="geometric"),
    "educated": weigh.EducatedNB(pairs=0, random_state=0, special_values=CODES),
    "pairs": weigh.EducatedNB(pairs=[("colour", "age"), ("age", "income")], missing="skip"),
    "incomplete": Incomplete(pairs=[("colour", "age")], special_values=CODES),
    "spline": weigh.RecalibratedClassifier(weigh.EvidenceNB(), random_state=0),
    "sigmoid": weigh.RecalibratedClassifier(weigh.EvidenceNB(), method="sigmoid", random_state=0),
    "isotonic": weigh.RecalibratedClassifier(weigh.EvidenceNB(), method="isotonic", random_state=0),
    "both": weigh.RecalibratedClassifier(
        weigh.PerplexedNB(attenuation=2, missing="skip"), method="temperature", random_state=0
    ),
}
MANY = {
    "naive of 3": weigh.EvidenceNB(special_values=CODES),
    "perplexed of 3": weigh.PerplexedNB(attenuation=2, missing="skip", form="geometric"),
    "adjusted of 3": weigh.AdjustedNB(multiclass="ovr", random_state=0),
    "joint of 3": weigh.AdjustedNB(multiclass="softmax", random_state=0),
    "educated of 3": weigh.EducatedNB(pairs=0, multiclass="ovr", random_state=0),
}


def weird():
    """Columns, levels and classes that would break out of a page that let them."""
    rng = np.random.default_rng(0)
    columns = {name: rng.choice(WEIRD, 300).tolist() for name in WEIRD}
    target = rng.choice(["<i>no</i>", "</script><script>alert(2)</script>"], 300).tolist()
    return pa.table({**columns, "y": target})


def weird_model():
    return weigh.EvidenceNB().fit(weird(), "y")


def big_model(learner, n_levels=10, n_features=40, n=4000):
    """Forty features of ten levels, unless others are asked for."""
    rng = np.random.default_rng(0)
    X = {f"feature {j}": rng.integers(0, n_levels, n) for j in range(n_features)}
    y = rng.random(n) < 1 / (1 + np.exp(-sum(np.sin(j + x) for j, x in enumerate(X.values())) / 4))
    table = pa.table({name: [f"level {v}" for v in x] for name, x in X.items()})
    return learner.fit(table, y)
