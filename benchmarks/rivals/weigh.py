"""weigh: every learner of the family, at its defaults, and the first of them without pairs too.

Columns are told apart by their types, as in any table. The saved form is the JSON file, which holds
the counts as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import weigh
from benchmarks.rivals.fitted import Fit
from weigh.store import to_json

FAMILY = (
    "EducatedNB",
    "EvidenceNB",
    "AdjustedNB",
    "WeightedNB",
    "BoostedNB",
    "PerplexedNB",
    "C44Classifier",
)


@dataclass(frozen=True)
class Written:
    """A model that is saved as JSON."""

    model: Any

    def predict_proba(self, X: Any) -> Any:
        return self.model.predict_proba(X)

    def size(self) -> int:
        return len(to_json(self.model).encode())


def fit(name: str, X: Any, y: Any, **settings: Any) -> Written:
    model = getattr(weigh, name)(**settings)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return Written(model.fit(X, y))


def learners() -> dict[str, Fit]:
    first, *others = {name: partial(fit, name) for name in FAMILY}.items()
    alone = ("EducatedNB, no pairs", partial(fit, "EducatedNB", pairs=0))
    return dict([first, alone, *others])


RIVALS = {name: partial(fit, name) for name in ("EvidenceNB", "AdjustedNB", "EducatedNB")}
