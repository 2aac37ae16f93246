"""Scores of tables: in memory, batch by batch, and written to files.

tables       a table with its scores as further columns
files        writes scores to files, table after table
"""

from weigh.scoring.files import escape_formulas, json_rows, write_lines, write_scores
from weigh.scoring.tables import score_parts, score_table, with_times

__all__ = [
    "escape_formulas",
    "json_rows",
    "score_parts",
    "score_table",
    "with_times",
    "write_lines",
    "write_scores",
]
