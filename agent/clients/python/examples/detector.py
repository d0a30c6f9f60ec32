"""An object detector that tells Engram what it sees.

A detector reports every object in every picture. A memory wants to know what changed: this example tells an object
when it comes into view, with the time until it was seen last once it leaves. The pictures here are made up; put your
detector in the place of `pictures`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from _common import connect, flags

from engram import Observation

#: An object that was not seen for so long has left.
GONE = timedelta(seconds=2)


@dataclass
class Detection:
    """What a detector says of one object."""

    name: str
    place: str
    confidence: float


def pictures(begin: datetime) -> Iterator[tuple[datetime, list[Detection]]]:
    """Makes up ten seconds of a camera at five pictures a second: a mug is carried from the table to the sink."""
    for number in range(50):
        seen = [Detection("chair", "at the window", 0.9)]
        if number < 20:
            seen.append(Detection("blue mug", "on the table", 0.8))
        elif number > 35:
            seen.append(Detection("blue mug", "in the sink", 0.7))
        yield begin + timedelta(seconds=number / 5), seen


@dataclass
class Sighting:
    """An object that is in view."""

    begin: datetime
    last: datetime
    confidence: float


class Tracker:
    """Turns what is in each picture into what is worth remembering."""

    def __init__(self) -> None:
        self._in_view: dict[tuple[str, str], Sighting] = {}

    def see(self, when: datetime, detections: list[Detection]) -> Iterator[Observation]:
        """Takes a picture; yields what came into view and what left it."""
        for found in detections:
            key = (found.name, found.place)
            if key not in self._in_view:
                self._in_view[key] = Sighting(when, when, found.confidence)
                yield self._observation(key)
            sighting = self._in_view[key]
            sighting.last, sighting.confidence = when, max(sighting.confidence, found.confidence)
        yield from self.leave(when - GONE)

    def leave(self, before: datetime) -> Iterator[Observation]:
        """Yields the objects that were not seen since `before`, with the time until they were."""
        for key in [key for key, sighting in self._in_view.items() if sighting.last <= before]:
            yield self._observation(key)
            del self._in_view[key]

    def _observation(self, key: tuple[str, str]) -> Observation:
        (name, place), sighting = key, self._in_view[key]
        return Observation(
            f"a {name} {place}",
            kind="object",
            entity=name,
            confidence=sighting.confidence,
            at=sighting.begin,
            until=sighting.last,
            # The same id and time as before: it corrects what was told when the object came into view.
            id=f"{name} {place}",
        )


def main() -> None:
    """Tells what the pictures show, and asks about it."""
    arguments = flags(__doc__).parse_args()
    begin = datetime.now(timezone.utc) - timedelta(seconds=10)
    with connect(arguments, source="detector") as memory:
        tracker = Tracker()
        for when, detections in pictures(begin):
            for observation in tracker.see(when, detections):
                print("tell:", observation.text, "-", memory.observe(observation))
        print("at the end:", memory.observe_many(tracker.leave(datetime.now(timezone.utc))))
        print(memory.ask("Where is the blue mug?"))


if __name__ == "__main__":
    main()
