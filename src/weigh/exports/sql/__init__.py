"""A model as one SQL query, in the dialect of a database.

dialects   how each database reads a column, and writes numbers, text and names
steps      from columns to weights, totals, probabilities and reasons, step by step
query      the whole query
"""

from weigh.exports.sql.dialects import DIALECTS
from weigh.exports.sql.query import Query, plan, write

__all__ = ["DIALECTS", "Query", "plan", "write"]
