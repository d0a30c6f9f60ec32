"""The memory of a robot, for programs with asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import math
import ssl
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from dataclasses import replace
from datetime import timedelta
from types import TracebackType
from typing import Any, Literal, TypeVar

from . import _calls as calls
from ._address import TLS
from ._calls import Call, Phrase
from ._display import Listing
from ._inner import LONG_TIMEOUT, NEWS, TIMEOUT, is_online, make_address, text_of
from ._json import When
from ._link import Link
from ._pending import Pending
from .errors import Closed, TimedOut
from .observing import Kind, Observation, Receipt, Told, said
from .posing import Circle, Pose, write_robot_pose
from .procedures import Alternatives, Missing, NextStep, Picture, Procedure, ProcedureSummary, Ways
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


class AsyncMemory:
    """The memory of one robot, as `Memory`, for asyncio. Many requests may wait for their replies at once.

    ::

        async with AsyncMemory("kitchen") as memory:
            await memory.observe("I put the blue mug on the shelf.", entity="Anna")
            print(await memory.ask("Where is the blue mug?"))
    """

    def __init__(
        self,
        robot: str | None = None,
        host: str = "localhost",
        port: int | None = None,
        *,
        username: str | None = None,
        password: str | None = None,
        tls: bool | TLS | ssl.SSLContext = False,
        source: str | None = None,
        timeout: float = TIMEOUT,
        root: str = "engram",
        protocol: Literal["5", "3.1.1"] = "5",
    ) -> None:
        """Names the robot and its broker, as `Memory` does. Nothing is waited for here, and no event loop is needed."""
        self._timeout = timeout
        self._source = source
        self._link = Link(make_address(robot, host, port, username, password, tls, root, protocol))

    # The connection.

    async def close(self) -> None:
        """Takes leave of the broker. Requests that wait fail with `Closed`."""
        await asyncio.to_thread(self._link.close)

    async def __aenter__(self) -> AsyncMemory:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        address = self._link.address
        return f"<AsyncMemory of {address.robot!r} on {address.host}:{address.port}, {self.status or 'status unknown'}>"

    @property
    def robot(self) -> str:
        """The robot's name."""
        return self._link.address.robot

    @property
    def status(self) -> str | None:
        """What the agent last said: `online`, `offline` or `stopped`; `None` before anything came."""
        return text_of(self._link.retained("status"))

    async def wait_until_online(self, timeout: float | None = None) -> None:
        """Waits until the agent is there, however often the broker has to be tried; without `timeout` for ever.

        :raises ConnectionFailed: if there is no broker after `timeout` seconds.
        :raises AgentOffline: if there is a broker and no agent.
        """
        if not await self._wait_for(lambda: is_online(self._link), timeout):
            raise Closed("this memory is closed") if self._link.closed else self._link.offline()

    async def _run(self, call: Call[T], timeout: float | None) -> T:
        seconds = self._timeout if timeout is None else timeout
        expiry_s = call.expiry_s(seconds)
        pending = self._link.send(call.leaf, call.body, repeatable=call.repeatable, expiry_s=expiry_s)
        try:
            if call.long:
                # Until it has begun as for any request, then as long as it takes.
                await self._wait(pending, pending.begun, seconds)
                seconds = LONG_TIMEOUT if timeout is None else timeout
            return call.result(await self._wait(pending, pending.reply, seconds))
        finally:
            self._link.abandon(pending)

    async def _wait(self, pending: Pending, what: Future[T], seconds: float) -> T:
        await _seen(what, seconds)
        if not what.done():
            raise self._link.overdue(pending, seconds)
        return what.result()

    # Telling.

    async def observe(
        self,
        text: Told,
        *,
        kind: Kind = "text",
        entity: str | None = None,
        attributes: Mapping[str, Any] | None = None,
        confidence: float | None = None,
        at: When | None = None,
        until: When | None = None,
        source: str | None = None,
        id: str | None = None,
        pose: Pose | Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Receipt:
        """Tells one observation: a text and what is known of it, or an `Observation`. Returns after the commit.

        Without `at` it happened now, by this machine's clock.

        :raises Rejected: if Engram does not accept it.
        """
        if isinstance(text, Observation):
            observation = text
        else:
            observation = Observation(
                text,
                kind,
                entity,
                attributes or {},
                confidence,
                **said(at=at, until=until, source=source, id=id, pose=pose),
            )
        return await self._run(calls.observe_one(observation, self._source), timeout)

    async def observe_many(self, told: Iterable[Told], *, timeout: float | None = None) -> Receipt:
        """Tells any number of observations, in batches. They succeed one by one: look at `rejected` of the receipt.

        :param timeout: seconds for each batch.
        """
        receipt = Receipt()
        for call in calls.observe_batches(told, self._source):
            receipt += await self._run(call, timeout)
        return receipt

    async def publish_pose(self, pose: Pose | Mapping[str, Any], *, at: When | float | None = None) -> bool:
        """Says where the robot is, at up to 50 Hz. Nothing is waited for: a pose that is lost is followed by the next.

        Engram keeps none of them; what is observed without a pose gets the robot's.

        :param at: when the robot was there: a time, or seconds since 1970; without it, now.
        :return: whether there is a connection to send it on.
        :raises ValueError: if a number is none, or the frame is empty.
        """
        return self._link.tell("pose", write_robot_pose(pose, at))

    # Asking.

    async def ask(
        self,
        question: str,
        *,
        options: Sequence[str] = (),
        since: When | None = None,
        until: When | None = None,
        now: When | None = None,
        near: Circle | None = None,
        top_k: int | None = None,
        deadline: float | timedelta | None = None,
        trace: bool = False,
        extra: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Answer:
        """Asks in plain words.

        :param options: texts to choose from.
        :param since: only what happened from then on; a `timedelta` counts back from now.
        :param until: only what happened until then.
        :param now: what "yesterday" counts from.
        :param near: only what happened in this circle on a map: a `Near`, or x, y and radius in metres.
        :param top_k: how many items of evidence.
        :param deadline: seconds that the agent may think; this waits at least as long, unless `timeout` says otherwise.
        :param trace: whether to tell the steps.
        :param extra: more fields of the contract, for agents that know more of them than this package.
        """
        call = calls.ask(question, options, since, until, now, near, top_k, deadline, trace, extra)
        return await self._run(call, calls.patience(deadline, self._timeout) if timeout is None else timeout)

    # Looking into the memory.

    async def search(
        self,
        query: str | None = None,
        *,
        order: Literal["newest", "relevance"] | None = None,
        similar_to: str | None = None,
        likeness: float | None = None,
        near: Circle | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> SearchResult:
        """Searches events for words in any of their forms: `red mug`, `"red mug"`, `-sink`, `mug near/5 sink`,
        `who:Anna`, `kind:action`, `since:2h`, `until:2026-11-20`. Every part must be there.

        :param order: without it, the newest first.
        :param similar_to: only what is like this event (`ev-42`) or episode (`ep-12`), the most alike first; without
            `order`. A query beside it narrows that down.
        :param likeness: the least cosine that counts as alike, 0.5 without it.
        :param near: only what happened in this circle on a map: a `Near`, or x, y and radius in metres.
        :param limit: events at most; all of them are counted.
        :raises BadRequest: if the query cannot be answered; the text says what to change.
        """
        return await self._run(calls.search(query, order, near, limit, similar_to, likeness), timeout)

    async def episodes(
        self,
        *,
        since: When | None = None,
        until: When | None = None,
        entity: str | None = None,
        place: str | None = None,
        near: Circle | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[EpisodeSummary]:
        """Iterates over episodes, newest first; pages are fetched as needed."""
        cursor, left = None, math.inf if limit is None else limit
        while left > 0:
            size = int(min(calls.PAGE, left))
            page, cursor = await self._run(calls.episodes(since, until, entity, place, near, cursor, size), timeout)
            for one in page[:size]:
                yield one
            left -= len(page)
            if cursor is None:
                return

    async def episode(self, id: str, *, timeout: float | None = None) -> Episode:
        """Returns one episode with all its events.

        :raises BadRequest: if there is none with this id.
        """
        episode, cursor = await self._run(calls.episode(id, None), timeout)
        events = list(episode.events)
        while cursor is not None:
            page, cursor = await self._run(calls.episode(id, cursor), timeout)
            events += page.events
        return replace(episode, events=tuple(events))

    async def event(self, id: str, *, timeout: float | None = None) -> Event:
        """Returns one event, for instance of an answer's evidence.

        :raises BadRequest: if there is none with this id.
        """
        return await self._run(calls.event(id), timeout)

    async def facts(
        self, subject: str | None = None, *, past: bool = False, limit: int | None = None, timeout: float | None = None
    ) -> Listing[Fact]:
        """Returns what is held to be so; with `past` also what holds no more."""
        return await self._run(calls.facts(subject, past, limit), timeout)

    async def gists(
        self,
        level: Literal["minute", "hour", "day"] = "hour",
        *,
        since: When | None = None,
        until: When | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> Listing[Gist]:
        """Returns what minutes, hours or days were about, the newest first."""
        return await self._run(calls.gists(level, since, until, limit), timeout)

    async def entities(self, *, limit: int | None = None, timeout: float | None = None) -> Entities:
        """Returns the persons known by face or voice, and the names that events tell."""
        return await self._run(calls.entities(limit), timeout)

    async def places(self, *, limit: int | None = None, timeout: float | None = None) -> Listing[Place]:
        """Returns the places that have a name, with the robot's visits to them."""
        return await self._run(calls.places(limit), timeout)

    async def name_place(
        self,
        name: str,
        pose: Pose | Mapping[str, Any] | None = None,
        *,
        renames: str | None = None,
        timeout: float | None = None,
    ) -> NamedPlace:
        """Names the place where the robot is now, or a pose; or gives the place that is called `renames` a new name."""
        return await self._run(calls.name_place(name, pose, renames), timeout)

    async def name_entity(self, entity: str, name: str, *, timeout: float | None = None) -> Listing[Person]:
        """Gives a person a name. `entity` is an id or a name."""
        return await self._run(calls.name_entity(entity, name), timeout)

    async def merge_entities(
        self, entity: str, same: Sequence[str], *, timeout: float | None = None
    ) -> Listing[Person]:
        """Says that others are the same person."""
        return await self._run(calls.merge_entities(entity, same), timeout)

    async def split_entity(
        self, entity: str, others: Sequence[str], *, timeout: float | None = None
    ) -> Listing[Person]:
        """Says that an anchor, or who was there in an event, is somebody else."""
        return await self._run(calls.split_entity(entity, others), timeout)

    async def forget(
        self,
        *,
        episodes: str | Sequence[str] | None = None,
        entity: str | None = None,
        since: When | None = None,
        until: When | None = None,
        timeout: float | None = None,
    ) -> Forgotten:
        """Hides at once, everywhere and for good: episodes, an entity under all its names, or a stretch of time.

        Give `episodes`, `entity`, or `since` with `until`.
        """
        return await self._run(calls.forget("forget", episodes, entity, since, until), timeout)

    async def forget_preview(
        self,
        *,
        episodes: str | Sequence[str] | None = None,
        entity: str | None = None,
        since: When | None = None,
        until: When | None = None,
        timeout: float | None = None,
    ) -> Forgotten:
        """Returns what `forget` would answer, and the first events that it would hide; hides nothing."""
        return await self._run(calls.forget("forget_preview", episodes, entity, since, until), timeout)

    # How things are done. A procedure is named by its goal, in words that are like it, or by its id.

    async def procedures(
        self, goal_like: str | None = None, *, max: int | None = None, timeout: float | None = None
    ) -> Listing[ProcedureSummary]:
        """Returns the procedures that were learnt."""
        return await self._run(calls.procedures(goal_like, max), timeout)

    async def procedure(self, goal: str, *, timeout: float | None = None) -> Procedure:
        """Returns a procedure with its steps and what leads to what.

        :raises BadRequest: if no goal is like it; the text names the nearest ones.
        """
        return await self._run(calls.procedure(goal), timeout)

    async def paths(
        self,
        goal: str,
        *,
        without: Sequence[Phrase] = (),
        using: Sequence[Phrase] = (),
        before: Sequence[tuple[Phrase, Phrase]] = (),
        after: Sequence[tuple[Phrase, Phrase]] = (),
        done: Sequence[str] = (),
        max_steps: int | None = None,
        max: int | None = None,
        timeout: float | None = None,
    ) -> Ways:
        """Returns the ways to a goal under conditions.

        :param without: what no step may use: words, or one part such as `{"tool": "knife"}`.
        :param using: what some step must use.
        :param before: pairs whose first comes before the second.
        :param after: pairs whose first comes after the second.
        :param done: steps that are done; the ways go on from there.
        """
        return await self._run(calls.paths(goal, without, using, before, after, done, max_steps, max), timeout)

    async def next_steps(
        self, goal: str, done: Sequence[str] = (), *, k: int | None = None, timeout: float | None = None
    ) -> Listing[NextStep]:
        """Returns what usually comes next, most likely first."""
        return await self._run(calls.next_steps(goal, done, k), timeout)

    async def missing(self, goal: str, done: Sequence[str] = (), *, timeout: float | None = None) -> Missing:
        """Returns what is still to be done, and the things that it needs."""
        return await self._run(calls.missing(goal, done), timeout)

    async def alternatives(
        self,
        goal: str,
        *,
        blocked: Sequence[str] = (),
        done: Sequence[str] = (),
        max: int | None = None,
        timeout: float | None = None,
    ) -> Alternatives:
        """Returns ways around what is blocked; without `blocked`, around what memory says is broken or used up."""
        return await self._run(calls.alternatives(goal, blocked, done, max), timeout)

    async def behaviours(self, person: str, *, timeout: float | None = None) -> Listing[ProcedureSummary]:
        """Returns what a person does, most frequent first."""
        return await self._run(calls.behaviours(person), timeout)

    async def draw(
        self,
        goal: str,
        *,
        format: Literal["svg", "dot"] = "svg",
        max_steps: int | None = None,
        timeout: float | None = None,
    ) -> Picture:
        """Draws a procedure. A notebook shows the SVG by itself."""
        return await self._run(calls.draw(goal, format, max_steps), timeout)

    # The agent.

    async def health(self, *, timeout: float | None = None) -> Health:
        """Returns the last health report. The broker keeps it: `status` says whether the agent is still there."""
        seconds = self._timeout if timeout is None else timeout
        deadline = time.monotonic() + seconds
        await self._wait_granted(self._link.subscribe("health"), seconds)
        await self._wait_for(lambda: self._link.retained("health") is not None, deadline - time.monotonic())
        payload = self._link.retained("health")
        if payload is None:
            raise self._link.offline()
        return calls.read_health(payload)

    def news(
        self, *about: Literal["episode", "entity", "procedure", "rejected"], timeout: float | None = None
    ) -> AsyncNewsStream:
        """Listens to what Engram announces: episodes that begin and end, persons, procedures, rejected observations.

        It listens from the moment when the block is entered::

            async with memory.news("episode") as news:
                async for item in news:
                    print(item)

        :param about: what to hear of; without it, everything.
        """
        return AsyncNewsStream(self, about, self._timeout if timeout is None else timeout)

    async def _wait_granted(self, granted: Future[None], timeout: float) -> None:
        await _seen(granted, timeout)
        if not granted.done():
            late = TimedOut(f"the broker did not grant a subscription within {timeout:g} s")
            raise self._link.unreachable() or late
        granted.result()

    async def _wait_for(self, condition: Callable[[], bool], timeout: float | None) -> bool:
        """Waits until `condition` holds, looking again after every change."""
        loop, changed = asyncio.get_running_loop(), asyncio.Event()

        def look() -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(changed.set)

        async def hold() -> None:
            while not (self._link.closed or condition()):
                await changed.wait()
                changed.clear()

        end = self._link.watch(look)
        try:
            await asyncio.wait_for(hold(), timeout)
        except (asyncio.TimeoutError, TimeoutError):
            return False
        finally:
            end()
        return not self._link.closed

    async def instance(self, *, timeout: float | None = None) -> Instance:
        """Returns which memory serves the robot's name, and the version of the agent."""
        return await self._run(calls.instance(), timeout)

    async def pause(self, *, timeout: float | None = None) -> None:
        """Stops recording and perceiving, also over a restart."""
        await self._run(calls.recording(False), timeout)

    async def resume(self, *, timeout: float | None = None) -> None:
        """Starts recording and perceiving again."""
        await self._run(calls.recording(True), timeout)

    async def reload(self, *, timeout: float | None = None) -> Reloaded:
        """Lets the agent read its configuration again."""
        return await self._run(calls.reload(), timeout)

    async def compact(self, *, timeout: float | None = None) -> Compacted:
        """Takes what was forgotten out of the store's file."""
        return await self._run(calls.compact(), timeout)

    async def snapshot(self, *, timeout: float | None = None) -> Snapshot:
        """Saves the index, so that the next start is quick."""
        return await self._run(calls.snapshot(), timeout)

    async def backup(self, file: str | None = None, *, replace: bool = False, timeout: float | None = None) -> Backup:
        """Writes the memory to one file in the agent's directory of backups."""
        return await self._run(calls.backup(file, replace), timeout)

    async def restore(self, file: str, *, timeout: float | None = None) -> Backup:
        """Puts a backup in the place of the memory."""
        return await self._run(calls.restore(file), timeout)

    async def export(self, dir: str | None = None, *, timeout: float | None = None) -> Export:
        """Writes the memory as JSON lines, with its recordings, into the agent's directory of backups."""
        return await self._run(calls.export(dir), timeout)

    async def command(
        self, name: str, body: Mapping[str, Any] | None = None, *, long: bool = False, timeout: float | None = None
    ) -> dict[str, Any]:
        """Gives a command that this package has no method for; returns the reply as it came."""
        return await self._run(calls.command(name, body or {}, long), timeout)


async def _seen(future: Future[Any], timeout: float) -> None:
    """Waits until `future` is done or the time is over. Giving up leaves it alone: others may wait for it too."""
    done: Future[None] = Future()

    def tell(_: Future[Any]) -> None:
        with contextlib.suppress(InvalidStateError):
            done.set_result(None)

    future.add_done_callback(tell)
    mine = asyncio.wrap_future(done)
    try:
        await asyncio.wait([mine], timeout=timeout)
    finally:
        # What comes later finds no loop that may have ended.
        mine.cancel()


class AsyncNewsStream(AsyncIterator[News]):
    """What Engram announces, from `AsyncMemory.news`. It holds the latest thousand items."""

    def __init__(self, memory: AsyncMemory, about: Sequence[str], timeout: float) -> None:
        self._memory = memory
        self._link = memory._link
        self._about = frozenset(about)
        self._timeout = timeout
        self._items: deque[News] = deque()
        self._come = asyncio.Event()
        self._closed = False
        #: How many were dropped because nobody took them in time.
        self.dropped = 0
        self._ends: list[Callable[[], None]] = []

    async def __aenter__(self) -> AsyncNewsStream:
        loop = asyncio.get_running_loop()

        def on_loop(do: Callable[..., None], *arguments: Any) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(do, *arguments)

        def heard(about: str, payload: bytes) -> None:
            item = calls.read_news(about, payload)
            if item is not None and (not self._about or about in self._about):
                on_loop(self._take, item)

        self._ends = [
            self._link.listen("event/", heard),
            self._link.watch(lambda: on_loop(self._come.set) if self._link.closed else None),
        ]
        try:
            await self._memory._wait_granted(self._link.subscribe("event/+"), self._timeout)
        except BaseException:
            self.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _take(self, item: News) -> None:
        if len(self._items) >= NEWS:
            self._items.popleft()
            self.dropped += 1
        self._items.append(item)
        self._come.set()

    async def get(self, timeout: float | None = None) -> News:
        """Returns the next item.

        :raises TimedOut: if none comes within `timeout` seconds.
        :raises Closed: if the memory was closed.
        """
        try:
            return await asyncio.wait_for(self._next(), timeout)
        except (asyncio.TimeoutError, TimeoutError):
            raise TimedOut(f"nothing was announced within {timeout:g} s") from None

    async def _next(self) -> News:
        while not self._items:
            if self._closed or self._link.closed:
                raise Closed("the memory was closed")
            self._come.clear()
            await self._come.wait()
        return self._items.popleft()

    async def __anext__(self) -> News:
        try:
            return await self._next()
        except Closed:
            raise StopAsyncIteration from None

    def close(self) -> None:
        """Ends listening."""
        self._closed = True
        for end in self._ends:
            end()
        self._come.set()
