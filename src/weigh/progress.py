"""Progress bar for long computations, in a terminal or a notebook."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

_on_screen: list[Any] = []
"""The console of the bar that is shown in the terminal, if there is one."""


def is_bar_shown() -> bool:
    """Whether a bar is shown in the terminal."""
    return bool(_on_screen)


def write_above_bar(text: str) -> bool:
    """Write a line above the bar in the terminal; False if no bar is shown."""
    for console in _on_screen:
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    return is_bar_shown()


@contextmanager
def show_progress(what: str) -> Iterator[None]:
    """Show a progress bar in a terminal or notebook, unless progress is reported already."""
    from weigh.engine import is_watched, watch  # slow to import, and every command imports this

    if is_watched() or not (sys.stderr.isatty() or _in_notebook()):
        yield
        return
    if not sys.stderr.isatty():
        line = _Line(what)
        try:
            with watch(line):
                yield
        finally:
            line.clear()
        return
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True, force_jupyter=False)
    with Progress(console=console, transient=True) as bar, _shown(console):
        task = bar.add_task(what)
        report: Callable[[int, int], None] = lambda done, of: bar.update(  # noqa: E731
            task, completed=done, total=of
        )
        with watch(report):
            yield


@contextmanager
def _shown(console: Any) -> Iterator[None]:
    _on_screen.append(console)
    try:
        yield
    finally:
        _on_screen.remove(console)


class _Line:
    """An output that is updated in place in a notebook, without widgets."""

    def __init__(self, what: str) -> None:
        self.what, self.told = what, ""
        self.handle: Any = None

    def __call__(self, done: int, of: int) -> None:
        text = f"{self.what}: {done / max(of, 1):.0%}"
        if text != self.told:
            self.told = text
            self._show(text)

    def clear(self) -> None:
        """Leave an empty output, if there was one."""
        if self.handle is not None:
            self._show("")

    def _show(self, text: str) -> None:
        notebook: Any = import_module("IPython.display")
        shown = notebook.Pretty(text)
        if self.handle is None:
            self.handle = notebook.display(shown, display_id=True)
        else:
            self.handle.update(shown)


def _in_notebook() -> bool:
    """Whether this runs in a notebook kernel, whose output is not a terminal."""
    found = sys.modules.get("IPython")
    shell = found.get_ipython() if found is not None else None
    return shell is not None and hasattr(shell, "kernel")
