"""The smallest changes of a case that cross a cut-off.

result    the levers as values, text and HTML
case      a row, and the cheapest change of some of its columns
search    `levers`: which sets of columns are tried, and which values they may take
"""

from weigh.recourse.result import Change, Lever, Levers
from weigh.recourse.search import levers

__all__ = ["Change", "Lever", "Levers", "levers"]
