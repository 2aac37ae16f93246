"""How good predictions from incomplete answers are: `python -m benchmarks.blanks`.

    WEIGH_DATA=... python -m benchmarks.blanks

writes docs/blanks.md: answers of hold-out rows are blanked at random, and predicted by `EducatedNB`
with tables of mean zero (before), by `EducatedNB` as it is (after), and by a recalibrated
`EvidenceNB(missing="skip")`. With `--sets` nothing is written but the figures, to the terminal.
With `--cache DIR` each set is measured once and kept there, so that a run can go on where it ended.
"""

from __future__ import annotations

import argparse
import pickle
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy.special import expit

import weigh
from benchmarks.quality import calibration_slope, hold_to_one_thread
from benchmarks.sets import FOLDS, Problem, prepare
from weigh.educated.blanks import shift
from weigh.evidence import Evidence, keep_to_complete_rows
from weigh.frames import read

Floats: TypeAlias = np.ndarray[Any, Any]

SETS = (
    *("heart", "crx", "pima", "titanic", "telco", "compas", "spambase", "census", "nij", "bank"),
    *("kr_vs_kp", "mushroom", "tic_tac_toe"),
)
RATES = (0.25, 0.5, 0.75)
TIMES, SEED, LARGE = 4, 0, 8_000
"""Hold-out rows are blanked so often at each rate, and all folds are held out in turn; of sets of
more rows once, and two folds."""

PAGE = Path(__file__).parents[1] / "docs" / "blanks.md"


@dataclass(frozen=True)
class BlankedRows:
    """Totals of blanked hold-out rows, which may be blanked several times, and their classes."""

    totals: Floats
    y: Floats
    rows: Floats  # which row each one is

    @property
    def loss(self) -> float:
        """In bits."""
        wrong = np.where(self.y == 1, -self.totals, self.totals)
        return float(np.logaddexp(0, wrong).mean() / np.log(2))

    def excess(self, other: BlankedRows) -> tuple[float, float]:
        """By how many bits the loss is higher than another's, and the standard error over rows."""
        sign = np.where(self.y == 1, -1.0, 1.0)
        more = np.logaddexp(0, sign * self.totals) - np.logaddexp(0, sign * other.totals)
        by_row = np.bincount(self.rows, more / np.log(2)) / np.bincount(self.rows)
        return float(by_row.mean()), float(by_row.std() / np.sqrt(len(by_row)))

    def above(self, other: BlankedRows) -> bool:
        """Whether the loss is higher than another's by more than two standard errors over rows."""
        more, error = self.excess(other)
        return more > 2 * error

    @property
    def ratio(self) -> float:
        """The mean prediction over the truth."""
        return float(expit(self.totals).mean() / self.y.mean())

    @property
    def slope(self) -> float:
        """Of the class on the total."""
        return calibration_slope(self.totals, self.y)


@dataclass(frozen=True)
class Result:
    """One set: by rate, what each model told; and what it says of no answer at all."""

    name: str
    told: dict[float, dict[str, BlankedRows]]
    empty: dict[str, float]
    truth: float


def with_mean_zero(evidence: Evidence) -> Evidence:
    """Shift the tables to mean zero, without factor and margins; totals of complete rows stay."""
    plain = keep_to_complete_rows(evidence)
    return shift(plain, np.array([table.share @ table.by_class for table in evidence]))


def measure(problem: Problem) -> Result:
    """Fit on all folds but one, and predict the blanked rows of that one."""
    folds = 2 if len(problem.y) > LARGE else FOLDS
    parts: dict[float, dict[str, list[BlankedRows]]] = {}
    rng, empty, rates = np.random.default_rng(SEED), [], []
    for fold in range(folds):
        train, test = problem.folds != fold, problem.folds == fold
        X, y = problem.X[train], problem.y[train]
        model = weigh.EducatedNB(random_state=SEED).fit(X, y)
        naive = weigh.RecalibratedClassifier(weigh.EvidenceNB(missing="skip"), random_state=SEED)
        naive.fit(X, y)
        before = with_mean_zero(model.evidence_)
        for rate in RATES:
            found = _predict(model, before, naive, problem.X[test], problem.y[test], rate, rng)
            for who, told in found.items():
                parts.setdefault(rate, {}).setdefault(who, []).append(told)
        empty.append((float(expit(before.prior)), float(expit(model.evidence_.prior))))
        rates.append(float(problem.y[test].mean()))
    told = {rate: {who: _join(of) for who, of in own.items()} for rate, own in parts.items()}
    old, new = np.mean(empty, axis=0).tolist()
    return Result(problem.name, told, {"before": old, "after": new}, float(np.mean(rates)))


def _predict(
    model: Any, before: Evidence, naive: Any, X: Any, y: Floats, rate: float, rng: Any
) -> dict[str, BlankedRows]:
    found: dict[str, list[Floats]] = {"before": [], "after": [], "naive": []}
    times = 1 if len(y) * FOLDS > LARGE else TIMES
    for _ in range(times):
        where = rng.random(X.shape) < rate
        blanked = read(weigh.blank(X, where))
        found["before"].append(before.total(blanked)[:, 0])
        found["after"].append(model.decision_function(blanked))
        found["naive"].append(naive.decision_function(X.mask(where)))
    rows = np.tile(np.arange(len(y)), times)
    return {
        who: BlankedRows(np.concatenate(t), np.tile(y, times), rows) for who, t in found.items()
    }


def _join(parts: list[BlankedRows]) -> BlankedRows:
    starts = np.cumsum([0, *(p.rows.max() + 1 for p in parts)])
    rows = np.concatenate([p.rows + start for p, start in zip(parts, starts, strict=False)])
    totals, y = (np.concatenate([getattr(p, name) for p in parts]) for name in ("totals", "y"))
    return BlankedRows(totals, y, rows)


# ---------------------------------------------------------------- the page


def table(head: list[str], rows: list[list[str]]) -> str:
    """In Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def losses(results: list[Result]) -> str:
    """Before, after and naive, by rate."""
    head = ["set", *(f"{r:.0%}: {who}" for r in RATES for who in ("before", "after", "naive"))]
    rows = []
    for result in results:
        cells = [
            f"{result.told[r][who].loss:.4f}" for r in RATES for who in ("before", "after", "naive")
        ]
        rows.append([result.name, *cells])
    return table(head, rows)


def above_naive(results: list[Result]) -> str:
    """Where the loss is above that of naive: by how much, and with which standard error."""
    rows = [
        [f"{result.name} at {rate:.0%}", f"{more:+.4f}", f"{error:.4f}"]
        for result in results
        for rate, told in result.told.items()
        for more, error in [told["after"].excess(told["naive"])]
        if more > 0
    ]
    return table(["set", "after - naive", "standard error"], rows) if rows else "Nowhere."


def calibration(results: list[Result], what: str) -> str:
    """The ratio or the slope, before and after."""
    head = ["set", *(f"{r:.0%}: {who}" for r in RATES for who in ("before", "after"))]
    rows = []
    for result in results:
        cells = [
            f"{getattr(result.told[r][who], what):.2f}"
            for r in RATES
            for who in ("before", "after")
        ]
        rows.append([result.name, *cells])
    return table(head, rows)


def nothing_known(results: list[Result]) -> str:
    """The prediction without a single answer."""
    head = ["set", "before", "after", "hold-out rows"]
    rows = [
        [r.name, f"{r.empty['before']:.3f}", f"{r.empty['after']:.3f}", f"{r.truth:.3f}"]
        for r in results
    ]
    return table(head, rows)


def misses(results: list[Result]) -> list[str]:
    """Where a limit does not hold, in words."""
    found = []
    for result in results:
        for rate, told in result.told.items():
            new, where = told["after"], f"{result.name} at {rate:.0%}"
            if abs(new.ratio - 1) > 0.12:
                found.append(f"{where}: mean prediction {new.ratio:.2f} of the truth")
            if not 0.75 <= new.slope <= 1.25:
                found.append(f"{where}: calibration slope {new.slope:.2f}")
            for who, name in (("before", "before"), ("naive", "recalibrated EvidenceNB")):
                if new.above(told[who]):
                    found.append(f"{where}: loss {new.loss:.4f}, {name} {told[who].loss:.4f}")
    return found


TEXT = """# Incomplete answers

Written by `python -m benchmarks.blanks`. Hold-out rows of {n} public sets (5 folds, stratified,
seed 0; of sets of more than 8,000 rows the first two) have 25, 50 or 75% of their answers blanked
at random, and are then predicted:

- **before**: by `EducatedNB` with tables of mean zero, whose prior is the mean total. Blank answers
  weigh nothing.
- **after**: by `EducatedNB` as it is. The totals of complete rows are the same. The tables are
  shifted so that an answer that is not known weighs zero, a known answer of a pair predicts
  the other, and the weights of incomplete rows are multiplied by a factor
  ([how](educated.md#answers-that-are-not-known)).
- **naive**: by `RecalibratedClassifier(EvidenceNB(missing="skip"))`.

## Loss in bits

{losses}

Where the loss is above that of naive, in bits, with the standard error of the difference over rows:

{above}

## Mean prediction over the truth

{ratio}

## Calibration slope

1 is right. Below 1 predictions are too extreme, above 1 not extreme enough.

{slope}

## No answer at all

{empty}

## Where the limits do not hold

The limits: mean prediction within 12% of the truth, slope from 0.75 to 1.25, loss not higher than
before or than naive by more than two standard errors over rows.

{misses}
"""


def write_page(results: list[Result]) -> str:
    """The page as text."""
    return TEXT.format(
        n=len(results),
        losses=losses(results),
        above=above_naive(results),
        ratio=calibration(results, "ratio"),
        slope=calibration(results, "slope"),
        empty=nothing_known(results),
        misses="\n".join(f"- {line}" for line in misses(results)) or "None.",
    )


def recall(name: str, cache: Path | None) -> Result:
    """Measure a set, or read its result from the folder."""
    kept = None if cache is None else cache / f"{name}.pickle"
    if kept is not None and kept.exists():
        found: Result = pickle.loads(kept.read_bytes())
        return found
    result = measure(prepare(name))
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(pickle.dumps(result))
    return result


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--sets", nargs="+", choices=SETS)
    words.add_argument("--cache", type=Path)
    asked = words.parse_args()
    warnings.simplefilter("ignore")  # what recalibration says of small sets
    results = []
    with hold_to_one_thread():
        for name in asked.sets or SETS:
            results.append(recall(name, asked.cache))
            print(name, file=sys.stderr, flush=True)
    page = write_page(results)
    if asked.sets:
        print(page)
    else:
        PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
