"""Documents beyond names: which part of SciPy a docstring belongs to.

The documents are the summaries of SciPy's public functions and classes, as installed: the text of
each docstring before its first section. Names of the parts and of the object are taken out.
"""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

import numpy as np
import scipy
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import StratifiedKFold

from weigh import EvidenceNB, PerplexedNB

PARTS = ("signal", "special", "stats", "linalg", "optimize", "sparse", "spatial", "ndimage")
LEAST = 8
"""Words of a document, at least."""
WAYS = {
    "naive Bayes": lambda: EvidenceNB(event_model="counts"),
    "root": lambda: PerplexedNB(event_model="counts", form="root", random_state=0),
    "geometric": lambda: PerplexedNB(event_model="counts", form="geometric", random_state=0),
}


def load() -> tuple[list[str], Any]:
    """Summaries, and the part that each is of; one that two parts share is left out."""
    found: dict[str, set[int]] = {}
    for k, part in enumerate(PARTS):
        module = importlib.import_module(f"scipy.{part}")
        for name in module.__all__:
            text = summary(getattr(module, name), name)
            if len(text.split()) >= LEAST:
                found.setdefault(text, set()).add(k)
    own = {text: parts for text, parts in found.items() if len(parts) == 1}
    return [*own], np.array([min(parts) for parts in own.values()])


def summary(thing: Any, name: str) -> str:
    """The words of a docstring before its first section."""
    doc = inspect.getdoc(thing) if callable(thing) else None
    head = re.split(r"\n\w[\w ]*\n-{3,}", doc or "")[0]
    words = re.findall(r"[a-z]{3,}", head.lower())
    return " ".join(word for word in words if word not in {name.lower(), "scipy", *PARTS})


def text_table() -> list[str]:
    """Accuracy, loss and mean confidence in five folds, by way."""
    texts, y = load()
    lines = [
        f"SciPy {scipy.__version__}: {len(y):,} summaries of {len(PARTS)} parts, "
        f"{np.mean([len(text.split()) for text in texts]):.0f} words each; the largest part has "
        f"{np.bincount(y).max() / len(y):.0%} of them.",
        "",
        "| way | accuracy | mean probability of the class decided for | loss in bits |",
        "| --- | --- | --- | --- |",
    ]
    for way, make in WAYS.items():
        p = hold_out(make, np.array(texts, dtype=object), y)
        right = p.argmax(axis=1) == y
        loss = -np.log2(np.clip(p[np.arange(len(y)), y], 1e-10, 1)).mean()
        lines.append(f"| {way} | {right.mean():.3f} | {p.max(axis=1).mean():.3f} | {loss:.2f} |")
    return lines


def hold_out(make: Any, texts: Any, y: Any) -> Any:
    """The probability of each part for every document, by a model of the other folds."""
    p = np.empty((len(y), len(PARTS)))
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(texts, y):
        counter = CountVectorizer()
        model = make().fit(counter.fit_transform(texts[train]), y[train])
        p[test] = model.predict_proba(counter.transform(texts[test]))
    return p
