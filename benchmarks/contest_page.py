"""The tables of `benchmarks.contest` as text, and growth as a figure."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.clock import MIB

if TYPE_CHECKING:
    from benchmarks.contest import Outcome

FIGURE = Path(__file__).parents[1] / "docs" / "benchmarks" / "growth.png"
BASE = "EvidenceNB"
MEASURES = {"fit": "fit, s", "predict": "predict, s", "one_row": "one row, ms"}
AMOUNTS = {"memory": "memory, MiB", "size": "size, KiB"}
SCALES = {"fit": 1.0, "predict": 1.0, "one_row": 1e3, "memory": 1 / MIB, "size": 1 / 1024}


def show(stage: str, outcomes: list[Outcome]) -> None:
    """Print a stage's table in Markdown."""
    if stage == "ratios":
        print_ratios(outcomes)
    elif stage == "accuracy":
        print_accuracy(outcomes)
    else:
        print_growth(stage, outcomes)


def print_ratios(outcomes: list[Outcome]) -> None:
    """Each measure, and in brackets how many times that of `EvidenceNB`."""
    base = next((_only(o) for o in outcomes if o.entry.name == BASE), {})
    heads = {**MEASURES, **AMOUNTS}
    rows = []
    for outcome in outcomes:
        found = _only(outcome)
        cells = [_ratio(found[key], base.get(key), SCALES[key]) for key in heads if found]
        scores = [f"{found['bits']:.4f}", f"{found['auc']:.4f}"] if found else []
        rows.append([outcome.entry.name, *(cells or [outcome.note]), *scores])
    print_table(["", *heads.values(), "loss, bits", "AUC"], rows)


def _only(outcome: Outcome) -> dict[str, Any]:
    return next(iter(outcome.found.values()), {})


def _ratio(value: float, base: float | None, scale: float) -> str:
    shown = f"{value * scale:.3g}"
    return f"{shown} ({value / base:.2g})" if base else shown


def print_growth(stage: str, outcomes: list[Outcome]) -> None:
    """Seconds of a fit at each size."""
    sizes = [*dict.fromkeys(size for o in outcomes for size in o.found)]
    rows = [
        [o.entry.name, *(f"{o.found[s]['fit']:.3g}" if s in o.found else "" for s in sizes), o.note]
        for o in outcomes
    ]
    print_table([f"fit, s: {stage}", *(f"{int(size):,}" for size in sizes), ""], rows)


def print_accuracy(outcomes: list[Outcome]) -> None:
    sets = [*dict.fromkeys(name for o in outcomes for name in o.found)]
    for key, title in (("bits", "loss, bits"), ("auc", "AUC")):
        rows = [
            [
                o.entry.name,
                *(f"{o.found[s][key]:.4f}" if s in o.found else "" for s in sets),
                o.note,
            ]
            for o in outcomes
        ]
        print_table([title, *sets, ""], rows)


def print_table(head: list[str], rows: list[list[str]]) -> None:
    print("\n| " + " | ".join(head) + " |")
    print("| " + " | ".join("---" for _ in head) + " |")
    for row in rows:
        padded = row + [""] * (len(head) - len(row))
        print("| " + " | ".join(padded) + " |", flush=True)


def draw(grown: dict[str, list[Outcome]], path: Path) -> None:
    """Seconds of a fit by rows, columns and levels, both axes logarithmic."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(
        1, len(grown), figsize=(4.2 * len(grown), 4.6), squeeze=False, layout="constrained"
    )
    for panel, (stage, outcomes) in zip(panels[0], grown.items(), strict=True):
        _draw_panel(panel, stage, outcomes)
    handles, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=5, frameon=False, fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _draw_panel(panel: Any, stage: str, outcomes: list[Outcome]) -> None:
    from matplotlib import colormaps

    marks, colours = "os^Dv<>pP*Xh", colormaps["tab20"].colors
    rivals = [o for o in outcomes if o.found]
    for i, outcome in enumerate(rivals):
        sizes = [int(size) for size in outcome.found]
        seconds = [max(found["fit"], 1e-4) for found in outcome.found.values()]
        ours = outcome.entry.module == "weigh"
        panel.plot(
            sizes,
            seconds,
            marker=marks[i % len(marks)],
            markersize=4,
            color=colours[(2 * i) % 20 + (2 * i >= 20)],
            linewidth=2.2 if ours else 1.1,
            linestyle="-" if ours else "--",
            label=outcome.entry.name,
        )
    panel.set(xscale="log", yscale="log", xlabel=stage)
    panel.set_title(f"Growth in {stage}", fontsize=10)
    panel.set_ylabel("processor seconds of a fit")
    panel.grid(alpha=0.25)
    panel.margins(0.06)
    if not rivals or math.isclose(*panel.get_xlim()):
        panel.text(0.5, 0.5, "nothing measured", transform=panel.transAxes, ha="center")
