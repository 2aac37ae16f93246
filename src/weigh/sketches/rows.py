"""A sketch of the training rows in a few kilobytes, to recognise rows a model was fitted on.

A hash has 64 bits from the values of a row and the names of its columns. Equal rows have equal
hashes. A hash does not depend on the library, the file format, or the order of rows and columns: it
is the sum over columns of a hash of value and name, mixed once more. Fractions are rounded to about
9 digits before, because readers of text may misread the last ones, as pandas 2 does.

The sketch salts the hashes and keeps the 512 smallest distinct ones, of 48 bits, with their counts:
a random sample of the distinct rows. Sketches with the same salt add. Another row whose hash is as
small is a training row if and only if its hash is in the sketch.

The salt is a hash of all rows, so equal tables give equal sketches. It prevents the comparison of
two models' sketches hash by hash, and the use of precomputed tables. It does not hide a row from
someone who has the sketch and tries that row.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from math import comb, sqrt
from typing import Any

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.frames import Codes, Column, Scan, Table, Value, reads_as_number
from weigh.numpy_kernels import BYTE_TABLE

BLOCK = 1 << 14
"""Rows whose totals stay in the processor's cache while all coded columns are added."""
HALF = np.uint64(1 << 19)
"""Half of the step to which the bits of a fraction are rounded: of its 53 bits, 33 remain."""


def hash_rows(table: Table, rounded: bool = True) -> Integers:
    """Hash each row to 64 bits; equal values have equal hashes in every dataframe library.

    Sketches of earlier versions have hashes of fractions that were not `rounded`.
    """
    if isinstance(table, Scan):
        return np.concatenate([hash_rows(part, rounded) for part in table.batches()])
    from weigh.sketches import kernels  # loads numba

    matrix = table.bytes()
    if matrix is not None:
        return mix(_sum_bytes(table, matrix))
    half = HALF if rounded else np.uint64(0)
    total, coded = np.zeros(table.n_rows, dtype=np.uint64), []
    for name in table.names:
        column, key = _read(table, name), _hash_text(name)
        if isinstance(column, Codes):
            coded.append((column.codes, mix(_hash_values(column.values, half), key)))
        else:
            kernels.add_numbers(column.values, column.values.view(np.uint64), half, key, total)
    for start in range(0, table.n_rows, BLOCK):
        rows = slice(start, start + BLOCK)
        for codes, hashes in coded:
            kernels.add_levels(codes[rows], hashes, total[rows])
    return mix(total)


def _sum_bytes(table: Table, matrix: Integers) -> Integers:
    """Sum over columns of the hashes of values, for an array of bytes, which is read once."""
    from weigh.kernels import add_bytes  # loads numba

    hashes = np.zeros((len(table.names), BYTE_TABLE), dtype=np.uint64)
    for own, name in zip(hashes, table.names, strict=True):
        levels = _hash_values(table.codes(name).values)
        own[: len(levels)] = mix(levels, _hash_text(name))
    total = np.zeros((table.n_rows, 1), dtype=np.uint64)
    add_bytes(total, matrix, hashes)
    return total[:, 0]


def mix(bits: Integers, key: Any = 0) -> Integers:
    """Hash each number of 64 bits, after an exclusive or with the key."""
    from weigh.sketches import kernels  # loads numba

    out = np.empty(len(bits), dtype=np.uint64)
    kernels.mix_each(bits, np.uint64(key), out)
    return out


def _read(table: Table, name: str) -> Column:
    """Read a column by its type; small integers, and numbers that do not fit a double, by level."""
    try:
        whole = isinstance(array := table.source(table.names.index(name)), np.ndarray)
        return table.column(name, True if whole and array.dtype.itemsize == 1 else None)
    except ValueError:
        return table.column(name, True)


def _hash_values(values: tuple[Value, ...], half: np.uint64 = HALF) -> Integers:
    """Hash values; text that reads as a number is that number, as in files without types."""
    if {*map(type, values)} == {int}:
        with suppress(OverflowError):
            return _hash_numbers(np.array(values, dtype=np.float64), half)
    numbers, found = np.full(max(len(values), 1), np.nan), {}
    for i, value in enumerate(values):
        text = str(value).lower() if isinstance(value, bool) else value
        try:
            if isinstance(text, str) and not reads_as_number(text):
                found[i] = _hash_text(text)
            elif isinstance(text, str | int | float):
                numbers[i] = float(text)
        except OverflowError:
            found[i] = _hash_text(str(text))
    out = _hash_numbers(numbers, half)
    out[[*found]] = [*found.values()]
    return out


def _hash_numbers(numbers: Floats, half: np.uint64) -> Integers:
    from weigh.sketches import kernels  # loads numba

    out = np.zeros(len(numbers), dtype=np.uint64)
    kernels.hash_numbers(numbers, numbers.view(np.uint64), half, out)
    return out


def _hash_text(text: str) -> np.uint64:
    data = text.encode("utf-8", errors="surrogatepass")
    return np.uint64(int.from_bytes(blake2b(data, digest_size=8).digest(), "little"))


KEPT = 512
BITS = 48
MOST_ROWS = 1 << 20
"""Fits of more rows, or of rows in files, keep no sketch, as it would take one more pass."""
LEAST_ROWS, SURE = 10, 4.0
"""Fewest rows to compare, and standard errors above chance from which an overlap is reported."""
FEW, UNLIKELY = 30, 1e-3
"""Matches that are too few for a normal distribution, and how probable chance may make them."""


@dataclass(frozen=True, eq=False)
class RowSketch:
    """Smallest distinct salted hashes of some rows, in ascending order, and their counts."""

    hashes: Integers
    counts: Integers
    salt: int
    rounded: bool = True  # whether fractions were rounded, as in all new sketches

    @classmethod
    def of(cls, table: Table, like: RowSketch | None = None) -> RowSketch:
        """Sketch a table, with the salt of another sketch if one is given, so that they add."""
        rounded = like is None or like.rounded
        rows = hash_rows(table, rounded)
        salt = _salt_of(rows) if like is None else like.salt
        hashes, counts = _distinct(_salted(rows, salt))
        return cls(hashes[:KEPT], counts[:KEPT], salt, rounded)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowSketch) and self.to_dict() == other.to_dict()

    def join(self, table: Table) -> RowSketch:
        """Add the rows of a table, which may include some of these rows again."""
        other = RowSketch.of(table, self)
        if not self.overlap(table):
            return self.merge(other)
        new = ~np.isin(other.hashes, self.hashes)
        return self.merge(replace(other, hashes=other.hashes[new], counts=other.counts[new]))

    def merge(self, other: RowSketch) -> RowSketch:
        """Add the sketch of other rows, which must have the same salt."""
        if not self.adds_to(other):
            raise ValueError("row sketches with different salts cannot be added")
        every = np.concatenate([self.hashes, other.hashes])
        hashes, places = np.unique(every, return_inverse=True)
        counts = np.bincount(places, np.concatenate([self.counts, other.counts]))
        return replace(self, hashes=hashes[:KEPT], counts=counts.astype(np.int64)[:KEPT])

    def adds_to(self, other: RowSketch) -> bool:
        """Whether equal rows have equal hashes in both sketches."""
        return (self.salt, self.rounded) == (other.salt, other.rounded)

    def overlap(self, table: Table) -> float | None:
        """Estimate the share of the rows of a table that are among these; None if unknown.

        A new row equals none of the old ones with probability n_1/(n + 1), where n_1 of n rows
        occur once (Good and Turing). Only matches beyond this chance count as overlap. A few
        matches must also be more than the old rows that equal each other lead to expect.
        """
        hashes = _salted(hash_rows(table, self.rounded), self.salt)
        if len(self.hashes) == KEPT:
            hashes = hashes[hashes <= self.hashes[-1]]
        if len(hashes) < LEAST_ROWS:
            return None
        n_rows = float(self.counts.sum())
        once, twice = (float((self.counts == n).sum()) for n in (1, 2))
        new = once / (n_rows + 1)  # probability that a new row equals no old one
        if not new:
            return None
        same = np.isin(hashes, self.hashes)
        seen = float(same.mean())
        variance = new * (1 - new) * (1 / len(hashes) + 1 / n_rows) + 2 * twice / n_rows**2
        excess, chance = seen - (1 - new), SURE * sqrt(variance)
        if new <= chance:  # even a complete overlap could be chance
            return None
        alike = _is_chance(int(same.sum()), len(hashes), int(n_rows - once), int(n_rows))
        return min(excess / new, 1.0) if excess > chance and not alike else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain data: the salt, the hashes (six bytes each, in base64), the counts other than 1."""
        raw = self.hashes.astype(">u8").view(np.uint8).reshape(-1, 8)[:, 2:]
        repeated = np.flatnonzero(self.counts != 1)
        told = {
            "salt": f"{self.salt:016x}",
            "hashes": b64encode(raw.tobytes()).decode("ascii"),
            "repeated": [[int(i), int(self.counts[i])] for i in repeated],
        }
        return told | ({"rounded": True} if self.rounded else {})

    @classmethod
    def from_dict(cls, data: Any) -> RowSketch:
        """Make a sketch from plain data, as `to_dict` gives it."""
        try:
            salt = int.from_bytes(bytes.fromhex(data["salt"]))
            raw = np.frombuffer(b64decode(data["hashes"], validate=True), dtype=np.uint8)
            wide = np.zeros((len(raw) // 6, 8), dtype=np.uint8)
            wide[:, 2:] = raw.reshape(-1, 6)
            hashes = wide.reshape(-1).view(">u8").astype(np.uint64)
            counts = np.ones(len(hashes), dtype=np.int64)
            for i, count in data["repeated"]:
                counts[i] = count
        except (TypeError, KeyError, ValueError, IndexError, OverflowError, Error):
            raise ValueError("training_rows must hold salt, hashes and repeated") from None
        rounded = data.get("rounded", False)
        if type(rounded) is not bool:
            raise ValueError("training_rows: rounded must be true or false")
        if salt >= 1 << 64:
            raise ValueError("training_rows must have a salt of eight bytes")
        if len(hashes) > KEPT or (np.diff(hashes.astype(np.int64)) <= 0).any() or counts.min() < 1:
            raise ValueError("training_rows must be distinct hashes in order, with their counts")
        return cls(hashes, counts, salt, rounded)


def _is_chance(matches: int, n_new: int, repeated: int, n_old: int) -> bool:
    """Whether few matches between new and old rows may be chance.

    Pairs of equal rows are then about Poisson, in proportion to n_old^2/2 among the old rows and
    to n_old * n_new between old and new ones. Given their sum, the matches are binomial.
    """
    if matches >= FEW:
        return False
    pairs = matches + repeated // 2
    share = n_new / (n_new + n_old / 2)
    tail = sum(
        comb(pairs, k) * share**k * (1 - share) ** (pairs - k) for k in range(matches, pairs + 1)
    )
    return tail > UNLIKELY


def _distinct(hashes: Integers) -> tuple[Integers, Integers]:
    """Smallest distinct hashes, at least `KEPT` if there are as many, and their counts."""
    reach = 4 * KEPT
    while reach < len(hashes):  # faster than sorting all
        bound = np.uint64(reach * (1 << BITS) // len(hashes))  # hashes are spread evenly
        found, counts = np.unique(hashes[hashes <= bound], return_counts=True)
        if len(found) >= KEPT:
            return found, counts
        reach *= 8
    found, counts = np.unique(hashes, return_counts=True)
    return found, counts


def _salt_of(rows: Integers) -> int:
    """Hash all rows together, independent of their order."""
    total = int(np.add.reduce(rows, dtype=np.uint64))
    return int.from_bytes(blake2b(total.to_bytes(8), digest_size=8).digest())


def _salted(rows: Integers, salt: int) -> Integers:
    return mix(rows, salt) >> np.uint64(64 - BITS)


def sketch_rows(table: Table, like: RowSketch | None = None) -> RowSketch | None:
    """Sketch the rows of a fit; None for a table in files, with counts, or with too many rows."""
    plain = type(table) is Table and table.matrix is None and table.n_rows <= MOST_ROWS
    return RowSketch.of(table, like) if plain else None
