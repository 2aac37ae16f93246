"""Many rows scored: columns beside a table, or files as large as what is read.

files     scores written as they come, whole or not at all
table     `score_table`, for whatever kind of table
"""

from weigh.scoring.files import json_rows, write_lines, write_scores
from weigh.scoring.table import score_columns, score_parts, score_table

__all__ = [
    "json_rows",
    "score_columns",
    "score_parts",
    "score_table",
    "write_lines",
    "write_scores",
]
