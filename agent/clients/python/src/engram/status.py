"""How the agent is, what it does by itself, and what its long commands report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ._display import Line, Lines


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryHealth:
    """Counts of the memory."""

    observations: int = 0
    events: int = 0
    episodes: int = 0
    seq: int = 0
    pending_embeddings: int = 0
    pending_lessons: int = 0
    facts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceHealth:
    """One camera, microphone or file."""

    #: `starting`, `running`, `paused`, `backoff`, `ended` or `failed`.
    state: str
    error: str | None = None
    frame_age_s: float | None = None
    fps: float = 0.0
    sampled_fps: float = 0.0
    restarts: int = 0
    gaps: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    segments: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelHealth:
    """One role that a model fills."""

    #: `ready`, `loading`, `absent` or `failed`.
    state: str
    model: str | None = None
    backend: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Health(Lines):
    """How the agent is. `raw` holds everything it says; the most used fields have names here."""

    version: str = ""
    #: SeededRandom id of the memory.
    instance: str = ""
    uptime_s: int = 0
    #: Recording and perceiving are paused.
    paused: bool = False
    memory: MemoryHealth = field(default_factory=MemoryHealth)
    #: By name.
    sources: Mapping[str, SourceHealth] = field(default_factory=dict)
    #: By role.
    models: Mapping[str, ModelHealth] = field(default_factory=dict)
    queues: Mapping[str, Any] = field(default_factory=dict)
    disk: Mapping[str, Any] = field(default_factory=dict)
    thermal: Mapping[str, Any] = field(default_factory=dict)
    process: Mapping[str, Any] = field(default_factory=dict)
    mqtt: Mapping[str, int] = field(default_factory=dict)
    #: What is missing, as `role: reason`.
    degraded: tuple[str, ...] = ()
    last_error: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        """Returns a few lines for a terminal."""
        lines = [
            f"engram {self.version}, up for {self.uptime_s} s" + (", paused" if self.paused else ""),
            f"{self.memory.observations} observations, {self.memory.episodes} episodes, {self.memory.facts} facts",
        ]
        lines += [f"source {name}: {source.state}" for name, source in self.sources.items()]
        lines += [f"missing: {reason}" for reason in self.degraded]
        return "\n".join([*lines, f"last error: {self.last_error}"] if self.last_error else lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """Which memory serves a robot's name."""

    instance: str
    robot: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reloaded:
    """What became of a changed configuration."""

    #: Keys that are in use now.
    applied: tuple[str, ...] = ()
    #: Keys that wait for a restart.
    restart: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """What `compact` did."""

    bytes_before: int = 0
    bytes_after: int = 0
    rows: int = 0
    took_ms: int = 0
    #: For so long nothing could be committed.
    blocked_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A saved index."""

    events: int = 0
    bytes: int = 0
    took_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A backup that was written or restored."""

    #: Where it is on the robot, for people to read. Programs use the name that they chose.
    file: str
    events: int = 0
    seq: int = 0
    bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """An export that was written."""

    #: Where it is on the robot, for people to read.
    dir: str
    told: int = 0
    segments: int = 0
    media: int = 0
    #: Segments whose recording is gone.
    media_missing: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class News(Line):
    """Something that Engram announced."""

    #: What it is about: `episode`, `entity`, `procedure` or `rejected`.
    about: str
    #: What happened: `new`, `update`, `end`, `named`, `merged` or `split`; of `rejected` it is `rejected`.
    type: str = ""
    #: Of which episode, person or procedure.
    id: str | None = None
    #: Name of the person.
    name: str | None = None
    #: Goal of the procedure.
    goal: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        """Says it in a line."""
        return " ".join(part for part in (self.about, self.type, self.id, self.name or self.goal) if part)
