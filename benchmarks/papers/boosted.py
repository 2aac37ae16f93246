"""The table of misclassification rates of Ridgeway et al. (1998) again, and what the scale does.

    WEIGH_DATA=... python -m benchmarks.papers.boosted [splits]

writes docs/papers/boosted.md. The paper's figures stand beside ours. The knee data are not public.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import ShuffleSplit

import weigh
from weigh import BoostedNB, EvidenceNB

PAGE = Path(__file__).parents[2] / "docs" / "papers" / "boosted.md"
NOTES = Path(__file__).with_name("boosted_notes.md")
ROUNDS = 10

PAPER = {  # misclassified %, its deviation: naive Bayes, AdaBoost, weight of evidence
    "pima_diabetes": ("Diabetes", (25.0, 2.0), (24.4, 2.5), (24.4, 2.6)),
    "credit_approval_crx": ("Credit approval", (16.8, 2.0), (15.5, 2.1), (15.5, 2.1)),
    "heart_cleveland": ("Coronary artery disease", (18.4, 3.0), (18.3, 3.2), (18.3, 3.3)),
    "breast_cancer_wisconsin": ("Breast tumors", (3.9, 1.0), (3.8, 1.0), (3.8, 1.0)),
}
OTHERS = ("telco_churn", "kr_vs_kp", "tic_tac_toe", "house_votes_84", "hepatitis", "spambase")
METHODS = {
    "naive Bayes": 0,
    "AdaBoost": 1,
    f"AdaBoost, {ROUNDS} rounds": 1,
    "weight of evidence": 2,
    f"weight of evidence, {ROUNDS} rounds": 2,
}
COARSE = ("naive Bayes", f"AdaBoost, {ROUNDS} rounds", f"weight of evidence, {ROUNDS} rounds")
LOSSES = (
    "naive Bayes",
    "AdaBoost",
    "weight of evidence, no scale",
    "weight of evidence",
    f"weight of evidence, {ROUNDS} rounds, no scale",
    f"weight of evidence, {ROUNDS} rounds",
)


def load(name: str) -> tuple[Any, Any]:
    """The table and its labels."""
    frame = weigh.datasets.load(name).to_pandas()
    y = frame.pop("class")
    return frame, (y == sorted(set(y))[1]).to_numpy()


def models(seed: int) -> dict[str, Any]:
    """Every combination by name, all on cut points found in the training part."""
    fixed = f", {ROUNDS} rounds"
    found: dict[str, Any] = {"naive Bayes": EvidenceNB()}
    for words, stop in (("", True), (fixed, False)):
        own = {"n_rounds": ROUNDS, "early_stopping": stop, "random_state": seed}
        found[f"AdaBoost{words}"] = BoostedNB(combine="vote", **own)
        found[f"weight of evidence{words}"] = BoostedNB(**own)
        found[f"weight of evidence{words}, no scale"] = BoostedNB(calibrate_scale=False, **own)
    return found


def splits(n_rows: int, n_splits: int) -> Iterator[tuple[Any, Any, int]]:
    """Two thirds to learn from and one third to be judged by."""
    for seed, (train, test) in enumerate(
        ShuffleSplit(n_splits, test_size=1 / 3, random_state=0).split(np.zeros(n_rows))
    ):
        yield train, test, seed


def evaluate(name: str, n_splits: int) -> dict[str, list[tuple[float, ...]]]:
    """Error in %, loss in bits, rounds and scale of every split by method; and agreements."""
    X, y = load(name)
    rows = defaultdict(list)
    for train, test, seed in splits(len(X), n_splits):
        decided = {}
        for method, model in models(seed).items():
            model.fit(X.iloc[train], y[train])
            totals = model.decision_function(X.iloc[test])
            decided[method] = totals > 0
            rows[method].append((*measure(totals, y[test]), *chosen(model)))
        for words in ("", f", {ROUNDS} rounds"):
            pair = decided[f"AdaBoost{words}"], decided[f"weight of evidence{words}"]
            rows[f"agreement{words}"].append((100 * float((pair[0] == pair[1]).mean()),))
    return rows


def coarse(name: str, n_splits: int) -> dict[str, list[float]]:
    """Misclassified % of every split by method: two quantile bins a number, fixed rounds."""
    X, y = load(name)
    own: dict[str, Any] = {"n_rounds": ROUNDS, "early_stopping": False, "bins": 2}
    learners = (EvidenceNB(bins=2), BoostedNB(combine="vote", **own), BoostedNB(**own))
    rows = defaultdict(list)
    for train, test, seed in splits(len(X), n_splits):
        for method, model in zip(COARSE, learners, strict=True):
            if isinstance(model, BoostedNB):
                model.set_params(random_state=seed)
            totals = model.fit(X.iloc[train], y[train]).decision_function(X.iloc[test])
            rows[method].append(measure(totals, y[test])[0])
    return rows


def measure(totals: Any, target: Any) -> tuple[float, float]:
    """Misclassified rows in %, and the mean loss in bits."""
    nats = np.logaddexp(0.0, np.where(target, -totals, totals))
    return 100 * float(((totals > 0) != target).mean()), float(nats.mean() / np.log(2))


def chosen(model: Any) -> tuple[float, float]:
    """The number of rounds and the scale, where there are any."""
    if isinstance(model, EvidenceNB):
        return np.nan, np.nan
    return model.rounds_.chosen, model.scale_


# ---------------------------------------------------------------- the page


def errors(found: dict[str, dict[str, list[tuple[float, ...]]]]) -> list[str]:
    """Our table of misclassification rates beside the paper's."""
    lines = [
        "| data | method | misclassified % | paper | rounds | within a deviation |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, (title, *paper) in PAPER.items():
        for method, k in METHODS.items():
            values = np.array(found[name][method])
            mean, spread, rounds = values[:, 0].mean(), values[:, 0].std(), values[:, 2].mean()
            theirs, allowed = paper[k]
            cells = [title, method, f"{mean:.1f} ({spread:.1f})", f"{theirs} ({allowed})"]
            cells += ["" if np.isnan(rounds) else f"{rounds:.1f}"]
            cells += ["yes" if abs(mean - theirs) <= allowed else "**no**"]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def coarse_errors(found: dict[str, dict[str, list[float]]]) -> list[str]:
    """Misclassification rates of coarse bins beside the paper's."""
    lines = ["| data | method | two bins % | paper | within a deviation |", f"|{' --- |' * 5}"]
    for name, rows in found.items():
        title, *paper = PAPER[name]
        for (method, values), (theirs, allowed) in zip(rows.items(), paper, strict=True):
            mean, spread = np.mean(values), np.std(values)
            near = "yes" if abs(mean - theirs) <= allowed else "**no**"
            cells = [title, method, f"{mean:.1f} ({spread:.1f})", f"{theirs} ({allowed})", near]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def agreements(found: dict[str, dict[str, list[tuple[float, ...]]]]) -> list[str]:
    """How often the two combinations decide for the same class."""
    lines = [
        f"| data | same class %, {ROUNDS} rounds | same class %, each with its own rounds |",
        "| --- | --- | --- |",
    ]
    for name in found:
        cells = [
            f"{np.mean(found[name][f'agreement{words}']):.2f}"
            for words in (f", {ROUNDS} rounds", "")
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def losses(found: dict[str, dict[str, list[tuple[float, ...]]]]) -> list[str]:
    """The loss of held-out rows by method, and the scale."""
    head = [*LOSSES, "scale", f"scale, {ROUNDS} rounds"]
    lines = [f"| data | {' | '.join(head)} |", f"| --- |{' --- |' * len(head)}"]
    for name, rows in found.items():
        cells = [f"{np.array(rows[method])[:, 1].mean():.3f}" for method in LOSSES]
        scaled = ("weight of evidence", f"weight of evidence, {ROUNDS} rounds")
        cells += [f"{np.array(rows[method])[:, 3].mean():.2f}" for method in scaled]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def verdict(found: dict[str, dict[str, list[tuple[float, ...]]]]) -> str:
    """On how many data sets the scale lowered the loss."""
    said = []
    for words in ("", f", {ROUNDS} rounds"):
        lower = sum(
            np.array(rows[f"weight of evidence{words}"])[:, 1].mean()
            < np.array(rows[f"weight of evidence{words}, no scale"])[:, 1].mean()
            for rows in found.values()
        )
        which = "with rounds chosen" if not words else f"with {ROUNDS} rounds"
        said.append(f"on {lower} of {len(found)} data sets {which}")
    return f"The scale lowered the mean loss {', and '.join(said)}."


def main() -> None:
    n_splits = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    warnings.simplefilter("error")
    found = {}
    for name in (*PAPER, *OTHERS):
        start = time.perf_counter()
        found[name] = evaluate(name, n_splits if name in PAPER else max(n_splits // 5, 1))
        print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    page = [NOTES.read_text(encoding="utf-8").rstrip(), "", "## Misclassification rates", ""]
    few = max(n_splits // 5, 1)
    bins = {name: coarse(name, few) for name in PAPER}
    page += [*errors(found), "", "## With two quantile bins a feature", ""]
    page += [f"{few} random splits.", ""]
    page += coarse_errors(bins)
    page += ["", "## Do the two combinations agree?", "", *agreements(found), ""]
    page += ["## Loss of held-out rows, in bits", "", *losses(found), "", verdict(found)]
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text("\n".join(page) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
