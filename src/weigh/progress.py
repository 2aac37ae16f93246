"""A bar on the terminal for what takes a while."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def show_progress(what: str) -> Iterator[None]:
    """A progress bar where a terminal watches and nobody else does; nothing elsewhere."""
    from weigh.engine import is_watched, watch

    if is_watched() or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what)
        report: Callable[[int, int], None] = lambda done, of: bar.update(  # noqa: E731
            task, completed=done, total=of
        )
        with watch(report):
            yield
