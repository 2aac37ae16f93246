"""optbinning: its MDLP, on one numeric column.

It looks at no more than 32 candidates a split by default, so it does less than the textbook; it
also stops at a minimum of 5 rows a split and leaf.
"""

from typing import Any


def mdlp() -> Any:
    from optbinning.binning.mdlp import MDLP

    return MDLP()
