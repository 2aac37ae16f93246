"""Editing of models by hand, with a record of who changed what, and why.

actions   the changes that can be made to the tables of a model
rows      the rows that measure the loss, with their classes or numbers
cards     the editor of a scorecard: points are rounded after every change
pairs     the weights of a pair that is added, and their shrinkage
refit     refits of tables, which start from the model before all changes
editor    `weigh.edit`: makes, undoes and repeats changes
"""

from weigh.editing.editor import Editor, edit
from weigh.editing.rows import NumberRows, loss_of

__all__ = ["Editor", "NumberRows", "edit", "loss_of"]
