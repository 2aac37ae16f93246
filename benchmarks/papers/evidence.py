"""Section 6 of Ridgeway (2025) again: error rates, AUC, Figures 1 and 2 on the NIJ challenge.

    WEIGH_DATA=... python -m benchmarks.papers.evidence

writes docs/papers/evidence.md and the figures beside it. The notes' figures stand beside ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import numpy as np
import pyarrow.compute as pc
from matplotlib import pyplot
from sklearn.metrics import RocCurveDisplay

import weigh
from benchmarks.papers.verdicts import REPRODUCED, judge
from weigh import EvidenceNB, ReliabilityDisplay, metrics
from weigh.bins import label
from weigh.plot.axes import AGAINST, FOR, TOTAL

FOLDER = Path(__file__).parents[2] / "docs" / "papers"
NOTES = Path(__file__).with_name("evidence_notes.md")
TARGET, EDGES = "Recidivism_Within_3years", np.arange(11) / 10
CASE = ("F", "38-42", "At least some college", False, "Property", "1-2 years")

TABLE_2 = {
    "Gender": {"F": -49, "M": 7},
    "Age_at_Release": {
        "18-22": 63,
        "23-27": 38,
        "28-32": 17,
        "33-37": -1,
        "38-42": -16,
        "43-47": -30,
        "48 or older": -67,
    },
    "Education_Level": {
        "At least some college": -51,
        "High School Diploma": 12,
        "Less than HS diploma": 11,
    },
    "Prior_Conviction_Episodes_Viol": {False: -7, True: 16},
    "Prison_Offense": {
        "Drug": -15,
        "Other": 15,
        "Property": 26,
        "Violent/Non-Sex": -15,
        "Violent/Sex": -106,
        None: -1,
    },
    "Prison_Years": {
        "1-2 years": 11,
        "Greater than 2 to 3 years": -9,
        "Less than 1 year": 27,
        "More than 3 years": -47,
    },
}


TABLE_3 = {
    "prior": "31",
    "Prison_Offense": "26",
    "Prison_Years": "11",
    "Education_Level": "-51",
    "Gender": "-49",
    "Age_at_Release": "-16",
    "Prior_Conviction_Episodes_Viol": "-7",
}
TABLE_4 = ("-220", "-139", "-85", "-41", "0", "41", "85", "139", "220")


def load() -> dict[str, Any]:
    """The training rows, the validation rows, and all."""
    table = weigh.datasets.load("nij_recidivism_full")
    parts = {"training": 1, "validation": 0}
    rows = {name: table.filter(pc.equal(table["Training_Sample"], i)) for name, i in parts.items()}
    return {name: part.select([*TABLE_2, TARGET]) for name, part in (rows | {"all": table}).items()}


def score(model: Any, part: Any) -> metrics.Scored:
    return metrics.Scored.read(part[TARGET], model.predict_proba(part)[:, 1])


# ---------------------------------------------------------------- tables


@dataclass(frozen=True)
class Cell:
    """One printed figure: where it stands, what is printed, what comes out here."""

    where: str
    printed: str
    ours: float
    why: str = "unexplained"

    @property
    def line(self) -> str:
        """A row of the table of verdicts."""
        here = f"{self.ours:.{len(self.printed.partition('.')[2])}f}"
        return f"| {self.where} | {self.printed} | {here} | {self.verdict} |"

    @property
    def verdict(self) -> str:
        """Whether it comes out."""
        return judge(self.ours, self.printed, why=self.why)


def cells(model: Any, scored: dict[str, metrics.Scored]) -> list[Cell]:
    """Every figure that the notes print of these data."""
    return [*table_2(model), *table_3(model), *table_4(), *section_6(scored)]


def table_2(model: Any) -> list[Cell]:
    evidence = model.evidence_
    found = [Cell("Table 2, prior", "31", 100 * evidence.prior)]
    for name, printed in TABLE_2.items():
        weights = dict(zip(evidence[name].levels, evidence[name].weights, strict=True))
        found += [
            Cell(f"Table 2, {name} = {label(level)}", str(w), 100 * weights[level])
            for level, w in printed.items()
        ]
    return found


def table_3(model: Any) -> list[Cell]:
    """The case's sheet; its weights are those of Table 2."""
    sheet = model.balance_sheet(dict(zip(TABLE_2, CASE, strict=True)))
    own = {item.feature: 100 * item.weight for item in sheet.items} | {"prior": 100 * sheet.prior}
    found = [Cell(f"Table 3, {name}", w, own[name]) for name, w in TABLE_3.items()]
    rounded = [round(weight) for weight in own.values()]
    return [
        *found,
        Cell("Table 3, total positive weight", "68", sum(w for w in rounded if w > 0)),
        Cell("Table 3, total negative weight", "-123", sum(w for w in rounded if w < 0)),
        Cell("Table 3, total weight of evidence", "-55", 100 * sheet.total),
        Cell("Table 3, probability", "0.37", sheet.probability),
    ]


def table_4() -> list[Cell]:
    """Total weights of evidence by probability."""
    chances = np.arange(1, 10) / 10
    return [
        Cell(f"Table 4, {chance:.0%}", printed, float(100 * np.log(chance / (1 - chance))))
        for chance, printed in zip(chances, TABLE_4, strict=True)
    ]


def section_6(scored: dict[str, metrics.Scored]) -> list[Cell]:
    bins = metrics.reliability_table(scored["all"], bins=EDGES)
    inner = (bins.low > 0.05) & (bins.high < 0.95)
    rates = {name: metrics.error_rates(part).misclassification for name, part in scored.items()}
    return [
        Cell("6.1, misclassified, training", "0.3641003", rates["training"]),
        Cell("6.1, misclassified, validation", "0.3692840", rates["validation"]),
        Cell("6.3, rate of the bin (0.1, 0.2], %", "20", 100 * float(bins.rate[inner][0])),
        Cell("6.3, reoffended, training, %", "57.8", 100 * scored["training"].groups.base_rate),
    ]


def verdict_table(found: list[Cell]) -> list[str]:
    right = sum(cell.verdict == REPRODUCED for cell in found)
    return [
        f"{right} of {len(found)} printed figures are reproduced: they round to what is printed.",
        "",
        "| where | notes | here | verdict |",
        "| --- | --- | --- | --- |",
        *(cell.line for cell in found),
    ]


def rates_table(scored: dict[str, metrics.Scored]) -> list[str]:
    lines = [
        "| rows | false positive rate | false negative rate | AUC | 95% interval "
        "| slope | intercept |",
        "|" + " --- |" * 7,
    ]
    for name, part in scored.items():
        rates, area = metrics.error_rates(part), metrics.auc(part)
        line = metrics.calibration_line(part)
        cells = (
            f"{name} ({len(part):,})",
            f"{rates.false_positive_rate:.3f}",
            f"{rates.false_negative_rate:.3f}",
            f"{area.value:.4f}",
            f"{area.low:.3f} to {area.high:.3f}",
            f"{line.slope:.2f}",
            f"{line.intercept:.2f}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def bins_table(part: metrics.Scored) -> list[str]:
    table = metrics.reliability_table(part, bins=EDGES)
    lines = [
        "| predicted | rows | mean prediction | rate that came true | 95% interval | off by |",
        "|" + " --- |" * 6,
    ]
    for i in range(len(table)):
        gap = table.rate[i] - table.mean_prediction[i]
        lines.append(
            f"| ({table.low[i]:.1f}, {table.high[i]:.1f}] | {table.weight[i]:,.0f} "
            f"| {table.mean_prediction[i]:.3f} | {table.rate[i]:.3f} "
            f"| {table.rate_low[i]:.3f} to {table.rate_high[i]:.3f} | {gap:+.3f} |"
        )
    return lines


def verdicts(model: Any, scored: dict[str, metrics.Scored]) -> list[str]:
    wrong = [
        f"{metrics.error_rates(scored[name]).misclassification:.7f}"
        for name in ("training", "validation")
    ]
    areas = [f"{metrics.auc(scored[name]).value:.4f}" for name in ("validation", "all")]
    table = metrics.reliability_table(scored["all"], bins=EDGES)
    inner = (table.low > 0.05) & (table.high < 0.95)
    gaps = np.abs(table.rate - table.mean_prediction)[inner]
    wanted = {
        "error rates as in the notes, to seven digits": wrong == ["0.3641003", "0.3692840"],
        "AUC 0.6512 on the validation rows and 0.6562 on all": areas == ["0.6512", "0.6562"],
        f"on all rows the eight bins from 0.1 to 0.9 lie within 0.05 of their mean prediction (the "
        f"farthest by {gaps.max():.3f})": len(gaps) == 8 and bool((gaps <= 0.05).all()),
    }
    return [f"- {what}: {'yes' if holds else 'NO'}" for what, holds in wanted.items()]


# ---------------------------------------------------------------- figures


def draw_roc(scored: dict[str, metrics.Scored]) -> None:
    figure, ax = pyplot.subplots(figsize=(4.6, 4.6), layout="constrained")
    for name, colour in (("all", FOR), ("validation", TOTAL)):
        part = scored[name]
        RocCurveDisplay.from_predictions(part.positive, part.p, name=f"{name} rows", ax=ax)
        ax.lines[-1].set(color=colour, linewidth=1.4 if name == "all" else 0.8)
    rates = metrics.error_rates(scored["all"])
    place = rates.false_positive_rate, rates.sensitivity
    ax.plot(*place, "o", color=AGAINST, label="decided at 0.5, all rows", zorder=3)
    ax.plot([0, 1], [0, 1], color=TOTAL, linewidth=0.8, linestyle="--")
    ax.set_xlabel("False positive rate")
    ax.set_ylabel("True positive rate")
    ax.legend(frameon=False, fontsize="small", loc="lower right")
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(FOLDER / "evidence_figure1.png", dpi=80)
    pyplot.close(figure)


def draw_calibration(part: metrics.Scored) -> None:
    figure, ax = pyplot.subplots(figsize=(4.6, 5.2), layout="constrained")
    ReliabilityDisplay(part, bins=EDGES, name="EvidenceNB, all rows", pos_label=True).plot(ax=ax)
    figure.savefig(FOLDER / "evidence_figure2.png", dpi=80)
    pyplot.close(figure)


def write(model: Any, scored: dict[str, metrics.Scored]) -> None:
    page = [
        NOTES.read_text("utf-8").strip(),
        "## What must come out",
        "\n".join(verdicts(model, scored)),
        "## Every printed figure",
        "\n".join(verdict_table(cells(model, scored))),
        "## Error rates at one half, AUC and calibration",
        "\n".join(rates_table(scored)),
        "## The bins of Figure 2, all rows",
        "\n".join(bins_table(scored["all"])),
        "## Figures 1 and 2",
        "![Figure 1](evidence_figure1.png)\n\nFigure 1. ROC curve.",
        "![Figure 2](evidence_figure2.png)\n\nFigure 2. Calibration curve: points by bins of a "
        "tenth with 95% intervals, the spline, and below it how many rows have which prediction.",
    ]
    (FOLDER / "evidence.md").write_text("\n\n".join(page) + "\n", encoding="utf-8")


def main() -> None:
    parts = load()
    model = EvidenceNB(smoothing=0).fit(parts["training"], TARGET)
    scored = {name: score(model, part) for name, part in parts.items()}
    draw_roc(scored)
    draw_calibration(scored["all"])
    write(model, scored)
    print((FOLDER / "evidence.md").read_text("utf-8"))


if __name__ == "__main__":
    main()
