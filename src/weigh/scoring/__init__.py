"""Many rows scored: columns beside a table, or files as large as what is read.

table     `score_table`, for whatever kind of table
"""

from weigh.scoring.table import (
    json_rows,
    score_columns,
    score_parts,
    score_table,
    write_lines,
    write_scores,
)

__all__ = [
    "json_rows",
    "score_columns",
    "score_parts",
    "score_table",
    "write_lines",
    "write_scores",
]
