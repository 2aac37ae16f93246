"""HTML from templates. Whatever a template shows is escaped, unless it was rendered before."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from weigh.bins import printable

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def escape(text: str) -> str:
    """A name as text of the page, whatever it holds."""
    return html.escape(printable(text))


def render(template: str, **data: Any) -> Markup:
    """A template filled in; the result can be part of another."""
    from markupsafe import Markup

    return Markup(_environment().get_template(template).render(data))


def embed(data: Any) -> Markup:
    """JSON for a script of a page, that no name in it can end: there is neither tag nor comment."""
    from markupsafe import Markup

    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


@cache
def _environment() -> Environment:
    """Loaded at the first page: to import jinja2 takes a while."""
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
    made.filters |= {"lines": _lines, "pretty": _pretty}
    return made


def _lines(texts: Iterable[str]) -> Markup:
    """Texts below each other, for a page that keeps line breaks."""
    from markupsafe import Markup

    return Markup("\n".join(map(escape, texts)))


def _pretty(data: Any) -> Markup:
    """JSON on several lines."""
    return _lines(json.dumps(data, indent=1, ensure_ascii=False).splitlines())
