"""Which model, and which of its features, a figure draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from weigh.evidence import Evidence, FeatureTable, rule
from weigh.parameters import is_count
from weigh.plot.classes import Question


@dataclass(frozen=True, eq=False)
class Choice:
    """The features that a figure draws, in order, and those that it leaves out."""

    drawn: tuple[FeatureTable, ...]
    left_out: tuple[FeatureTable, ...] = ()
    sort: str | None = None
    by_name: bool = False

    def first(self, n: int) -> Choice:
        """The same with fewer drawn."""
        return replace(self, drawn=self.drawn[:n], left_out=(*self.drawn[n:], *self.left_out))

    @property
    def remainder(self) -> str:
        """What is left out, in words; nothing where nothing is, or where features were named."""
        n = len(self.left_out)
        if not n or self.by_name:
            return ""
        by = {"importance": ", by importance", "information_value": ", by information value"}
        return f"{len(self.drawn)} of {len(self.drawn) + n} tables{by.get(self.sort or '', '')}"


def choose(
    evidence: Evidence,
    question: Question,
    features: str | Sequence[str] | None,
    sort: str | None,
    most: int,
    name: str = "max_features",
) -> Choice:
    """The features named, or those that come first when sorted."""
    if features is not None:
        names = [features] if isinstance(features, str) else [*dict.fromkeys(features)]
        named = tuple(_find(evidence, name) for name in names)
        others = tuple(table for table in evidence if table.name not in names)
        return Choice(named, others, by_name=True)
    if not (is_count(most) and most >= 1):
        raise ValueError(f"{name} must be a whole number of 1 or more, got {most!r}")
    if not len(evidence):
        raise ValueError("the model has no feature to draw")
    tables = [*evidence]
    if sort == "importance":
        tables.sort(key=lambda table: -question.importance(table))
    elif sort == "information_value":
        tables.sort(key=lambda table: -table.information_value)
    elif sort is not None:
        raise ValueError(f"sort must be 'importance', 'information_value' or None, got {sort!r}")
    return Choice(tuple(tables), (), sort).first(most)


def _find(evidence: Evidence, name: str) -> FeatureTable:
    try:
        return evidence[name]
    except KeyError as error:
        raise ValueError(f"features: {error.args[0]}") from None


def after(evidence: Evidence) -> str:
    """What becomes of the sum of a row's weights, in words; nothing where nothing does."""
    curve = evidence.recalibration
    worth = "" if curve is None else f"The total is then recalibrated ({curve.method})."
    return " ".join(filter(None, (rule(evidence), worth)))
