"""The tables of `benchmarks.contest`, and growth as a figure."""

from __future__ import annotations

from itertools import pairwise
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


def make_tables(stage: str, outcomes: list[Outcome]) -> dict[str, dict[str, Any]]:
    """The tables of a stage by their names on the page: heads and cells."""
    if stage == "ratios":
        return {"rivals": _compare(outcomes)}
    if stage == "accuracy":
        heads = {"loss": ("bits", "loss, bits"), "auc": ("auc", "AUC")}
        return {name: _score(outcomes, *head) for name, head in heads.items()}
    return {stage: _grow(stage, outcomes)}


def _compare(outcomes: list[Outcome]) -> dict[str, Any]:
    """Each measure, and in brackets how many times that of `EvidenceNB`."""
    base = next((_only(o) for o in outcomes if o.entry.name == BASE), {})
    heads = {**MEASURES, **AMOUNTS}
    rows = []
    for outcome in outcomes:
        found = _only(outcome)
        cells = [_ratio(found[key], base.get(key), SCALES[key]) for key in heads if found]
        scores = [f"{found['bits']:.4f}", f"{found['auc']:.4f}"] if found else []
        rows.append([outcome.entry.name, *(cells or [outcome.note]), *scores])
    return _table(["", *heads.values(), "loss, bits", "AUC"], rows)


def _only(outcome: Outcome) -> dict[str, Any]:
    return next(iter(outcome.found.values()), {})


def _ratio(value: float, base: float | None, scale: float) -> str:
    shown = f"{value * scale:.3g}"
    return f"{shown} ({value / base:.2g})" if base else shown


def _grow(stage: str, outcomes: list[Outcome]) -> dict[str, Any]:
    """Seconds of a fit at each size."""
    sizes = [*dict.fromkeys(size for o in outcomes for size in o.found)]
    rows = [
        [o.entry.name, *(f"{o.found[s]['fit']:.3g}" if s in o.found else "" for s in sizes), o.note]
        for o in outcomes
    ]
    table = _table([f"fit, s: {stage}", *(f"{int(size):,}" for size in sizes), ""], rows)
    return table | {"words": [_say_growth(*pair, outcomes) for pair in pairwise(sizes[-2:])]}


def _say_growth(few: str, many: str, outcomes: list[Outcome]) -> str:
    """How much longer a fit takes on the largest table than on the one before."""
    times = {
        o.entry.name: o.found[many]["fit"] / o.found[few]["fit"]
        for o in outcomes
        if {few, many} <= {*o.found}
    }
    listed = ", ".join(
        f"{name} {times[name]:.3g}" for name in sorted(times, key=times.__getitem__, reverse=True)
    )
    return f"Seconds at {int(many):,}, divided by those at {int(few):,}: {listed}."


def _score(outcomes: list[Outcome], key: str, title: str) -> dict[str, Any]:
    """One measure of hold-out rows, set by set."""
    sets = [*dict.fromkeys(name for o in outcomes for name in o.found)]
    rows = [
        [o.entry.name, *(f"{o.found[s][key]:.4f}" if s in o.found else "" for s in sets), o.note]
        for o in outcomes
    ]
    return _table([title, *sets, ""], rows)


def _table(head: list[str], rows: list[list[str]]) -> dict[str, Any]:
    return {"head": head, "cells": [row + [""] * (len(head) - len(row)) for row in rows]}


def draw(grown: dict[str, list[Outcome]], path: Path) -> None:
    """Seconds of a fit by rows, columns and levels, both axes logarithmic."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(
        1, len(grown), figsize=(4.2 * len(grown), 4.8), squeeze=False, layout="constrained"
    )
    styles = _styles(grown)
    for panel, (stage, outcomes) in zip(panels[0], grown.items(), strict=True):
        _draw_panel(panel, stage, outcomes, styles)
    handles = [plt.Line2D([], [], label=name, **style) for name, style in styles.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False, fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _styles(grown: dict[str, list[Outcome]]) -> dict[str, dict[str, Any]]:
    """One look for each rival, the same in every panel, whoever is missing from some."""
    from matplotlib import colormaps

    entries = [o.entry for outcomes in grown.values() for o in outcomes if o.found]
    colours = colormaps["tab20"].colors
    return {
        entry.name: {
            "marker": "os^Dv<>pP*Xh"[i % 12],
            "markersize": 4,
            "color": colours[(2 * i) % 20 + (2 * i >= 20)],
            "linewidth": 2.2 if entry.module == "weigh" else 1.1,
            "linestyle": "-" if entry.module == "weigh" else "--",
        }
        for i, entry in enumerate(dict.fromkeys(entries))
    }


def _draw_panel(panel: Any, stage: str, outcomes: list[Outcome], styles: dict[str, Any]) -> None:
    for outcome in outcomes:
        if outcome.found:
            sizes = [int(size) for size in outcome.found]
            seconds = [max(found["fit"], 1e-4) for found in outcome.found.values()]
            panel.plot(sizes, seconds, **styles[outcome.entry.name])
    panel.set(xscale="log", yscale="log", xlabel=stage, ylabel="processor seconds of a fit")
    panel.set_title(f"Growth in {stage}", fontsize=10)
    panel.grid(alpha=0.25)
    panel.margins(0.06)
