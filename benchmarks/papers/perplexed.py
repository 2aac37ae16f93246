"""The names experiment of Carlos (2015) again: its RMSEs, Table 1 and Figures 1 to 6; and copies.

    WEIGH_DATA=... python -m benchmarks.papers.perplexed [orders]

writes docs/papers/perplexed.md and the figures beside it. The paper's figures stand beside ours.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import numpy as np
from matplotlib import pyplot
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

import weigh
from benchmarks.papers.perplexed_forms import forms_table
from benchmarks.papers.perplexed_text import text_table
from benchmarks.papers.verdicts import REPRODUCED, judge
from weigh import EvidenceNB, PerplexedNB

FOLDER = Path(__file__).parents[2] / "docs" / "papers"
NOTES = Path(__file__).with_name("perplexed_notes.md")
TRAIN, BINS = 6354, 10
EDGES = np.linspace(0.5, 1, 6)

FEATURES = {  # the paper's count: what is counted, lengths of runs, what marks the ends of a name
    6: ("letters", (1, 1), ""),
    12: ("letters and pairs, the end marked", (1, 2), "$"),
    21: ("1 to 3 letters, both ends marked", (1, 3), "^$"),
    24: ("1 to 4 letters, both ends marked", (1, 4), "^$"),
}
PAPER = {  # accuracy, RMSE of naive Bayes, RMSE of Perplexed with calibrated k
    6: (0.715, 0.016, 0.069),
    12: (0.815, 0.093, 0.043),
    21: (0.857, 0.173, 0.049),
    24: (0.845, 0.164, 0.064),
}
TABLE_1 = {  # points and accuracy by range: Perplexed with flat k, naive Bayes
    "0.5-0.6": (387, 0.6149, 26, 0.5000),
    "0.6-0.7": (421, 0.8361, 22, 0.3636),
    "0.7-0.8": (439, 0.9703, 26, 0.5000),
    "0.8-0.9": (300, 0.9766, 42, 0.5238),
    "0.9-1.0": (43, 1.0000, 1474, 0.8792),
}
WAYS = ("naive", "flat", "calibrated", "likelihood")


@dataclass(frozen=True)
class Run:
    """One order of the names with one set of features: what each way says of the test names."""

    n: float
    accuracy: float
    y: Any
    p: dict[str, Any]
    k: dict[str, float]
    odds: Any  # naive Bayes's log odds times 1/(n + 1), which k multiplies


def load() -> tuple[Any, Any]:
    frame = weigh.datasets.load("names_gender").to_pandas()
    return frame["name"].str.lower().to_numpy(), (frame["class"] == "male").to_numpy().astype(int)


def run(names: Any, y: Any, features: int, seed: int) -> Run:
    _, grams, marks = FEATURES[features]
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[:TRAIN], order[TRAIN:]
    text = np.array([mark(name, marks) for name in names])
    counter = CountVectorizer(analyzer=partial(list_runs, lengths=grams, marks=marks))
    X, Z = counter.fit_transform(text[train]), counter.transform(text[test])
    models = {"naive": EvidenceNB(event_model="counts").fit(X, y[train])}
    for way in WAYS[1:]:
        model = PerplexedNB(event_model="counts", attenuation=way, random_state=seed)
        models[way] = model.fit(X, y[train])
    decided = [model.predict(Z) for model in models.values()]
    assert all((classes == decided[0]).all() for classes in decided)
    return Run(
        n=float(X.sum() / len(train)),
        accuracy=float((decided[0] == y[test]).mean()),
        y=y[test],
        p={way: model.predict_proba(Z) for way, model in models.items()},
        k={way: float(models[way].attenuation_) for way in WAYS[1:]},
        odds=models["naive"].decision_function(Z) / (np.asarray(Z.sum(axis=1)).ravel() + 1),
    )


def mark(name: str, marks: str) -> str:
    """A name between its marks."""
    return {"": name, "$": f"{name}$", "^$": f"^{name}$"}[marks]


def list_runs(text: str, lengths: tuple[int, int], marks: str) -> list[str]:
    """The runs of letters of some lengths; a lone mark of the end alone is none."""
    low, high = lengths
    runs = [text[i : i + n] for n in range(low, high + 1) for i in range(len(text) - n + 1)]
    return [run for run in runs if run != "$"] if marks == "$" else runs


def reliability(runs: list[Run], way: str) -> tuple[Any, Any]:
    """The mean posterior and the share that came true in each bin, of both classes' posteriors."""
    p = np.concatenate([part.p[way].ravel() for part in runs])
    true = np.concatenate([(np.arange(2) == part.y[:, None]).ravel() for part in runs])
    bins = np.minimum((p * BINS).astype(int), BINS - 1)
    used = [bins == i for i in range(BINS) if (bins == i).any()]
    return np.array([p[b].mean() for b in used]), np.array([true[b].mean() for b in used])


def rmse(one: Run, way: str) -> float:
    said, came_true = reliability([one], way)
    return float(np.sqrt(np.mean((said - came_true) ** 2)))


def winners(runs: list[Run], way: str) -> tuple[Any, Any]:
    """The winner's posterior, and whether it won rightly."""
    p = np.concatenate([part.p[way].max(axis=1) for part in runs])
    right = np.concatenate([part.p[way].argmax(axis=1) == part.y for part in runs])
    return p, right


def by_range(runs: list[Run], way: str) -> tuple[Any, Any]:
    """Points per order, and accuracy, for each range of the winner's posterior."""
    p, right = winners(runs, way)
    place = np.clip(np.searchsorted(EDGES, p, side="right") - 1, 0, 4)
    points = np.bincount(place, minlength=5)
    hits = np.bincount(place, right, 5)
    return points / len(runs), hits / np.maximum(points, 1)


def spread(one: Run, way: str) -> float:
    """The standard deviation of the normalised histogram of the winners' posteriors."""
    counts, _ = np.histogram(one.p[way].max(axis=1), BINS, (0.5, 1))
    return float(np.std(counts / counts.sum()))


def mean(values: Any) -> float:
    return float(np.mean([*values]))


def points_at(runs: list[Run], k: float) -> Any:
    """Points per order in each range of the winner's posterior, at a given k."""
    winner = np.concatenate([1 / (1 + np.exp(-k * np.abs(part.odds))) for part in runs])
    place = np.clip(np.searchsorted(EDGES, winner, side="right") - 1, 0, 4)
    return np.bincount(place, minlength=5) / len(runs)


def nearest_k(runs: list[Run]) -> float:
    """The k whose points differ least from those of Table 1."""
    printed = np.array([points for points, *_ in TABLE_1.values()])
    tried = np.linspace(1, 4, 301)
    gaps = [np.abs(points_at(runs, k) - printed).sum() for k in tried]
    return float(tried[int(np.argmin(gaps))])


# ---------------------------------------------------------------- verdicts on printed cells

UNKNOWN = "the paper does not say what its features are"
ANOTHER_K = "the flattest histogram has another k here"
ROWS = {  # by row of the first table: why figures differ, where something is known
    6: "unexplained",
    12: "unexplained",
    21: UNKNOWN,
    24: UNKNOWN,
}


def cells(runs: dict[int, list[Run]]) -> list[tuple[str, str, float, float, str]]:
    """Where a figure stands, as printed, our mean and deviation over orders, and the verdict."""
    found = []
    for features, parts in runs.items():
        accuracy, naive, calibrated = PAPER[features]
        for what, printed, values in (
            ("accuracy", accuracy, [r.accuracy for r in parts]),
            ("RMSE of naive Bayes", naive, [rmse(r, "naive") for r in parts]),
            ("RMSE of Perplexed", calibrated, [rmse(r, "calibrated") for r in parts]),
        ):
            where = f"{features} features, {what}"
            found.append(verdict(where, f"{printed:.3f}", values, ROWS[features]))
    for way, shift in (("flat", 0), ("naive", 2)):
        points = np.array([by_range([r], way)[0] for r in runs[24]])
        right = np.array([by_range([r], way)[1] for r in runs[24]])
        name = "Perplexed" if way == "flat" else "naive Bayes"
        for i, (place, printed_row) in enumerate(TABLE_1.items()):
            where = f"Table 1, {place}, {name}"
            why = ANOTHER_K if way == "flat" else UNKNOWN
            found.append(verdict(f"{where}, points", f"{printed_row[shift]}", points[:, i], why))
            text = f"{printed_row[shift + 1]:.4f}"
            found.append(verdict(f"{where}, accuracy", text, right[:, i], UNKNOWN))
    return found


def verdict(where: str, printed: str, values: Any, why: str) -> tuple[str, str, float, float, str]:
    """Reproduced within two standard deviations over orders, up or down: the paper has one."""
    ours, deviation = float(np.mean(values)), float(np.std(values))
    return where, printed, ours, deviation, judge(ours, printed, 2 * deviation, why)


def cells_table(found: list[tuple[str, str, float, float, str]]) -> list[str]:
    right = sum(said == REPRODUCED for *_, said in found)
    lines = [
        f"{right} of {len(found)} printed figures are reproduced: they differ from our mean, up or "
        "down, by at most two of our standard deviations over orders and half of the last digit. "
        "The paper has one order of the names.",
        "",
        "| where | paper | ours | verdict |",
        "| --- | --- | --- | --- |",
    ]
    for where, printed, ours, deviation, said in found:
        digits = len(printed.partition(".")[2])
        shown = f"{ours:.{digits}f} ({deviation:.{digits}f})"
        lines.append(f"| {where} | {printed} | {shown} | {said} |")
    return lines


# ---------------------------------------------------------------- generated copies


def slopes(d: int, seed: int) -> tuple[float, float]:
    """The calibration slope of naive Bayes and of "likelihood", three features d times each."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 20_000)
    told = rng.random((len(y), 3)) < np.where(y, 0.7, 0.3)[:, None]
    X = np.repeat(told.astype(str), d, axis=1)
    half, found = len(y) // 2, []
    for model in (EvidenceNB(), PerplexedNB(random_state=seed)):
        totals = model.fit(X[:half], y[:half]).decision_function(X[half:])
        line = LogisticRegression(C=1e9).fit(totals[:, None], y[half:])
        found.append(float(line.coef_[0, 0]))
    return found[0], found[1]


# ---------------------------------------------------------------- the page


def main_table(runs: dict[int, list[Run]]) -> list[str]:
    lines = [
        "| features, paper | ours | what | accuracy, paper | ours | NB's RMSE, paper | ours "
        "| Perplexed's RMSE, paper | ours | with likelihood | k calibrated | k likelihood |",
        "|" + " --- |" * 12,
    ]
    for features, parts in runs.items():
        accuracy, naive, calibrated = PAPER[features]
        cells = [
            str(features),
            f"{mean(r.n for r in parts):.1f}",
            FEATURES[features][0],
            f"{accuracy:.3f}",
            f"{mean(r.accuracy for r in parts):.3f}",
            f"{naive:.3f}",
            f"{mean(rmse(r, 'naive') for r in parts):.3f}",
            f"{calibrated:.3f}",
            f"{mean(rmse(r, 'calibrated') for r in parts):.3f}",
            f"{mean(rmse(r, 'likelihood') for r in parts):.3f}",
            f"{mean(r.k['calibrated'] for r in parts):.1f}",
            f"{mean(r.k['likelihood'] for r in parts):.1f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def table_1(parts: list[Run]) -> list[str]:
    flat, naive = by_range(parts, "flat"), by_range(parts, "naive")
    lines = [
        "| posterior | Perplexed: points, paper | ours | accuracy, paper | ours "
        "| NB: points, paper | ours | accuracy, paper | ours |",
        "|" + " --- |" * 9,
    ]
    for i, (name, paper) in enumerate(TABLE_1.items()):
        cells = [
            f"{paper[0]} | {flat[0][i]:.0f} | {paper[1]:.3f} | {flat[1][i]:.3f}",
            f"{paper[2]} | {naive[0][i]:.0f} | {paper[3]:.3f} | {naive[1][i]:.3f}",
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def k_table(parts: list[Run]) -> list[str]:
    """Points by range at the k that is nearest to Table 1, and at others."""
    best = nearest_k(parts)
    lines = [
        f"The paper's points are what k = {best:.2f} gives with our features; the flattest "
        f"histogram is at k = {mean(r.k['flat'] for r in parts):.2f}.",
        "",
        f"| posterior | paper | k = 2.0 | k = {best:.2f} | k = 2.2 |",
        "| --- | --- | --- | --- | --- |",
    ]
    columns = [points_at(parts, k) for k in (2.0, best, 2.2)]
    for i, (name, printed) in enumerate(TABLE_1.items()):
        cells = [f"{column[i]:.0f}" for column in columns]
        lines.append(f"| {name} | {printed[0]} | {' | '.join(cells)} |")
    return lines


def copies_table(n_seeds: int = 20) -> tuple[list[str], bool]:
    lines = ["| copies d | 1/d | naive Bayes | Perplexed |", "| --- | --- | --- | --- |"]
    holds = True
    for d in (1, 3, 6):
        naive, ours = np.mean([slopes(d, seed) for seed in range(n_seeds)], axis=0)
        lines.append(f"| {d} | {1 / d:.3f} | {naive:.3f} | {ours:.3f} |")
        holds &= abs(ours - 1) <= 0.1 and abs(naive * d - 1) <= 0.1
    return lines, bool(holds)


def verdicts(runs: dict[int, list[Run]], copies: bool) -> list[str]:
    many = [parts for features, parts in runs.items() if features >= 12]
    calibrated = [mean(rmse(r, "calibrated") for r in parts) for parts in many]
    naive = [mean(rmse(r, "naive") for r in parts) for parts in many]
    most = [parts for features, parts in runs.items() if features >= 20]
    accuracy = [mean(r.accuracy for r in parts) for parts in most]
    rises = [bool((np.diff(by_range([r], "flat")[1]) >= 0).all()) for r in runs[24]]
    pooled = bool((np.diff(by_range(runs[24], "flat")[1]) > 0).all())
    halves = bool((np.array(calibrated) < np.array(naive) / 2).all())
    wanted = {
        "from 12 features up, Perplexed's RMSE is under 0.07": max(calibrated) < 0.07,
        "and under half of naive Bayes's": halves,
        "accuracy at 20 features and more is at least 0.82": min(accuracy) >= 0.82,
        "accuracy rises with the posterior's range in Table 1, all orders together": pooled,
        "copies: naive Bayes's slope is 1/d, Perplexed's 1, both within a tenth": copies,
    }
    lines = [f"- {what}: {'yes' if holds else 'NO'}" for what, holds in wanted.items()]
    alone = f"{sum(rises)} of {len(rises)}"
    return [*lines, f"- accuracy never falls from range to range in a single order: {alone} orders"]


# ---------------------------------------------------------------- figures


def draw(name: str, x: str, y: str, curves: dict[str, tuple[Any, Any]], ideal: bool) -> None:
    figure, ax = pyplot.subplots(figsize=(5, 3.6), layout="constrained")
    if ideal:
        ax.plot([0, 1], [0, 1], color="black", linewidth=0.8, label="ideal")
    for label, (xs, ys) in curves.items():
        style = "--" if label.startswith("NB") and len(curves) > 2 and ideal else "-"
        ax.plot(xs, ys, style, marker="o", markersize=3, label=label)
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.legend(frameon=False, fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(FOLDER / f"perplexed_{name}.png", dpi=80)
    pyplot.close(figure)


def draw_all(runs: dict[int, list[Run]]) -> None:
    counts = {f: f"{mean(r.n for r in parts):.0f} features" for f, parts in runs.items()}
    said, true = "posterior probability", "share that came true"
    curves = {f"NB, {counts[f]}": reliability(parts, "naive") for f, parts in runs.items()}
    draw("figure1", said, true, curves, True)
    n = [mean(r.n for r in parts) for parts in runs.values()]
    spreads = {
        name: (n, [mean(spread(r, way) for r in parts) for parts in runs.values()])
        for name, way in (("NB", "naive"), ("Perplexed, flat k", "flat"))
    }
    draw("figure2", "features per name", "deviation of the histogram", spreads, False)
    middle = (EDGES[1:] + EDGES[:-1]) / 2
    curves = {counts[f]: (middle, by_range(parts, "flat")[1]) for f, parts in runs.items()}
    draw("figure3", said, "accuracy", curves, False)
    for number, way in ((4, "flat"), (5, "calibrated")):
        curves = {counts[f]: reliability(parts, way) for f, parts in runs.items()}
        curves[f"NB, {counts[24]}"] = reliability(runs[24], "naive")
        draw(f"figure{number}", said, true, curves, True)
    draw("figure6", "threshold", "share", precision_recall(runs[24]), False)


def precision_recall(parts: list[Run]) -> dict[str, tuple[Any, Any]]:
    """Of the names decided with at least the threshold's posterior, and of all names."""
    thresholds, (p, right) = np.linspace(0.5, 0.95, 19), winners(parts, "flat")
    precision = [right[p >= t].mean() if (p >= t).any() else np.nan for t in thresholds]
    recall = [(right & (p >= t)).mean() for t in thresholds]
    return {"precision": (thresholds, precision), "recall": (thresholds, recall)}


FIGURES = {
    1: "Reliability of naive Bayes, by features per name.",
    2: "How uneven posteriors are: the standard deviation of their histogram.",
    3: "Accuracy by the winner's posterior, flat k.",
    4: "Reliability of Perplexed with flat k, and of naive Bayes.",
    5: "Reliability of Perplexed with calibrated k, and of naive Bayes.",
    6: "Precision (of the names decided) and recall (of all) by the posterior asked for, flat k.",
}


def write(runs: dict[int, list[Run]], n_orders: int) -> None:
    copies, holds = copies_table()
    page = [
        NOTES.read_text("utf-8").strip(),
        "## What must come out",
        "\n".join(verdicts(runs, holds)),
        "## Accuracy and RMSE",
        f"Means over {n_orders} orders of the names.",
        "\n".join(main_table(runs)),
        "## Table 1",
        f"{mean(r.n for r in runs[24]):.1f} features per name (the paper: 24.4), accuracy "
        f"{mean(r.accuracy for r in runs[24]):.3f} (the paper: 0.85), k = "
        f"{mean(r.k['flat'] for r in runs[24]):.2f}. Points are means over orders; accuracies are "
        "those of all orders together.",
        "\n".join(table_1(runs[24])),
        "### The k of Table 1",
        "\n".join(k_table(runs[24])),
        "## Every printed figure",
        "\n".join(cells_table(cells(runs))),
        "## Root or geometric",
        "Five-fold cross-validation, at most 3,000 rows. Share: of the rarer class. Mean p: its "
        "mean probability on rows held out. Loss: bits a row.",
        "\n".join(forms_table()),
        "## Text beyond names",
        "The documents are the summaries (the docstrings before their first section) of the "
        "public functions and classes of the installed SciPy; the class is the part of SciPy. "
        "Names of the parts and of the object are taken out. Five-fold cross-validation, "
        'smoothing 1, `attenuation="likelihood"`.',
        "\n".join(text_table()),
        "## Copies of features",
        "Three features that are independent given the class, each d times; 10,000 rows to learn "
        "from and 10,000 to be judged by. The slope of a logistic regression of the class on the "
        'log odds, mean over 20 seeds; Perplexed is `attenuation="likelihood"`.',
        "\n".join(copies),
        "## Figures 1 to 6",
        *(f"![Figure {i}](perplexed_figure{i}.png)\n\nFigure {i}. {t}" for i, t in FIGURES.items()),
    ]
    (FOLDER / "perplexed.md").write_text("\n\n".join(page) + "\n", encoding="utf-8")


def main() -> None:
    n_orders = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    names, y = load()
    runs = {f: [run(names, y, f, seed) for seed in range(n_orders)] for f in FEATURES}
    draw_all(runs)
    write(runs, n_orders)
    print((FOLDER / "perplexed.md").read_text("utf-8"))


if __name__ == "__main__":
    main()
