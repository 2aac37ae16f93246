"""The record of changes that people made to a model by hand."""

from __future__ import annotations

import getpass
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any


@dataclass(frozen=True)
class Change:
    """What somebody changed, who and why, and the loss in bits a row before and after."""

    action: str
    arguments: Mapping[str, Any]
    why: str
    who: str
    when: str
    loss_before: float
    loss_after: float
    refit: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The change as plain data."""
        return asdict(self) | {"arguments": dict(self.arguments)}

    @classmethod
    def from_dict(cls, data: Any) -> Change:
        """Read plain data."""
        names = {field.name for field in fields(cls)}
        if not isinstance(data, Mapping) or {*data} != names:
            raise ValueError(f"an edit must hold {sorted(names)}")
        texts = all(isinstance(data[name], str) for name in ("action", "why", "who", "when"))
        losses = all(type(data[name]) in (int, float) for name in ("loss_before", "loss_after"))
        if not (texts and losses and type(data["refit"]) is bool):
            raise ValueError("an edit must hold texts, losses and whether it was refitted")
        if not isinstance(data["arguments"], Mapping):
            raise ValueError("an edit's arguments must be an object")
        return cls(**data)

    @property
    def call(self) -> str:
        """The change as a call, such as `drop(feature='age')`."""
        given = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.action}({given})"

    def __str__(self) -> str:
        change = self.loss_after - self.loss_before
        fitted = ", others refitted" if self.refit else ""
        return (
            f"{self.call}{fitted}: {self.why} ({self.who}, {self.when}; loss "
            f"{self.loss_after:.4f} bits, {change:+.4f})"
        )


def login_name() -> str:
    """Who is at work; `unknown` where the system does not say."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
