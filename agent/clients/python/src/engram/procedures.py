"""How things are done: procedures, ways through them, next steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ._display import Line, Lines, count


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One execution that a procedure was learnt from."""

    session: str | None = None
    #: The senders' ids of its actions.
    observations: tuple[str, ...] = ()
    start: datetime | None = None
    end: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ProcedureSummary(Line):
    """A procedure, without its steps."""

    id: str
    goal: str
    #: Whether somebody told the goal; otherwise it is made from the steps.
    named: bool = False
    #: How many steps it has.
    steps: int = 0
    #: How often it was done.
    sessions: int = 0
    evidence: tuple[Session, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        """Says it in a line."""
        return f"{self.goal}  [{self.id}, {count(self.steps, 'step')}, {count(self.sessions, 'session')}]"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Step(Line):
    """A step of a procedure, in its context. START and GOAL are steps too."""

    id: str
    text: str
    occurrence: int = 0
    count: int = 0
    attributes: Mapping[str, Any] = field(default_factory=dict)
    duration_s: float | None = None
    success: float = 0.0

    def __str__(self) -> str:
        """Says it in a line."""
        return f"{self.text}  [{self.id}, {count(self.count, 'time')}]"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Edge(Line):
    """How often one step led to another."""

    #: Id of the step before.
    before: str = ""
    #: Id of the step after.
    after: str = ""
    count: int = 0
    probability: float = 0.0
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        """Says it in a line."""
        return f"{self.before} → {self.after}  ({self.probability:.0%})"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Procedure(Lines):
    """A procedure with every variant that was seen."""

    id: str
    goal: str
    named: bool = False
    sessions: int = 0
    steps: tuple[Step, ...] = ()
    edges: tuple[Edge, ...] = ()
    evidence: tuple[Session, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        """Returns it in lines."""
        named = {step.id: step.text for step in self.steps}
        edges = (
            f"  {named.get(edge.before, edge.before)} → {named.get(edge.after, edge.after)}  ({edge.probability:.0%})"
            for edge in self.edges
        )
        return "\n".join([f"{self.goal}  [{self.id}, {count(self.sessions, 'session')}]", *edges])


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Way(Line):
    """One way to a goal."""

    steps: tuple[str, ...]
    #: Its share of all ways.
    probability: float = 0.0
    #: How many sessions did just that.
    seen: int = 0

    def __str__(self) -> str:
        """Says it in a line."""
        return f"{' → '.join(self.steps)}  ({self.probability:.0%}, seen {count(self.seen, 'time')})"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Ways(Lines):
    """The ways that fulfil the conditions, most likely first."""

    paths: tuple[Way, ...] = ()
    #: False where the search was cut short.
    complete: bool = True
    #: True where no way was seen to go so far, and these follow the transitions alone.
    guessed: bool = False
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        """Returns a line for each way."""
        return "\n".join(map(str, self.paths)) or "no way fulfils the conditions"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NextStep(Line):
    """A step that may come next. `GOAL` means that nothing more is to be done."""

    step: str
    probability: float = 0.0

    def __str__(self) -> str:
        """Says it in a line."""
        return f"{self.step}  ({self.probability:.0%})"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Thing(Line):
    """A thing that is still needed."""

    name: str
    #: `object`, `tool`, `place` or `person`.
    part: str = ""

    def __str__(self) -> str:
        """Says it in a line."""
        return f"{self.name} ({self.part})" if self.part else self.name


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Missing(Lines):
    """What is still to be done, in the order in which it is usually done."""

    missing: tuple[NextStep, ...] = ()
    things: tuple[Thing, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        """Returns it in lines."""
        things = f"needs {', '.join(map(str, self.things))}" if self.things else ""
        return "\n".join([*map(str, self.missing), *([things] if things else [])]) or "nothing is missing"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Remark(Line):
    """What somebody said of a thing."""

    thing: str = ""
    text: str = ""
    observations: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Says it in a line."""
        return f"{self.thing}: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OtherStep(Line):
    """A step that does without what is blocked."""

    step: str
    uses: Any = None
    seen: int = 0
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        """Says it in a line."""
        return f"{self.step}  (seen {count(self.seen, 'time')})"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Alternatives(Lines):
    """Ways around what is broken, missing or used up."""

    #: Steps that cannot be done.
    blocked: tuple[str, ...] = ()
    because: tuple[Remark, ...] = ()
    #: Where another one is to be had.
    offers: tuple[Remark, ...] = ()
    others: tuple[OtherStep, ...] = ()
    paths: tuple[Way, ...] = ()
    complete: bool = True
    guessed: bool = False
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        """Returns it in lines."""
        because = [f"because {remark.text}" for remark in self.because]
        blocked = [f"without {', '.join(self.blocked)}"] if self.blocked else []
        ways = [str(way) for way in self.paths] or ["no other way is known"]
        return "\n".join([*blocked, *because, *ways, *(f"{offer.text}" for offer in self.offers)])


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Picture:
    """A drawing of a procedure. A notebook shows an SVG by itself."""

    #: `svg` or `dot`.
    format: str
    picture: str

    def __str__(self) -> str:
        return self.picture

    def __repr__(self) -> str:
        return f"<Picture {self.format}, {len(self.picture)} characters>"

    def _repr_svg_(self) -> str | None:
        return self.picture if self.format == "svg" else None
