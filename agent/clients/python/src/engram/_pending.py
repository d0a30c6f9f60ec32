"""Requests that wait for their replies, and packets that wait for the broker's answer."""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from typing import Any, TypeVar

from paho.mqtt.reasoncodes import ReasonCode

from .errors import EngramError

T = TypeVar("T")


def settle(future: Future[T], result: T | EngramError) -> None:
    """Ends a future, unless it is done or nobody wants it any more."""
    with contextlib.suppress(InvalidStateError):
        if isinstance(result, EngramError):
            future.set_exception(result)
        else:
            future.set_result(result)


@dataclass(slots=True, eq=False)
class Pending:
    """A request that waits for its reply."""

    leaf: str
    payload: bytes
    #: Whether it may be sent a second time.
    repeatable: bool
    #: For so many seconds the broker may keep it for an agent that is away; `None`: for as long as it likes.
    expiry_s: int | None
    #: The body of the reply.
    reply: Future[Mapping[str, Any]] = field(default_factory=Future)
    #: Done once a long command says that it has begun, or with the reply.
    begun: Future[None] = field(default_factory=Future)
    id: str = ""
    published: bool = False
    acknowledged: bool = False

    def finish(self, result: Mapping[str, Any] | EngramError) -> None:
        """Ends the waiting, once."""
        settle(self.begun, None)
        settle(self.reply, result)


class Acknowledgements:
    """Brings together the number of a packet, known to the sender, and the broker's answer, known to paho's thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[int, Callable[[list[ReasonCode]], None]] = {}
        self._early: OrderedDict[int, list[ReasonCode]] = OrderedDict()

    def expect(self, mid: int, then: Callable[[list[ReasonCode]], None]) -> None:
        """Calls `then` with the answer to packet `mid`, at once if it is there already."""
        with self._lock:
            codes = self._early.pop(mid, None)
            if codes is None:
                self._waiting[mid] = then
        if codes is not None:
            then(codes)

    def clear(self) -> None:
        """Forgets what was expected: the numbers are used again."""
        with self._lock:
            self._waiting.clear()
            self._early.clear()

    def arrive(self, mid: int, codes: list[ReasonCode]) -> None:
        """Takes the answer to packet `mid`."""
        with self._lock:
            then = self._waiting.pop(mid, None)
            if then is None:
                self._early[mid] = codes
                while len(self._early) > 1024:
                    self._early.popitem(last=False)
        if then is not None:
            then(codes)
