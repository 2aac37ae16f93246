"""Host names that requests may be addressed to.

A page of another site can make its own name point to this machine (DNS rebinding); the browser
then sends requests here, and they carry that name. So only names that were told are answered.
An address in numbers cannot be made to point elsewhere, and is always answered.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence

from weigh.serving.rows import RefusalError

EVERY_HOST = "*"


def check_hosts(names: Iterable[str]) -> frozenset[str]:
    """The names in lower case, with localhost; a name with a port or a path is refused."""
    if isinstance(names, str):
        raise ValueError(f"allow_hosts={names!r} must be a list of host names, such as [{names!r}]")
    names = [name.lower().rstrip(".") for name in names if not _is_address(name)]
    for name in names:
        if not name or set(name) & set("/:@ \t"):
            raise ValueError(
                f"allow_hosts={name!r} must be a host name without a port, such as 'risk.example'"
            )
    return frozenset([*names, "localhost"])


def check_host(headers: Sequence[tuple[bytes, bytes]], allowed: frozenset[str]) -> None:
    """Refuse a request for another host, or for none or two."""
    if EVERY_HOST in allowed:
        return
    told = [value for name, value in headers if name == b"host"]
    if len(told) != 1:
        raise RefusalError(f"the request has {len(told)} Host headers, not one", status=400)
    name = told[0].decode("latin-1").lower()
    name = name.rpartition(":")[0] if name.rpartition(":")[2].isdecimal() else name
    if name.rstrip(".") not in allowed and not _is_address(name.strip("[]")):
        raise RefusalError(
            f"this server does not answer for the host {name[:60]!r}; start it with --allow-host",
            status=421,
        )


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
