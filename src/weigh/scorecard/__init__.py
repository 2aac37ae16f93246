"""Integer points in place of weights, for people who add up by hand.

learn      a model with few levels, fitted to a table
scale      what a score means
rounding   weights to whole points, so that ranking changes least
card       the `Scorecard`
edits      points that were changed by hand
bands      the cut-off table by score band
reasons    what cost a case most points: reason codes and their texts
letter     what an applicant who was refused is told
show       the card as text, HTML and dataframe
file       the card as JSON
"""

from weigh.scorecard.card import Scorecard
from weigh.scorecard.edits import Edit
from weigh.scorecard.rounding import Rounding

__all__ = ["Edit", "Rounding", "Scorecard"]
