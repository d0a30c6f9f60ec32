"""The same with asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from stage import SOON, Agent, Broker

import engram
from engram import AsyncMemory, Observation, Pose

DAY = datetime(2025, 3, 3, 8, tzinfo=timezone.utc)


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 2 * SOON))


def memory_of(agent: Agent) -> AsyncMemory:
    return AsyncMemory(agent.robot, port=agent.port, timeout=SOON)


def test_telling_and_asking(agent: Agent) -> None:
    async def story() -> None:
        async with memory_of(agent) as memory:
            await memory.wait_until_online(SOON)
            assert memory.status == "online"
            told = [Observation(f"The compass is in drawer {n}.", source="desk", at=DAY, id=f"c-{n}") for n in range(3)]
            assert (await memory.observe_many(told)).accepted == 3
            assert (await memory.observe(told[0])).duplicates == 1
            answer = await memory.ask("Where is the compass?", top_k=3)
            assert answer
            assert (await memory.event(answer.evidence[0].event)).source == "desk"
            episodes = [one async for one in memory.episodes(until=DAY + timedelta(days=1), limit=1000)]
            whole = [await memory.episode(one.id) for one in episodes]
            assert any(event.observation == "c-2" for one in whole for event in one.events)
            assert (await memory.health()).instance == (await memory.instance()).instance
            assert (await memory.snapshot()).events >= 3
            with pytest.raises(engram.BadRequest, match="there is no episode"):
                await memory.episode("ep-999999")
            with pytest.raises(engram.Rejected):
                await memory.observe("")

    run(story())


def test_the_robots_own_pose_is_attached_to_what_is_told(agent: Agent) -> None:
    async def story() -> None:
        async with memory_of(agent) as memory:
            await memory.wait_until_online(SOON)
            # Messages of one connection come in their order; observations take another one to the agent.
            assert await memory.publish_pose(Pose(-70.0, 5.0), at=datetime.now(timezone.utc))
            named = await memory.name_place("jetty")
            assert named.pose is not None
            assert (named.name, named.pose.x) == ("jetty", -70.0)
            assert "jetty" in [place.name for place in await memory.places()]
            assert await memory.publish_pose(Pose(-70.0, 5.5))
            await memory.name_place("mole", Pose(-60.0, 5.0))
            assert (await memory.observe("I leave the oboe here.", source="oboe")).accepted == 1
            told = [one.pose async for one in memory.episodes(near=(-70, 5.5, 0.2)) if one.source == "oboe"]
            assert [pose.of for pose in told if pose] == ["robot"]

    run(story())


def test_many_questions_at_once_each_get_their_own_answer(agent: Agent) -> None:
    async def story() -> None:
        async with memory_of(agent) as memory:
            await memory.observe("The telescope is on the balcony.", at=DAY)
            questions = [f"Where is the telescope, number {n}?" for n in range(50)]
            answers = await asyncio.gather(*(memory.ask(question) for question in questions))
            assert [answer.question for answer in answers] == questions

    run(story())


def test_of_many_questions_at_once_no_more_are_sent_than_the_agent_takes(agent: Agent) -> None:
    async def story() -> None:
        async with memory_of(agent) as memory, memory_of(agent) as listener:
            await memory.observe("The sundial is on the lawn.", at=DAY)
            sent: list[str] = []
            with_all_before_it = asyncio.Event()
            loop = asyncio.get_running_loop()

            def note(topic: str, _payload: bytes) -> None:
                sent.append(topic)
                if topic == "pose":
                    loop.call_soon_threadsafe(with_all_before_it.set)

            listener._link.listen("", note)
            for leaf in ("ask", "pose"):
                await asyncio.wrap_future(listener._link.subscribe(leaf))
            agent.freeze()
            try:
                answers = asyncio.gather(*(memory.ask("Where is the sundial?") for _ in range(100)))
                await asyncio.sleep(0)
                assert await memory.publish_pose(Pose(1.0, 2.0))
                await asyncio.wait_for(with_all_before_it.wait(), SOON)
                assert sent.count("ask") == 16
            finally:
                agent.thaw()
            assert all("lawn" in str(answer) for answer in await answers)

    run(story())


def test_a_cancelled_question_harms_no_other(agent: Agent) -> None:
    async def story() -> None:
        async with memory_of(agent) as memory:
            await memory.observe("The globe is on the desk.", at=DAY)
            agent.freeze()
            try:
                given_up = asyncio.ensure_future(memory.ask("Where is the globe?"))
                kept = asyncio.ensure_future(memory.ask("Where is the globe?"))
                with pytest.raises(engram.TimedOut):
                    await memory.ask("Where is the globe?", timeout=0.2)
                given_up.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await given_up
            finally:
                agent.thaw()
            assert "desk" in str(await kept)
            assert "desk" in str(await memory.ask("Where is the globe?"))

    run(story())


def test_news_comes_to_who_listens(agent: Agent) -> None:
    async def story() -> None:
        async with memory_of(agent) as memory, memory.news("episode") as news:
            await memory.observe("a drum", kind="sound", source="async ear", at=DAY)
            assert (await news.get(SOON)).about == "episode"
            with pytest.raises(engram.TimedOut):
                async with memory.news("rejected") as refused:
                    await refused.get(0.01)
            await memory.observe("a fanfare", kind="sound", source="second ear", at=DAY + timedelta(days=2))
            async for item in news:
                assert item.about == "episode"
                break

    run(story())


def test_closing_ends_what_waits(agent: Agent) -> None:
    async def story() -> None:
        memory = memory_of(agent)
        await memory.wait_until_online(SOON)
        async with memory.news() as news:
            agent.freeze()
            try:
                question = asyncio.ensure_future(memory.ask("Where is the globe?"))
                listener = asyncio.ensure_future(news.get())
                await asyncio.sleep(0)
                await memory.close()
            finally:
                agent.thaw()
            with pytest.raises(engram.Closed):
                await question
            with pytest.raises(engram.Closed):
                await listener
            assert [item async for item in news] == []

    run(story())


def test_the_agent_may_come_later(broker: Broker, hire: Callable[..., Agent]) -> None:
    agent = hire(broker)

    async def story() -> None:
        async with memory_of(agent) as memory:
            with pytest.raises(engram.AgentOffline):
                await memory.ask("Is anybody there?")
            with pytest.raises(engram.AgentOffline):
                await memory.wait_until_online(0.1)
            agent.start()
            await memory.wait_until_online(SOON)
            assert (await memory.observe("somebody came")).accepted == 1

    run(story())
