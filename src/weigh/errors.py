"""Errors that carry the name of a parameter, warnings at the caller's line, a notice of a wait."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Parameter:
    """A parameter as a part of a sentence: its name, or its name with a value.

    `part` is what of it is meant, such as the duration of y, where that has an option of its own.

    >>> str(Parameter("cv")), str(Parameter("cv", 5))
    ('cv', 'cv=5')
    """

    name: str
    value: Any = ...
    part: str = ""

    def __str__(self) -> str:
        return self.name if self.value is ... else f"{self.name}={self.value!r}"


class _PartedError(Exception):
    """A message that is made of parts, some of them parameters.

    Callers with other names for parameters, such as the command line, render the message again with
    `named`.
    """

    def __init__(self, *parts: str | Parameter) -> None:
        super().__init__("".join(map(str, parts)))
        self.parts = parts

    @property
    def parameter(self) -> str:
        """The first parameter that the message names."""
        return next((part.name for part in self.parts if isinstance(part, Parameter)), "")

    def named(self, name: Callable[[Parameter], str]) -> str:
        """The message with other names."""
        return "".join(name(p) if isinstance(p, Parameter) else p for p in self.parts)


class ParameterWarning(_PartedError, UserWarning):  # noqa: N818
    """Advice that names a parameter."""


class ParameterError(_PartedError, ValueError):
    """A value that cannot be used. The message names the parameter.

    >>> error = ParameterError(Parameter("cv"), " must be at least 2, got 1")
    >>> error.parameter, str(error)
    ('cv', 'cv must be at least 2, got 1')
    >>> error.named(lambda parameter: "--folds")
    '--folds must be at least 2, got 1'
    """


@contextmanager
def begin_with(name: str) -> Iterator[None]:
    """Prefix error messages within this context, for example by the name of a file.

    >>> with begin_with("may.csv"):
    ...     raise ValueError("the table has no rows")
    Traceback (most recent call last):
    weigh.errors.ParameterError: may.csv: the table has no rows
    """
    try:
        yield
    except ValueError as error:
        parts = error.parts if isinstance(error, ParameterError) else (str(error),)
        raise ParameterError(f"{name}: ", *parts) from error


def warn_caller(text: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside this package that led here."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("weigh."):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


on_compile: Callable[[], None] | None = None
"""Called before numba compiles a loop, which takes seconds; the command line then says so."""


class ColumnError(ValueError):
    """A column that cannot be used; a command that can leave columns out says how."""

    def __init__(self, column: str, message: str) -> None:
        super().__init__(message)
        self.column = column

    @property
    def reason(self) -> str:
        """The message without the column's name, where a list of columns has it already."""
        return str(self).removeprefix(f"column {self.column!r} ").removesuffix(", or drop it")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.column, str(self))


class Extra:
    """A library that may not be installed: imported when something of it is first used.

    Where it is not there, the error message is `needs`, the name of the extra that installs it, and
    the command that installs the packages of the extra.
    """

    def __init__(self, name: str, needs: str, extra: str = "") -> None:
        self._name, self._needs, self._extra = name, needs, extra

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):  # of tools that inspect modules
            raise AttributeError(attribute)
        try:
            import_module(self._name.partition(".")[0])  # a submodule may be imported without it
            return getattr(import_module(self._name), attribute)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] == "weigh":
                raise
            raise ImportError(self._tell()) from None

    def _tell(self) -> str:
        if not self._extra:
            return self._needs
        told, packages = f"{self._needs} (the extra weigh[{self._extra}])", _packages(self._extra)
        return f"{told}: pip install {' '.join(packages)}" if packages else told


def _packages(extra: str) -> list[str]:
    """The packages of an extra, quoted for a shell; none if the sources are not installed.

    The name of the extra installs them only if pip finds weigh on its package index.
    """
    from importlib.metadata import PackageNotFoundError, requires  # slow, and rarely needed

    try:
        lines = [line.partition(";") for line in requires("weigh") or ()]
    except PackageNotFoundError:
        return []
    mark = re.compile(rf"\s*extra\s*==\s*['\"]{extra}['\"]\s*")
    return [f'"{package.strip()}"' for package, _, marker in lines if mark.fullmatch(marker)]
