"""What the server records: its log, and counts of the scored rows for /metrics and `weigh.drift`.

The log has one JSON object per line. The values of rows are never logged, and no row is stored.
Each process has its own array of counts, 8 bytes each. With several workers, the arrays are files
in one folder, which every worker can read. So /metrics of any worker adds up the counts of all
workers, also of workers that have ended.
"""

from __future__ import annotations

import json
import logging
import mmap
import os
import threading
import time
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.bins import Cross
from weigh.formula import Formula, Row
from weigh.formula.formula import Term

MOST_OFTEN, SECONDS = 10, 10.0
"""Most lines per event that any client can cause, and the seconds in which they are counted."""


class Log:
    """A log on a stream; `quiet` leaves requests out."""

    def __init__(self, stream: TextIO, quiet: bool = False) -> None:
        self.stream, self.quiet = stream, quiet
        self.told: dict[str, list[float]] = {}
        self.left_out: dict[str, int] = {}

    def tell(self, event: str, **fields: Any) -> None:
        """Log an event."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"time": now, "event": event, **fields})
        with suppress(OSError, ValueError):  # a full disk must not stop the service
            self.stream.write(line + "\n")
            self.stream.flush()

    def seldom(self, event: str, **fields: Any) -> None:
        """Log an event that may be frequent: only some lines, and the number of those left out."""
        now = time.monotonic()
        recent = [then for then in self.told.get(event, ()) if now - then < SECONDS]
        self.told[event] = recent
        if len(recent) >= MOST_OFTEN:
            self.left_out[event] = self.left_out.get(event, 0) + 1
            return
        recent.append(now)
        missed = self.left_out.pop(event, 0)
        self.tell(event, **fields, **({"left_out": missed} if missed else {}))

    def request(self, scope: Any, status: int, seconds: float) -> None:
        """Log a request that was answered, unless the log is quiet."""
        if self.quiet:
            return
        client = scope.get("client") or ("",)
        self.tell(
            "request",
            method=scope["method"],
            path=scope["path"][:200],
            status=status,
            ms=round(1000 * seconds, 3),
            client=client[0],
        )

    def failure(self, error: BaseException) -> None:
        """Log an unexpected error with its traceback."""
        lines = traceback.format_exception(error)
        self.tell("failure", error=f"{type(error).__name__}: {error}", traceback="".join(lines))


class Relay(logging.Handler):
    """A handler that writes messages of uvicorn and asyncio to the log."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self.log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Log a message, and its error if it has one."""
        error = record.exc_info[1] if record.exc_info else None
        about = {} if error is None else {"error": f"{type(error).__name__}: {error}"}
        self.log.seldom("server", message=record.getMessage(), **about)


@contextmanager
def relayed(log: Log) -> Iterator[None]:
    """Send the messages of uvicorn and asyncio to the log only, inside this context."""
    loggers = [logging.getLogger(name) for name in ("uvicorn.error", "asyncio")]
    before, relay = [logger.propagate for logger in loggers], Relay(log)
    for logger in loggers:
        logger.addHandler(relay)
        logger.propagate = False
    try:
        yield
    finally:
        for logger, propagate in zip(loggers, before, strict=True):
            logger.removeHandler(relay)
            logger.propagate = propagate


ENDING = ".counts"
REFUSED = "Whether the last model file was refused."
UNSEEN = "Rows with a value that training did not have."
MARGINS = "Sum of the weights of a pair in rows of which one answer is not known."
MOST_LEVELS = 256
"""Most levels of a table with their own series: the most frequent ones in training."""


@dataclass(frozen=True)
class _Cells:
    """The cells of one table: one per level, one for absent values, one for values never seen.

    `cells` maps the place of a row's level to its cell. A pair of which one answer is not known is
    counted as absent: its level is not one of the training rows, with which drift compares.
    """

    name: str
    columns: tuple[str, ...]
    start: int
    labels: tuple[str, ...]
    listed: Integers  # levels with their own series
    cells: list[int]
    margins: list[float]  # by place, 0 where both answers are known; empty without margins

    @classmethod
    def of(cls, term: Term, start: int) -> _Cells:
        """The cells of a table, the first of which is at `start`."""
        feature, half = term.feature, np.zeros(len(term.weights), dtype=bool)
        if isinstance(feature, Cross):
            feature, half = feature.whole, feature.is_half
        n, order = len(feature.labels), np.argsort(-np.array(term.share)[~half], kind="stable")
        cells = start + np.where(half, n, np.cumsum(~half) - 1)
        margins = np.where(half, np.array(term.weights).reshape(len(half), -1)[:, 0], 0.0)
        return cls(
            term.name,
            tuple(part.name for part in term.columns),
            start,
            feature.labels,
            np.sort(order[:MOST_LEVELS]),
            [*cells.tolist(), start + n],
            [*margins.tolist(), 0.0] if half.any() else [],
        )

    @property
    def absent(self) -> int:
        """The cell of absent values; the next one is that of values never seen."""
        return self.start + len(self.labels)


class Traffic:
    """Counts of the rows that a model has scored, by level, and the sums of their totals.

    The first cell counts all rows. Then each table has one cell per level, one for absent values
    and one for values never seen in training. The last cells are floats: the sum and the sum of
    squares of each total, and the sum of the margins of each pair that has some.
    """

    def __init__(self, formula: Formula, version: str, folder: str | None = None) -> None:
        self.formula, self.version, self.folder = formula, version, folder
        self.tables, self.n_counts = list[_Cells](), 1
        for term in formula.terms:
            self.tables.append(_Cells.of(term, self.n_counts))
            self.n_counts = self.tables[-1].absent + 2
        self.n_totals = len(formula.prior)
        self.paired = [table for table in self.tables if table.margins]
        self.start = np.zeros(1) if formula.attenuation is None else np.array(formula.prior)
        cells = memoryview(self._open())
        self.counts = cells[: 8 * self.n_counts].cast("q")
        self.sums = cells[8 * self.n_counts :].cast("d")
        self.lock = threading.Lock()  # large requests are scored in threads

    @property
    def _n_bytes(self) -> int:
        return 8 * (self.n_counts + 2 * self.n_totals + len(self.paired))

    @property
    def _name(self) -> str:
        """The common beginning of the names of one model's files."""
        return self.version.replace(":", "-")

    def _open(self) -> Any:
        """The cells: in memory, or mapped to the file of this process."""
        if self.folder is None:
            return bytearray(self._n_bytes)
        path = os.path.join(self.folder, f"{self._name}.{os.getpid()}{ENDING}")
        number = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            os.ftruncate(number, self._n_bytes)
            return mmap.mmap(number, self._n_bytes)
        finally:
            os.close(number)

    def add(self, rows: Sequence[Row], places: Sequence[Sequence[int]], sums: Floats) -> None:
        """Count rows, given the indices of their levels and the sums of `Scorer.sums`."""
        counts, cells = self.counts, self.sums
        half_known = [(j, table.margins) for j, table in enumerate(self.tables) if table.margins]
        with self.lock:
            counts[0] += len(rows)
            for row, own in zip(rows, places, strict=True):
                for table, place in zip(self.tables, own, strict=True):
                    cell = table.cells[place]
                    if cell == table.absent and all(row.get(c) is not None for c in table.columns):
                        cell += 1  # a value never seen in training
                    counts[cell] += 1
                for k, (j, margins) in enumerate(half_known, 2 * self.n_totals):
                    cells[k] += margins[own[j]]
            for totals in (sums + self.start).tolist():  # faster than NumPy for one row
                for k, total in enumerate(totals):
                    cells[2 * k] += total
                    cells[2 * k + 1] += total * total

    def read(self) -> tuple[Integers, Floats]:
        """The counts and sums of all workers together."""
        if self.folder is None:
            return np.array(self.counts), np.array(self.sums)
        files = Path(self.folder).glob(f"{self._name}.*{ENDING}")
        cells = [data for file in files if len(data := file.read_bytes()) == self._n_bytes]
        ends = 8 * self.n_counts
        counts = sum(np.frombuffer(data[:ends], np.int64) for data in cells)
        return np.asarray(counts), np.asarray(sum(np.frombuffer(data[ends:]) for data in cells))

    def to_text(self, refused: bool) -> str:
        """All counts in the text format of Prometheus."""
        counts, sums = self.read()
        n = 2 * self.n_totals
        own = {"version": self.version}
        name = {"model": self.formula.model_name}
        told = "Sum of the {} of all rows, before any factor or recalibration.".format
        metrics: list[tuple[str, str, str, Iterable[tuple[dict[str, str], float]]]] = [
            ("model_info", "gauge", "The model that is served.", [(own | name, 1)]),
            ("reload_refused", "gauge", REFUSED, [({}, int(refused))]),
            ("rows_total", "counter", "Rows scored.", [(own, int(counts[0]))]),
            ("level_rows_total", "counter", "Rows by level.", self._levels(counts)),
            ("other_rows_total", "counter", "Rows of levels not listed.", self._rest(counts)),
            ("absent_rows_total", "counter", "Rows without a value.", self._no(counts, 0)),
            ("unseen_rows_total", "counter", UNSEEN, self._no(counts, 1)),
            ("total_sum", "gauge", told("total"), self._totals(sums[0:n:2])),
            ("total_squares_sum", "gauge", told("total squares"), self._totals(sums[1:n:2])),
            ("margin_sum", "gauge", MARGINS, self._margins(sums[n:])),
        ]
        metrics = metrics if self.paired else metrics[:-1]
        return "\n".join(line for metric in metrics for line in _metric(*metric)) + "\n"

    def _levels(self, counts: Integers) -> Iterator[tuple[dict[str, str], int]]:
        for table in self.tables:
            for level in table.listed:
                own = {"feature": table.name, "level": table.labels[level]}
                yield {"version": self.version} | own, int(counts[table.start + level])

    def _rest(self, counts: Integers) -> Iterator[tuple[dict[str, str], int]]:
        """Rows of levels without their own series, for each table that has such levels."""
        for table in self.tables:
            if len(table.listed) < len(table.labels):
                listed = counts[table.start + table.listed].sum()
                rest = counts[table.start : table.absent].sum() - listed
                yield {"version": self.version, "feature": table.name}, int(rest)

    def _no(self, counts: Integers, after: int) -> Iterator[tuple[dict[str, str], int]]:
        for table in self.tables:
            own = {"version": self.version, "feature": table.name}
            yield own, int(counts[table.absent + after])

    def _margins(self, sums: Floats) -> Iterator[tuple[dict[str, str], float]]:
        for table, own in zip(self.paired, sums.tolist(), strict=True):
            yield {"version": self.version, "feature": table.name}, own

    def _totals(self, sums: Floats) -> Iterator[tuple[dict[str, str], float]]:
        own = {"version": self.version}
        if len(sums) == 1:
            yield own, sums.tolist()[0]
            return
        for name, total in zip(self.formula.class_names, sums.tolist(), strict=True):
            yield own | {"class": name}, total


def _metric(name: str, kind: str, told: str, values: Any) -> Iterator[str]:
    yield f"# HELP weigh_{name} {told}"
    yield f"# TYPE weigh_{name} {kind}"
    for labels, value in values:
        inner = ",".join(f'{label}="{_escape(text)}"' for label, text in labels.items())
        yield f"weigh_{name}{{{inner}}} {value!r}" if inner else f"weigh_{name} {value!r}"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
