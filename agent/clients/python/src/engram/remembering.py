"""What Engram gives back: answers, events, episodes, facts, persons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from . import _display as display
from .posing import Pose


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Evidence(display.Line):
    """One remembered event that supports an answer."""

    #: Id of the event, for `Memory.event`.
    event: str
    #: Id of its episode, for `Memory.episode`.
    episode: str
    kind: str
    text: str
    start: datetime
    end: datetime
    #: `visual` or `audio`.
    modality: str = ""
    entity: str | None = None
    place: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    score: float = 0.0
    #: Seconds since the capture session or the file began.
    stream_start_s: float | None = None
    stream_end_s: float | None = None
    #: Where it can be looked at, if it was recorded and the recording is still there.
    media: str | None = None
    #: The second in `media`.
    media_start_s: float | None = None
    #: The senders' own ids.
    observations: tuple[str, ...] = ()
    #: Where it was, or where the robot was.
    pose: Pose | None = None
    #: All fields as Engram sent them.
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        """Says it in a line."""
        return display.event_line(self, self.event)

    def _repr_html_(self) -> str:
        return display.html_events([(self, self.event)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Elapsed:
    """How long the agent took, in milliseconds."""

    total: float = 0.0
    classify: float = 0.0
    retrieve: float = 0.0
    reason: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceStep:
    """One step on the way to an answer."""

    step: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Answer:
    """An answer with its evidence, best first. It is true as a condition if there is an answer."""

    question: str
    #: As short as the question allows; `None` where memory holds no evidence.
    answer: str | None = None
    #: Where to find what a question for a place asks for.
    pose: Pose | None = None
    #: Index of the chosen option.
    choice: int | None = None
    #: How likely the answer is right, from 0 to 1.
    confidence: float = 0.0
    #: Where the answer comes from: `detailed`, `cross_modal`, `symbolic`, `gist` or `none`.
    route: str = "none"
    #: Why this was answered, or why there is no answer. For people: the wording may change.
    reason: str = ""
    intent: str = ""
    modality: str = ""
    evidence: tuple[Evidence, ...] = ()
    #: What this answer had to do without, as `role: reason`.
    degraded: tuple[str, ...] = ()
    elapsed_ms: Elapsed = field(default_factory=Elapsed)
    trace: tuple[TraceStep, ...] = ()
    #: The options of the question.
    options: tuple[str, ...] = ()
    #: All fields as Engram sent them.
    raw: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def option(self) -> str | None:
        """The chosen option."""
        return self.options[self.choice] if self.choice is not None and self.choice < len(self.options) else None

    def __bool__(self) -> bool:
        return self.answer is not None

    def __repr__(self) -> str:
        words = self.answer if self.option is None else self.option
        return f"<Answer {words!r}, {self.confidence:.0%} sure, {len(self.evidence)} of evidence>"

    def __str__(self) -> str:
        """Returns the answer and its evidence, in lines for a terminal."""
        return display.answer_text(self)

    def _repr_html_(self) -> str:
        return display.answer_html(self)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Event(display.Line):
    """One remembered event: something told, seen or heard."""

    id: str
    kind: str
    text: str
    start: datetime
    end: datetime
    #: `told` by a program or `perceived` by Engram itself.
    origin: str = "told"
    #: `visual` or `audio`.
    modality: str = ""
    source: str = ""
    #: The episode it belongs to; an event that came with its episode leaves it out.
    episode: str | None = None
    #: The sender's own id.
    observation: str | None = None
    entity: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    confidence: float = 0.0
    stream_start_s: float | None = None
    stream_end_s: float | None = None
    media: str | None = None
    media_start_s: float | None = None
    #: When Engram received it.
    received: datetime | None = None
    #: Where it was, or where the robot was.
    pose: Pose | None = None
    #: All fields as Engram sent them.
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def place(self) -> str | None:
        """The attribute `place`."""
        place = self.attributes.get("place")
        return place if isinstance(place, str) else None

    def __str__(self) -> str:
        """Says it in a line."""
        return display.event_line(self, self.id)

    def _repr_html_(self) -> str:
        return display.html_events([(self, self.id)])


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class EpisodeSummary(display.Line):
    """A stretch of time that belongs together, with the number of its events."""

    id: str
    start: datetime
    end: datetime
    summary: str = ""
    #: How many events it has.
    events: int = 0
    source: str = ""
    session: str | None = None
    stream_start_s: float | None = None
    stream_end_s: float | None = None
    media: str | None = None
    media_start_s: float | None = None
    degraded: tuple[str, ...] = ()
    #: The first pose among its events.
    pose: Pose | None = None
    #: All fields as Engram sent them.
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        """Says it in a line."""
        return (
            f"{display.span(self.start, self.end)}  {self.summary}  [{self.id}, {display.count(self.events, 'event')}]"
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Episode(display.Lines):
    """A stretch of time that belongs together, with its events."""

    id: str
    start: datetime
    end: datetime
    events: tuple[Event, ...] = ()
    source: str = ""
    session: str | None = None
    stream_start_s: float | None = None
    stream_end_s: float | None = None
    media: str | None = None
    media_start_s: float | None = None
    degraded: tuple[str, ...] = ()
    #: The first pose among its events.
    pose: Pose | None = None
    #: All fields as Engram sent them; of a long episode those of its first page.
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        """Returns the episode and its events, a line each."""
        head = f"{self.id}, {display.span(self.start, self.end)}, {display.count(len(self.events), 'event')}"
        return "\n".join([head, *(f"  {event}" for event in self.events)])

    def _repr_html_(self) -> str:
        return display.html_events([(event, event.id) for event in self.events])


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Found(display.Line):
    """One event that a search for words found."""

    #: Id of the event, for `Memory.event`.
    event: str
    #: Id of its episode, for `Memory.episode`.
    episode: str
    kind: str
    start: datetime
    end: datetime
    #: The words around the hit, on one line.
    snippet: str
    #: Begin and end of everything in `snippet` that was searched for, in characters.
    marks: tuple[tuple[int, ...], ...] = ()
    entity: str | None = None
    source: str = ""
    #: From 0 to 1, in order of relevance or likeness.
    score: float = 0.0
    #: Where it can be looked at, if it was recorded and the recording is still there.
    media: str | None = None
    #: All fields as Engram sent them.
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def marked(self, before: str = "[", after: str = "]") -> str:
        """Returns the snippet with what was searched for between two texts."""
        text, end = "", 0
        for start, stop in self.marks:
            text += self.snippet[end:start] + before + self.snippet[start:stop] + after
            end = stop
        return text + self.snippet[end:]

    def __str__(self) -> str:
        """Says it in a line."""
        who = f"{self.entity}: " if self.entity else ""
        return f"{display.span(self.start, self.end)}  {who}{self.marked()}  [{self.episode}, {self.event}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class WordCount:
    """How common a word of a search is."""

    word: str
    #: How many events hold it, in any of its forms.
    events: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SearchResult(display.Lines):
    """The events that hold what was searched for."""

    #: How many match; `found` are the first of them.
    count: int
    found: tuple[Found, ...] = ()
    #: Every word that events must hold.
    words: tuple[WordCount, ...] = ()
    #: What was left out because it holds only small words, such as "the".
    ignored: tuple[str, ...] = ()
    order: str = ""
    #: How the agent found them: `rank` or `postings`; `ball` by likeness alone.
    plan: str = ""
    #: All fields as Engram sent them.
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __bool__(self) -> bool:
        """Tells whether any event matches."""
        return self.count > 0

    def __str__(self) -> str:
        """Returns a line for each event, and the counts."""
        words = ", ".join(f"{word.word} in {word.events}" for word in self.words)
        head = f"{len(self.found)} of {display.count(self.count, 'event')}" + (f" ({words})" if words else "")
        return "\n".join([head, *(f"  {found}" for found in self.found)])


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Place(display.Line):
    """A place that has a name, with the robot's visits to it."""

    name: str
    #: What tells where it is: `pose` on a map, `events` that happened there, or nothing but `words`.
    known_by: str = "pose"
    #: The middle of where it was named; `None` where no pose is known of it.
    pose: Pose | None = None
    #: How far from the middle it was named, metres.
    radius: float = 0.0
    #: How often it was named; known by words, how often somebody spoke of it.
    named: int = 0
    visits: int = 0
    #: How long the robot was there in all, seconds.
    lasted_s: float = 0.0
    #: The first arrival and the last departure; known by words, when somebody spoke of it.
    first: datetime | None = None
    last: datetime | None = None
    #: All fields as Engram sent them.
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        """Says it in a line."""
        at = f"{self.pose.x:.1f}, {self.pose.y:.1f} on {self.pose.frame}" if self.pose else "without a position"
        when = "" if self.first is None or self.last is None else f"  [{display.span(self.first, self.last)}]"
        return f"{self.name}: {at}, {display.count(self.visits, 'visit')}{when}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPlace:
    """A place that was named just now."""

    name: str
    #: Where; `None` where the robot sends no poses.
    pose: Pose | None = None
    #: The name before, if it had one.
    renames: str | None = None
    #: Id of the event that names it.
    event: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Fact(display.Line):
    """Something that is held to be so, or with `until` was so."""

    #: `place`, `property`, `relation` or `deed`.
    kind: str
    subject: str
    attribute: str
    value: str
    since: datetime
    last: datetime
    until: datetime | None = None
    place: str | None = None
    weight: float = 0.0
    #: Ids of the events that say so.
    evidence: tuple[str, ...] = ()
    #: All fields as Engram sent them.
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        """Says it in a line."""
        if self.kind == "deed":
            return (
                f"{self.value} {self.attribute} {self.subject} {self.place or ''}".rstrip()
                + f"  [{display.time(self.since)}]"
            )
        attribute = "" if self.kind == "place" else f" {self.attribute}"
        ended = "" if self.until is None else f", until {display.time(self.until)}"
        return f"{self.subject}{attribute}: {self.value}  [since {display.time(self.since)}{ended}]"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class GistLine(display.Line):
    """One thing that happened in the time of a gist, told once."""

    #: `scene`, `action`, `task`, `speech`, `state`, `entity`, `sound` or `object`.
    topic: str
    text: str
    first: datetime
    last: datetime
    entity: str | None = None
    times: int = 1
    lasted_s: float = 0.0
    #: Ids of the first events that say so.
    evidence: tuple[str, ...] = ()
    #: All fields as Engram sent them.
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        """Says it in a line."""
        who = "" if self.entity is None else f"{self.entity}: "
        often = "" if self.times == 1 else f" ({self.times} times)"
        return f"{who}{self.text}{often}  [{display.time(self.first)}]"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Gist(display.Line):
    """What a minute, an hour or a day was about."""

    #: `minute`, `hour` or `day`.
    level: str
    start: datetime
    end: datetime
    #: At most 120 words.
    summary: str
    lines: tuple[GistLine, ...] = ()
    #: All fields as Engram sent them.
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        """Says it in a line."""
        return f"{display.span(self.start, self.end)}: {self.summary}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Person(display.Line):
    """Somebody whom Engram knows by face, voice or name."""

    id: str
    name: str | None = None
    aliases: tuple[str, ...] = ()
    faces: int = 0
    voices: int = 0
    #: Ids of what their faces and voices are known by.
    anchors: tuple[str, ...] = ()
    first: datetime | None = None
    last: datetime | None = None
    #: All fields as Engram sent them.
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        """Says it in a line."""
        known = [
            display.count(number, what) for number, what in ((self.faces, "face"), (self.voices, "voice")) if number
        ]
        others = f" ({', '.join(self.aliases)})" if self.aliases else ""
        return f"{self.name or 'somebody'}{others}  [{', '.join([self.id, *known])}]"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Entity(display.Line):
    """A name that events tell."""

    name: str
    events: int = 0
    first: datetime | None = None
    last: datetime | None = None
    #: All fields as Engram sent them.
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        """Says it in a line."""
        return f"{self.name}  [{display.count(self.events, 'event')}]"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Entities(display.Lines):
    """Who and what is known."""

    #: By face and voice, and by a name that was given.
    persons: tuple[Person, ...] = ()
    #: Names that events tell, most frequent first.
    entities: tuple[Entity, ...] = ()
    #: All fields as Engram sent them.
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        """Returns a line for each."""
        return "\n".join(map(str, [*self.persons, *self.entities])) or "nobody is known"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Forgotten(display.Lines):
    """What `forget` hid, or what `forget_preview` would hide."""

    episodes: int = 0
    events: int = 0
    #: Events that stay and may be about it.
    doubtful: int = 0
    #: Ids of the first hundred of them.
    in_doubt: tuple[str, ...] = ()
    #: Recordings that could not be deleted.
    failed: Any = None
    recordings_left: Any = None
    #: The first twenty events that would be hidden; of a preview.
    shown: tuple[Event, ...] = ()
    #: All fields as Engram sent them.
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        """Returns the counts, and a line for each event that is shown."""
        doubt = f"; {display.count(self.doubtful, 'event')} may be about it and stay" if self.doubtful else ""
        counts = f"{display.count(self.episodes, 'episode')}, {display.count(self.events, 'event')}{doubt}"
        return "\n".join([counts, *(f"  {event}" for event in self.shown)])
