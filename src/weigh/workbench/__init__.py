"""The editor in the browser: a local page for the changes that `weigh.edit` makes.

view     what the page shows, as plain data: tables, their shapes, and the effect of a change
session  one sitting: changes that are tried, accepted, undone, kept in a draft and saved
app      the routes of the page, and the server, which only this machine can reach
"""

from weigh.workbench.app import edit_in_browser, make_editor
from weigh.workbench.session import DRAFT, LOG, Session

__all__ = ["DRAFT", "LOG", "Session", "edit_in_browser", "make_editor"]
