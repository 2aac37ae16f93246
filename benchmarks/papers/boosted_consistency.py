"""The conjecture of Ridgeway et al. (1998) that boosting reaches the Bayes risk as rows grow.

    python -m benchmarks.papers.boosted_consistency [seeds]

writes docs/papers/boosted_consistency.md. Data are generated from distributions over few cells, so
that the Bayes risk and the risk of every model are sums over cells, without test rows.
"""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from weigh import BoostedNB, EvidenceNB

PAGE = Path(__file__).parents[2] / "docs" / "papers" / "boosted_consistency.md"
SIZES = (250, 1_000, 4_000, 16_000)
ROUNDS = (10, 100)
NOTES = Path(__file__).with_name("boosted_consistency_notes.md")


def copies() -> tuple[Any, Any, Any]:
    """Cells, their probability, and the probability of class 1 in each."""
    own = np.array([*product(range(3), range(3))])
    odds = np.array([-1.2, 0.1, 1.0])[own[:, 0]] + np.array([1.6, 0.2, -1.9])[own[:, 1]]
    cells = np.column_stack([own[:, 0], own[:, 0], own[:, 0], own[:, 1]])
    return cells, np.full(9, 1 / 9), 1 / (1 + np.exp(-odds))


def interaction() -> tuple[Any, Any, Any]:
    cells = np.array([*product(range(2), repeat=3)])
    a, b, c = (2 * cells - 1).T
    return cells, np.full(8, 1 / 8), 1 / (1 + np.exp(-(0.5 * a + 0.3 * b + 0.4 * c + 1.2 * a * b)))


def parity() -> tuple[Any, Any, Any]:
    cells = np.array([*product(range(2), repeat=2)])
    return cells, np.array([0.3, 0.2, 0.2, 0.3]), np.where(cells[:, 0] == cells[:, 1], 0.8, 0.2)


WORLDS = {"copies": copies, "interaction": interaction, "parity": parity}


def models() -> dict[str, Any]:
    """Naive Bayes, and both combinations with few and many rounds."""
    found: dict[str, Any] = {"naive Bayes": EvidenceNB(categorical_features="all")}
    for rounds in ROUNDS:
        for word, combine in (("vote", "vote"), ("table", "evidence")):
            found[f"{word}, {rounds} rounds"] = BoostedNB(
                categorical_features="all",
                combine=combine,
                n_rounds=rounds,
                early_stopping=False,
                calibrate_scale=False,
            )
    return found


def excess(world: Any, n: int, seed: int) -> list[float]:
    """The risk of each model less the Bayes risk, in percentage points."""
    cells, share, p = world
    random = np.random.default_rng(seed)
    places = random.choice(len(cells), n, p=share)
    y = random.random(n) < p[places]
    least = share @ np.minimum(p, 1 - p)
    found = []
    for model in models().values():
        decided = model.fit(cells[places], y).predict(cells)
        found.append(100 * float(share @ np.where(decided, 1 - p, p) - least))
    return found


def table(world: Any, n_seeds: int) -> list[str]:
    names = [*models()]
    lines = [f"| rows | {' | '.join(names)} |", "|" + " --- |" * (len(names) + 1)]
    for n in SIZES:
        values = np.array([excess(world, n, seed) for seed in range(n_seeds)])
        errors = values.std(axis=0, ddof=1) / np.sqrt(n_seeds)
        cells = [f"{m:.2f} ({e:.2f})" for m, e in zip(values.mean(axis=0), errors, strict=True)]
        lines.append(f"| {n:,} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    n_seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    page = [NOTES.read_text("utf-8").strip().replace("SEEDS", str(n_seeds))]
    for name, make in WORLDS.items():
        cells, share, p = make()
        risk = 100 * float(share @ np.minimum(p, 1 - p))
        page += [f"## {name.capitalize()}: Bayes risk {risk:.2f}%"]
        page += ["\n".join(table((cells, share, p), n_seeds))]
        print(page[-2], page[-1], sep="\n", flush=True)
    PAGE.write_text("\n\n".join(page) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
