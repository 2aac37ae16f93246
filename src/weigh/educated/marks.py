"""Assign a pseudo-random number to each row, computed from its levels alone.

The number does not depend on the position of the row, its batch, its engine or the order of the
columns. A row of weight two has the same number as the row given twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from weigh.engine import Block
from weigh.frames import Integers


def salt(name: str) -> int:
    """Hash a name to a number, so that the order of columns does not matter."""
    return int.from_bytes(hashlib.blake2b(name.encode("utf-8", "replace"), digest_size=8).digest())


def mark_rows(block: Block, salts: Sequence[int]) -> Integers:
    """The pseudo-random number of each row; `salts` has one number for each coded feature."""
    from weigh.educated import kernels

    marks = np.zeros(len(block), dtype=np.uint64)
    for own, codes in zip(salts, block.codes, strict=True):
        kernels.mark_rows(codes, np.uint64(own), marks)
    return marks


def halve(block: Block, salts: Sequence[int]) -> Integers:
    """The half, 0 or 1, that each row belongs to."""
    return (mark_rows(block, salts) >> np.uint64(63)).astype(np.intp)
