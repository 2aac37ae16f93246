"""The hot loops of a search for exponents."""

from typing import Any

from weigh.kernels import compiled


@compiled
def look_up(codes: Any, table: Any, out: Any) -> None:
    """out[i] = table[codes[i]]."""
    for i in range(codes.shape[0]):
        out[i] = table[codes[i]]
