"""Models to export: every learner on one table, and generated ones with nasty names and levels."""

from functools import cache
from unittest.mock import patch

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import weigh
from weigh.exports import Formula, checks

INFINITY = float("inf")
NASTY = ['"', "'", "''", "a'b", 'say "x"', "two\nlines", "😀", "<script>alert(1)</script>", "&amp;"]
NASTY += [
    "",
    " ",
    " a",
    "a ",
    "A",
    "a",
    "\\",
    "\\'",
    "\\n",
    "NaN",
    "null",
    "true",
    "1",
    "1.0",
    "[a]",
]
NASTY += [
    "'; DROP TABLE rows; --",
    "/* x",
    "*/",
    "--",
    "`",
    "]]",
    "{}",
    "%s",
    "?",
    "$1",
    ":a",
    "@a",
]
NASTY += ["=1+1", "+a", "_x0041_", "a*", "~", "Größe", "Σ", "ς", "年", "\t", "totals", "x0", "w0_0"]
WORDS = st.sampled_from(NASTY) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6
)
KINDS = {
    "text": WORDS | st.none(),
    "boolean": st.booleans() | st.none(),
    "code": st.sampled_from([0, 1, -3, 1.5, 7, 1e6, 0.1, None]),
    "number": st.sampled_from([-9, -INFINITY, INFINITY, 0.1, 0.3, 1e-300, 7.5, -1e308, None]),
    "nothing": st.none(),
}
CLASSES = st.sampled_from(
    [[False, True], ["no", "yes"], ["A", "a"], ['"', "'; --", "😀\n,"], [0, 1, 2]]
)
CUTS = [-1.0, 0.1, 0.2, 1e300]


@st.composite
def samples(draw, kinds=tuple(KINDS), words=WORDS):
    """Rows as dicts, labels, and the parameters of a model for them."""
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4))
    size = len(chosen)
    names = draw(st.lists(words.filter(len), min_size=size, max_size=size, unique=True))
    classes = draw(CLASSES)
    n = draw(st.integers(len(classes), 9))
    cells = {**KINDS, "text": words | st.none()}
    columns = [draw(st.lists(cells[kind], min_size=n, max_size=n)) for kind in chosen]
    rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    more = st.lists(st.sampled_from(classes), min_size=n - len(classes), max_size=n - len(classes))
    numbers = [name for name, kind in zip(names, chosen, strict=True) if kind == "number"]
    parameters = {
        "smoothing": draw(st.sampled_from([0, 1, 0.5, "1/n"])),
        "bins": dict.fromkeys(numbers, CUTS),
        "categorical_features": [name for name in names if name not in numbers],
        "missing": draw(st.sampled_from(["level", "skip", {names[0]: "skip"}])),
        "special_values": draw(st.sampled_from([None, {n: [-9, 0.1] for n in numbers}])),
        "max_levels": draw(st.sampled_from([None, 1, 2, {names[0]: 1}])),
    }
    return rows, classes + draw(more), parameters


@st.composite
def models(draw, kinds=tuple(KINDS), words=WORDS, attenuated=True, crosses=True):
    """Fitted models of two classes and more, some attenuated, some with a cross."""
    rows, labels, parameters = draw(samples(kinds, words))
    learner = draw(st.sampled_from(["evidence", "perplexed"] if attenuated else ["evidence"]))
    if learner == "perplexed":
        form = draw(st.sampled_from(["root", "geometric"]))
        model = weigh.PerplexedNB(attenuation=1.5, form=form, **parameters)
        model.fit(rows, labels)
    else:
        names = [*rows[0]]
        pair = crosses and len(names) > 1 and f"{names[0]} & {names[1]}" not in names
        cross = [tuple(names[:2])] if pair and draw(st.booleans()) else None
        model = weigh.EvidenceNB(crosses=cross, **parameters).fit(rows, labels)
    rate = draw(st.none() | st.just(np.arange(1, len(model.classes_) + 1)))
    return model if rate is None else model.with_prior(rate / rate.sum())


def draw_table(n_classes=2, seed=0, n=400):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    frame = pd.DataFrame(
        {
            "age": rng.normal(size=n) + y,
            "job": rng.choice([*"abcd"], n),
            "smokes": rng.random(n) < 0.3 + 0.2 * (y > 0),
            "ward": rng.integers(0, 4, n),
            "income": np.where(rng.random(n) < 0.2, -999, rng.normal(size=n) * 3 + 2 * y),
        }
    )
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n) < 0.1, "job"] = None
    return frame, np.array(["no", "yes", "perhaps"])[y]


SHARED = {"categorical_features": ["job", "smokes", "ward"], "special_values": {"income": [-999]}}


ASKED = {
    "bins": {"age": [0.0, 1.0]},
    "ask_if": {
        "job": ("age", ["<= 0.0", "> 1.0"]),
        "ward": ("job", ["a", "b"]),
        "income": ("smokes", True),
    },
}


def _recalibrated(method):
    return weigh.RecalibratedClassifier(weigh.EvidenceNB(**SHARED), method=method, random_state=0)


class Incomplete:
    """EducatedNB that keeps the factor of incomplete rows and margins, whatever they gain."""

    def __init__(self, **parameters):
        self.parameters = parameters

    def set_params(self, **parameters):
        self.parameters |= parameters
        return self

    def fit(self, X, y):
        home = "weigh.educated.attenuation"
        with patch(f"{home}.LEAST_GAIN", -np.inf), patch(f"{home}.MARGIN_GAIN", -np.inf):
            model = weigh.EducatedNB(**self.parameters).fit(X, y)
        assert model.evidence_.attenuation.form == "known"
        pairs = [t for t in model.evidence_ if len(t.feature.parts) > 1]
        assert all(np.ptp(np.vstack(t.margins)) > 0 for t in pairs)
        return model


LEARNERS = {
    "evidence": lambda: weigh.EvidenceNB(**SHARED),
    "crosses": lambda: weigh.EvidenceNB(
        bins=5, missing="skip", crosses=[("age", "job"), ("smokes", "ward")], **SHARED
    ),
    "rare": lambda: weigh.EvidenceNB(
        max_levels={"job": 2, "ward": 1}, crosses=[("age", "job")], bins=5, **SHARED
    ),
    "joined": lambda: weigh.EvidenceNB(
        bins={"job": [["d", "a"], ["b"]], "ward": [[0, 3], [1]], "age": [0.5]},
        crosses=[("age", "job")],
        **SHARED,
    ),
    "rare skipped": lambda: weigh.EvidenceNB(max_levels=1, missing="skip", **SHARED),
    "adjusted": lambda: weigh.AdjustedNB(random_state=0, **SHARED),
    "weighted": lambda: weigh.WeightedNB(method="gain_ratio", **SHARED),
    "boosted": lambda: weigh.BoostedNB(n_rounds=3, **SHARED),
    "educated": lambda: weigh.EducatedNB(pairs=[("age", "job"), ("smokes", "ward")], **SHARED),
    "incomplete": lambda: Incomplete(pairs=[("age", "job"), ("smokes", "ward")], **SHARED),
    "root": lambda: weigh.PerplexedNB(missing="skip", attenuation=2.0, **SHARED),
    "geometric": lambda: weigh.PerplexedNB(
        missing="skip", attenuation=2.0, form="geometric", **SHARED
    ),
    "spline": lambda: _recalibrated("spline"),
    "sigmoid": lambda: _recalibrated("sigmoid"),
    "temperature": lambda: _recalibrated("temperature"),
    "isotonic": lambda: _recalibrated("isotonic"),
    "asked": lambda: weigh.EvidenceNB(**SHARED, **ASKED),
    "asked pairs": lambda: weigh.EvidenceNB(crosses=[("job", "smokes")], **SHARED, **ASKED),
    "asked root": lambda: weigh.PerplexedNB(attenuation=2.0, **SHARED, **ASKED),
    "asked softmax": lambda: weigh.EvidenceNB(**SHARED, **ASKED),
    "softmax": lambda: weigh.EvidenceNB(**SHARED),
    "one against the rest": lambda: weigh.AdjustedNB(random_state=0, multiclass="ovr", **SHARED),
    "calm softmax": lambda: weigh.PerplexedNB(missing="skip", attenuation=2.0, **SHARED),
    "amounts": lambda: weigh.EducatedRegressor(pairs=[("age", "job")], **SHARED),
    "factors": lambda: weigh.EducatedRegressor(family="poisson", missing="skip", **SHARED),
}
NUMBERS = ("amounts", "factors")
FINE = ("educated", "incomplete", *NUMBERS)
"""Those that cut numbers into 20 intervals and more, unless told otherwise."""
ATTENUATED = ("incomplete", "root", "geometric", "asked root", "calm softmax")
MANY = ("asked softmax", "softmax", "one against the rest", "calm softmax")


def hide_unasked(X):
    """The literal version of ASKED: answers to questions that are not asked are missing."""
    X, job = X.assign(ward=X.ward.astype(float)), (X.age <= 0) | (X.age > 1)
    ward = job & X.job.isin(["a", "b"])
    X.loc[~job, "job"] = None
    X.loc[~ward, "ward"] = np.nan
    X.loc[~X.smokes, "income"] = np.nan
    return X


@cache
def fitted(name, **parameters):
    """A learner's model of a table; of classes for a population of another base rate."""
    learner = LEARNERS[name]().set_params(**parameters)
    if name in NUMBERS:
        X, y = draw_table(3)
        numbers = np.random.default_rng(0).poisson(1 + 2 * (y == "yes") + (X.job == "a"))
        return learner.fit(X, 1000 * numbers if name == "amounts" else numbers)
    X, y = draw_table(3 if name in MANY else 2)
    model = learner.fit(hide_unasked(X) if name.startswith("asked") else X, y)
    return model.with_prior([0.5, 0.2, 0.3] if name in MANY else 0.3)


def visited(model, **options):
    """The formula of a model, rows that visit all of it, and what Python says of them."""
    formula = Formula.of(model)
    return formula, checks.wanted(model, checks.visit(formula, **options))


def assert_same(python, totals, probabilities):
    """What an export says is what Python says."""
    found = checks.compare_rows(python, totals, probabilities)
    assert found.holds, found
