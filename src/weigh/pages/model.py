"""The model that a page is about, and its levels in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log
from typing import Any

from weigh.bins import WORDS, Cross, Feature
from weigh.evidence import (
    Evidence,
    FeatureTable,
    evidence_of,
    flip,
    is_sum,
    model_of,
    with_labels,
)
from weigh.sheet import BalanceSheet, Item, find_class, refuse_class_options


def spell_levels(feature: Feature | Cross) -> tuple[str, ...]:
    """The levels in words, in the order of `labels`; only the texts of bins change.

    >>> spell_levels(Feature("income", (-1,), (9800.5, 25078.0), has_missing=True))
    ('up to 9800.5', '9800.5 to 25,078', 'above 25,078', '-1', 'missing')
    """
    return feature.spelt(WORDS)


def spell_added_loss(table: FeatureTable) -> str:
    """The rise of the log loss without a table, in bits a row; empty where it is not defined."""
    return "" if table.added_loss is None else f"{table.added_loss / log(2):.4f}"


def name_ends(evidence: Evidence) -> str:
    """A sentence that says which of their limits bins include; empty if no table has bins."""
    parts = [part for table in evidence for part in table.feature.parts if part.cuts]
    if not parts:
        return ""
    if any(part.left for part in parts):
        return "A bin includes its upper limit, unless it ends below a number."
    return "A bin includes its upper limit."


def spell_sheet(sheet: BalanceSheet, evidence: Evidence) -> BalanceSheet:
    """Copy of a sheet with its intervals in words."""
    tables = {table.name: table.feature for table in evidence.scored}
    items = tuple(
        _spell_item(item, tables[item.feature]) if item.feature in tables else item
        for item in sheet.items
    )
    return replace(sheet, items=items)


def _spell_item(item: Item, feature: Feature | Cross) -> Item:
    if item.level not in feature.labels:
        return item
    place = feature.labels.index(item.level)
    level, relation = feature.spelt(WORDS)[place], feature.relation(place, WORDS)
    return replace(item, level=level, relation=relation, words=feature.phrase(place, WORDS))


@dataclass(frozen=True, eq=False)
class Subject:
    """The tables of weights of a page, their model (None: not known), and its name.

    `of` is the index of the positive class of the page; None means all of more than two classes.
    """

    evidence: Evidence
    model: Any
    name: str
    of: int | None = None
    adverse: int | None = None  # index of the class that is shown in red
    card: Any = None  # the scorecard, if the page is of one

    @property
    def classes(self) -> list[str]:
        """The names of the classes."""
        return [*self.evidence.class_names]

    @property
    def target(self) -> str:
        """The name of the column that is predicted, if the fit recorded it; empty if not."""
        if self.evidence.form == "hazard":  # whose classes are names of events
            return ""
        return getattr(getattr(self.model, "provenance_", None), "target", None) or ""

    def probability_of(self, place: int) -> str:
        """The probability of a class: of the user's outcome, or of a value of the target."""
        if self.target and not (self.evidence.outcomes and self.evidence.outcomes[place]):
            return f"Probability that {self.target} is {self.classes[place]}"
        return self.evidence.probability_of(place)

    @property
    def known_rate(self) -> bool:
        """Whether sheets have an interval after a change of the base rate, which has no error."""
        if self.model is None:
            moved = self.evidence.with_prior(self.evidence.assumed_rate)
        else:
            moved = self.model.with_prior(self.model.evidence_.assumed_rate).evidence_
        return moved.prior_variances is not None

    @property
    def estimates(self) -> bool:
        """Whether the model estimates a number, and so has no classes."""
        return self.evidence.estimates

    def labelled(self, labels: Any) -> Subject:
        """Name columns, levels and classes by the user's labels."""
        return replace(self, evidence=with_labels(self.evidence, labels))

    def naming(self, of: Any) -> Subject:
        """Choose the positive class of the page; None means the second of two, or all of more.

        For a scorecard it is the class that high scores favour.
        """
        classes = self._classes(pos_label=of)
        if self.card is not None and of is None:
            of = self.card.pos_label
        default = 1 if len(classes) == 2 else None
        return replace(self, of=default if of is None else find_class(classes, of))

    def warning_of(self, adverse: Any) -> Subject:
        """Mark a class as adverse, so that it is shown in red; None marks that of a scorecard."""
        classes = self._classes(adverse=adverse)
        if self.card is not None and adverse is None:
            adverse = self.card.adverse
        place = None if adverse is None else find_class(classes, adverse, role="adverse")
        return replace(self, adverse=place)

    def _classes(self, **asked: Any) -> list[Any]:
        """The class labels; for a number, an error if one is asked for."""
        if self.estimates:
            refuse_class_options(asked)
        return self.evidence.classes.tolist()  # type: ignore[no-any-return]

    @property
    def look(self) -> str:
        """Which side of the weights is adverse, as a class of the page's style."""
        if self.adverse is None or self.of is None:
            return ""
        return "adverse-for" if self.adverse == self.of else "adverse-against"

    @property
    def with_positive_second(self) -> Subject:
        """Copy in which positive weights favour the positive class, the second of two."""
        if len(self.evidence.classes) > 2 or self.of != 0:
            return self
        adverse = None if self.adverse is None else 1 - self.adverse
        return replace(self, evidence=flip(self.evidence), of=1, adverse=adverse)


def read_subject(model: Any) -> Subject:
    """The subject of a page from a model; raises an error for models without tables of weights."""
    if isinstance(model, Evidence):
        return Subject(model, None, "Weights of evidence")
    own = model_of(model)
    card = None if own is model else model
    return Subject(evidence_of(own, is_sum(own)), own, type(model).__name__, card=card)
