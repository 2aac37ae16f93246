"""Parts of a report as HTML: tables of an evaluation, balance sheets, paragraphs."""

from __future__ import annotations

from collections.abc import Iterable

from weigh.evaluation.page import Section
from weigh.pages.document import escape
from weigh.pages.tables import cells
from weigh.sheet import BalanceSheet, foot_of, notes_of, sides_of


def paragraphs(texts: Iterable[str]) -> str:
    """Sentences, each on its own."""
    return "".join(f"<p>{escape(text)}</p>" for text in texts)


def section(title: str, *parts: str) -> str:
    """A part of the page with a heading."""
    return f"<section><h2>{escape(title)}</h2>{''.join(parts)}</section>\n"


def scroll(name: str, table: str) -> str:
    """A table that may be wider than the page, for the keyboard too."""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(name)}">{table}</div>'
    )


def table_of(part: Section) -> str:
    """A table of an evaluation, with its title and notes."""
    head = "".join(f"<th scope=col>{escape(n)}" if n else "<td>" for n in part.head)
    rows = "".join(f"<tr><th scope=row>{escape(r[0].strip())}{cells(r[1:])}" for r in part.rows)
    table = f"<table><thead><tr>{head}<tbody>{rows}</table>"
    return f"<h3>{escape(part.title)}</h3>{scroll(part.title, table)}{paragraphs(part.notes)}"


def sheet_of(title: str, sheet: BalanceSheet) -> str:
    """One case: what speaks for, what against, and what that means."""
    sides = "".join(
        f"<table><caption>{escape(side.title)}</caption><tbody>{_lines([*side.lines, side.total])}"
        "</table>"
        for side in sides_of(sheet)
    )
    foot = f"<table><tbody>{_lines(foot_of(sheet))}</table>"
    notes = f'<p class="soft">{escape(" ".join(notes_of(sheet)))}</p>'
    return f'<div class="sheet"><h3>{escape(title)}</h3>{sides}{foot}{notes}</div>'


def _lines(pairs: Iterable[tuple[str, str]]) -> str:
    return "".join(f"<tr><th scope=row>{escape(name)}{cells([value])}" for name, value in pairs)
