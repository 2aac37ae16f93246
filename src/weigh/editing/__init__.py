"""Models that people change by hand, with a record of who changed what, and why.

actions   what can be done to the tables of a model
refit     the other tables fitted again, from the model before all changes
editor    `weigh.edit`: one change after the other, undone and repeated
"""

from weigh.editing.editor import Editor, edit, loss_of

__all__ = ["Editor", "edit", "loss_of"]
