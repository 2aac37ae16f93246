"""Objects as compact HTML for notebooks: one layout as data, one template that draws it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from weigh.bins import printable

FOR, AGAINST = "#0072B2", "#D55E00"  # told apart by colour-blind eyes


@dataclass(frozen=True)
class Bar:
    """A number as a bar from the middle of its cell, or from the left where none is negative."""

    share: float  # from -1 to 1
    from_left: bool = False

    @property
    def style(self) -> str:
        """Where it begins, how long it is, and its colour."""
        if self.from_left:
            return f"left:0;width:{100 * min(self.share, 1.0):.1f}%;background:{FOR}"
        width = 50 * min(abs(self.share), 1.0)
        left = 50.0 if self.share > 0 else 50 - width
        colour = FOR if self.share > 0 else AGAINST
        return f"left:{left:.1f}%;width:{width:.1f}%;background:{colour}"


Cell: TypeAlias = str | Bar


@dataclass(frozen=True)
class Grid:
    """Rows below a heading. A folded grid shows its title and opens with a click."""

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    foot: tuple[tuple[Cell, ...], ...] = ()
    n_names: int = 1  # columns of text, which stand left
    folded: bool | None = None  # None cannot be folded


@dataclass(frozen=True)
class View:
    """A title, grids and sentences."""

    title: str
    grids: tuple[Grid, ...]
    lead: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def to_html(self) -> str:
        """One element with its style, which needs no script; every name is escaped."""
        return str(_template().render(view=self, is_bar=_is_bar, printable=printable))


def _is_bar(cell: Cell) -> bool:
    return isinstance(cell, Bar)


@cache
def _template() -> Any:
    from jinja2 import Environment

    made = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return made.from_string(_TEXT)


_TEXT = """\
<div class="weigh-view">
<style>
.weigh-view { font-size: 13px; max-width: 60em; line-height: 1.35 }
.weigh-view table { border-collapse: collapse; margin: .3em 0 }
.weigh-view th, .weigh-view td { padding: .1em .6em; text-align: right; vertical-align: top;
  background: none; border: none }
.weigh-view .name { text-align: left; white-space: pre-wrap; overflow-wrap: anywhere;
  max-width: 26em }
.weigh-view thead th { border-bottom: 1px solid currentColor }
.weigh-view tfoot td { border-top: 1px solid #8886 }
.weigh-view .bar { position: relative; display: block; width: 9em; height: .9em; margin: .2em 0;
  background: linear-gradient(90deg, transparent 49.6%, #888 49.6%, #888 50.4%, transparent 50.4%) }
.weigh-view .bar.left { background: none }
.weigh-view .bar i { position: absolute; top: 0; bottom: 0 }
.weigh-view summary { cursor: pointer }
.weigh-view p { margin: .3em 0 }
.weigh-view .title { font-weight: 600 }
</style>
{% macro cells(row, grid, tag) %}
<tr>
{%- for cell in row -%}
<{{ tag }}{% if loop.index <= grid.n_names %} class="name"{% endif %}>
{%- if is_bar(cell) -%}
<span class="bar{% if cell.from_left %} left{% endif %}"><i style="{{ cell.style }}"></i></span>
{%- else %}{{ printable(cell) }}{% endif -%}
</{{ tag }}>
{%- endfor -%}
</tr>
{% endmacro %}
{% macro table(grid) %}
<table>{% if grid.head %}<thead>{{ cells(grid.head, grid, "th") }}</thead>{% endif %}
<tbody>{% for row in grid.rows %}{{ cells(row, grid, "td") }}{% endfor %}</tbody>
{% if grid.foot %}<tfoot>{% for row in grid.foot %}{{ cells(row, grid, "td") }}{% endfor %}</tfoot>
{% endif %}</table>
{% endmacro %}
<p class="title">{{ printable(view.title) }}</p>
{% for text in view.lead %}<p>{{ printable(text) }}</p>
{% endfor %}
{% for grid in view.grids %}
{% if grid.folded is none %}
{% if grid.title %}<p class="title">{{ printable(grid.title) }}</p>{% endif %}
{{ table(grid) }}
{% else %}
<details{% if not grid.folded %} open{% endif %}><summary>{{ printable(grid.title) }}</summary>
{{ table(grid) }}</details>
{% endif %}
{% endfor %}
{% for text in view.notes %}<p>{{ printable(text) }}</p>
{% endfor %}
</div>
"""
