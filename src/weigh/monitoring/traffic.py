"""Counts of the rows that a service has scored, from the response of its /metrics."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import numpy as np

from weigh.evidence import Evidence, FeatureTable
from weigh.frames import Floats
from weigh.metrics.scored import Flags
from weigh.monitoring.checks import Seen, Totals

LINE = re.compile(r"weigh_(\w+)\{(.*)\} (\S+)")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
ESCAPES = {r"\\": "\\", r"\"": '"', r"\n": "\n"}


def read_metrics(
    metrics: str | os.PathLike[str], evidence: Evidence, version: str
) -> tuple[list[Seen], Totals]:
    """The rows at the levels of each table, and moments of their totals.

    Metrics of other models are an error.
    """
    text = str(metrics) if "\n" in str(metrics) else Path(metrics).read_bytes().decode("utf-8")
    ends = (line.removesuffix("\r") for line in text.split("\n"))  # labels may hold other line ends
    lines = [line.groups() for line in map(LINE.fullmatch, ends) if line is not None]
    found = [(name, _labels(inner), float(number)) for name, inner, number in lines]
    served = {labels["version"] for name, labels, _ in found if name == "rows_total"}
    if version not in served:
        told = ", ".join(sorted(served)) or "no model at all"
        raise ValueError(
            f"the metrics belong to {told}, but the model is {version}; give its own metrics"
        )
    own = _Series(
        {
            (name, *(text for label, text in labels.items() if label != "version")): number
            for name, labels, number in found
            if labels.get("version") == version
        }
    )
    n = int(own[("rows_total",)])
    if not n:
        raise ValueError("the metrics have no row yet: the service has scored none")
    return [_seen(table, own) for table in evidence], _totals(evidence, own, n)


class _Series(dict[tuple[str, ...], float]):
    """Numbers by name and labels; an absent series is an error that names it."""

    def __missing__(self, key: tuple[str, ...]) -> float:
        name, *labels = key
        told = "".join(f" of {text!r}" for text in labels)
        raise ValueError(
            f"the metrics have no weigh_{name}{told}; give the whole answer of /metrics, not a part"
        )


def _labels(inner: str) -> dict[str, str]:
    return {
        name: re.sub(r"\\.", lambda found: ESCAPES[found.group()], text)
        for name, text in LABEL.findall(inner)
    }


def _seen(table: FeatureTable, own: dict[tuple[str, ...], float]) -> Seen:
    levels, pooled = _levels(table, own)
    unseen = int(own["unseen_rows_total", table.name])
    values = Counter({"new values": unseen} if unseen else {})
    return Seen(levels, own["absent_rows_total", table.name], values, pooled=pooled)


def _levels(table: FeatureTable, own: dict[tuple[str, ...], float]) -> tuple[Floats, Flags | None]:
    """The rows of each level, and flags of the levels that the service does not list.

    Rows of unlisted levels are counted together, and divided among them by their training shares.
    """
    keys = [("level_rows_total", table.name, level) for level in table.feature.labels]
    rest = own.get(("other_rows_total", table.name))
    if rest is None:
        return np.array([own[key] for key in keys]), None
    listed = np.array([key in own for key in keys])
    share = np.where(listed, 0.0, table.counts.sum(axis=1))
    share = share if share.any() else np.where(listed, 0.0, 1.0)
    rows = np.array([own.get(key, 0.0) for key in keys])
    return np.asarray(rows + rest * share / share.sum()), ~listed


def _totals(evidence: Evidence, own: dict[tuple[str, ...], float], n: int) -> Totals:
    names = [(name,) for name in evidence.class_names] if len(evidence.prior_row) > 1 else [()]
    sums, squares = (
        np.array([own[(what, *name)] for name in names])
        for what in ("total_sum", "total_squares_sum")
    )
    mean = sums / n
    return Totals(n, mean, np.sqrt(np.maximum(squares / n - mean**2, 0.0)))
