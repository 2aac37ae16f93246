"""One pass over a table: map its columns or rows to a statistic, and sum in a fixed order.

A fit is a few passes. In memory, counting runs on threads over columns, and predicting on threads
over blocks of rows; files are read in batches. Either way each number is a sum in one order,
whatever the number of threads.

    threads   maps over columns or blocks, and whoever watches
    surveys   passes over a table that is read in batches
    counts    tables to tallies
    totals    rows to levels, totals and probabilities
    passes    rows of levels to any statistic that adds
    splits    levels found again in each split, rows coded once for all, and searches side by side
    checkpoints  what passes found, for a fit that is interrupted
"""

from weigh.engine.checkpoints import Spelling, checkpoint
from weigh.engine.counts import TOKEN, tally, tally_counts, tally_levels
from weigh.engine.passes import (
    Block,
    Carry,
    Coded,
    CodedRows,
    Dealt,
    Passes,
    PerBlock,
    Piecewise,
    Pile,
    Statistic,
    Sums,
    add_block,
    code_rows,
    positions,
)
from weigh.engine.splits import Levels, Splits, find_splits, side_by_side, sum_each
from weigh.engine.surveys import Setting, batches
from weigh.engine.threads import (
    BLOCK,
    is_watched,
    one_blas_thread,
    parallel,
    report,
    spread,
    watch,
    workers,
)
from weigh.engine.totals import (
    count_answers,
    count_tokens,
    expand,
    link,
    place,
    total,
    total_counts,
    total_placed,
)
from weigh.folds import HELD_OUT, TRAIN

__all__ = [
    "BLOCK",
    "HELD_OUT",
    "TOKEN",
    "TRAIN",
    "Block",
    "Carry",
    "Coded",
    "CodedRows",
    "Dealt",
    "Levels",
    "Passes",
    "PerBlock",
    "Piecewise",
    "Pile",
    "Setting",
    "Spelling",
    "Splits",
    "Statistic",
    "Sums",
    "add_block",
    "batches",
    "checkpoint",
    "code_rows",
    "count_answers",
    "count_tokens",
    "expand",
    "find_splits",
    "is_watched",
    "link",
    "one_blas_thread",
    "parallel",
    "place",
    "positions",
    "report",
    "side_by_side",
    "spread",
    "sum_each",
    "tally",
    "tally_counts",
    "tally_levels",
    "total",
    "total_counts",
    "total_placed",
    "watch",
    "workers",
]
