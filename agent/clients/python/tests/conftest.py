from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from stage import Agent, Broker

from engram import Memory


@pytest.fixture(scope="session")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    """An agent that all tests share; each uses words of its own."""
    folder = tmp_path_factory.mktemp("shared")
    broker = Broker(folder / "broker")
    agent = Agent(broker, folder / "agent", "kitchen")
    try:
        yield agent.online()
    finally:
        agent.stop()
        broker.stop()


@pytest.fixture
def memory(agent: Agent) -> Iterator[Memory]:
    with agent.memory() as memory:
        yield memory


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    """A broker of the test's own."""
    broker = Broker(tmp_path / "broker")
    yield broker
    broker.stop()


@pytest.fixture
def hire(tmp_path: Path) -> Iterator[Callable[..., Agent]]:
    """Makes agents of the test's own, which are not started yet."""
    agents: list[Agent] = []

    def hire(broker: Broker, robot: str = "kitchen", **more: Any) -> Agent:
        agents.append(Agent(broker, tmp_path / f"agent-{len(agents)}", robot, **more))
        return agents[-1]

    yield hire
    for agent in agents:
        agent.stop()
