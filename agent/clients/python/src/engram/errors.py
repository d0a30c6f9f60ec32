"""What can go wrong, one class for each thing that a program does differently.

Every error is an `EngramError`. Its text says what failed and what to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .observing import Receipt


class EngramError(Exception):
    """The base of every error of this package."""


class ConnectionFailed(EngramError, ConnectionError):
    """There is no connection to the broker, or it was lost and did not come back in time."""


class AccessDenied(ConnectionFailed):
    """The broker refuses the user name, the password, the certificate or a topic."""


class AgentOffline(EngramError):
    """The broker is there, but no Engram serves the robot's name."""


class TimedOut(EngramError, TimeoutError):
    """No reply came in time."""


class Closed(EngramError):
    """The memory was closed."""


class ProtocolError(EngramError):
    """A reply does not read as the contract says. The agent is probably older or newer than this package allows."""


class RequestError(EngramError):
    """Engram refused a request. The subclasses stand for the codes of the contract."""

    #: The code of the contract, for instance `bad_request`.
    code: str
    #: What Engram said.
    message: str

    def __init__(self, code: str, message: str) -> None:
        self.code, self.message = code, message
        super().__init__(f"{message} ({code})")


class BadRequest(RequestError):
    """Something about the request is wrong, or there is no such thing. The text says what to change."""


class TooLarge(RequestError):
    """The request has more bytes than `mqtt.limits` of the agent's configuration allows."""


class Busy(RequestError):
    """Engram has too much to do, or a long command is running. Try again in a moment."""


class DeadlineExceeded(RequestError):
    """Engram did not find the answer within the deadline. Allow more time with `deadline`."""


class Forbidden(RequestError):
    """The agent's configuration denies this; the text names the key that would allow it."""


class StorageFull(RequestError):
    """The store or its disk is full. What was told is not remembered; tell it again once there is room."""


class InternalError(RequestError):
    """A fault of the agent. Its log says more."""


class Rejected(EngramError):
    """Engram did not accept an observation."""

    #: What became of the observations, with each reason.
    receipt: Receipt

    def __init__(self, receipt: Receipt) -> None:
        self.receipt = receipt
        reasons = "; ".join(str(item.error) for item in receipt.rejected[:3])
        more = len(receipt.rejected) - 3
        super().__init__(f"not remembered: {reasons}" + (f"; and {more} more" if more > 0 else ""))


_CODES: dict[str, type[RequestError]] = {
    "bad_request": BadRequest,
    "too_large": TooLarge,
    "busy": Busy,
    "deadline": DeadlineExceeded,
    "forbidden": Forbidden,
    "storage_full": StorageFull,
    "internal": InternalError,
}


def request_error(error: Mapping[str, Any]) -> RequestError:
    """Returns the exception of an `error` object. A code that this package does not know is a plain `RequestError`."""
    code = str(error.get("code", "internal"))
    message = str(error.get("message", "no reason was given"))
    return _CODES.get(code, RequestError)(code, message)
