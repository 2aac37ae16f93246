"""Measure, or write the page of what was measured."""

from __future__ import annotations

import json
import sys
import time
import warnings

from sklearn.exceptions import ConvergenceWarning

from benchmarks.papers.apm.figure import draw
from benchmarks.papers.apm.measure import SETS, evaluate, summarise
from benchmarks.papers.apm.page import MEASURED, PAGE, write
from benchmarks.papers.apm.variants import as_printed, variants

VARIED = ("splice", "breast", "vote", "lymph")


def measure(repetitions: int, names: list[str]) -> None:
    """Measure some sets, or all and the variants, and add to what is known."""
    found = json.loads(MEASURED.read_text("utf-8")) if MEASURED.exists() else {}
    for name in names or SETS:
        start = time.process_time()
        found.setdefault(name, {}).update(summarise(evaluate(name, repetitions), repetitions))
        print(f"{name}: {time.process_time() - start:.0f} s", file=sys.stderr, flush=True)
    if not names:
        found["variants"] = {name: variants(name) for name in VARIED}
        found["as printed"] = as_printed()
    MEASURED.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)  # mushroom is separable, as in the paper
    if sys.argv[1:2] == ["measure"]:
        measure(int(sys.argv[2]) if len(sys.argv) > 2 else 10, sys.argv[3:])
        return
    draw(PAGE.with_name("apm_figure1.png"))
    PAGE.write_text(write(json.loads(MEASURED.read_text("utf-8"))), encoding="utf-8")


if __name__ == "__main__":
    main()
