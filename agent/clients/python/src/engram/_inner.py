"""What `Memory` and `AsyncMemory` have in common: their settings, and the texts of what fails while they wait."""

from __future__ import annotations

import os
import socket
import ssl
from typing import Literal

from ._address import TLS, Address
from ._link import Link

#: How long a request may take where nobody says otherwise, in seconds.
TIMEOUT = 10.0
#: How long a command may take that says first that it has begun.
LONG_TIMEOUT = 600.0
#: What a stream of news holds at most before the oldest are dropped.
NEWS = 1000

_FORBIDDEN = "+#/"


def make_address(
    robot: str | None,
    host: str,
    port: int | None,
    username: str | None,
    password: str | None,
    tls: bool | TLS | ssl.SSLContext,
    root: str,
    protocol: Literal["5", "3.1.1"],
) -> Address:
    """Checks the settings.

    :raises ValueError: if one of them cannot be used.
    """
    robot = robot or os.environ.get("ENGRAM__ROBOT") or socket.gethostname()
    for what, name in (("robot", robot), ("root", root)):
        if not name.strip() or name.startswith("$") or any(c in _FORBIDDEN or ord(c) < 32 for c in name):
            raise ValueError(f"`{what}` is {name!r}: it must not be empty, begin with $ or contain + # / or controls")
    if protocol not in ("5", "3.1.1"):
        raise ValueError(f"`protocol` is {protocol!r}: it must be '5' or '3.1.1'")
    if password is not None and username is None:
        raise ValueError("`password` is given without `username`")
    context = tls if isinstance(tls, ssl.SSLContext) else None
    if tls is True:
        context = TLS().context()
    elif isinstance(tls, TLS):
        context = tls.context()
    return Address(
        robot=robot,
        host=host,
        port=port if port is not None else (8883 if context else 1883),
        root=root,
        username=username,
        password=password,
        tls=context,
        protocol=protocol,
    )


def is_online(link: Link) -> bool:
    """Whether the agent says that it is there, and there is a connection on which it says so."""
    return link.retained("status") == b"online" and link.unreachable() is None


def text_of(payload: bytes | None) -> str | None:
    """Returns a retained text."""
    return None if payload is None else payload.decode(errors="replace")
