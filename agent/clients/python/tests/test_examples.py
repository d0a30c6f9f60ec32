"""Every example, run as a person would."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from stage import SOON, Agent

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.parametrize(
    ("name", "says"),
    [("detector", "In the sink"), ("speech", "drawer"), ("tasks", "without the can: fetch the bottle → ")],
)
def test_an_example_runs_against_a_live_agent(agent: Agent, name: str, says: str) -> None:
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), "--robot", agent.robot, "--mqtt-port", str(agent.port)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=SOON, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert says in ended.stdout, ended.stdout
    assert "Traceback" not in ended.stderr, ended.stderr


def test_no_example_is_left_out() -> None:
    scripts = {path.stem for path in EXAMPLES.glob("*.py") if not path.stem.startswith("_")}
    assert scripts == {"detector", "speech", "tasks"}
