"""The balance sheet as text, and as data for HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from math import floor, log10
from typing import TYPE_CHECKING

from weigh.bins import label
from weigh.evidence import Units, hundredths, signed
from weigh.frames import NOT_KNOWN
from weigh.layout import Bar, Grid, Side, View, list_few, percent, sides_to_text

if TYPE_CHECKING:
    from weigh.sheet.balance import BalanceSheet, Item

BLANK = label(NOT_KNOWN)

LISTED = 12
"""Maximum number of features without an answer that a note lists, here and on pages."""

MOST_TOTALS = 6
"""Maximum number of other classes whose totals are listed."""


def sides_of(sheet: BalanceSheet) -> tuple[Side, Side]:
    """The two columns: evidence for the positive class and evidence against it."""
    of, units = sheet.name_of(sheet.pos_label), sheet.units
    prior = units.total(sheet.prior)
    first = [("Base points" if units.are_points else "Prior", prior)]
    positive, negative = sheet.evidence_for, sheet.evidence_against
    return (
        _side(f"Evidence for {of}", "positive", first * (prior >= 0), positive, units),
        _side(f"Evidence against {of}", "negative", first * (prior < 0), negative, units),
    )


def _side(
    title: str, sign: str, first: list[tuple[str, int]], items: tuple[Item, ...], units: Units
) -> Side:
    """One column; its total adds the rounded weights, as in the papers, so readers can check it."""
    lines = first + [(text, units.whole(weight)) for text, weight in _join_small(items, units)]
    shown = [(text, signed(whole)) for text, whole in lines]
    total = f"Total {sign} {_unit(units)}", signed(sum(whole for _, whole in lines))
    return Side(title, shown, total)


def _join_small(items: tuple[Item, ...], units: Units) -> list[tuple[str, float]]:
    """A line for each item, and one for all those that are rounded to 0."""
    small = [item for item in items if abs(units.scale * item.weight) < 0.5]
    if len(small) < 2:
        return [(str(item), item.weight) for item in items]
    own = [(str(item), item.weight) for item in items if item not in small]
    return [*own, (f"{len(small)} more items, together", sum(item.weight for item in small))]


def summary_lines(sheet: BalanceSheet) -> list[tuple[str, str]]:
    """Names and numbers of the steps from the sum of the weights to the probability."""
    rows = [*_attenuation(sheet), *_recalibration(sheet)]
    if sheet.units.are_points:
        rows.append(("Score", str(sheet.units.total(sheet.total))))
    else:
        rows.append(("Total weight of evidence", hundredths(sheet.total)))
    rows += _other_totals(sheet)
    told, *ends = probabilities(sheet.probability, *(sheet.interval or ()))
    rows.append((sheet.probability_name, told))
    if ends:
        rows.append((f"{percent(sheet.coverage)} interval", " to ".join(ends)))
    if sheet.event_by is not None:
        when, reached = sheet.event_by
        event = sheet.name_of(sheet.pos_label)
        rows.append((f"Probability that {event} happens by {when}", probability(reached)))
    return rows


def _other_totals(sheet: BalanceSheet) -> list[tuple[str, str]]:
    """The totals of the other classes; of many classes, the highest totals and how many follow."""
    others = {c: total for c, total in (sheet.totals or {}).items() if c != sheet.pos_label}
    shown = list(others)
    if len(others) > MOST_TOTALS + 1:
        shown = sorted(others, key=lambda c: -others[c])[:MOST_TOTALS]
    rows = [(f"Total of {sheet.name_of(c)}", hundredths(others[c])) for c in shown]
    if rest := [others[c] for c in others if c not in shown]:
        rows.append((f"Totals of {len(rest)} other classes", f"at most {hundredths(max(rest))}"))
    return rows


def _attenuation(sheet: BalanceSheet) -> list[tuple[str, str]]:
    """Lines that show how attenuation turns the sum of the weights into the total."""
    rule = sheet.attenuation
    if rule is None or (rule.form == "known" and not rule.n):
        return []
    rows = [("Prior and weights", hundredths(rule.before))]
    if rule.form == "known":
        rows.append(("Share of the evidence not known", f"{rule.n:.0%}"))
        return [*rows, ("Factor of the weights", f"{rule.exponent:.3g}")]
    if rule.perplexity is not None:
        rows.append(
            (f"Perplexity under {sheet.name_of(sheet.pos_label)}", f"{rule.perplexity:.4g}")
        )
    rows.append((f"{rule.unit.capitalize()} observed", f"{rule.n:g}"))
    rows.append(("Exponent", f"{rule.exponent:.3g}"))
    if rule.shift:
        rows.append(("Change of the base rate", hundredths(rule.shift)))
    return rows


def _recalibration(sheet: BalanceSheet) -> list[tuple[str, str]]:
    """Lines that show the total before and after recalibration."""
    step = sheet.recalibration
    if step is None:
        return []
    name = "Prior and weights" if sheet.attenuation is None else "Total before recalibration"
    rows = [(name, hundredths(step.before))]
    rows.append((f"Recalibrated ({step.method})", hundredths(step.after)))
    if step.shift:
        rows.append(("Change of the base rate", hundredths(step.shift)))
    return rows


def probability(p: float) -> str:
    """A probability with two decimals, or more where two would show 0 or 1.

    >>> [probability(p) for p in (0.374, 0.0021, 0.00009, 0.99934, 1 - 1e-9)]
    ['0.37', '0.002', '0.00009', '0.9993', '> 0.999999']
    """
    if 0.005 <= p <= 0.995:
        return f"{p:.2f}"
    if min(p, 1 - p) < 1e-6:
        return "< 0.000001" if p < 0.5 else "> 0.999999"
    return f"{Decimal(f'{p:.1g}'):f}" if p < 0.5 else f"{p:.{-floor(log10(1 - p))}f}"


def probabilities(*numbers: float) -> list[str]:
    """A probability and its limits: two or three significant digits where one text is for two.

    >>> probabilities(0.0096, 0.0031, 0.0104), probabilities(0.37, 0.33, 0.41)
    (['0.0096', '0.0031', '0.010'], ['0.37', '0.33', '0.41'])
    """
    texts = [probability(p) for p in numbers]
    for digits in (2, 3):
        if len({*texts}) < len({*numbers}):
            texts = [_precise(p, digits) for p in numbers]
    return texts


def _precise(p: float, digits: int) -> str:
    """A probability with so many significant digits of it, or of its difference from 1."""
    rest = min(p, 1 - p)
    return probability(p) if rest < 1e-6 else f"{p:.{digits - 1 - floor(log10(rest))}f}"


SCALED = (
    "The factor multiplies the weights, but not the prior: it keeps probabilities calibrated where "
    "answers are not known."
)

CHECK = "Check the value and its unit."


def tell_not_known(sheet: BalanceSheet) -> str:
    """A sentence that lists the answers that are not known; empty if all are known."""
    return list_not_known(names_not_known(sheet.weightless), _unit(sheet.units))


def list_not_known(names: Sequence[str], unit: str) -> str:
    """A sentence that lists the names of answers that are not known; empty if there are none."""
    n = len(names) if len(names) == LISTED + 1 else LISTED  # "and 1 more" is no shorter
    return f"Not known (no {unit}): {list_few(names, most=n)}." if names else ""


def names_not_known(items: Iterable[Item]) -> tuple[str, ...]:
    """The features without a known answer."""
    return tuple(item.shown for item in items if item.level == BLANK)


def drop_not_known(items: Iterable[Item]) -> list[Item]:
    """The items less the answers that are not known, and less the pairs of these."""
    items = list(items)
    blank = {item.feature for item in items if item.level == BLANK}

    def follows(item: Item) -> bool:
        names, levels = item.feature.split(" & "), item.level.split(" & ")
        gone = {n for n, level in zip(names, levels, strict=False) if level == BLANK}
        return len(names) == len(levels) == 2 and bool(gone) and gone <= blank

    return [item for item in items if item.weight or not (item.level == BLANK or follows(item))]


def _unit(units: Units) -> str:
    return "points" if units.are_points else "weight"


def notes_of(sheet: BalanceSheet) -> list[str]:
    """Notes below the sheet, one sentence each."""
    notes, what = [*filter(None, [tell_not_known(sheet)])], _unit(sheet.units)
    rest = [str(item) for item in drop_not_known(sheet.weightless)]
    if rest:
        notes.append(f"No {what}: {'; '.join(rest)}.")
    if sheet.far:
        notes.append(f"Far beyond the bins of the training rows: {', '.join(sheet.far)}. {CHECK}")
    if not sheet.units.are_points:
        notes.append("Weights are times 100.")
    shown = sum(int(side.total[1]) for side in sides_of(sheet))
    stated = sheet.attenuation or sheet.recalibration
    exact = sheet.total if stated is None else stated.before
    if shown != sheet.units.total(exact):
        notes.append(f"The rounded weights add up to {shown:+d}; the total uses exact weights.")
    if sheet.attenuation is not None and sheet.attenuation.form == "known":
        if sheet.attenuation.n:
            notes.append(SCALED)
    elif sheet.attenuation is not None:
        root = sheet.attenuation.form == "root"
        what = "prior and weights" if root else "the weights and not the prior"
        then = "; then the change of the base rate is added" if sheet.attenuation.shift else ""
        notes.append(f"The exponent multiplies {what}, to give the total{then}.")
    if sheet.recalibration is not None:
        notes.append("Recalibrated: the log odds observed at such a total on hold-out rows.")
    if sheet.totals is not None:
        part = "1/(1 + exp(-total))" if sheet.link == "ovr" else "exp(total)"
        notes.append(f"The probability is {part} over the sum of {part} of all classes.")
    if sheet.interval is not None:
        notes.append(f"The interval assumes {sheet.assumes}{sheet.caveat}.")
    elif sheet.no_interval:
        notes.append(f"No interval: {sheet.no_interval}.")
    return notes


def to_text(sheet: BalanceSheet, width: int) -> str:
    """Two columns, the totals, and the probability, as plain text."""
    return sides_to_text(sides_of(sheet), summary_lines(sheet), notes_of(sheet), width)


def to_view(sheet: BalanceSheet) -> View:
    """The sheet for a notebook: prior and items with bars, the total, and the probability."""
    units, points = sheet.units, sheet.units.are_points
    lines = [*_join_small(sheet.evidence_for, units), *_join_small(sheet.evidence_against, units)]
    own = 0.0 if points else sheet.prior  # base points would dwarf the bars of all others
    scale = max(abs(w) for w in (own, 0.01, *(weight for _, weight in lines)))
    first = "Base points" if points else "Prior"
    rows: list[tuple[str | Bar, ...]] = [
        (first, signed(units.total(sheet.prior)), Bar(own / scale)),
        *((name, units.text(weight), Bar(weight / scale)) for name, weight in lines),
    ]
    head = ("Evidence", _unit(units).capitalize(), "against | for")
    grid = Grid(head, tuple(rows), foot=tuple(summary_lines(sheet)))
    return View(f"Evidence for {sheet.question}", (grid,), notes=tuple(notes_of(sheet)))
