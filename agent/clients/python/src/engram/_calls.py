"""Every request of the contract: what is sent, and how its reply is read. The plain and the asyncio client share it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, Literal, TypeVar

from ._display import Listing
from ._json import When, decode, decode_list, without_nones, write_time
from .errors import ProtocolError, request_error
from .observing import Observation, Receipt, Told, batches, read_receipt
from .posing import Circle, Pose, write_circle, write_pose
from .procedures import (
    Alternatives,
    Missing,
    NextStep,
    Picture,
    Procedure,
    ProcedureSummary,
    Ways,
)
from .remembering import (
    Answer,
    Entities,
    Episode,
    EpisodeSummary,
    Event,
    Fact,
    Forgotten,
    Gist,
    NamedPlace,
    Person,
    Place,
    SearchResult,
)
from .status import Backup, Compacted, Export, Health, Instance, News, Reloaded, Snapshot

T = TypeVar("T")

#: One part of a step (`{"tool": "knife"}`), or any part of it (`"knife"`).
Phrase = str | Mapping[str, str]

#: A batch has at most so many observations and bytes. Agents allow 1 MiB by default.
BATCH_ITEMS = 500
BATCH_BYTES = 512 << 10
#: Episodes of a page.
PAGE = 100


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A request of the contract."""

    #: Topic below the robot's.
    leaf: str
    #: The payload: JSON, or bytes that are JSON already.
    body: Any
    #: Makes the result of the reply.
    read: Callable[[Mapping[str, Any]], T]
    #: Whether it may be sent again where the reply was lost: it only reads, or Engram knows it again.
    repeatable: bool = True
    #: Whether it says first that it has begun, and takes as long as it takes.
    long: bool = False

    def result(self, reply: Mapping[str, Any]) -> T:
        """Reads the reply.

        :raises RequestError: if it is an error.
        :raises ProtocolError: if it cannot be read.
        """
        error = reply.get("error")
        if isinstance(error, Mapping):
            raise request_error(error)
        try:
            return self.read(reply)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ProtocolError(f"the reply to `{self.leaf}` does not read as the contract says: {error!r}") from error

    def expiry_s(self, timeout: float | None) -> int | None:
        """For how long the broker may keep it: what changes something must not happen long after it was given up."""
        return None if self.repeatable or timeout is None else max(1, round(timeout))


def _moment(when: When | None) -> str | None:
    return None if when is None else write_time(when)


# Asking and telling.


def ask(
    question: str,
    options: Sequence[str],
    since: When | None,
    until: When | None,
    now: When | None,
    near: Circle | None,
    top_k: int | None,
    deadline: float | timedelta | None,
    trace: bool,
    extra: Mapping[str, Any] | None,
) -> Call[Answer]:
    seconds = deadline.total_seconds() if isinstance(deadline, timedelta) else deadline
    fields = {
        "question": question,
        "options": list(options) or None,
        "since": _moment(since),
        "until": _moment(until),
        "now": _moment(now),
        "near": write_circle(near),
        "top_k": top_k,
        "deadline_ms": None if seconds is None else max(1, round(seconds * 1000)),
        "trace": trace or None,
    }

    def read(reply: Mapping[str, Any]) -> Answer:
        return decode(Answer, {**reply, "options": list(options)})

    return Call("ask", {**without_nones(fields), **(extra or {})}, read)


def observe_one(observation: Observation, source: str | None) -> Call[Receipt]:
    return Call("observe", observation.to_json(source), lambda reply: read_receipt(reply).check())


def observe_batches(told: Iterable[Told], source: str | None) -> Iterable[Call[Receipt]]:
    first = 0
    for batch in batches(told, source, BATCH_ITEMS, BATCH_BYTES):
        begin = first

        def read(reply: Mapping[str, Any], begin: int = begin) -> Receipt:
            return read_receipt(reply, begin)

        yield Call("observe", b"[" + b",".join(batch) + b"]", read)
        first += len(batch)


def patience(deadline: float | timedelta | None, timeout: float) -> float:
    """How long to wait for an answer: never less than the agent was given, and a second for the way."""
    seconds = deadline.total_seconds() if isinstance(deadline, timedelta) else deadline
    return timeout if seconds is None else max(timeout, seconds + 1)


# Looking into the memory.


def search(
    query: str | None,
    order: str | None,
    near: Circle | None,
    limit: int | None,
    similar_to: str | None = None,
    likeness: float | None = None,
) -> Call[SearchResult]:
    fields = without_nones(
        {
            "query": query,
            "order": order,
            "near": write_circle(near),
            "limit": limit,
            "similar_to": similar_to,
            "likeness": likeness,
        }
    )
    return Call("cmd/search", fields, lambda reply: decode(SearchResult, reply))


def episodes(
    since: When | None,
    until: When | None,
    entity: str | None,
    place: str | None,
    near: Circle | None,
    cursor: str | None,
    limit: int,
) -> Call[tuple[list[EpisodeSummary], str | None]]:
    fields = {
        "since": _moment(since),
        "until": _moment(until),
        "entity": entity,
        "place": place,
        "near": write_circle(near),
        "cursor": cursor,
        "limit": limit,
    }

    def read(reply: Mapping[str, Any]) -> tuple[list[EpisodeSummary], str | None]:
        return decode_list(EpisodeSummary, reply.get("episodes")), reply.get("next")

    return Call("cmd/list", without_nones(fields), read)


def episode(id: str, cursor: str | None) -> Call[tuple[Episode, str | None]]:
    def read(reply: Mapping[str, Any]) -> tuple[Episode, str | None]:
        return decode(Episode, reply.get("episode")), reply.get("next")

    return Call("cmd/get", without_nones({"episode": id, "cursor": cursor}), read)


def event(id: str) -> Call[Event]:
    return Call("cmd/get", {"event": id}, lambda reply: decode(Event, reply.get("event")))


def facts(subject: str | None, past: bool, limit: int | None) -> Call[Listing[Fact]]:
    fields = without_nones({"of": "facts", "subject": subject, "past": past or None, "limit": limit})
    return Call("cmd/list", fields, lambda reply: decode_list(Fact, reply.get("facts")))


def gists(level: str, since: When | None, until: When | None, limit: int | None) -> Call[Listing[Gist]]:
    fields = {"of": "gists", "level": level, "since": _moment(since), "until": _moment(until), "limit": limit}
    return Call("cmd/list", without_nones(fields), lambda reply: decode_list(Gist, reply.get("gists")))


def entities(limit: int | None) -> Call[Entities]:
    return Call("cmd/list", without_nones({"of": "entities", "limit": limit}), lambda reply: decode(Entities, reply))


def _persons(reply: Mapping[str, Any]) -> Listing[Person]:
    return decode_list(Person, reply.get("persons"))


def places(limit: int | None) -> Call[Listing[Place]]:
    fields = without_nones({"of": "places", "limit": limit})
    return Call("cmd/list", fields, lambda reply: decode_list(Place, reply.get("places")))


def name_place(name: str, pose: Pose | Mapping[str, Any] | None, renames: str | None = None) -> Call[NamedPlace]:
    fields = without_nones({"name": name, "pose": write_pose(pose), "renames": renames})
    return Call("cmd/name_place", fields, lambda reply: decode(NamedPlace, reply), repeatable=False)


def name_entity(entity: str, name: str) -> Call[Listing[Person]]:
    return Call("cmd/name_entity", {"entity": entity, "name": name}, _persons, repeatable=False)


def merge_entities(entity: str, same: Sequence[str]) -> Call[Listing[Person]]:
    return Call("cmd/name_entity", {"entity": entity, "merge": list(same)}, _persons, repeatable=False)


def split_entity(entity: str, others: Sequence[str]) -> Call[Listing[Person]]:
    return Call("cmd/name_entity", {"entity": entity, "split": list(others)}, _persons, repeatable=False)


def forget(
    name: Literal["forget", "forget_preview"],
    episodes: str | Sequence[str] | None,
    entity: str | None,
    since: When | None,
    until: When | None,
) -> Call[Forgotten]:
    listed = [episodes] if isinstance(episodes, str) else episodes
    fields = {
        "episodes": None if listed is None else list(listed),
        "entity": entity,
        "since": _moment(since),
        "until": _moment(until),
    }
    preview = name == "forget_preview"
    return Call(f"cmd/{name}", without_nones(fields), lambda reply: decode(Forgotten, reply), repeatable=preview)


# How things are done.

_PROCEDURE_ID = re.compile(r"p-\d+")


def _which(procedure: str) -> dict[str, str]:
    return {"id" if _PROCEDURE_ID.fullmatch(procedure) else "goal": procedure}


def _procedure(query: str, fields: Mapping[str, Any], read: Callable[[Mapping[str, Any]], T]) -> Call[T]:
    return Call("cmd/procedure", {query: without_nones(fields)}, read)


def procedures(goal_like: str | None, max: int | None) -> Call[Listing[ProcedureSummary]]:
    def read(reply: Mapping[str, Any]) -> Listing[ProcedureSummary]:
        return decode_list(ProcedureSummary, reply.get("procedures"))

    return _procedure("list", {"goal_like": goal_like, "max": max}, read)


def procedure(which: str) -> Call[Procedure]:
    def read(reply: Mapping[str, Any]) -> Procedure:
        found = dict(reply.get("procedure") or {})
        # `from` is a word of the language.
        found["edges"] = [
            {**edge, "before": edge.get("from"), "after": edge.get("to")} for edge in found.get("edges", [])
        ]
        return decode(Procedure, found)

    return _procedure("get", _which(which), read)


def paths(
    which: str,
    without: Sequence[Phrase],
    using: Sequence[Phrase],
    before: Sequence[tuple[Phrase, Phrase]],
    after: Sequence[tuple[Phrase, Phrase]],
    done: Sequence[str],
    max_steps: int | None,
    max: int | None,
) -> Call[Ways]:
    fields = {
        **_which(which),
        "without": list(without) or None,
        "with": list(using) or None,
        "before": [list(pair) for pair in before] or None,
        "after": [list(pair) for pair in after] or None,
        "done": list(done) or None,
        "max_steps": max_steps,
        "max": max,
    }
    return _procedure("paths", fields, lambda reply: decode(Ways, reply))


def next_steps(which: str, done: Sequence[str], k: int | None) -> Call[Listing[NextStep]]:
    fields = {**_which(which), "done": list(done), "k": k}
    return _procedure("next", fields, lambda reply: decode_list(NextStep, reply.get("next")))


def missing(which: str, done: Sequence[str]) -> Call[Missing]:
    return _procedure("missing", {**_which(which), "done": list(done)}, lambda reply: decode(Missing, reply))


def alternatives(which: str, blocked: Sequence[str], done: Sequence[str], max: int | None) -> Call[Alternatives]:
    def read(reply: Mapping[str, Any]) -> Alternatives:
        others = [{**other, "uses": other.get("with")} for other in reply.get("others") or []]
        return decode(Alternatives, {**reply, "others": others})

    fields = {**_which(which), "blocked": list(blocked) or None, "done": list(done) or None, "max": max}
    return _procedure("alternatives", fields, read)


def behaviours(person: str) -> Call[Listing[ProcedureSummary]]:
    def read(reply: Mapping[str, Any]) -> Listing[ProcedureSummary]:
        return decode_list(ProcedureSummary, reply.get("procedures"))

    return _procedure("behaviours", {"person": person}, read)


def draw(which: str, format: Literal["svg", "dot"], max_steps: int | None) -> Call[Picture]:
    fields = {**_which(which), "format": format, "max_steps": max_steps}
    return _procedure("show", fields, lambda reply: decode(Picture, reply))


# Looking after the agent.


def recording(on: bool) -> Call[bool]:
    return Call("cmd/resume" if on else "cmd/pause", {}, lambda reply: bool(reply.get("paused")), repeatable=False)


def reload() -> Call[Reloaded]:
    return Call("cmd/reload", {}, lambda reply: decode(Reloaded, reply), repeatable=False)


def instance() -> Call[Instance]:
    return Call("cmd/instance", {}, lambda reply: decode(Instance, reply))


def compact() -> Call[Compacted]:
    return Call("cmd/compact", {}, lambda reply: decode(Compacted, reply), repeatable=False, long=True)


def snapshot() -> Call[Snapshot]:
    return Call("cmd/snapshot", {}, lambda reply: decode(Snapshot, reply), repeatable=False, long=True)


def backup(file: str | None, replace: bool) -> Call[Backup]:
    fields = without_nones({"file": file, "replace": replace or None})
    return Call("cmd/backup", fields, lambda reply: decode(Backup, reply), repeatable=False, long=True)


def restore(file: str) -> Call[Backup]:
    return Call("cmd/restore", {"file": file}, lambda reply: decode(Backup, reply), repeatable=False, long=True)


def export(dir: str | None) -> Call[Export]:
    fields = without_nones({"dir": dir})
    return Call("cmd/export", fields, lambda reply: decode(Export, reply), repeatable=False, long=True)


def command(name: str, body: Mapping[str, Any], long: bool) -> Call[dict[str, Any]]:
    return Call(f"cmd/{name}", dict(body), dict, repeatable=False, long=long)


# What comes by itself.


def read_health(payload: bytes) -> Health:
    try:
        return decode(Health, json.loads(payload))
    except ValueError as error:
        raise ProtocolError(f"the health report is not JSON: {error}") from error


def read_news(about: str, payload: bytes) -> News | None:
    """Reads an announcement; `None` if it is not JSON, as whatever else is written there by anybody."""
    try:
        body = json.loads(payload)
        fields = body if isinstance(body, dict) else {"rejected": body}
        fields = {"type": "rejected", **fields} if about == "rejected" else fields
        named = {name: fields[name] for name in ("type", "id", "name", "goal") if isinstance(fields.get(name), str)}
        return News(about=about, **named, raw=fields)
    except ValueError:
        return None
