"""The names experiment of Carlos (2015) again: its RMSEs, Table 1 and Figures 1 to 6; and copies.

    WEIGH_DATA=... python -m benchmarks.papers.perplexed [orders]

writes docs/papers/perplexed.md and the figures beside it. The paper's figures stand beside ours.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import numpy as np
from matplotlib import pyplot
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

import weigh
from weigh import EvidenceNB, PerplexedNB

FOLDER = Path(__file__).parents[2] / "docs" / "papers"
NOTES = Path(__file__).with_name("perplexed_notes.md")
TRAIN, BINS = 6354, 10
EDGES = np.linspace(0.5, 1, 6)

FEATURES = {  # the paper's count: what is counted, whether the ends of a name are marked
    6: ("letters", (1, 1), False),
    12: ("2 and 3 letters", (2, 3), True),
    21: ("1 to 3 letters", (1, 3), True),
    24: ("1 to 4 letters", (1, 4), True),
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


def load() -> tuple[Any, Any]:
    frame = weigh.datasets.load("names_gender").to_pandas()
    return frame["name"].str.lower().to_numpy(), (frame["class"] == "male").to_numpy().astype(int)


def run(names: Any, y: Any, features: int, seed: int) -> Run:
    _, grams, ends = FEATURES[features]
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[:TRAIN], order[TRAIN:]
    text = np.array([f"^{name}$" for name in names]) if ends else names
    counter = CountVectorizer(analyzer="char", ngram_range=grams, lowercase=False)
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
    )


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
