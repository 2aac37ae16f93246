"""One self-contained HTML file: nothing is fetched, and nothing runs but what is ours."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib.resources import files
from typing import Any

from weigh.bins import printable


def escape(text: str) -> str:
    """A name as text of the page, whatever it holds."""
    return html.escape(printable(text))


def asset(*names: str) -> str:
    """The text of files that come with the package, one after another."""
    folder = files("weigh.pages")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


def document(title: str, body: str, style: str, script: str = "", data: Any = None) -> str:
    """A page whose policy lets this style and this script run and nothing else load or run."""
    policy = [
        "default-src 'none'",
        f"style-src '{_hash(style)}'",
        *([f"script-src '{_hash(script)}'"] if script else []),
        "base-uri 'none'",
        "form-action 'none'",
    ]
    parts = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{"; ".join(policy)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{escape(title)}</title>",
        f"<style>{style}</style>",
        "</head>",
        f"<body>{body}",
    ]
    if script:
        parts.append(f'<script type="application/json" id="model">{embed(data)}</script>')
        parts.append(f"<script>{script}</script>")
    return "\n".join([*parts, "</body>", "</html>", ""])


def embed(data: Any) -> str:
    """JSON that no name in it can end: HTML sees neither a tag nor a comment."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
