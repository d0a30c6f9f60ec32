"""The wheel, installed into an empty environment, to the first answer."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from stage import SOON, Agent

WHEEL = os.environ.get("ENGRAM_WHEEL", "")
#: What README.md promises: five lines of code.
PROGRAM = """\
from engram import Memory
memory = Memory({robot!r}, port={port})
memory.observe("I put the harmonica on the windowsill.", entity="Anna")
print(memory.ask("Where is the harmonica?"))
"""

needs_wheel = pytest.mark.skipif(not WHEEL, reason="ENGRAM_WHEEL names no wheel; ./check builds one")


@needs_wheel
def test_the_wheel_is_typed_and_whole() -> None:
    names = zipfile.ZipFile(WHEEL).namelist()
    assert "engram/py.typed" in names
    source = Path(__file__).parent.parent / "src" / "engram"
    assert {f"engram/{path.name}" for path in source.glob("*.py")} <= set(names)
    assert not [name for name in names if name.startswith(("tests", "examples"))]


@needs_wheel
def test_a_wheel_in_an_empty_environment_gives_an_answer(agent: Agent, tmp_path: Path) -> None:
    begin = time.monotonic()
    empty = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(empty)], check=True, timeout=SOON)
    python = str(empty / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check"]
    # `check` keeps the wheels of what the client needs, so that this asks nobody.
    kept = os.environ.get("ENGRAM_WHEELS")
    where = ["--no-index", "--find-links", kept] if kept else []
    subprocess.run([*pip, *where, WHEEL], check=True, timeout=2 * SOON)
    program = PROGRAM.format(robot=agent.robot, port=agent.port)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    ended = subprocess.run(
        [python, "-I", "-c", program], capture_output=True, text=True, timeout=SOON, check=False, env=environment
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("On the windowsill"), ended.stdout
    print(f"from an empty environment to the first answer: {time.monotonic() - begin:.1f} s")
