"""Models that people change by hand, with a record of who changed what, and why.

actions   what can be done to the tables of a model
rows      rows with their classes, or with their numbers
cards     the editor of a scorecard: whole points after every change
pairs     the weights of a pair that is added, and how far they are shrunk
refit     the other tables fitted again, from the model before all changes
editor    `weigh.edit`: one change after the other, undone and repeated
"""

from weigh.editing.editor import Editor, edit
from weigh.editing.rows import loss_of

__all__ = ["Editor", "edit", "loss_of"]
