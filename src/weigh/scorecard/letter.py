"""The letter to an applicant who was refused: the score, the reasons, and what would change it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weigh.bins import label
from weigh.frames import as_rows
from weigh.layout import render
from weigh.recourse import Lever, levers
from weigh.scorecard.reasons import find_costs

if TYPE_CHECKING:
    from weigh.scorecard.card import Scorecard


@dataclass(frozen=True)
class Letter:
    """An adverse-action letter as data: places to fill in, sentences, reasons and changes."""

    score: int
    cut_off: int
    reasons: tuple[str, ...]
    changes: tuple[str, ...] = ()
    sender: str = "[Name and address of the lender]"
    recipient: str = "[Name and address of the applicant]"
    date: str = "[Date]"
    title: str = "Your application"
    closing: tuple[str, ...] = ("[Name and signature]",)

    @property
    def opening(self) -> tuple[str, ...]:
        """The decision and the score."""
        return (
            "We have considered your application and cannot approve it.",
            f"Your score is {self.score}. The lowest score that we accept is {self.cut_off}.",
        )

    @property
    def before_reasons(self) -> str:
        """What the list of reasons is."""
        return "These are the main reasons, the most important first:"

    @property
    def before_changes(self) -> str:
        """What the list of changes is."""
        each = "any one of these changes" if len(self.changes) > 1 else "this change"
        return f"With {each}, and everything else as it is, the score would reach {self.cut_off}:"

    def to_text(self) -> str:
        """The letter as plain text."""
        numbered = [f"{k}. {text}" for k, text in enumerate(self.reasons, 1)]
        listed = [f"- {text}" for text in self.changes]
        parts = [self.sender, self.recipient, self.date, self.title, *self.opening]
        if numbered:
            parts += [self.before_reasons, "\n".join(numbered)]
        if listed:
            parts += [self.before_changes, "\n".join(listed)]
        return "\n\n".join([*parts, *self.closing]) + "\n"

    def __str__(self) -> str:
        return self.to_text()

    def to_html(self) -> str:
        """The letter as a page that loads nothing, for the screen and for paper."""
        return str(render("letter.html", letter=self))


def write_letter(
    card: Scorecard,
    row: Any,
    cut_off: int,
    n: int,
    may_change: Any,
    **texts: Any,
) -> Letter:
    """The letter about one row, which must be below the cut-off."""
    score = int(card.score(as_rows(row))[0])
    if score >= cut_off:
        raise ValueError(f"the score is {score}, which cut_off={cut_off!r} accepts: no letter")
    told = find_costs(card, card._read(as_rows(row)), n, "best").texts[0].tolist()
    changes: Sequence[Lever] = ()
    if may_change is not None:
        changes = levers(card, row, may_change, cut_off=cut_off).items
    return Letter(
        score,
        int(cut_off),
        tuple(dict.fromkeys(filter(None, told))),
        tuple(map(_tell, changes)),
        **texts,
    )


def _tell(lever: Lever) -> str:
    """The changes of a lever in a sentence."""
    parts = [f"{c.column}: {c.level} in place of {label(c.before)}" for c in lever.changes]
    return "; ".join(parts)
