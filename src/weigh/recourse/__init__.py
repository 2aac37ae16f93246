"""The smallest changes of a case that cross a cut-off.

changes   a row, the cheapest change of some of its columns, and the levers that result
search    `levers`: which sets of columns are tried, and which values they may take
"""

from weigh.recourse.changes import Change, Lever, Levers
from weigh.recourse.search import levers

__all__ = ["Change", "Lever", "Levers", "levers"]
