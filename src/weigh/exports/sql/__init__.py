"""A model as one SQL query, in the dialect of a database.

dialects   casts, comparisons, literals and names in the SQL of each database
steps      expressions for inputs, weights, totals, probabilities and reasons
query      the whole query, a chain of common table expressions
"""

from weigh.exports.sql.dialects import DIALECTS
from weigh.exports.sql.query import Query, plan

__all__ = ["DIALECTS", "Query", "plan"]
