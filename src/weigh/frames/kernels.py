"""Compiled loop that codes the cells of a column by their bits."""

from typing import Any

import numpy as np

from weigh.kernels import compiled

SPREAD = 0x9E3779B97F4A7C15
"""2^64 over the golden ratio: multiples of it are spread evenly."""


@compiled
def code_bits(words: Any, null: Any, keys: Any, codes: Any, first: Any, out: Any) -> int:
    """Number cells by their bits, in order of appearance; return the number of distinct cells.

    Row i holds the bits words[i], one word or two. first[code] is the row in which a code appears
    first. Rows marked in `null`, which may be empty, keep their code. If there are more distinct
    cells than `first` has room for, the result is -1. `codes` is -1 in empty slots of the hash
    table `keys` (open addressing).
    """
    last, mask, found = words.shape[1] - 1, np.uint64(keys.shape[0] - 1), 0
    for i in range(words.shape[0]):
        if null.shape[0] and null[i]:
            continue
        left, right = words[i, 0], words[i, last]
        mixed = (left ^ (right >> np.uint64(29)) ^ (right << np.uint64(17))) * np.uint64(SPREAD)
        slot = (mixed >> np.uint64(40)) & mask
        while codes[slot] >= 0 and (keys[slot, 0] != left or keys[slot, 1] != right):
            slot = (slot + np.uint64(1)) & mask
        if codes[slot] < 0:
            if found == first.shape[0]:
                return -1
            keys[slot, 0], keys[slot, 1] = left, right
            codes[slot], first[found] = found, i
            found += 1
        out[i] = codes[slot]
    return found
