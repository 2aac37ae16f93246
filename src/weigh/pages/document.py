"""One self-contained HTML file: nothing is fetched, and nothing runs but what is ours."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import Any

from weigh.layout import embed, render


def asset(*names: str) -> str:
    """The text of files that come with the package, one after another."""
    folder = files("weigh.pages")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


def document(title: str, body: Any, style: str, script: str = "", data: Any = None) -> str:
    """A page whose policy lets this style and this script run and nothing else load or run."""
    policy = [
        "default-src 'none'",
        f"style-src '{_hash(style)}'",
        *([f"script-src '{_hash(script)}'"] if script else []),
        "base-uri 'none'",
        "form-action 'none'",
    ]
    page = {"title": title, "body": body, "style": style, "script": script}
    told = embed(data) if script else ""
    return f"{render('document.html', policy='; '.join(policy), data=told, **page)}\n"


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
