"""Whose program is at the other end of a connection on this machine, as Linux tells."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

__all__ = ["is_foreign", "user_of"]

_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_ROOT = 0  # may read all memory anyway, and relays of virtual machines run as root

Place = tuple[str, int]
"""An address and a port."""


def is_foreign(here: Place | None, there: Place | None) -> bool:
    """Whether another user of this machine has made a connection; False if nothing tells.

    Args:
        here: Our end.
        there: The other end.
    """
    if here is None or there is None:
        return False
    user = user_of(there, here)
    return user is not None and user not in (_ROOT, os.getuid())


def user_of(near: Place, far: Place) -> int | None:
    """The number of the user whose socket one end of a connection is; None if it is not known.

    Args:
        near: The end in question.
        far: The other end.

    Example:
        >>> user_of(("somewhere", 1), ("else", 2)) is None
        True
    """
    try:
        wanted = [(_plain(ip_address(host)), port) for host, port in (near, far)]
    except ValueError:
        return None
    for table in _TABLES:
        for ends, user in _rows(table):
            if ends == wanted:
                return user
    return None


def _rows(table: Path) -> Iterator[tuple[list[tuple[IPv4Address | IPv6Address, int]], int]]:
    try:
        lines = table.read_text("ascii").splitlines()[1:]
    except OSError:  # no Linux, or it does not tell
        return
    for line in lines:
        words = line.split()
        yield [_place(word) for word in words[1:3]], int(words[7])


def _place(word: str) -> tuple[IPv4Address | IPv6Address, int]:
    """An end as the kernel writes it: words of 32 bits in the machine's own order, then a port."""
    host, _, port = word.partition(":")
    raw = bytes.fromhex(host)
    swapped = b"".join(_in_order(raw[at : at + 4]) for at in range(0, len(raw), 4))
    return _plain(ip_address(swapped)), int(port, 16)


def _in_order(word: bytes) -> bytes:
    return word[::-1] if sys.byteorder == "little" else word


def _plain(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """An address of version 4 that a socket of version 6 uses is the same address."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
