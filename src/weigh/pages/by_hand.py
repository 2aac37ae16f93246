"""The model to the last digit that counts, as a text that can be computed by hand."""

from __future__ import annotations

from weigh.bins import label, printable
from weigh.evidence import Evidence, FeatureTable, Recalibration
from weigh.pages.document import has_other
from weigh.pages.levels import exact_levels

DIGITS = 12


def exact_formula(evidence: Evidence, of: int | None) -> list[str]:
    """Prior, weights and link, in nats or in the unit of a number.

    `of` is the class in question; None is every class.
    """
    names = [printable(label(c)) for c in evidence.classes.tolist()]
    lines = [
        "total = prior + the weight of the case's level in every feature (what is no level: 0)",
        *_unlisted(evidence),
        *_rule(evidence),
        *_curve(evidence.recalibration),
        *_link(evidence, names, of),
        "",
        *([] if len(names) <= 2 else [f"in the order: {', '.join(names)}"]),
        f"prior  {numbers(evidence.prior_row.tolist())}",
    ]
    for table in evidence:
        lines += ["", printable(table.name), *_levels(table)]
    return lines


def _unlisted(evidence: Evidence) -> list[str]:
    told = "  (a value that is not listed takes the level other, if the feature has it)"
    return [told] if has_other(evidence) else []


def numbers(values: list[float]) -> str:
    """Numbers to twelve digits."""
    return "  ".join(f"{value:.{DIGITS}g}" for value in values)


def _levels(table: FeatureTable) -> list[str]:
    rows = zip(exact_levels(table.feature), table.by_class.tolist(), strict=True)
    return [f"  {printable(text)}  {numbers(weights)}" for text, weights in rows]


def _rule(evidence: Evidence) -> list[str]:
    rule = evidence.attenuation
    if rule is None:
        return []
    n = "its tokens" if evidence.event_model == "counts" else "the features that have an answer"
    least = "n + 1" if rule.form == "root" else "n"
    what = "(prior + weights) e" if rule.form == "root" else "prior + weights e"
    shift = f" + {numbers(rule.shift.tolist())}" if rule.shift.any() else ""
    return [f"total = {what}{shift},  e = {rule.k:.{DIGITS}g}/max({least}, {rule.k:.{DIGITS}g}),"
            f"  n counts {n}"]  # fmt: skip


def _curve(worth: Recalibration | None) -> list[str]:
    if worth is None:
        return []
    shift = f" + {worth.shift:.{DIGITS}g}" if worth.shift else ""
    lines = [
        f"total = f(total){shift},  f is {worth.method}, through these",
        f"  totals  {numbers(worth.points.tolist())}",
        f"  values  {numbers(worth.levels.tolist())}",
    ]
    if worth.method == "isotonic":
        return [*lines, "  which are probabilities, joined by straight lines; f is their log odds"]
    told = "  by the cubics that these fix, and straight on beyond"
    return [*lines, f"  slopes  {numbers(worth.slopes.tolist())}", told]


def _link(evidence: Evidence, names: list[str], of: int | None) -> list[str]:
    if evidence.estimates:
        return [f"estimate of {names[0]} = {'exp(total)' if evidence.link == 'log' else 'total'}"]
    if evidence.link == "logistic":
        return [f"probability of {names[1]} = 1/(1 + exp(-total))"]
    part = "1/(1 + exp(-total))" if evidence.link == "ovr" else "exp(total)"
    name = "a class" if of is None else names[of]
    return [f"probability of {name} = its {part} over the sum of all classes"]
