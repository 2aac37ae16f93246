"""Integer points in place of weights, for people who add up by hand.

rounding   weights to whole points, so that ranking changes least
card       the `Scorecard`
texts      what reason codes say
reasons    what cost a case most points: reason codes
rows       what it says of many rows, as columns
show       the card as text, HTML and dataframe
file       the card as JSON
"""

from weigh.scorecard.card import Edit, Scorecard
from weigh.scorecard.rounding import Rounding

__all__ = ["Edit", "Rounding", "Scorecard"]
