"""What people see as HTML: data first, then a template that shows it.

html       templates filled in; whatever they show is escaped
templates  the files
"""

from weigh.layout.html import embed, escape, render

__all__ = ["embed", "escape", "render"]
