"""Recourse: the smallest changes of a case that cross a cut-off.

changes   a case, the cheapest change of a given set of columns, and the result
search    `levers`: the sets of columns to try, and the values that they may take
"""

from weigh.recourse.changes import ColumnChange, Lever, Levers
from weigh.recourse.search import levers

__all__ = ["ColumnChange", "Lever", "Levers", "levers"]
