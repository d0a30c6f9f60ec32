"""Answers and events as people read them: lines for a terminal, tables for a notebook."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from .remembering import Answer, Event, Evidence


T = TypeVar("T")
_CELL = 'style="text-align:left;vertical-align:top"'


class Line:
    """Shows in an interpreter what `str` says in a line."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"


class Lines:
    """Shows in an interpreter what `str` says in lines."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}\n{self}>"


class Listing(list[T]):
    """A list that reads well: a line for each item in a terminal, a table in a notebook."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def __repr__(self) -> str:
        return f"[{(',' + chr(10) + ' ').join(map(repr, self))}]"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td {_CELL}>{escape(str(item))}</td></tr>" for item in self)
        return f"<table><tbody>{rows}</tbody></table>"


def time(when: datetime) -> str:
    """Returns a time as people write it, in the zone in which Engram told it."""
    return when.strftime("%Y-%m-%d %H:%M:%S")


def span(start: datetime, end: datetime) -> str:
    """Returns a stretch of time; its end without a repeated date."""
    if (end - start).total_seconds() < 1:
        return time(start)
    same_day = start.date() == end.date()
    return f"{time(start)} to {end.strftime('%H:%M:%S') if same_day else time(end)}"


def count(number: int, what: str) -> str:
    """Returns a number with its noun."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def event_line(event: Evidence | Event, name: str) -> str:
    """Returns an event in a line: when, what, where, its id."""
    where = f"{event.place}, " if event.place else ""
    return f"{span(event.start, event.end)}  {said(event)}  [{where}{name}]"


def said(event: Evidence | Event) -> str:
    """Returns the text of an event, with the speaker before words that somebody said."""
    speaker = event.entity if event.kind == "text" else None
    known = speaker is None or speaker.casefold() in event.text.casefold()
    return event.text if known else f"{speaker}: {event.text}"


def _headline(answer: Answer) -> str:
    if answer.answer is None and answer.option is None:
        return f"No answer: {answer.reason or 'memory holds nothing about that'}."
    words = answer.option if answer.option is not None else str(answer.answer)
    return f"{words}  ({answer.confidence:.0%} sure)"


def answer_text(answer: Answer) -> str:
    """Returns an answer in lines."""
    lines = [_headline(answer)]
    lines += [f"  {number}. {item}" for number, item in enumerate(answer.evidence, 1)]
    lines += [f"  without {reason}" for reason in answer.degraded]
    lines += [f"  {step.step}: {step.detail}" for step in answer.trace]
    return "\n".join(lines)


def html_events(events: Iterable[tuple[Evidence | Event, str]]) -> str:
    """Returns a table of events. Only links that a browser opens from a notebook become links."""
    rows = []
    for event, name in events:
        what = escape(said(event))
        if event.media and event.media.startswith(("http://", "https://")):
            what = f'<a href="{escape(event.media)}" target="_blank" rel="noopener">{what}</a>'
        cells = [escape(span(event.start, event.end)), what, escape(event.place or ""), escape(name)]
        rows.append("<tr>" + "".join(f"<td {_CELL}>{cell}</td>" for cell in cells) + "</tr>")
    head = "".join(f"<th {_CELL}>{title}</th>" for title in ("when", "what", "where", "event"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def answer_html(answer: Answer) -> str:
    """Returns an answer with its evidence as HTML."""
    parts = [f"<p><b>{escape(_headline(answer))}</b></p>"]
    if answer.evidence:
        parts.append(html_events((item, item.event) for item in answer.evidence))
    if answer.degraded:
        parts.append(f"<p><i>without {escape('; '.join(answer.degraded))}</i></p>")
    return f'<div class="engram-answer">{"".join(parts)}</div>'
