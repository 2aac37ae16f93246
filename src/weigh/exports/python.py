"""A model as a Python module of its own: one function, and nothing to install."""

from __future__ import annotations

from math import isinf
from typing import Any

from weigh.bins import Feature, Kind, printable, takes_truth
from weigh.evidence.exposure import OffsetColumn
from weigh.formula import Formula, Input, Term

HEAD = '''"""{name}, written down by weigh: score(row) says what a dict of answers adds up to.

An absent key is an answer that is not known, which weighs nothing. None, NaN and pandas' NA are
missing: a level where training had missing values, and not known elsewhere. A value that training
did not see is not known, or of the level `other` where a column has it. A question that is not
asked is not known, whatever the row says. A key that is no column, or a value of another type than
in training, is a ValueError. {known}Needs Python 3.8 or newer and nothing else.
"""

import decimal
import difflib
import math
import numbers

INF = math.inf
CLASSES = {classes}
PRIOR = {prior}
COLUMNS = {columns}  # and the types that each held in training: n(umbers), t(ext), b(ooleans)
# of each feature: its name, how its columns are read, and weights by level
#   how a column is read: name, cut points or None, levels by type and value, the level of missing
#   answers, whether they are no evidence, the level of any other answer, and that of no answer
TERMS = [
{terms}]
ASKED = {asked}  # how the columns are read that a column is asked after, and the levels they need
ATTENUATION = {attenuation}  # k, whether the prior is attenuated, what is added in the end
NOT_KNOWN = {not_known}  # share of each feature in the evidence, if incomplete rows have a factor
CURVE = {curve}  # pieces (upper end, start, cubic), what is added, whether it gives probabilities
LINK = {link}
ADDED = {added}  # columns that add to the total: name, and whether by its logarithm (an exposure)
SCORED = {scored}  # whether the sum of the contributions is a score that people read
'''

BODY = '''

def score(row):
    """Totals, probabilities (as CLASSES) and contributions (by feature) of one row; its score.

    A model of a number has its estimate in place of probabilities.
    """

    def kind(value):
        if type(value).__name__ in ("bool", "bool_"):
            return "b"
        if type(value).__name__ == "timedelta64":  # which NumPy counts among the whole numbers
            return "?"
        real = isinstance(value, (numbers.Real, decimal.Decimal))
        return "t" if isinstance(value, str) else "n" if real else "?"

    def is_missing(value):
        if value is None or type(value).__name__ == "NAType":
            return True
        differs = value != value
        return type(differs).__name__ in ("bool", "bool_") and bool(differs)

    def check(name, value):
        if name not in COLUMNS:
            near = difflib.get_close_matches(str(name), COLUMNS, 1) or COLUMNS
            meant = ", ".join(map(repr, near))
            raise ValueError("no column is called %r; did you mean %s?" % (name, meant))
        held = COLUMNS[name]
        if is_missing(value) or kind(value) in (held or "bnt"):
            return
        words = {"n": "numbers", "t": "text", "b": "booleans"}
        if not held:
            raise ValueError("column %r takes text, numbers or booleans, not %r" % (name, value))
        held = " and ".join(words[letter] for letter in held)
        raise ValueError("column %r held %s in training, not %r" % (name, held, value))

    def place(column, row):
        name, cuts, levels, missing, skips, rest, none = column
        if name not in row:
            return none, False
        value = row[name]
        if is_missing(value):
            return missing, not skips
        if cuts is None:
            return levels.get((kind(value), value), rest), True
        value = float(value)
        if ("n", value) in levels:
            return levels["n", value], True
        return sum(cut < value for cut in cuts), True

    def recalibrate(total):
        pieces, shift, steps = CURVE
        _, start, (a, b, c, e) = next(piece for piece in pieces if total <= piece[0])
        d = total - start
        y = a + d * (b + d * (c + d * e))
        if steps:
            y = min(max(y, 1e-10), 1 - 1e-10)
            y = math.log(y / (1 - y))
        return y + shift

    for name in row:
        check(name, row[name])
    whole = row
    for name in ASKED:
        if not all(place(column, whole)[0] in levels for column, levels in ASKED[name]):
            row = {key: row[key] for key in row if key != name}
    n, gone, sums, contributions = 0, 0.0, [0.0] * len(PRIOR), {}
    totals = list(PRIOR)
    for name, columns, weights in TERMS:
        read = [place(column, row) for column in columns]
        n += all(answered for _, answered in read)
        found = weights.get(tuple(p for p, _ in read))
        if found is None:
            found, gone = [0.0] * len(PRIOR), gone + NOT_KNOWN.get(name, 0.0)
        contributions[name] = found[0] if len(found) == 1 else list(found)
        sums = [s + w for s, w in zip(sums, found)]
        totals = [t + w for t, w in zip(totals, found)]
    if ATTENUATION is not None:
        k, root, shift = ATTENUATION
        e = k / max(n + 1 if root else n, k) if not NOT_KNOWN else 1 / math.sqrt(1 + k * gone)
        both = zip(PRIOR, sums, shift)
        totals = [(p + s) * e + c if root else p + s * e + c for p, s, c in both]
    for name, is_exposure in ADDED:
        value = row.get(name)
        if is_missing(value):
            continue
        value = float(value)
        if is_exposure and not 0 < value < INF:
            raise ValueError("column %r, the exposure, must be above 0, got %r" % (name, value))
        totals = [t + (math.log(value) if is_exposure else value) for t in totals]
    told = {"score": totals[0]} if SCORED else {}
    if CURVE is not None:
        totals = [recalibrate(totals[0])]
    if LINK in ("identity", "log"):
        estimate = math.exp(totals[0]) if LINK == "log" else totals[0]
        return {"totals": totals, "estimate": estimate, "contributions": contributions}
    small = [math.exp(-abs(t)) for t in totals]
    if LINK == "logistic":
        p = (1.0 if totals[0] >= 0 else small[0]) / (1.0 + small[0])
        q = (1.0 if totals[0] < 0 else small[0]) / (1.0 + small[0])
        told.update(totals=totals, probabilities=[q, p], contributions=contributions)
        return told
    top = max(totals)
    if LINK == "softmax":
        parts = [math.exp(t - top) for t in totals]
    else:  # each class against the rest, then all in proportion
        top = min(top, 0.0)
        parts = [math.exp(min(t, 0.0) - top) / (1.0 + s) for t, s in zip(totals, small)]
    norm = sum(parts)
    probabilities = [part / norm for part in parts]
    return {"totals": totals, "probabilities": probabilities, "contributions": contributions}
'''


def _in_docstring(text: str) -> str:
    """Text that cannot end a docstring, nor escape anything in it."""
    return printable(text).replace("\\", "/").replace('"', "'")


def _say_offset(column: OffsetColumn) -> str:
    """A sentence on a column of exposure or offset."""
    told = "multiplies the estimate" if column.role == "exposure" else "is added to the total"
    return f"The {column.role} {column.name!r} {told}; absent or missing it is {column.neutral:g}. "


def _shares(formula: Formula) -> dict[str, float]:
    return {
        term.name: own for term, own in zip(formula.terms, formula.not_known, strict=False) if own
    }


def write(formula: Formula) -> str:
    """The text of the module."""
    rule, curve = formula.attenuation, formula.curve
    head = HEAD.format(
        name=_in_docstring(formula.description),
        known=_in_docstring("".join(map(_say_offset, formula.offsets))),
        classes=_literal(list(formula.classes)),
        prior=_literal(list(formula.prior)),
        columns=_literal({column.name: _types(column) for column in formula.inputs}),
        terms="".join(f"    {_term(term)},\n" for term in formula.terms),
        asked=_literal(
            {
                column.name: [(_column(ask.feature), [*ask.places]) for ask in column.asked]
                for column in formula.inputs
                if column.asked
            }
        ),
        attenuation=_literal(rule and (rule.k, rule.form == "root", rule.shift.tolist())),
        not_known=_literal(_shares(formula)),
        curve=_literal(
            curve
            and (
                [(piece.upper, piece.start, piece.cubic) for piece in curve.pieces],
                curve.shift,
                curve.steps,
            )
        ),
        link=repr(formula.link),
        added=_literal([(column.name, column.role == "exposure") for column in formula.offsets]),
        scored=bool(formula.score_name),
    )
    return head + BODY


def _term(term: Term) -> str:
    columns = [_column(column) for column in term.columns]
    weights = dict(zip(term.places, map(list, term.weights), strict=True))
    return _literal((term.name, columns, weights))


def _column(column: Feature) -> tuple[Any, ...]:
    levels = {(_letter(Kind.of(value)), value): place for value, place in column.placed_values}
    cuts = None if column.cuts is None else list(column.cuts)
    ends = column.missing_place, column.skip_missing, column.rest, column.no_level
    return column.name, cuts, levels, *ends


def _types(column: Input) -> str:
    """The types that a column takes: of numbers cut between 0 and 1 also booleans; none is any."""
    if column.is_numeric:
        return "nb" if takes_truth(column.cuts) else "n"
    return "".join(sorted(map(_letter, column.kinds)))


def _letter(kind: Kind) -> str:
    return kind[0]


def _literal(value: Any) -> str:
    """What Python reads back as the value: infinities by name, text in ASCII."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_literal(k)}: {_literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_literal, value)) + "]"
    if isinstance(value, tuple):
        return "(" + "".join(f"{_literal(item)}, " for item in value) + ")"
    if isinstance(value, float) and isinf(value):
        return "INF" if value > 0 else "-INF"
    return ascii(value)
