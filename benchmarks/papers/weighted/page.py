"""The page of `benchmarks.papers.weighted`: the paper's figures beside ours, and who wins."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy.stats import rankdata

from benchmarks.papers.weighted.contrasts import (
    Judge,
    Results,
    anova,
    by_contrasts,
    by_corrected_test,
    count,
    scores,
)
from benchmarks.papers.weighted.data import FURTHER
from benchmarks.papers.weighted.methods import ACCURACY, AUC, WAYS, places, shown
from benchmarks.papers.weighted.printed import PAPER, PRINTED, SETS, TABLE_4

PAGE = Path(__file__).parents[3] / "docs" / "papers" / "weighted.md"
NOTES = Path(__file__).with_name("notes.md")
NEAR = 2.0
"""Standard deviations, the paper's and ours together, within which a figure is reproduced."""

Shapes: TypeAlias = dict[str, dict[str, tuple[int, int, int]]]
"""Rows, attributes and classes, by reading and data set."""

# ---------------------------------------------------------------- tables


def line(cells: Sequence[Any]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def head(cells: Sequence[str]) -> list[str]:
    return [line(cells), line(["---"] * len(cells))]


def cell(values: Any, digits: int = 1) -> str:
    """The mean of the repetitions and their deviation."""
    spread = values.std(ddof=1) if len(values) > 1 else np.nan
    return f"{values.mean():.{digits}f} ± {spread:.2f}"


def means(
    results: Results, names: Sequence[str], way: int, measure: int, paper: bool = False
) -> list[str]:
    """A row per data set, the paper's below ours, and the mean over data sets."""
    methods = shown(way)
    lines = head(["data", *methods])
    sums = []
    for name in names:
        values = scores(results, name, way, measure).mean(axis=1)[:, places(way)]
        sums.append(values)
        lines.append(line([name, *map(cell, values.T)]))
        if paper:
            theirs = {m: PAPER[name][2 * k : 2 * k + 2] for k, m in enumerate(PRINTED)}
            cells = ["{} ± {}".format(*theirs[m]) if m in theirs else "" for m in methods]
            lines.append(line(["*paper*", *cells]))
    lines.append(line(["**mean**", *(cell(v, 2) for v in np.mean(sums, axis=0).T)]))
    if paper:
        over = np.mean([PAPER[name][::2] for name in names], axis=0)
        said = dict(zip(PRINTED, over, strict=True))
        lines.append(line(["*paper*", *(f"{said[m]:.2f}" if m in said else "" for m in methods)]))
    return lines


def matrix(judge: Judge, names: Sequence[str], way: int, paper: bool = False) -> list[str]:
    """Wins, ties and losses of the row against the column; the paper's in parentheses."""
    methods = shown(way)
    lines = head(["", *methods[:-1]])
    for i, row in enumerate(methods[1:], 1):
        cells = []
        for j, column in enumerate(methods[:i]):
            theirs = f" ({printed(row, column)})" if paper and printed(row, column) else ""
            cells.append(count(judge, names, i, j) + theirs)
        lines.append(line([row, *cells, *[""] * (len(methods) - 1 - i)]))
    return lines


def printed(row: str, column: str) -> str:
    """Table 4's entry, if it has one."""
    known = row in TABLE_4 and column in PRINTED[: PRINTED.index(row)]
    return TABLE_4[row][PRINTED.index(column)] if known else ""


def own_figures() -> str:
    """Table 4 from the means and deviations that the paper prints: how far our reading holds."""
    judges = {}
    for name, row in PAPER.items():
        judges[name] = anova(np.array(row[::2]), np.array(row[1::2]), 6)
    same, moved = 0, 0
    for row, entries in TABLE_4.items():
        for column, entry in zip(PRINTED, entries, strict=False):
            i, j = PRINTED.index(row), PRINTED.index(column)
            ours = count(lambda name, a, b: judges[name](a, b), [*PAPER], i, j)
            gaps = [abs(int(a) - int(b)) for a, b in zip(ours.split("-"), entry.split("-"))]  # noqa: B905
            same, moved = same + (ours == entry), moved + sum(gaps) // 2
    cells = sum(map(len, TABLE_4.values()))
    return (
        f"Applied to the means and deviations that the paper prints, this reading gives {same} of "
        f"the {cells} entries of Table 4, and moves {moved} of their {14 * cells} verdicts."
    )


def summary(results: Results, names: Sequence[str], way: int) -> list[str]:
    """What a user picks from: means, ranks, and wins over naive Bayes and the other choices."""
    methods, rivals = shown(way), ("NB", "G-HC", "G-HC cv")
    columns = ["AUC", "without lung_cancer", "rank", "accuracy", "bits"]
    lines = head(["method", *columns, *(f"against {rival}" for rival in rivals), "ms"])
    judge = by_corrected_test(results, way)
    auc, accuracy, bits, seconds = (over_sets(results, names, way, m) for m in range(4))
    steady = over_sets(results, [name for name in names if name != "lung_cancer"], way, AUC)
    each = np.array([scores(results, n, way, AUC).mean(axis=(0, 1)) for n in names])
    ranks = rankdata(-each[:, : len(methods)].round(6), axis=1).mean(axis=0)
    for i, method in enumerate(methods):
        means = [cell(values[:, i], 2) for values in (auc, steady, accuracy, bits)]
        votes = [
            "" if method == rival else count(judge, names, i, methods.index(rival))
            for rival in rivals
        ]
        ms = f"{1000 * seconds[:, i].mean():.0f}"
        lines.append(line([method, *means[:2], f"{ranks[i]:.1f}", *means[2:], *votes, ms]))
    return lines


def over_sets(results: Results, names: Sequence[str], way: int, measure: int) -> Any:
    """The mean over data sets, by repetition and method."""
    return np.mean([scores(results, n, way, measure).mean(axis=1) for n in names], axis=0)


def shape_table(shapes: Shapes) -> list[str]:
    """What each reading has, and the paper: attributes, classes, rows."""
    lines = head(["data", "paper's name", "paper", *shapes])
    for name, (title, theirs) in SETS.items():
        ours = [(found[name][1], found[name][2], found[name][0]) for found in shapes.values()]
        cells = [", ".join(map(str, numbers)) for numbers in (theirs, *ours)]
        lines.append(line([name, title, *cells]))
    return lines


def fit_table(readings: dict[str, Results]) -> list[str]:
    """Which printed cells of Tables 2 and 3 come out, by reading."""
    lines = head(["data", "", "paper", *(f"{r}" for r in readings), "reproduced by"])
    for name in SETS:
        for method in ("NB", "C4.4", *PRINTED[2:]):
            values = {r: auc_of(results, name, method) for r, results in readings.items()}
            said = said_of(name, method)
            fits = [r for r, v in values.items() if is_near(v, said)]
            cells = ["{} ± {}".format(*said), *map(cell, values.values())]
            lines.append(line([name, method, *cells, " and ".join(fits) or "neither"]))
    return lines


def count_fits(lines: list[str]) -> str:
    """How many cells each reading reproduces, after the table of them."""
    said = [row.rsplit("|", 2)[1].strip() for row in lines[2:]]
    true, last = (sum(r in verdict for verdict in said) for r in ("true class", "last attribute"))
    both = sum(verdict != "neither" for verdict in said)
    return (
        f"The true class reproduces {true} of {len(said)} cells, the last attribute {last}, one or "
        f"both {both}."
    )


def auc_of(results: Results, name: str, method: str) -> Any:
    """The mean over folds of each repetition, as the paper did."""
    return scores(results, name, 0, AUC).mean(axis=1)[:, places(0)[shown(0).index(method)]]


def said_of(name: str, method: str) -> tuple[float, float]:
    place = PRINTED.index(method)
    return PAPER[name][2 * place], PAPER[name][2 * place + 1]


def is_near(values: Any, said: tuple[float, float]) -> bool:
    """Whether two means differ by no more than they vary, with rounding of one decimal."""
    spread = np.hypot(values.std(ddof=1), said[1])
    return bool(abs(values.mean() - said[0]) <= NEAR * spread + 0.05)


def fitting_sets(readings: dict[str, Results]) -> dict[str, list[str]]:
    """The sets whose naive Bayes each reading reproduces."""
    return {
        reading: [n for n in SETS if is_near(auc_of(found, n, "NB"), said_of(n, "NB"))]
        for reading, found in readings.items()
    }


def verdict_table(readings: dict[str, Results]) -> list[str]:
    """G-HC beside the others on the sets whose naive Bayes a reading reproduces."""
    rivals = [method for method in PRINTED if method != "G-HC"]
    lines = head(["reading", "sets", *(f"G-HC against {rival}" for rival in rivals)])
    methods = shown(0)
    for reading, names in fitting_sets(readings).items():
        if names:
            judge = by_contrasts(readings[reading], names, 0)
            own = methods.index("G-HC")
            votes = [count(judge, names, own, methods.index(rival)) for rival in rivals]
            lines.append(line([reading, ", ".join(names), *votes]))
            judges = {n: anova(np.array(PAPER[n][::2]), np.array(PAPER[n][1::2]), 6) for n in names}
            place = PRINTED.index("G-HC")
            theirs = [
                count(lambda n, i, j: judges[n](i, j), names, place, PRINTED.index(rival))  # noqa: B023
                for rival in rivals
            ]
            lines.append(line(["*paper's figures*", "", *theirs]))
    return lines


def readings_table(readings: Sequence[tuple[str, str, Any]]) -> list[str]:
    lines = head(["data", "reading", "NB", "paper", "C4.4", "paper"])
    for name, reading, (naive, tree) in readings:
        paper = dict(zip(PRINTED, PAPER[name][::2], strict=True))
        cells = f"{naive:.1f}", paper["NB"], f"{tree:.1f}", paper["C4.4"]
        lines.append(line([name, reading, *cells]))
    return lines


# ---------------------------------------------------------------- the page


def write(
    readings: dict[str, Results], shapes: Shapes, others: Sequence[tuple[str, str, Any]]
) -> None:
    page = [NOTES.read_text(encoding="utf-8").rstrip(), ""]
    last, names = len(WAYS) - 1, [*SETS]
    results, every = readings["true class"], [*SETS, *FURTHER]

    def add(title: str, text: str, lines: list[str]) -> None:
        page.extend([f"## {title}", "", *([text, ""] if text else []), *lines, ""])

    add("Table 1: the data", DATA, shape_table(shapes))
    fits = fit_table(readings)
    add("Which reading gives the paper's AUC", f"{FITS} {count_fits(fits)} {REST}", fits)
    add("G-HC where naive Bayes is the paper's", VERDICT, verdict_table(readings))
    for reading, found in readings.items():
        title = f"Tables 2 and 3: AUC, as the paper did, {reading}"
        add(title, "", means(found, names, 0, AUC, paper=True))
        contrasts = matrix(by_contrasts(found, names, 0), names, 0, paper=True)
        text = own_figures() if reading == "true class" else ""
        add(f"Table 4: wins, ties, losses in AUC, as the paper did, {reading}", text, contrasts)
    add("Accuracy, as the paper did", UNPRINTED, means(results, names, 0, ACCURACY))
    add("AUC with our smoothing", SMOOTHED, means(results, names, 1, AUC))
    add("AUC with intervals from the training part", HELD, means(results, names, last, AUC))
    add("Accuracy with intervals from the training part", "", means(results, names, last, ACCURACY))
    contrasts = matrix(by_contrasts(results, names, last), names, last)
    add("Contrasts with intervals from the training part", "", contrasts)
    stricter = matrix(by_corrected_test(results, last), names, last)
    add("The same by a test that allows for shared rows", STRICT, stricter)
    add("AUC of eight further sets", "", means(results, FURTHER, last, AUC))
    add("Over all 22 sets", PICK, summary(results, every, last))
    add("Over the fourteen", "", summary(results, names, last))
    add("Other readings of the data", READINGS, readings_table(others))
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text("\n".join(page).rstrip() + "\n", encoding="utf-8")


DATA = (
    "Attributes, classes, rows. Attributes of one interval on the whole set are left out, as the "
    "paper seems to have done."
)
FITS = (
    "AUC as the paper did, every printed cell of Tables 2 and 3. A figure is reproduced if it "
    "differs, up or down, by at most two standard deviations, the paper's and ours together (and "
    "half of the last digit)."
)
REST = (
    "The notes above say what is known of the sets that neither reproduces; their cells are "
    "otherwise unexplained."
)
VERDICT = (
    "Wins, ties and losses of G-HC by the paper's contrasts, on the sets whose naive Bayes the "
    "reading reproduces. Below, the same from the means and deviations that the paper prints."
)
UNPRINTED = "The paper measured accuracy and printed none of it."
SMOOTHED = (
    "Intervals from the whole set, P(v|c) = (n + 1)/(N_c + m) with m the number of levels, and a "
    "level that training did not see weighs nothing."
)
HELD = "And our smoothing: what a user of the library gets."
READINGS = (
    "AUC in one repetition, as the paper did, with other classes: one of the nine grades, the "
    "rings grouped otherwise, and so on."
)
STRICT = (
    "A t test at 90% on the 30 folds, its variance corrected for training parts that overlap "
    "(Nadeau & Bengio 2003)."
)
PICK = (
    "Intervals from the training part, our smoothing, the corrected test. Rank is the mean rank in "
    "AUC, 1 the best. Time is that of one search, without reading and cutting; of C4.4 that of a "
    "whole fit and prediction."
)
