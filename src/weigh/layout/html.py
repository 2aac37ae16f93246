"""HTML: templates with everything escaped, and whole pages with their security policy."""

from __future__ import annotations

import base64
import hashlib
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
    made.filters |= {"lines": _lines, "code": _code}
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
