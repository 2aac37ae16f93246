"""What an interrupted fit leaves behind, and which fit it was."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from glob import glob
from typing import Any

from weigh.cli.messages import say


class _Nothing:
    """Nothing was kept."""

    def clear(self) -> None:
        """Nothing to remove."""


@contextmanager
def keep_passes(folder: str | None, data: str, model: Any, about: list[Any]) -> Iterator[Any]:
    """Keep in a folder what each pass of a fit finds, and say what was found there."""
    if folder is None:
        yield _Nothing()
        return
    from weigh import __version__, engine
    from weigh.store.features import feature_from_dict, feature_to_dict

    which = [__version__, type(model).__name__, repr(model.get_params()), about, fingerprint(data)]
    spelling = engine.Spelling(
        lambda features: [feature_to_dict(feature) for feature in features],
        lambda listed: [feature_from_dict(feature) for feature in listed],
    )
    with engine.checkpoint(folder, which, spelling) as kept:
        yield kept
    if kept.recalled:
        say(f"{kept.recalled:,} of {kept.asked:,} passes were in {folder} already")


def fingerprint(data: str) -> list[tuple[str, int, int]]:
    """The names, sizes and times of the files that make a table."""
    if data == "-":
        raise ValueError(
            "--checkpoint cannot tell what standard input holds; write the data to a file"
        )
    paths = [data] if os.path.exists(data) else sorted(glob(data, recursive=True))
    files = [file for path in paths for file in _files(path)]
    return [(os.path.abspath(f), os.stat(f).st_size, os.stat(f).st_mtime_ns) for f in files]


def _files(path: str) -> list[str]:
    if not os.path.isdir(path):
        return [path]
    return sorted(os.path.join(root, name) for root, _, names in os.walk(path) for name in names)
