"""A model as plain data that every export renders: columns, tests, weights, and what a sum means.

    total = prior + sum over terms of the weight of the level whose test holds first

Nothing here knows of any target, and no target asks which learner made the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

from weigh.bins import Cross, Feature, kind_of, label
from weigh.evidence import Attenuation, Evidence, FeatureTable
from weigh.exports.curve import Curve
from weigh.frames import Value, key
from weigh.scorecard import Scorecard
from weigh.scorecard.show import title

Kind: TypeAlias = Literal["number", "code", "text", "boolean", "mixed"]
Answer: TypeAlias = Literal["missing", "equal", "at most", "any"]


@dataclass(frozen=True)
class Test:
    """When a value is of the level at `place`; of a column's tests the first that holds decides."""

    answer: Answer
    value: Value
    place: int


@dataclass(frozen=True)
class Column:
    """A column and its levels: intervals, categories or special codes, other, then missing.

    Numbers are cut into intervals that contain their upper end; codes are numbers taken as
    categories; a mixed column holds values of several types. The place after the last level is
    that of whatever is no level.
    """

    name: str
    kind: Kind
    labels: tuple[str, ...]
    values: tuple[Value, ...] = ()
    cuts: tuple[float, ...] = ()
    has_missing: bool = False
    skips: bool = False
    other: tuple[str, ...] = ()  # the kinds of values that share the level `other`

    @classmethod
    def of(cls, part: Feature) -> Column:
        """A feature of one column, as data."""
        values = tuple(map(float, part.values)) if part.is_numeric else part.values  # type: ignore[arg-type]
        return cls(
            part.name,
            "number" if part.is_numeric else _kind(part),
            part.labels,
            values,
            part.cuts or (),
            part.has_missing,
            part.skip_missing,
            part.other,
        )

    @property
    def has_other(self) -> bool:
        """Whether rare values share a level."""
        return bool(self.other)

    @property
    def none(self) -> int:
        """The place of what is no level."""
        return len(self.labels)

    @property
    def rest(self) -> int:
        """The place of a category that is not among the values: `other`, or no level."""
        return len(self.values) if self.has_other else self.none

    @cached_property
    def tests(self) -> tuple[Test, ...]:
        """In order; where none holds the value is no level."""
        start = len(self.cuts) + 1 if self.kind == "number" else 0
        places = {v: place for place, v in enumerate(self.values, start)} if start else {}
        known = places.items() if start else zip(self.values, range(len(self.values)), strict=True)
        last = self.none - 1 if self.has_missing else self.none
        tests = [Test("missing", None, last), *(Test("equal", v, place) for v, place in known)]
        tests += [Test("at most", cut, place) for place, cut in enumerate(self.cuts)]
        if start or self.has_other:
            tests.append(Test("any", None, len(self.cuts) if start else self.rest))
        return tuple(tests)


def _kind(part: Feature) -> Kind:
    """What a column of categories holds; one that was always empty counts as text."""
    found = {*map(kind_of, part.values), *part.other}
    kinds: dict[str, Kind] = {"text": "text", "booleans": "boolean", "numbers": "code"}
    return next((kinds[kind] for kind in kinds if found <= {kind}), "mixed")


@dataclass(frozen=True)
class Term:
    """The weights of one feature: of a column, or of two joined.

    `places` holds each level's place in each column, `weights` its weight for each total.
    """

    name: str
    columns: tuple[Column, ...]
    places: tuple[tuple[int, ...], ...]
    weights: tuple[tuple[float, ...], ...]
    phrases: tuple[str, ...]

    @classmethod
    def of(cls, table: FeatureTable) -> Term:
        """A feature's table, as data."""
        feature = table.feature
        n = len(table.levels)
        return cls(
            table.name,
            tuple(map(Column.of, feature.parts)),
            feature.pairs if isinstance(feature, Cross) else tuple((i,) for i in range(n)),
            tuple(map(tuple, table.by_class.tolist())),
            tuple(map(feature.phrase, range(n))),
        )

    @property
    def skips(self) -> bool:
        """Whether a row may have no answer here, which the attenuation asks."""
        return any(column.skips for column in self.columns)

    @cached_property
    def lookup(self) -> dict[tuple[int, ...], int]:
        """The level at each place, or pair of places."""
        return {place: level for level, place in enumerate(self.places)}


@dataclass(frozen=True)
class Input:
    """A column that the model asks for, with all that any term knows of it."""

    name: str
    kind: Kind
    values: tuple[Value, ...]
    cuts: tuple[float, ...]
    other: tuple[str, ...] = ()

    @property
    def has_other(self) -> bool:
        """Whether rare values share a level."""
        return bool(self.other)


@dataclass(frozen=True)
class Costs:
    """What terms are compared with when they cost points, and what to tell people of each.

    `texts` holds, by term, what to say of each level, and last of what is no level.
    """

    baselines: tuple[float, ...]
    texts: tuple[tuple[str, ...], ...]
    about: str = ""  # what the score means, in a sentence


@dataclass(frozen=True)
class Formula:
    """A whole model: one total for two classes, else one for each."""

    classes: tuple[Any, ...]
    prior: tuple[float, ...]
    terms: tuple[Term, ...]
    link: Literal["logistic", "softmax", "ovr"]
    column_names: tuple[str, ...]
    attenuation: Attenuation | None = None
    curve: Curve | None = None
    score_name: str = ""  # of the sum before the curve, where people read that too
    model_name: str = "Evidence"
    costs: Costs | None = None  # of a scorecard

    @classmethod
    def of(cls, model: Any) -> Formula:
        """The formula of a model, of its evidence, or of a scorecard."""
        evidence, card = evidence_of(model), isinstance(model, Scorecard)
        return cls(
            tuple(evidence.classes.tolist()),
            tuple(evidence.prior_row.tolist()),
            tuple(map(Term.of, evidence)),
            evidence.link,
            evidence.column_names,
            evidence.attenuation,
            None if evidence.recalibration is None else Curve.of(evidence.recalibration),
            score_name="score" if card else "",
            model_name=type(model).__name__,
            costs=_costs(model) if card else None,
        )

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes as people read them."""
        return tuple(map(label, self.classes))

    @property
    def total_names(self) -> tuple[str, ...]:
        """What the totals are called, as in `weigh score`."""
        if len(self.prior) == 1:
            return ("log_odds",)
        return tuple(f"total_{name}" for name in self.class_names)

    @property
    def probability_names(self) -> tuple[str, ...]:
        """What the probabilities are called."""
        return tuple(f"probability_{name}" for name in self.class_names)

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        """The columns that it reads, in the order of the table."""
        return tuple(self._input(name) for name in self.column_names)

    def _input(self, name: str) -> Input:
        read = [c for c in self._columns() if c.name == name]
        values = {key(value): value for column in read for value in column.values}
        cuts = {cut for column in read for cut in column.cuts}
        other = tuple(sorted({kind for column in read for kind in column.other}))
        return Input(name, read[0].kind, tuple(values.values()), tuple(sorted(cuts)), other)

    def _columns(self) -> Iterator[Column]:
        return (column for term in self.terms for column in term.columns)

    def refuse_mixed(self, target: str) -> None:
        """Targets whose columns have one type cannot hold every column that Python can."""
        for column in self.inputs:
            if column.kind == "mixed":
                raise ValueError(
                    f"column {column.name!r} holds values of several types, and a column of "
                    f"{target} holds one; convert it to text before fitting"
                )

    def refuse_text(self, target: str, is_odd: Callable[[str], bool]) -> None:
        """Refuse names and levels that a target has no way to write."""
        named = {"a column": self.column_names, "a class": self.class_names}
        named |= {f"a level of {c.name!r}": c.values for c in self.inputs}  # type: ignore[misc]
        costs = () if self.costs is None else self.costs.texts
        named["a reason"] = tuple(text for texts in costs for text in texts)
        for what, texts in named.items():
            for text in texts:
                if isinstance(text, str) and is_odd(text):
                    raise ValueError(
                        f"{what} is called {text!r}, which {target} cannot write; replace the "
                        "character before fitting"
                    )

    def refuse_inexact(self, target: str) -> None:
        """Targets whose numbers are doubles cannot tell large whole numbers apart."""
        for column in self.inputs:
            for value in column.values:
                if is_large(value):
                    raise ValueError(
                        f"column {column.name!r} has the level {value}, and numbers of {target} "
                        "tell whole numbers below 2^53 apart; convert the column to text before "
                        "fitting"
                    )


def is_large(value: Value) -> bool:
    """Whether a double takes a whole number for its neighbour: 2^53 is also 2^53 + 1."""
    return type(value) is int and abs(value) >= 2**53


def _costs(card: Scorecard) -> Costs:
    return Costs(card.baselines("best"), card._level_texts(), title(card))


def is_no_unicode(text: str) -> bool:
    """Whether text holds half a character, which no file can."""
    return any("\ud800" <= c <= "\udfff" for c in text)


def evidence_of(model: Any) -> Evidence:
    """The table of weights of a model, or an error that names the variant that has one."""
    if isinstance(model, Scorecard):
        return model.evidence
    evidence = model if isinstance(model, Evidence) else _evidence_of(model)
    if evidence.event_model == "counts":
        raise ValueError(
            "a model of documents (event_model='counts') has a column for every token and is not "
            "exported; weigh.save keeps it, and event_model='levels' can be exported"
        )
    return evidence


def _evidence_of(model: Any) -> Evidence:
    name = type(model).__name__
    if hasattr(model, "tree_"):
        raise ValueError(f"{name} is a tree, no table of weights; fit EducatedNB for one")
    if hasattr(model, "predict_quantile"):
        raise ValueError(
            f"{name} estimates numbers, not classes; fit BoostedNB for a table of them"
        )
    try:
        return model.evidence_  # type: ignore[no-any-return]
    except AttributeError as error:
        raise ValueError(f"{name} has no table of weights: {error}") from None
