"""What people see, and how replies are read: without an agent."""

from __future__ import annotations

import contextlib
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

import engram
from engram import Answer, Observation, _calls
from engram._json import decode, read_time, write_time
from engram.errors import request_error

REPLY: dict[str, Any] = {
    "question": "Where is the mug?",
    "answer": "On the <shelf>",
    "choice": None,
    "confidence": 0.951,
    "route": "detailed",
    "reason": "told",
    "intent": "factual",
    "modality": "audiovisual",
    "evidence": [
        {
            "event": "ev-42",
            "episode": "ep-12",
            "kind": "text",
            "start": "2026-11-20T08:00:00+01:00",
            "end": "2026-11-20T08:00:06.8+01:00",
            "modality": "audio",
            "text": "Anna: <script>on the shelf</script>",
            "entity": "Anna",
            "place": "kitchen",
            "attributes": {"place": "kitchen"},
            "score": 1,
            "media": "http://robot:9465/m.mkv#t=3.2",
            "media_start_s": 3.2,
            "observations": ["asr-1"],
            "pose": {"frame": "map", "x": 1.0, "y": 2.0, "z": 0.0, "yaw": 0.5, "covariance": None, "of": "robot"},
            "mood": {"not": "known here"},
        }
    ],
    "degraded": ["speech recognition: model not installed"],
    "elapsed_ms": {"total": 4.1, "classify": 0.1, "retrieve": 2.9, "reason": 1.1},
    "trace": [],
}


def test_an_answer_reads_well_in_a_terminal() -> None:
    answer = decode(Answer, REPLY)
    assert str(answer) == (
        "On the <shelf>  (95% sure)\n"
        "  1. 2026-11-20 08:00:00 to 08:00:06  Anna: <script>on the shelf</script>  [kitchen, ev-42]\n"
        "  without speech recognition: model not installed"
    )
    assert repr(answer) == "<Answer 'On the <shelf>', 95% sure, 1 of evidence>"
    assert repr(answer.evidence[0]).startswith("<Evidence 2026-11-20")


def test_an_answer_is_safe_in_a_notebook() -> None:
    html = decode(Answer, REPLY)._repr_html_()
    assert "<script>" not in html
    assert "On the &lt;shelf&gt;" in html
    assert 'href="http://robot:9465/m.mkv#t=3.2"' in html
    bad = {**REPLY, "evidence": [{**REPLY["evidence"][0], "media": "javascript:alert(1)"}]}
    assert "href" not in decode(Answer, bad)._repr_html_()


def test_fields_that_this_package_does_not_know_are_kept() -> None:
    assert decode(Answer, REPLY).evidence[0].raw["mood"] == {"not": "known here"}
    body = Observation("a mug", extra={"mood": {"calm": 1.0}}).to_json("detector")
    assert (body["mood"]["calm"], body["source"]) == (1.0, "detector")


@pytest.mark.parametrize(
    "broken", [{"answer": 3}, {"evidence": {}}, {"evidence": [{"event": "ev-1"}]}, {"question": None}]
)
def test_a_reply_that_breaks_the_contract_is_a_protocol_error(broken: dict[str, Any]) -> None:
    with pytest.raises(engram.ProtocolError):
        decode(Answer, {**REPLY, **broken})


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2026-11-20T08:00:00Z", datetime(2026, 11, 20, 8, tzinfo=timezone.utc)),
        ("2026-11-20T08:00:06.8+01:00", datetime(2026, 11, 20, 8, 0, 6, 800_000, timezone(timedelta(hours=1)))),
        ("2026-11-20T08:00:00.123456789-05:30", datetime(2026, 11, 20, 13, 30, 0, 123_456, timezone.utc)),
        ("-000100-01-01T00:00:00Z", datetime.min.replace(tzinfo=timezone.utc)),
    ],
)
def test_times_are_read(text: str, wanted: datetime) -> None:
    assert read_time(text) == wanted


JUNK: list[Any] = [None, 3, "x", True, [], [1], {}, {"id": 1}, [{}], [{"index": "x"}], [{"error": 3}], {"edges": 3}]


def test_whatever_a_reply_holds_it_is_read_or_a_protocol_error() -> None:
    every: list[_calls.Call[Any]] = [
        _calls.ask("what?", [], None, None, None, None, None, None, False, None),
        _calls.observe_one(Observation("a mug"), None),
        *_calls.observe_batches(["a mug"], None),
        _calls.episodes(None, None, None, None, None, None, 1),
        _calls.search("mug", None, None, None),
        _calls.episode("ep-1", None),
        _calls.event("ev-1"),
        _calls.facts(None, False, None),
        _calls.gists("day", None, None, None),
        _calls.entities(None),
        _calls.places(None),
        _calls.name_place("kitchen", None),
        _calls.name_entity("e-1", "Anna"),
        _calls.forget("forget", None, "Anna", None, None),
        _calls.procedures(None, None),
        _calls.procedure("make tea"),
        _calls.paths("make tea", [], [], [], [], [], None, None),
        _calls.next_steps("make tea", [], None),
        _calls.missing("make tea", []),
        _calls.alternatives("make tea", [], [], None),
        _calls.behaviours("Anna"),
        _calls.draw("make tea", "svg", None),
        _calls.instance(),
        _calls.backup(None, False),
        _calls.export(None),
    ]
    names = [
        "rejected",
        "accepted",
        "duplicates",
        "episodes",
        "episode",
        "event",
        "facts",
        "gists",
        "persons",
        "procedures",
        "count",
        "found",
        "words",
    ]
    names += [
        "procedure",
        "paths",
        "next",
        "missing",
        "others",
        "evidence",
        "question",
        "shown",
        "error",
        "file",
        "dir",
    ]
    for call in every:
        for name in names:
            for value in JUNK:
                with contextlib.suppress(engram.ProtocolError, engram.RequestError, engram.Rejected):
                    call.result({"accepted": 1, "duplicates": 0, "question": "what?", name: value})


def test_a_deadline_is_waited_for() -> None:
    assert _calls.patience(None, 10) == 10
    assert _calls.patience(3, 10) == 10
    assert _calls.patience(timedelta(seconds=30), 10) == 31


def test_times_are_written() -> None:
    now = datetime(2026, 11, 20, 8, tzinfo=timezone.utc)
    assert write_time(timedelta(hours=2), now) == "2026-11-20T06:00:00+00:00"
    assert write_time("2h") == "2h"
    assert datetime.fromisoformat(write_time(datetime(2026, 11, 20, 8))).tzinfo is not None
    with pytest.raises(engram.ProtocolError):
        read_time("yesterday")


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("bad_request", engram.BadRequest),
        ("too_large", engram.TooLarge),
        ("busy", engram.Busy),
        ("deadline", engram.DeadlineExceeded),
        ("forbidden", engram.Forbidden),
        ("storage_full", engram.StorageFull),
        ("internal", engram.InternalError),
        ("of_tomorrow", engram.RequestError),
    ],
)
def test_each_code_has_its_exception(code: str, kind: type[engram.RequestError]) -> None:
    error = request_error({"code": code, "message": "why"})
    assert type(error) is kind
    assert (error.code, str(error)) == (code, f"why ({code})")


def test_a_way_reads_well() -> None:
    assert str(engram.Way(steps=("boil", "pour"), probability=0.4, seen=1)) == "boil → pour  (40%, seen 1 time)"
    assert str(engram.Ways()) == "no way fulfils the conditions"


def test_announcements_that_are_no_json_are_passed_over() -> None:
    assert _calls.read_news("episode", b"\xff") is None
    news = _calls.read_news("procedure", b'{"type": "new", "id": "p-7", "goal": "make tea", "steps": 3}')
    assert str(news) == "procedure new p-7 make tea"


def test_the_plain_and_the_asyncio_client_have_the_same_methods() -> None:
    def methods(one: type[Any]) -> set[str]:
        return {name for name in vars(one) if not name.startswith("_")}

    assert methods(engram.Memory) == methods(engram.AsyncMemory)
