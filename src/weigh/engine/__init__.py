"""Passes over data: statistics of columns or rows, summed in a fixed order.

A fit takes a few passes. In memory, threads share the columns (counting) or blocks of rows
(predicting); files are read in batches. Sums are always taken in the same order, so results do not
depend on the number of threads.

    threads      parallel maps over columns or blocks, and progress reports
    surveys      passes that summarise the columns of a table read in batches
    counts       counts of levels by class
    totals       levels, totals and probabilities of rows
    passes       sums of any statistic over coded rows
    splits       levels found again in each split; searches that share passes
    checkpoints  results of passes, saved so that an interrupted fit can resume
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
    add_weights,
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
