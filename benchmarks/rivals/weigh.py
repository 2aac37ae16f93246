"""weigh: every learner of the family that this version has, at its defaults.

Columns are told apart by their types, as in any table. The saved form is the JSON file, which holds
the counts as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import weigh
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

    def predict_proba(self, table: Any) -> Any:
        return self.model.predict_proba(table)

    def size(self) -> int:
        return len(to_json(self.model).encode())


def fit(name: str, table: Any, y: Any, categorical: list[str]) -> Written:
    model = getattr(weigh, name)()
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return Written(model.fit(table, y))


def learners() -> dict[str, Callable[..., Written]]:
    return {name: partial(fit, name) for name in FAMILY if name in weigh.__all__}
