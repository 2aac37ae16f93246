"""Many rows scored: columns beside a table, or files as large as what is read.

columns   what a model says of each row: class, totals, probabilities
files     scores written as they come, whole or not at all
table     `score_table`, for whatever kind of table
"""

from weigh.scoring.columns import label_text, score_columns
from weigh.scoring.files import json_rows, write_lines, write_scores
from weigh.scoring.table import score_parts, score_table

__all__ = [
    "json_rows",
    "label_text",
    "score_columns",
    "score_parts",
    "score_table",
    "write_lines",
    "write_scores",
]
