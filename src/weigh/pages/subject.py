"""What a page is about: a fitted model that ends as a table of weights, or that table itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from weigh.base import EvidenceModel
from weigh.bins import Cross, Feature
from weigh.evaluation.numbers import refuse_class_options
from weigh.evidence import Evidence, evidence_of, flip, is_sum, model_of, with_labels
from weigh.frames import read
from weigh.pages.levels import spell_levels
from weigh.sheet import find_class


@dataclass(frozen=True, eq=False)
class Subject:
    """A table of weights, the model that it is of (None: not known), and what to call it.

    `of` is the place of the class that the page is about; None is every one of more than two.
    """

    evidence: Evidence
    model: Any
    name: str
    of: int | None = None
    adverse: int | None = None  # the place of the class that is shown in red
    card: Any = None  # the scorecard that the model was made of

    @property
    def classes(self) -> list[str]:
        """The classes as people read them."""
        return [*self.evidence.class_names]

    def levels(self, feature: Feature | Cross) -> tuple[str, ...]:
        """The levels of a feature as people read them."""
        return spell_levels(feature)

    @property
    def known_rate(self) -> bool:
        """Whether there is an interval after a change of the base rate, which has no error."""
        if self.model is None:
            moved = self.evidence.with_prior(self.evidence.assumed_rate)
        else:
            moved = self.model.with_prior(self.model.evidence_.assumed_rate).evidence_
        return moved.prior_variances is not None

    @property
    def estimates(self) -> bool:
        """Whether the page is about a number, and has no classes."""
        return self.evidence.estimates

    def labelled(self, labels: Any) -> Subject:
        """Name columns, levels and classes by the user's labels."""
        return replace(self, evidence=with_labels(self.evidence, labels))

    def naming(self, of: Any) -> Subject:
        """Choose the class of the page; None is the second of two, or every one of more.

        Of a scorecard it is the class that high scores favour.
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
        """The labels; a number has none to ask for."""
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
    def facing(self) -> Subject:
        """The same with the class in question second of two, so that positive speaks for it."""
        if len(self.evidence.classes) > 2 or self.of != 0:
            return self
        adverse = None if self.adverse is None else 1 - self.adverse
        return replace(self, evidence=flip(self.evidence), of=1, adverse=adverse)

    def scorer(self, X: Any) -> Any:
        """The model, or the table alone as one that scores such rows."""
        if self.model is not None:
            return self.model
        tokens = self.evidence.event_model == "counts"
        return EvidenceModel.of(self.evidence, read(X, allow_sparse=tokens).named)


def read_subject(model: Any) -> Subject:
    """The table of a model; what has none is refused, naming what has one."""
    if isinstance(model, Evidence):
        return Subject(model, None, "Weights of evidence")
    own = model_of(model)
    card = None if own is model else model
    return Subject(evidence_of(own, is_sum(own)), own, type(model).__name__, card=card)
