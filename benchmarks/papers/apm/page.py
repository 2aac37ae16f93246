"""The page: our figures beside the paper's, with a verdict on every printed cell."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.papers.apm.measure import CROSS_FITTED, MEASURES, SETS
from benchmarks.papers.apm.printed import PAPER
from benchmarks.papers.verdicts import comes_out

PAGE = Path(__file__).parents[3] / "docs" / "papers" / "apm.md"
NOTES = Path(__file__).with_name("notes.md")
MEASURED = Path(__file__).with_name("measured.json")
SHOWN = dict(zip(MEASURES, ("error", "loss", "m", "# neg."), strict=True))
WHY = {  # the letters of the notes
    ("vote", "", "APM", "m"): "a",
    ("lymph", "2", "APM", "m"): "a",
}
UNEXPLAINED = "unexplained"


def write(measured: dict[str, Any]) -> str:
    """The whole page."""
    verdicts = Counter(
        verdict
        for name in PAPER
        for row in PAPER[name]
        for verdict in judge_row(name, row, measured[name]).values()
    )
    page = [notes(measured), "## Verdicts", "\n".join(count(verdicts))]
    for name in SETS:
        page += [f"## {name}", "\n".join(table(name, measured[name]))]
    page += ["## Figure 1", FIGURE]
    page += ["## Held-out loss of APMR against naive Bayes", AGAINST, "\n".join(against(measured))]
    page += ["## Other exponents", OTHERS, "\n".join(others(measured["variants"]))]
    page += ["## The correction as printed", PRINTED, "\n".join(printed(measured["as printed"]))]
    return "\n\n".join(page) + "\n"


def notes(measured: dict[str, Any]) -> str:
    """What we see, with the figures that it speaks of."""
    counts = {
        name: sorted({measured[name][" ".join(row).strip()]["repetitions"] for row in PAPER[name]})
        for name in SETS
    }
    said = "; ".join(f"{name} {' and '.join(map(str, n))}" for name, n in counts.items())
    mushroom, breast = measured["mushroom"]["APMR"]["m"], measured["breast"]["APM"]["m"]
    return (
        NOTES.read_text("utf-8")
        .strip()
        .replace("REPETITIONS", f"Repetitions: {said} (the smaller number is APMR's).")
        .replace("MUSHROOM", f"{mushroom[0]:.0f} ({mushroom[1]:.0f}) for 5714 (2732)")
        .replace("BREAST", f"{breast[0]:.1f}")
    )


def judge_row(name: str, row: tuple[str, str], measured: dict[str, Any]) -> dict[str, str]:
    """By measure that the paper prints: reproduced, a letter of the notes, or unexplained."""
    part, method = row
    ours, found = measured[f"{part} {method}".strip()], {}
    for j, measure in enumerate(MEASURES):
        theirs, spread = PAPER[name][row][2 * j : 2 * j + 2]
        if theirs is None:
            continue
        mean, own = ours[measure][:2]
        allowed = spread or 2 * own
        well = comes_out(mean, as_text(theirs, measure), allowed)
        why = WHY.get((name, part, method, measure), UNEXPLAINED)
        found[measure] = "reproduced" if well else why
    return found


def as_text(value: float, measure: str) -> str:
    """A figure with the digits that the paper prints."""
    if measure in ("error", "loss"):
        return f"{value:.2f}"
    whole = float(value).is_integer() and measure == "m"
    return f"{value:.0f}" if whole else f"{value:.2f}".rstrip("0")


def count(verdicts: Counter[str]) -> list[str]:
    """How many cells have each verdict."""
    explained = sum(n for verdict, n in verdicts.items() if len(verdict) == 1)
    return [
        "| verdict | cells |",
        "| --- | --- |",
        f"| reproduced | {verdicts['reproduced']} |",
        f"| not reproduced, explained (a) | {explained} |",
        f"| not reproduced, unexplained | {verdicts[UNEXPLAINED]} |",
        f"| all | {verdicts.total()} |",
    ]


def cell(mean: float | None, deviation: float | None, digits: int) -> str:
    if mean is None:
        return ""
    return f"{mean:.{digits}f}" + (f" ({deviation:.{digits}f})" if deviation else "")


def table(name: str, measured: dict[str, Any]) -> list[str]:
    """Our figures, the paper's, and the verdicts on its cells."""
    beside = " | paper | ".join(["error %", "loss", "m", "# neg.", "verdict"])
    lines = [f"| class | method | {beside} |", "|" + " --- |" * 11]
    for row, paper in PAPER[name].items():
        ours, cells = measured[" ".join(row).strip()], [*row]
        for j, measure in enumerate(MEASURES):
            mean, deviation = ours.get(measure, (None, None))[:2]
            digits = (2, 2, 0 if (mean or 0) > 50 else 1, 1)[j]
            cells += [cell(mean, deviation, digits), cell(*paper[2 * j : 2 * j + 2], digits)]
        lines.append(f"| {' | '.join(cells)} | {say(judge_row(name, row, measured))} |")
    return lines


def say(verdicts: dict[str, str]) -> str:
    """One phrase for a row of cells."""
    far = {measure: verdict for measure, verdict in verdicts.items() if verdict != "reproduced"}
    if not far:
        return "reproduced" if len(verdicts) < 3 else "all four reproduced"
    told = [
        f"{SHOWN[measure]} {'unexplained' if verdict == UNEXPLAINED else f'not: {verdict}'}"
        for measure, verdict in far.items()
    ]
    rest = ["rest reproduced"] if len(far) < len(verdicts) else []
    return ", ".join([*told, *rest])


def against(measured: dict[str, Any]) -> list[str]:
    """The loss of naive Bayes and of APMR for every class of every set."""
    lines = [
        "| data | class | rows | NB | APMR as printed | NB, same folds | cross-fitted | higher? |",
        "|" + " --- |" * 8,
    ]
    for name in SETS:
        parts = dict.fromkeys(part for part, _ in PAPER[name])
        rows = [loss_row(name, part, measured[name]) for part in parts]
        lines += [f"| {' | '.join(row)} |" for row in rows]
    return lines


def loss_row(name: str, part: str, measured: dict[str, Any]) -> list[str]:
    def loss(method: str) -> float | None:
        own: dict[str, Any] = measured.get(f"{part} {method}".strip(), {})
        return own["loss"][0] if "loss" in own else None

    found = [loss(method) for method in ("NB", "APMR", f"NB, {CROSS_FITTED}", CROSS_FITTED)]
    higher = [
        way
        for way, (naive, ours) in (("as printed", found[:2]), ("cross-fitted", found[2:]))
        if naive is not None and ours is not None and ours > naive
    ]
    shown = ["not measured" if value is None else f"{value:.3f}" for value in found]
    return [name, part, str(ROWS.get((name, part), "")), *shown, ", ".join(higher) or "no"]


ROWS = {("lymph", "1"): 2, ("lymph", "2"): 81, ("lymph", "3"): 61, ("lymph", "4"): 4}
"""Rows of the classes of lymph, of which two have fewer than folds."""


def others(found: dict[str, dict[str, list[float]]]) -> list[str]:
    lines = ["| data | exponents | error % | loss |", "| --- | --- | --- | --- |"]
    return lines + [
        f"| {name} | {method} | {error:.2f} | {loss:.3f} |"
        for name, methods in found.items()
        for method, (error, loss) in methods.items()
    ]


def printed(found: dict[str, list[float]]) -> list[str]:
    lines = ["| class | error % | paper | loss | paper |", "| --- | --- | --- | --- | --- |"]
    for part, (error, loss) in found.items():
        paper = PAPER["lymph"][part, "NB"]
        lines.append(f"| {part} | {error:.2f} | {paper[0]} | {loss:.2f} | {paper[2]} |")
    return lines


FIGURE = (
    "![Figure 1](apm_figure1.png)\n\nThe loss of each of the five internal folds by the norm m: "
    "the search on all rows of splice (the paper's SDNA), class EI against the rest. The paper "
    "does not say which class it draws. The vertical line is the norm chosen."
)
AGAINST = (
    'Bits. As printed: `norm="paper"`, repetitions as above. Cross-fitted: `norm="cv"`, the '
    "default, whose folds count their own tables; two repetitions of lymph, breast and vote, one "
    "run of dna, three folds of splice and mushroom, beside naive Bayes on the same folds. Classes "
    'of splice, dna and lymph are one against the rest (`multiclass="ovr"`). A fit warns where a '
    "class has fewer rows than folds. The loss is higher than naive Bayes's for lymph's class 1 "
    "(2 rows) both ways, for its class 2 as printed, and for all classes of splice together on "
    "three folds, where the normalised models of one class against the rest lose."
)
OTHERS = (
    "One 10-fold cross-validation; of splice and lymph class 1 against the rest (lymph has 2 rows "
    "of it). The paper found models without their negative features to be worse; here the "
    "difference goes either way."
)
PRINTED = "Lymph, naive Bayes of each class against the rest, with L = 1 and 2L on P(C|v):"
