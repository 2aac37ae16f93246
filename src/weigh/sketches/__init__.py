"""Summaries of columns in bounded memory: distinct values with their class counts, which add.

A column read in batches is summarised: each distinct value appears once per class, with its weight.
Levels and cut points are found in the summary as they are in a column in memory.

    codes     categories: all of them, or the most frequent ones and the rest together
    numbers   numbers: all distinct ones if they are few, otherwise counts of cells
    column    either of these, by the type of the column
    rows      hashes of rows, the same in every library; a sample of them recognises training rows
    kernels   compiled loops
"""

from weigh.sketches.codes import DistinctCodes, Frequent
from weigh.sketches.column import ColumnSummary, Survey
from weigh.sketches.numbers import CellCounts, DistinctNumbers
from weigh.sketches.rows import RowSketch, hash_rows, sketch_rows
