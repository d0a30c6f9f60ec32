"""A task executive that tells Engram what it does, and asks how to go on.

Each step is told as an `action` when it is done, with the execution that it belongs to (`session`) and its goal
(`task`). After some executions Engram knows the procedure: what comes next, what is missing, and ways around what is
broken. The steps here are made up; put your executive in the place of `execute`.
"""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta, timezone

from _common import connect, flags

from engram import Memory, Observation

GOAL = "water the plants"
RUNS: list[list[tuple[str, str | None]]] = [
    [("fetch the can", "can"), ("fill the can at the tap", "tap"), ("pour water on the plants", None)],
    [("fetch the can", "can"), ("fill the can at the tap", "tap"), ("pour water on the plants", None)],
    [("fetch the bottle", "bottle"), ("fill the bottle at the sink", "sink"), ("pour water on the plants", None)],
]


def execute(memory: Memory, steps: list[tuple[str, str | None]], begin: datetime) -> None:
    """Does the steps one after the other, and tells each."""
    session = uuid.uuid4().hex
    for number, (step, tool) in enumerate(steps):
        done = begin + timedelta(seconds=20 * number)
        attributes = {"session": session, "task": GOAL, "place": "balcony"}
        if tool is not None:
            attributes["tool"] = tool
        memory.observe(Observation(step, "action", entity="robot", attributes=attributes, at=done))
        print("did:", step)


def main() -> None:
    """Executes the task some times, and asks what was learnt."""
    arguments = flags(__doc__).parse_args()
    with connect(arguments, source="executive") as memory, memory.news("procedure") as news:
        begin = datetime.now(timezone.utc) - timedelta(hours=1)
        for number, steps in enumerate(RUNS):
            execute(memory, steps, begin + timedelta(minutes=10 * number))
        # Engram learns behind the commit. It says so; a memory that holds these runs already has nothing new to say.
        while sum(one.sessions for one in memory.procedures(GOAL)) < len(RUNS):
            print("learnt:", news.get(timeout=30))
        print("next:", *memory.next_steps(GOAL, ["fetch the can"], k=1))
        print("without the can:", memory.paths(GOAL, without=["can"]))
        memory.observe("The tap is broken.", kind="state")
        print(memory.ask("How do I water the plants without the tap?"))


if __name__ == "__main__":
    main()
