"""The distinct values of a column with their class counts: a statistic that adds.

A column that is read in batches becomes a short one: each of its values once for every class, with
the weight that it has there. Levels and cut points are then found in the short column as they are
in a whole one.

    codes     categories: every one, or the most frequent ones and the others together
    numbers   numbers: every one while they are few, else cells between some of them
    column    either, by the type of the column
    rows      hashes of some rows, to know them again
"""

from weigh.sketches.codes import DistinctCodes, Frequent
from weigh.sketches.column import Short, Survey
from weigh.sketches.numbers import CellCounts, DistinctNumbers
from weigh.sketches.rows import RowSketch, hash_rows, sketch_rows

__all__ = [
    "CellCounts",
    "DistinctCodes",
    "DistinctNumbers",
    "Frequent",
    "RowSketch",
    "Short",
    "Survey",
    "hash_rows",
    "sketch_rows",
]
