"""Integer points in place of weights, for people who add up by hand.

learn      a model with few levels, fitted to a table
points     weights to whole points, so that ranking changes least; the map from scores to odds
rare       a warning of levels with few rows and many points
model      a card where a model is expected: scores, predictions, sheets; the card as JSON
card       the `Scorecard`
bands      the cut-off table by score band, the gains table, and the most profitable cut-off
impact     approval rates by group at a cut-off
reasons    features that cost a case most points: reason codes, their texts, and the letter
show       the card as text, HTML and dataframe
"""

from weigh.scorecard.card import Scorecard
from weigh.scorecard.model import Edit
from weigh.scorecard.points import Rounding

__all__ = ["Edit", "Rounding", "Scorecard"]
