"""Compiled loops that count distinct numbers and hash rows."""

from typing import Any

import numpy as np

from weigh.kernels import compiled, split_mix

NAN = np.array([np.nan]).view(np.uint64)[0]


@compiled
def mix(bits: Any) -> Any:
    """Hash 64 bits by the finaliser of MurmurHash3; the same on every machine."""
    bits = np.uint64(bits)
    bits = (bits ^ (bits >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    bits = (bits ^ (bits >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return bits ^ (bits >> np.uint64(33))


@compiled
def count_distinct(
    values: Any, bits: Any, labels: Any, weight: Any, keys: Any, used: Any, out: Any, room: int
) -> tuple[int, int]:
    """Add each row's weight to out[slot of its value, class], in a hash table (open addressing).

    Stops before more than `room` new values; returns the number of rows counted and of new values.
    A single weight applies to all rows.
    """
    step = 1 if weight.shape[0] == values.shape[0] else 0
    mask, new = np.uint64(keys.shape[0] - 1), 0
    for i in range(values.shape[0]):
        place = mix(bits[i]) & mask
        while used[place] and keys[place] != values[i]:
            place = (place + np.uint64(1)) & mask
        if not used[place]:
            if new == room:
                return i, new
            used[place], keys[place], new = True, values[i], new + 1
        out[place, labels[i]] += weight[i * step]
    return values.shape[0], new


@compiled
def collect_below(values: Any, bits: Any, bound: Any, out: Any) -> int:
    """Copy the values whose hash is below the bound; return their number."""
    found = 0
    for i in range(values.shape[0]):
        if mix(bits[i]) < bound:
            out[found] = values[i]
            found += 1
    return found


@compiled
def hash_all(bits: Any, out: Any) -> None:
    """Hash the bits of every number."""
    for i in range(bits.shape[0]):
        out[i] = mix(bits[i])


@compiled
def count_cells(
    values: Any, labels: Any, weight: Any, ends: Any, out: Any, least: Any, most: Any
) -> None:
    """Add each row's weight to out[cell, class], and update each cell's least and largest number.

    Cell i holds the numbers above ends[i - 1] and up to ends[i]; the last cell holds the rest.
    """
    step = 1 if weight.shape[0] == values.shape[0] else 0
    for i in range(values.shape[0]):
        value = values[i]
        base, size = 0, ends.shape[0]
        while size > 0:  # the number of ends below the value
            half = size // 2
            if ends[base + half] < value:
                base += size - half
            size = half
        out[base, labels[i]] += weight[i * step]
        least[base] = min(least[base], value)
        most[base] = max(most[base], value)


@compiled
def _hash_number(value: float, bits: Any, half: Any) -> Any:
    """Hash a double, given its bits, too; 0 equals -0, and all NaN are equal.

    The bits of a fraction are rounded to a multiple of 2 * half, unless half is 0.
    """
    if value != value:
        return split_mix(NAN)
    if value == 0.0:
        return split_mix(np.uint64(0))
    if half and value != np.floor(value):
        bits = (bits + half) & ~(half + half - np.uint64(1))
    return split_mix(bits)


@compiled
def mix_each(bits: Any, key: Any, out: Any) -> None:
    """Mix each number after an exclusive or with the key."""
    for i in range(bits.shape[0]):
        out[i] = split_mix(bits[i] ^ key)


@compiled
def hash_numbers(values: Any, bits: Any, half: Any, out: Any) -> None:
    """Hash doubles, given their bits, too."""
    for i in range(values.shape[0]):
        out[i] = _hash_number(values[i], bits[i], half)


@compiled
def add_numbers(values: Any, bits: Any, half: Any, key: Any, total: Any) -> None:
    """Add the hashes of doubles, mixed with the key of their column, to the totals of the rows."""
    for i in range(values.shape[0]):
        total[i] += split_mix(_hash_number(values[i], bits[i], half) ^ key)


@compiled
def add_levels(codes: Any, hashes: Any, total: Any) -> None:
    """Add the hash of each row's code to its total."""
    for i in range(codes.shape[0]):
        total[i] += hashes[codes[i]]
