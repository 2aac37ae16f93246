"""Reason codes: the features that cost a case most points, their texts, and the letter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.bins import WORDS, Feature, Interval, finder, label
from weigh.evidence import Evidence, FeatureTable, with_labels
from weigh.evidence.show import ROWS, summarise
from weigh.frames import NOT_KNOWN, Table, as_rows, canonical, did_you_mean
from weigh.layout import render
from weigh.parameters import check_count
from weigh.sheet import Reasons, choose_reasons

if TYPE_CHECKING:
    from weigh.recourse import ColumnChange, Lever
    from weigh.scorecard.card import Scorecard


USUAL = 0.05
"""Minimum share of rows of a level that can be a baseline."""

NO_LEVEL = label(NOT_KNOWN)
"""The name of an answer without a level, which can have a text of its own."""


def baselines(card: Scorecard, against: str) -> Floats:
    """By feature: the most points that a usual level has, or the average over training rows.

    Special codes, missing and rare levels are not baselines: a letter cannot recommend them.
    """
    if against not in ("best", "average"):
        raise ValueError(f"against must be 'best' or 'average', got {against!r}")
    return np.array([_baseline(table, against == "best") for table in card.evidence])


def _baseline(table: FeatureTable, best: bool) -> float:
    points, rows = table.by_class[:, 0], table.counts.sum(axis=1)
    if not rows.any():
        return 0.0
    if not best:
        return float(points @ rows / rows.sum())
    usual = rows >= USUAL * rows.sum()
    feature = table.feature
    if isinstance(feature, Feature):
        usual[feature.n_intervals or feature.n_categories :] = False
    return float(points[usual if usual.any() else rows > 0].max())


def find_costs(card: Scorecard, table: Table, n: int, against: str) -> Reasons:
    """Cost = baseline - points, the largest n of each row that are positive."""
    check_count("n", n)
    costs = baselines(card, against) - card.evidence.contributions(table)[:, :, 0]
    texts = [np.array(own, dtype=object) for own in card.reason_texts(card._source)]

    def tell(j: int, rows: Integers, levels: Integers) -> Any:
        return texts[j][levels]

    return choose_reasons(card.evidence, table, n, costs, np.maximum(costs, 0.0), tell, "cost")


def read_texts(texts: Mapping[str, str] | None, evidence: Evidence) -> dict[str, str]:
    """Texts by feature; its name where none is given."""
    known = {table.name: table.name for table in evidence}
    for name, text in read_mapping(texts, "texts").items():
        _check(name, known)
        if not isinstance(text, str):
            raise ValueError(
                f"texts must be a dict from features to text, got {text!r} for {name!r}; "
                "level_texts takes texts of single levels"
            )
    return known | dict(texts or {})


def read_level_texts(texts: Mapping[str, Any] | None, evidence: Evidence) -> dict[str, Any]:
    """Texts by feature and label of a level."""
    found: dict[str, dict[str, str]] = {}
    for name, own in read_mapping(texts, "level_texts").items():
        table = evidence[_check(name, {table.name: table.name for table in evidence})]
        if not isinstance(own, Mapping) or not all(isinstance(t, str) for t in own.values()):
            raise ValueError(
                f"level_texts must be a dict from features to dicts from levels to text, such as "
                f"{{{name!r}: {{'missing': 'not given'}}}}, got {own!r}"
            )
        names = {level: (*table.labels, NO_LEVEL)[_find_worded(table, level)] for level in own}
        found[name] = {names[level]: own[level] for level in own}
    return found


def _find_worded(table: FeatureTable, level: Any) -> int:
    """Where a level stands; an answer that is not known stands behind the last level."""
    absent = level == NO_LEVEL and NO_LEVEL not in table.labels
    return len(table.labels) if absent else find_level(table, level)


def read_mapping(texts: Any, parameter: str) -> Mapping[Any, Any]:
    """Texts by feature; nothing where none are given."""
    if texts is None or isinstance(texts, Mapping):
        return texts or {}
    raise ValueError(f"{parameter} must be a dict from features, got {texts!r:.80}")


def _check(name: Any, known: Mapping[str, str]) -> str:
    if name not in known:
        meant = did_you_mean(name, known)
        raise ValueError(f"texts must be a dict from features {[*known]}, got {name!r}{meant}")
    return str(name)


def texts_of(table: FeatureTable, text: str, own: Mapping[str, str]) -> tuple[str, ...]:
    """The text of every level of a feature, and last that of no level.

    The text of the feature describes a value, so it does not stand for one that is absent.
    """
    texts = [f"{table.shown} is missing" if level is None else text for level in table.levels]
    names = zip((*table.labels, NO_LEVEL), (*texts, f"{table.shown} is not known"), strict=True)
    return tuple(own.get(name, usual) for name, usual in names)


def find_level(table: FeatureTable, level: Any) -> int:
    """Where a level stands, given as the text that it is shown by, or else as it is.

    An interval of whole numbers is also found by its cut points: `(3.5, 7.5]` for `4 to 7`, and one
    of a single number by that number; 0 and 1 also as `<= 0` and `>= 1`. Of a level of text that
    reads `missing` beside missing answers, that text is `"missing"`.
    """
    own = table.feature
    for names in (table.labels, table.levels, own.cut_labels, own.range_labels):
        places = [i for i, name in enumerate(names) if name == level and type(name) is type(level)]
        if places:
            return places[0]
    if type(level) in (int, float):
        text = label(canonical(level))
        for i, interval in enumerate(table.levels):
            if isinstance(interval, Interval) and table.labels[i] == text:
                return i
    hint = ""
    if summarise(table, ROWS) is not table:
        hint = (
            ". A printed table joins neighbouring bins: to_text(max_rows=None) or weigh show --all "
            "lists the levels"
        )
    raise ValueError(
        f"{table.name!r} has no level {label(level)!r}; it has {[*table.labels]}{hint}"
    )


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
        """What the list of reasons is; without reasons, that there are none."""
        if not self.reasons:
            return "No single answer lowered the score: each is at its best level."
        if len(self.reasons) == 1:
            return "This is the main reason:"
        return "These are the main reasons, the most important first:"

    @property
    def before_changes(self) -> str:
        """What the list of changes is."""
        each = "any one of the following" if len(self.changes) > 1 else "the following"
        return f"The score would reach {self.cut_off} with {each}, and everything else as it is:"

    def to_text(self) -> str:
        """The letter as plain text."""
        numbered = [f"{k}. {text}" for k, text in enumerate(self.reasons, 1)]
        listed = [f"- {text}" for text in self.changes]
        parts = [self.sender, self.recipient, self.date, self.title, *self.opening]
        parts += [self.before_reasons, *filter(None, ["\n".join(numbered)])]
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
    labels: Any = None,
    **texts: Any,
) -> Letter:
    """The letter about one row, which must be below the cut-off."""
    from weigh.recourse import levers  # which scoring does not load

    score = int(card.score(as_rows(row))[0])
    if score >= cut_off:
        raise ValueError(
            f"the score is {score}, which is not below the cut-off {cut_off}: there is no letter "
            "to write"
        )
    told = find_costs(card, card._read(as_rows(row)), n, "best").texts[0].tolist()
    named = with_labels(card.evidence, labels)
    changes: Sequence[Lever] = ()
    if may_change is not None:
        changes = levers(card, row, may_change, cut_off=cut_off).items
    return Letter(
        score,
        int(cut_off),
        tuple(dict.fromkeys(filter(None, told))),
        tuple(
            ", and ".join(_tell_change(card, named, change) for change in lever.changes)
            for lever in changes
        ),
        **texts,
    )


def _tell_change(card: Scorecard, named: Evidence, change: ColumnChange) -> str:
    """One change, with display names: "Income: 596 or more in place of 0"."""
    read_by = [t for t in named if change.column in {part.name for part in t.feature.sources}]
    feature = read_by[0].feature
    if len(read_by) > 1 or not isinstance(feature, Feature):
        return f"{change.column}: {change.level} in place of {change.was}"
    before, after = map(finder(feature), (change.before, change.after))
    texts = (*feature.spelt(WORDS), change.was)
    was = change.was if feature.is_numeric else texts[before]
    reached = _spell_reached(feature, card.points[change.column], before, after)
    return f"{feature.shown}: {reached} in place of {was}"


def _spell_reached(feature: Feature, points: Sequence[int], before: int, after: int) -> str:
    """A new level in words, with the bins beyond it if these have at least as many points."""
    text, n = feature.spelt(WORDS)[after], feature.n_intervals
    if not max(before, after) < n or text != feature.named(WORDS)[after]:
        return text
    rises = before < after
    beyond = points[after:n] if rises else points[: after + 1]
    if min(beyond) < points[after]:
        return text
    cut = (feature.cuts or ())[after - rises]
    return replace(feature, cuts=(cut,)).named(WORDS)[rises]
