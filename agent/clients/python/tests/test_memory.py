"""What a program does with a running agent."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any, get_args

import pytest
from stage import SOON, Agent, Broker, until

import engram
from engram import Kind, Memory, Near, Observation, Pose

DAY = datetime(2025, 3, 3, 8, tzinfo=timezone.utc)


def test_what_is_told_is_answered_with_its_evidence(memory: Memory) -> None:
    told = Observation(
        "I put the yellow umbrella into the wardrobe.", entity="Anna", attributes={"place": "hall"}, at=DAY
    )
    assert memory.observe(told).accepted == 1
    answer = memory.ask("Where is the yellow umbrella?")
    assert answer
    assert "wardrobe" in str(answer.answer)
    evidence = answer.evidence[0]
    assert (evidence.entity, evidence.place, evidence.kind, evidence.start) == ("Anna", "hall", "text", DAY)
    assert evidence.observations == (told.id,)
    assert memory.event(evidence.event).observation == told.id
    assert answer.elapsed_ms.total > 0
    assert answer.raw["intent"] == answer.intent


def test_every_kind_is_taken(memory: Memory) -> None:
    for kind in get_args(Kind):
        receipt = memory.observe(
            f"a walrus of kind {kind}", kind=kind, entity="walrus", confidence=0.5, at=DAY, until=DAY
        )
        assert receipt.accepted == 1, kind
    episode = memory.episode(next(memory.episodes(entity="walrus")).id)
    assert {event.kind for event in episode.events if "walrus" in event.text} == set(get_args(Kind))


def test_the_same_observation_counts_once_and_another_text_corrects_it(memory: Memory) -> None:
    told = Observation("the parrot is green", id="parrot-1", at=DAY)
    assert memory.observe(told).accepted == 1
    again = memory.observe(told)
    assert (again.accepted, again.duplicates) == (0, 1)
    assert memory.observe(Observation("the parrot is red", id="parrot-1", at=DAY)).accepted == 1
    assert "red" in str(memory.ask("What colour is the parrot?"))


def test_a_batch_goes_out_in_parts_and_its_items_succeed_one_by_one(memory: Memory) -> None:
    told = [Observation(f"bead number {number}", source="beads", at=DAY) for number in range(1203)]
    told[7] = Observation(" ", source="beads")
    told[1100] = Observation("late", source="beads", at=datetime.now(timezone.utc) + timedelta(days=3))
    receipt = memory.observe_many(told)
    assert (receipt.accepted, receipt.duplicates) == (1201, 0)
    assert [(item.index, item.id) for item in receipt.rejected] == [(7, told[7].id), (1100, told[1100].id)]
    assert memory.observe_many(told).duplicates == 1201
    with pytest.raises(engram.Rejected, match="`text` is empty"):
        receipt.check()


def test_a_batch_of_large_texts_stays_below_what_the_agent_takes(memory: Memory) -> None:
    assert memory.observe_many("x" * 30_000 for _ in range(60)).accepted == 60


def test_a_wrong_observation_says_what_is_wrong(memory: Memory) -> None:
    wrong: Any = "smell"
    with pytest.raises(engram.Rejected, match="`kind` must be one of") as caught:
        memory.observe("burnt toast", kind=wrong)
    assert isinstance(caught.value.receipt.rejected[0].error, engram.BadRequest)


def test_without_evidence_there_is_no_answer(memory: Memory) -> None:
    answer = memory.ask("Who stole the diamond of the maharaja?")
    assert not answer
    assert (answer.answer, answer.route) == (None, "none")
    assert str(answer).startswith("No answer: ")


def test_a_pose_comes_back_with_the_answer_and_a_circle_limits_what_is_searched(memory: Memory) -> None:
    there, here = Pose(2.0, 3.0, 0.5, covariance=(0.1, 0.1, 0.1)), Pose(40.0, 3.0)
    memory.observe("The tuba is behind the sofa.", at=DAY, pose=there)
    memory.observe("The tuba is under the stairs.", at=DAY + timedelta(hours=1), pose=here)
    answer = memory.ask("Where is the tuba?")
    assert answer.pose is not None
    assert (answer.pose.frame, answer.pose.x, answer.pose.of) == ("map", 40.0, "thing")
    before = memory.ask("Where was the tuba?", near=Near(2, 2, 3))
    assert "sofa" in str(before.answer)
    assert before.evidence[0].pose is not None
    assert (before.evidence[0].pose.yaw, len(before.evidence[0].pose.covariance or ())) == (0.5, 9)
    found = list(memory.episodes(near=(40, 3, 1)))
    assert [episode.pose.x for episode in found if episode.pose] == [40.0]
    with pytest.raises(engram.BadRequest, match=r"near\.radius"):
        memory.ask("Where was the tuba?", near=(0, 0, 0))
    with pytest.raises(engram.Rejected, match=r"pose\.x"):
        memory.observe("a tuba", pose=Pose(1e7, 0.0))


def test_the_robots_own_pose_is_attached_to_what_is_told(memory: Memory) -> None:
    with pytest.raises(ValueError, match="finite"):
        memory.publish_pose(Pose(float("nan"), 0.0))
    with pytest.raises(ValueError, match="frame"):
        memory.publish_pose({"x": 1.0, "y": 2.0})
    memory.wait_until_online()
    # Messages of one connection come in their order.
    assert memory.publish_pose(Pose(70.0, 5.0, 0.5), at=time.time())
    named = memory.name_place("boathouse")
    assert named.pose is not None
    assert (named.name, named.pose.x, named.pose.of) == ("boathouse", 70.0, "robot")
    there = next(place for place in memory.places() if place.name == "boathouse")
    assert there.pose is not None
    assert (there.named, there.pose.y, there.visits) == (1, 5.0, 1)
    assert str(there).startswith("boathouse: 70.0, 5.0 on map, 1 visit")
    assert [found.event for found in memory.search("boathouse", near=(70, 5, 1)).found] == [named.event]
    assert memory.search("boathouse", near=(0, 0, 1)).count == 0
    renamed = memory.name_place("ferry house", renames="Boathouse")
    assert (renamed.name, renamed.renames, renamed.pose) == ("ferry house", "boathouse", None)
    there = next(place for place in memory.places() if place.name == "ferry house")
    assert (there.pose is not None, there.known_by) == (True, "pose")
    with pytest.raises(engram.BadRequest, match="boathouse"):
        memory.name_place("quay", renames="boathouse")


def test_a_choice_names_its_option(memory: Memory) -> None:
    memory.observe("The accordion is in the cellar.", at=DAY)
    answer = memory.ask("Where is the accordion?", options=["in the attic", "in the cellar"])
    assert (answer.choice, answer.option) == (1, "in the cellar")


def test_a_time_limits_what_is_searched(memory: Memory) -> None:
    memory.observe("The trombone is in the shed.", at=DAY)
    memory.observe("The trombone is in the loft.", at=timedelta(minutes=10))
    now = memory.ask("Where is the trombone?", since=timedelta(hours=1), trace=True, top_k=1, deadline=20)
    assert "loft" in str(now.answer)
    assert len(now.evidence) == 1
    assert now.trace
    then = memory.ask("Where is the trombone?", until=DAY + timedelta(hours=1), deadline=timedelta(seconds=20))
    assert "shed" in str(then.answer)


def test_episodes_come_page_by_page_and_in_order(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engram._calls, "PAGE", 2)
    for day in range(5):
        memory.observe(f"the tuba was polished {day}", entity="tuba", at=DAY + timedelta(days=day))
    found = list(memory.episodes(entity="tuba"))
    assert [episode.start.day for episode in found] == [7, 6, 5, 4, 3]
    assert [episode.id for episode in memory.episodes(entity="tuba", limit=3)] == [one.id for one in found[:3]]
    assert len(list(memory.episodes(entity="tuba", since=DAY + timedelta(days=3)))) == 2


def test_a_long_episode_comes_whole(memory: Memory) -> None:
    text = "y" * 20_000
    memory.observe_many(Observation(f"{n} {text}", entity="scroll", source="scribe", at=DAY) for n in range(40))
    episode = memory.episode(next(memory.episodes(entity="scroll")).id)
    assert sum(event.source == "scribe" for event in episode.events) == 40


def test_facts_and_names_are_learnt(memory: Memory) -> None:
    memory.observe("The zither is on the piano.", entity="Zoe", at=DAY)
    until("the fact is learnt", lambda: memory.facts("zither"))
    fact = memory.facts("zither")[0]
    assert (fact.kind, fact.value, fact.until) == ("place", "on the piano", None)
    assert memory.event(fact.evidence[0]).text == "The zither is on the piano."
    assert "Zoe" in {entity.name for entity in memory.entities(limit=1000).entities}
    # Somebody who is only told of has no face or voice, so that no person is about them; both names mean the same.
    assert memory.name_entity("Zoe", "Zoe Miller") == []
    assert memory.forget_preview(entity="Zoe Miller").events == 1


def test_hours_and_days_are_summarised_with_their_events(memory: Memory) -> None:
    memory.observe(Observation("Ines tunes the lute", kind="caption", at=DAY + timedelta(days=30)))
    (day,) = memory.gists("day", since=DAY + timedelta(days=29), until=DAY + timedelta(days=31))
    assert "Ines tunes the lute" in day.summary
    assert day.start <= DAY + timedelta(days=30) < day.end
    assert memory.event(day.lines[0].evidence[0]).text == "Ines tunes the lute"
    (hour,) = memory.gists(since=DAY + timedelta(days=29), until=DAY + timedelta(days=31))
    assert (hour.level, hour.lines[0].topic, hour.lines[0].times) == ("hour", "scene", 1)


def test_events_are_found_by_their_words_with_snippets_and_counts(memory: Memory) -> None:
    memory.observe("Ines hangs the green lantern beside the old well", entity="Ines", kind="action")
    memory.observe("the lanterns are green, the well is dry", kind="state")
    found = memory.search('"green lantern" near/5 well')
    assert (found.count, found.found[0].entity) == (1, "Ines")
    assert found.found[0].marked() == "Ines hangs the [green lantern] beside the old [well]"
    assert memory.search("lantern well -old").count == 1
    assert [word.events for word in memory.search("lantern", order="relevance", limit=1).words] == [2]
    assert not memory.search("lantern zebra")
    with pytest.raises(engram.BadRequest, match="not closed"):
        memory.search('"green lantern')


def tell_tea(memory: Memory) -> None:
    for number, (who, tool) in enumerate([("Anna", "kettle"), ("Anna", "kettle"), ("Ben", "microwave")]):
        steps = [("heat the water", tool), ("put tea into the cup", "spoon"), ("pour", "cup")]
        memory.observe_many(
            Observation(
                f"{text} with the {used}",
                "action",
                who,
                {"session": f"tea-{number}", "task": "make tea", "tool": used},
                at=DAY + timedelta(hours=number, seconds=10 * place),
            )
            for place, (text, used) in enumerate(steps)
        )


def test_how_things_are_done(memory: Memory) -> None:
    tell_tea(memory)
    until("three sessions are learnt", lambda: any(one.sessions == 3 for one in memory.procedures("make tea")))
    tea = memory.procedure("make tea")
    assert tea.named
    assert {"START", "GOAL"} < {step.text for step in tea.steps}
    assert memory.procedure(tea.id).goal == "make tea"
    ways = memory.paths("make tea", without=["kettle"])
    assert [way.steps[0] for way in ways.paths] == ["heat the water with the microwave"]
    assert memory.paths("make tea", without=[{"tool": "kettle"}], using=["microwave"], max_steps=5, max=1).paths
    assert not memory.paths("make tea", before=[("pour", "heat")]).paths
    assert memory.paths("make tea", after=[("pour", "heat")]).paths
    step = memory.next_steps("make tea", ["heat the water with the kettle"], k=1)[0]
    assert (step.step, step.probability > 0.5) == ("put tea into the cup with the spoon", True)
    missing = memory.missing("make tea", ["heat the water with the kettle"])
    assert [one.step for one in missing.missing][-1] == "pour with the cup"
    assert "spoon" in {thing.name for thing in missing.things}
    around = memory.alternatives("make tea", blocked=["kettle"])
    assert around.blocked == ("heat the water with the kettle",)
    assert around.paths
    assert [one.goal for one in memory.behaviours("Ben")] == ["make tea"]
    assert memory.draw("make tea")._repr_svg_()
    assert str(memory.draw("make tea", format="dot")).startswith("digraph")
    with pytest.raises(engram.BadRequest):
        memory.procedure("fly to the moon")


def test_forgetting_shows_first_and_then_hides(memory: Memory) -> None:
    memory.observe("The bassoon is under the bed.", entity="Bert", at=DAY)
    preview = memory.forget_preview(entity="bassoon")
    assert (preview.events, preview.shown[0].text) == (1, "The bassoon is under the bed.")
    assert memory.ask("Where is the bassoon?")
    assert memory.forget(entity="bassoon").events == 1
    assert not memory.ask("Where is the bassoon?")
    with pytest.raises(engram.BadRequest, match="exactly one of"):
        memory.forget()


def test_saving_and_restoring(memory: Memory) -> None:
    memory.observe("The lute is in the tower.", at=DAY)
    saved = memory.backup("lute.backup")
    assert saved.file.endswith("lute.backup")
    assert saved.events > 0
    with pytest.raises(engram.RequestError):
        memory.backup("lute.backup")
    memory.forget(entity="lute")
    assert memory.restore("lute.backup").events == saved.events
    assert "tower" in str(memory.ask("Where is the lute?"))
    assert memory.export("lute").told > 0
    assert memory.snapshot().events > 0
    assert memory.compact().rows > 0
    with pytest.raises(engram.BadRequest, match="not a plain name"):
        memory.backup("../lute")


def test_the_agent_says_how_it_is(memory: Memory) -> None:
    memory.wait_until_online(SOON)
    assert memory.status == "online"
    health = memory.health()
    instance = memory.instance()
    assert (health.instance, instance.robot) == (instance.instance, "kitchen")
    assert health.memory.seq >= 0
    assert any("text embedding" in reason for reason in health.degraded)
    assert "observations" in str(health)
    memory.pause()
    until("health says paused", lambda: memory.health().paused)
    memory.resume()
    until("health says resumed", lambda: not memory.health().paused)
    assert memory.reload().restart == ()
    assert memory.command("instance")["robot"] == "kitchen"


def test_news_comes_to_who_listens(memory: Memory, agent: Agent) -> None:
    with memory.news("episode", "procedure") as news, agent.memory() as other:
        other.observe("a gong", kind="sound", source="ear", at=DAY + timedelta(days=30))
        item = news.get(SOON)
        assert (item.about, item.type) == ("episode", "new")
        assert memory.episode(str(item.id)).events[0].text == "a gong"
        with agent.memory() as third, third.news("rejected") as refused, pytest.raises(engram.TimedOut):
            refused.get(0.01)


def test_errors_name_the_code_of_the_contract(memory: Memory) -> None:
    with pytest.raises(engram.BadRequest, match="there is no event ev-999999"):
        memory.event("ev-999999")
    with pytest.raises(engram.TooLarge, match="and 65536 is the most"):
        memory.ask("why? " * 20_000)
    with pytest.raises(engram.BadRequest, match="`since` is later than `until`"):
        memory.ask("what?", since=DAY, until=DAY - timedelta(days=1))
    with pytest.raises(engram.BadRequest, match="there is no command `dance`"):
        memory.command("dance")


def test_what_is_denied_says_how_to_allow_it(broker: Broker, hire: Callable[..., Agent]) -> None:
    agent = hire(broker, allow=False).online()
    with agent.memory() as memory, pytest.raises(engram.Forbidden, match=r"mqtt\.allow\.forget = true"):
        memory.forget(entity="Anna")


def test_threads_share_one_memory_and_clients_one_agent(memory: Memory, agent: Agent) -> None:
    wrong: list[object] = []

    def work(memory: Memory, name: str) -> None:
        try:
            memory.observe(f"The harp is in the {name}.", source=name, entity=name, at=DAY)
            for _ in range(5):
                answer = memory.ask("Where is the harp?", options=[name, "the moon"])
                if answer.option != name:
                    wrong.append(answer)
        except Exception as error:
            wrong.append(error)

    with agent.memory() as other:
        names = ["garden", "kitchen", "cellar", "attic", "garage", "stable"]
        threads = [
            threading.Thread(target=work, args=(one, name))
            for one, name in zip([memory, other] * 3, names, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


def test_brokers_of_the_older_protocol_are_served(agent: Agent) -> None:
    with agent.memory(protocol="3.1.1") as memory, memory.news("episode") as news:
        assert memory.observe("The oboe is in the car.", source="old", at=DAY).accepted == 1
        assert memory.observe_many(Observation(f"reed {n}", source="old", at=DAY) for n in range(3)).accepted == 3
        assert "car" in str(memory.ask("Where is the oboe?"))
        assert news.get(SOON).about == "episode"
        with pytest.raises(engram.AgentOffline):
            Memory("nobody", port=agent.port, protocol="3.1.1", timeout=0.5).ask("Is anybody there?")


def test_a_closed_memory_says_so(agent: Agent) -> None:
    memory = agent.memory()
    news = memory.news()
    memory.close()
    memory.close()
    with pytest.raises(engram.Closed):
        memory.ask("Where is the mug?")
    assert list(news) == []


@pytest.mark.parametrize("name", ["a/b", "", " ", "$SYS", "a+"])
def test_names_that_are_no_topic_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="`root` is"):
        Memory("kitchen", root=name)
