"""Progress bar for long computations, in a terminal or a notebook."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from time import monotonic
from typing import Any

_on_screen: list[Any] = []
"""The console of the bar that is shown in the terminal, if there is one."""


def write_above_bar(text: str) -> bool:
    """Write a line above the bar in the terminal; False if no bar is shown."""
    for console in _on_screen:
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    return bool(_on_screen)


PATIENCE = 5.0
"""Seconds after which a fit in Python shows its progress."""


@contextmanager
def show_progress(what: str, after: float = 0.0) -> Iterator[None]:
    """Show a progress bar in a terminal or notebook, unless progress is reported already.

    `after` is the time in seconds without a bar. With it, a bar that nobody asked for is shown only
    in the main thread of the main process, since others may share the terminal.
    """
    from weigh.engine import is_watched, watch  # slow to import, and every command imports this

    terminal = sys.stderr.isatty()
    hidden = after > 0 and not _is_main()
    if hidden or is_watched() or not (terminal or _in_notebook()):
        yield
        return
    bar: _Bar | _Line = _Bar(what) if terminal else _Line(what)
    start = monotonic() + after
    if terminal and not after:
        bar(0, 0)

    def report(done: int, of: int) -> None:
        if monotonic() >= start:
            bar(done, of)

    try:
        with watch(report):
            yield
    finally:
        bar.clear()


@contextmanager
def hide_progress() -> Iterator[None]:
    """Show no progress bar in this context, unless progress is reported already."""
    from weigh.engine import is_watched, watch  # as in `show_progress`

    with nullcontext() if is_watched() else watch(lambda done, of: None):
        yield


def _is_main() -> bool:
    """Whether this is the main thread of the main process, not a worker of joblib."""
    from multiprocessing import current_process  # only fits need it, not every command

    main = threading.current_thread() is threading.main_thread()
    return main and current_process().name == "MainProcess"


class _Bar:
    """A bar in a terminal, which disappears at the end."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.bar: Any = None

    def __call__(self, done: int, of: int) -> None:
        if self.bar is None:
            from rich.console import Console
            from rich.progress import Progress

            console = Console(stderr=True, force_jupyter=False)
            self.bar = Progress(console=console, transient=True)
            self.task = self.bar.add_task(self.what)
            self.bar.start()
            _on_screen.append(console)
        if of:
            self.bar.update(self.task, completed=done, total=of)

    def clear(self) -> None:
        """Remove the bar, if there was one."""
        if self.bar is not None:
            _on_screen.remove(self.bar.console)
            self.bar.stop()


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
