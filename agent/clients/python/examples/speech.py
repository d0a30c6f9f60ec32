"""A speech recogniser that tells Engram who said what.

It uses asyncio: recognising goes on while earlier sentences are written down. The sentences here are made up; put your
recogniser in the place of `sentences`.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta, timezone

from _common import flags

from engram import AsyncMemory, EngramError, Observation

SPOKEN = [
    ("Anna", "I put the car keys into the drawer in the hall."),
    ("Ben", "The dentist is on Thursday at ten."),
    ("Anna", "We ran out of milk."),
]


async def sentences() -> AsyncIterator[Observation]:
    """Makes up a conversation, as a recogniser would give it: speaker, words, times and how sure it is."""
    begin = datetime.now(timezone.utc) - timedelta(minutes=1)
    for number, (speaker, words) in enumerate(SPOKEN):
        start = begin + timedelta(seconds=10 * number)
        yield Observation(
            words,
            entity=speaker,
            at=start,
            until=start + timedelta(seconds=3),
            confidence=0.9,
            attributes={"place": "kitchen"},
        )
        await asyncio.sleep(0)


async def tell(memory: AsyncMemory, sentence: Observation) -> None:
    """Tells one sentence. It carries its id: telling it again after a failure remembers it once."""
    while True:
        try:
            receipt = await memory.observe(sentence)
        except (ConnectionError, TimeoutError) as failure:
            print("again:", failure)
            continue
        except EngramError as refused:
            print("lost:", refused)
            return
        print("told:", sentence.entity, "said", repr(sentence.text), "-", receipt)
        return


async def listen(arguments: argparse.Namespace) -> None:
    """Tells every sentence, and asks about one."""
    robot, host, port = arguments.robot, arguments.mqtt_host, arguments.mqtt_port
    async with AsyncMemory(robot, host, port, source="speech") as memory:
        await memory.wait_until_online(30)
        telling = [asyncio.ensure_future(tell(memory, sentence)) async for sentence in sentences()]
        await asyncio.gather(*telling)
        for question in ("Where are the car keys?", "What did Ben say?"):
            print(await memory.ask(question))


if __name__ == "__main__":
    asyncio.run(listen(flags(__doc__).parse_args()))
