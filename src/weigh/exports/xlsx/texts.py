"""What a workbook calls things: weights of evidence, or the points of a scorecard."""

from __future__ import annotations

from dataclasses import dataclass

from weigh.formula import Formula

NO_NUMBER = "Not understood: a number is wanted. It weighs nothing."
UNSEEN = "Not seen in training: it weighs nothing."
AS_OTHER = "No level of its own: it weighs as other does."


@dataclass(frozen=True)
class Words:
    """The words of a model, whose weights people read times 100."""

    prior: str = "Prior"
    weight: str = "Weight"
    small: str = "exp(-|log odds|)"
    table: str = "Evidence"
    look: str = "0.0000"

    def heads(self, formula: Formula) -> tuple[str, ...]:
        """What stands above the weights of a case."""
        if len(formula.prior) > 1:
            return formula.class_names
        return (self.weight, "For, times 100", "Against, times 100")

    def totals(self, formula: Formula) -> tuple[str, ...]:
        """What the totals are called."""
        return formula.total_names

    def probabilities(self, formula: Formula) -> tuple[str, ...]:
        """What the probabilities are called."""
        return formula.probability_names


class CardWords(Words):
    """The words of a scorecard."""

    def heads(self, formula: Formula) -> tuple[str, ...]:
        """What stands above the points of a case."""
        return (self.weight,)

    def totals(self, formula: Formula) -> tuple[str, ...]:
        """What the score means."""
        return (f"Log odds of {formula.class_names[1]}",)

    def probabilities(self, formula: Formula) -> tuple[str, ...]:
        """What that means in turn."""
        return tuple(f"Probability of {name}" for name in formula.class_names)


def words_of(formula: Formula) -> Words:
    """The words for a model or for a scorecard."""
    if not formula.score_name:
        return Words()
    return CardWords("Base points", "Points", "Odds of the less likely class", "Points", "0")
