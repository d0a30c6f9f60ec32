"""What Engram is told, and what became of it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Literal

from ._display import Line
from ._json import When, decode, without_nones, write_time
from .errors import Rejected, RequestError, request_error
from .posing import Pose, write_pose

#: What an observation is of. `text` is speech or a subtitle.
Kind = Literal["text", "caption", "sound", "object", "entity", "action", "state"]


def _new_id() -> str:
    return f"py-{uuid.uuid4().hex}"


def _now() -> datetime:
    return datetime.now(timezone.utc)


@dataclass(frozen=True, slots=True)
class Observation:
    """Something that a program noticed.

    `source`, `id` and `at` together are its identity. `id` and `at` are set when it is made, so that the same object
    may be told again after a failure: Engram then counts a duplicate and remembers it once. The same identity with
    another text is a correction and replaces what was told before.
    """

    #: What was observed, in words.
    text: str
    #: What it is of.
    kind: Kind = "text"
    #: Whom or what it is about, or who spoke.
    entity: str | None = None
    #: Anything else: `place`, `tool`, `session` (the actions of one execution), `task` (the goal of that session).
    attributes: Mapping[str, Any] = field(default_factory=dict)
    #: How sure the observer is, from 0 to 1.
    confidence: float | None = None
    #: When it began. Without a time zone it is local time.
    at: When = field(default_factory=_now)
    #: When it ended.
    until: When | None = None
    #: Which program says so.
    source: str | None = None
    #: The sender's own id, which evidence gives back.
    id: str = field(default_factory=_new_id)
    #: More fields of the contract, for agents that know more of them than this package.
    extra: Mapping[str, Any] = field(default_factory=dict)
    #: Where it was.
    pose: Pose | Mapping[str, Any] | None = None

    def to_json(self, source: str | None = None) -> dict[str, Any]:
        """Returns the fields of the contract; `source` is used where the observation has none."""
        fields = {
            "text": self.text,
            "kind": self.kind,
            "entity": self.entity,
            "attributes": dict(self.attributes) or None,
            "pose": write_pose(self.pose),
            "confidence": self.confidence,
            "at": write_time(self.at),
            "until": None if self.until is None else write_time(self.until),
            "source": self.source or source,
            "id": self.id,
        }
        return {**without_nones(fields), **self.extra}


#: One observation, or its text.
Told = Observation | str


@dataclass(frozen=True, slots=True)
class RejectedItem:
    """An observation that Engram did not accept."""

    #: Its place among the observations of the call.
    index: int
    #: Its id.
    id: str | None
    #: Why.
    error: RequestError


@dataclass(frozen=True, slots=True, repr=False)
class Receipt(Line):
    """What became of observations. It comes after the commit: `accepted` survives a power loss and is found at once."""

    #: How many are remembered now, corrections included.
    accepted: int = 0
    #: How many were known already.
    duplicates: int = 0
    #: Which were not accepted, and why.
    rejected: tuple[RejectedItem, ...] = ()
    #: The number of the last commit.
    seq: int | None = None

    def check(self) -> Receipt:
        """Returns the receipt if nothing was rejected.

        :raises Rejected: otherwise.
        """
        if self.rejected:
            raise Rejected(self)
        return self

    def __add__(self, later: Receipt) -> Receipt:
        """Adds up two receipts; the indices of the second must count from the begin of the first already."""
        return Receipt(
            self.accepted + later.accepted,
            self.duplicates + later.duplicates,
            self.rejected + later.rejected,
            self.seq if later.seq is None else later.seq,
        )

    def __str__(self) -> str:
        """Says it in a line."""
        parts = [f"{self.accepted} accepted"]
        if self.duplicates:
            parts.append(f"{self.duplicates} known already")
        parts += [f"{len(self.rejected)} rejected: {self.rejected[0].error}"] if self.rejected else []
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class _Report:
    accepted: int
    duplicates: int
    rejected: tuple[Mapping[str, Any], ...] = ()
    seq: int | None = None


def read_receipt(reply: Mapping[str, Any], first: int = 0) -> Receipt:
    """Reads the reply to a batch whose first observation has the index `first`."""
    report = decode(_Report, {**reply, "rejected": []})
    items = reply.get("rejected") or []
    rejected = tuple(
        RejectedItem(int(item["index"]) + first, item.get("id"), request_error(item.get("error") or {}))
        for item in items
    )
    return Receipt(report.accepted, report.duplicates, rejected, report.seq)


def said(**fields: Any) -> dict[str, Any]:
    """Returns the arguments that were given."""
    return without_nones(fields)


def as_observation(told: Told) -> Observation:
    """Makes an observation of a text."""
    return Observation(told) if isinstance(told, str) else told


def batches(told: Iterable[Told], source: str | None, count: int, size: int) -> Iterable[Sequence[bytes]]:
    """Splits observations into batches of at most `count` items and about `size` bytes, each item as JSON."""
    batch: list[bytes] = []
    held = 0
    for one in told:
        item = json.dumps(as_observation(one).to_json(source), ensure_ascii=False).encode()
        if batch and (len(batch) >= count or held + len(item) > size):
            yield batch
            batch, held = [], 0
        batch.append(item)
        held += len(item) + 1
    if batch:
        yield batch
