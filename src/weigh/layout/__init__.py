"""Output of objects: a `View` as data, as text for terminals, as HTML for notebooks and pages."""

from __future__ import annotations

import base64
import hashlib
import html
import io
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from weigh.bins import printable

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def escape(text: str) -> str:
    """Text with HTML's special characters escaped."""
    return html.escape(printable(text))


def render(template: str, **data: Any) -> Markup:
    """A rendered template; the result can be inserted into another."""
    from markupsafe import Markup

    return Markup(_environment().get_template(template).render(data))


def embed(data: Any) -> Markup:
    """JSON for a script element; <, > and & are escaped, so no name can end the script."""
    from markupsafe import Markup

    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


@cache
def _environment() -> Environment:
    """The template environment, created at the first page since importing jinja2 is slow."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def show(value: Any) -> Any:
        return value if isinstance(value, Markup) else Markup(escape(str(value)))

    made = Environment(
        loader=PackageLoader("weigh.layout"),
        autoescape=True,
        finalize=show,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"lines": _lines, "pretty": _pretty, "code": _code}
    return made


def _code(text: str) -> Markup:
    """A sentence with the commands between backquotes marked up as code."""
    from markupsafe import Markup

    parts = escape(text).split("`")
    if not len(parts) % 2:  # a name contains a backquote
        return Markup(escape(text))
    return Markup("".join(f"<code>{p}</code>" if k % 2 else p for k, p in enumerate(parts)))


def _lines(texts: Iterable[str]) -> Markup:
    """Texts on lines of their own, for an element that keeps line breaks."""
    from markupsafe import Markup

    return Markup("\n".join(map(escape, texts)))


def _pretty(data: Any) -> Markup:
    """JSON on several lines."""
    return _lines(json.dumps(data, indent=1, ensure_ascii=False).splitlines())


def asset(package: str, *names: str) -> str:
    """The concatenated text of files that come with a package."""
    from importlib.resources import files  # not at start-up: few commands write pages

    folder = files(package)
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


def document(
    title: str, body: Any, style: str, script: str = "", data: Any = None, connect: bool = False
) -> str:
    """A page whose content security policy allows only this style and this script.

    With `connect` the script may send requests to the server of the page.
    """
    policy = [
        "default-src 'none'",
        f"style-src '{_hash(style)}'",
        *([f"script-src '{_hash(script)}'"] if script else []),
        *(["connect-src 'self'"] if connect else []),
        "base-uri 'none'",
        "form-action 'none'",
    ]
    page = {"title": title, "body": body, "style": style, "script": script}
    told = embed(data) if script else ""
    return f"{render('document.html', policy='; '.join(policy), data=told, **page)}\n"


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


ENDLESS = 10_000
"""A width in characters that no output reaches."""


def to_plain(*parts: Any, width: int) -> str:
    """Sentences and renderables below each other, at most `width` characters wide.

    Trailing blanks are removed, and names cannot write terminal control codes.
    """
    buffer = io.StringIO()
    console = _console(buffer, width)
    for part in parts:
        console.print(_cell(part) if isinstance(part, str) else part)
    return "\n".join(line.rstrip() for line in buffer.getvalue().rstrip().splitlines())


def lay_out(head: Sequence[str], rows: Iterable[Sequence[str]], left: Iterable[int] = (0,)) -> Any:
    """A table with headings. Columns are right-aligned, except those in `left`."""
    from rich import box
    from rich.table import Table

    grid, left = Table(box=box.SIMPLE_HEAD), set(left)
    for j, name in enumerate(head):
        grid.add_column(_cell(name), justify="left" if j in left else "right", overflow="fold")
    for row in rows:
        grid.add_row(*map(_cell, row))
    return grid


def _cell(text: str) -> Any:
    from rich.text import Text

    return Text(printable(text))


def percent(share: float) -> str:
    """A share as a percentage, without trailing zeros.

    >>> percent(0.95), percent(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * share:.6g}%"


def count_of(n: float, noun: str) -> str:
    """A count with its noun; weighted counts of rows may have decimals.

    >>> count_of(1, "row"), count_of(2201, "row"), count_of(2.5, "row")
    ('1 row', '2,201 rows', '2.5 rows')
    """
    number = f"{n:,.0f}" if n == round(n) else f"{n:,.6g}"
    return f"{number} {noun}{'s' * (number != '1')}"


def natural_width(part: Any) -> int:
    """The width of a renderable when no line is folded."""
    return int(_console(io.StringIO(), ENDLESS).measure(part).maximum)


def _console(file: io.StringIO, width: int) -> Any:
    """A console that only writes plain text to `file`, wherever it runs.

    By default, rich displays in a notebook instead of writing, and the environment variable
    FORCE_COLOR makes it write terminal codes.
    """
    from rich.console import Console

    return Console(
        file=file,
        width=width,
        force_jupyter=False,
        force_terminal=False,
        legacy_windows=False,
        color_system=None,
        highlight=False,
    )


FOR, AGAINST = "#0072B2", "#D55E00"  # distinguishable to colour-blind readers


@dataclass(frozen=True)
class Bar:
    """A number as a bar from the middle of its cell, or from the left if none is negative."""

    share: float  # from -1 to 1
    from_left: bool = False

    @property
    def style(self) -> str:
        """CSS of the bar: start, length and colour."""
        if self.from_left:
            return f"left:0;width:{100 * min(self.share, 1.0):.1f}%;background:{FOR}"
        width = 50 * min(abs(self.share), 1.0)
        left = 50.0 if self.share > 0 else 50 - width
        colour = FOR if self.share > 0 else AGAINST
        return f"left:{left:.1f}%;width:{width:.1f}%;background:{colour}"


Cell: TypeAlias = str | Bar


@dataclass(frozen=True)
class Grid:
    """A table of cells with headings. A folded grid shows its title and opens with a click."""

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    foot: tuple[tuple[Cell, ...], ...] = ()
    n_names: int = 1  # leading columns of text, which are left-aligned
    folded: bool | None = None  # None: cannot be folded
    spare: tuple[str, ...] = ()  # headings that narrow text leaves out, in this order

    def fit(self, width: int) -> tuple[Any, tuple[str, ...]]:
        """The table as text without bars, and the headings that are left out to fit the width."""
        head, rows = self.without_bars()
        for n in range(len(self.spare) + 1):
            keep = [j for j, name in enumerate(head) if name not in self.spare[:n]]
            cells = [tuple(row[j] for j in keep if j < len(row)) for row in rows]
            table = lay_out([head[j] for j in keep], cells, range(self.n_names))
            widths = [max(len(row[j]) for row in (head, *rows) if j < len(row)) for j in keep]
            numbers = max(widths[self.n_names :], default=0)
            folded = sum(max(own - numbers, 0) for own in widths[: self.n_names])  # names, first
            if natural_width(table) - folded <= width:
                break
        return table, self.spare[:n]

    def without_bars(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Headings and cells of the columns without bars; the foot comes last."""
        rows = (*self.rows, *self.foot)
        drawn = {j for row in rows for j, cell in enumerate(row) if isinstance(cell, Bar)}
        keep = [j for j in range(len(self.head)) if j not in drawn]
        cells = [tuple(str(row[j]) for j in keep if j < len(row)) for row in rows]
        return tuple(self.head[j] for j in keep), cells


@dataclass(frozen=True)
class View:
    """A title, grids and sentences."""

    title: str
    grids: tuple[Grid, ...]
    lead: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_text(self, width: int) -> str:
        """Plain text, at most `width` characters wide, without bars."""
        parts: list[Any] = []
        for grid in self.grids:
            table, left_out = grid.fit(width)
            parts += [*filter(None, [grid.title]), table]
            if left_out:
                parts.append(f"Left out at this width: {', '.join(left_out)}.")
        return to_plain(self.title, *self.lead, *parts, *self.notes, width=width)

    def to_html(self) -> str:
        """One element with its style, which needs no script; every name is escaped."""
        return str(render("view.html", view=self))

    def to_page(self) -> str:
        """A document of its own."""
        return str(render("page.html", title=self.title, body=render("view.html", view=self)))


class Rendered(Protocol):
    """An object with a text and an HTML form: a `View`, or another page."""

    def to_text(self, width: int) -> str:
        """Plain text, at most `width` characters wide."""

    def to_html(self) -> str:
        """One element for a notebook."""


class Shown(ABC):
    """Base class of objects that are printed as text and shown in notebooks, from one view."""

    @abstractmethod
    def view(self) -> Rendered:
        """Everything that is shown, as data."""

    def to_text(self, width: int = 100) -> str:
        """Everything as plain text, at most `width` characters wide."""
        return self.view().to_text(width)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.view().to_html()
