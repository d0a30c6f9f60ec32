"""A private broker and agents on it, for tests. Conditions are awaited with a deadline; nothing sleeps for luck."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engram import Memory

#: Long enough for anything that takes a moment on a busy machine.
SOON = 30.0
GUARDED = ("backup", "export", "forget", "name_entity", "pause", "restore", "resume")


def program() -> str:
    """Returns the agent under test."""
    path = os.environ.get("ENGRAM_BIN", "")
    if not os.access(path, os.X_OK):
        raise RuntimeError(f"ENGRAM_BIN is {path!r}: it must name a built agent, such as target/debug/engram")
    return path


def until(what: str, condition: Callable[[], object], seconds: float = SOON) -> None:
    """Waits until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds:g} s")
        time.sleep(0.01)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _state(thread: Path) -> str:
    # The name before it, in brackets, may hold anything.
    return (thread / "stat").read_text().rpartition(") ")[2][:1]


class Process:
    """A program that ends with its test."""

    def __init__(self, command: list[str], log: Path) -> None:
        self.log = log
        with log.open("ab") as out:
            self._child = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL)

    def running(self) -> bool:
        return self._child.poll() is None

    def freeze(self) -> None:
        """Stops it where it is; returns once none of its threads runs."""
        self._child.send_signal(signal.SIGSTOP)
        threads = Path(f"/proc/{self._child.pid}/task")
        until("it stands still", lambda: all(_state(thread) == "T" for thread in threads.iterdir()))

    def thaw(self) -> None:
        self._child.send_signal(signal.SIGCONT)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        if self.running():
            self._child.send_signal(signal.SIGCONT)
            self._child.send_signal(number)
        try:
            return self._child.wait(SOON)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
            raise


class Broker:
    """Mosquitto on a free port of the loopback interface."""

    def __init__(self, folder: Path, *lines: str, anonymous: bool = True) -> None:
        self.port = free_port()
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        settings = [
            f"listener {self.port} 127.0.0.1",
            "set_tcp_nodelay true",
            f"allow_anonymous {'true' if anonymous else 'false'}",
            "log_type all",
            *lines,
        ]
        if os.geteuid() == 0:
            settings.append("user root")
        (folder / "mosquitto.conf").write_text("\n".join(settings) + "\n")
        self._process: Process | None = None
        self.start()

    def start(self) -> None:
        program = shutil.which("mosquitto", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
        if program is None:
            raise RuntimeError("mosquitto is not installed: install the package mosquitto")
        process = self._process = Process([program, "-c", str(self._folder / "mosquitto.conf")], self._folder / "log")
        until("Mosquitto listens", self._listens)
        assert process.running(), process.log.read_text()

    def _listens(self) -> bool:
        assert self._process is not None
        assert self._process.running(), self._process.log.read_text()
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True

    def stop(self) -> None:
        if self._process is not None:
            self._process.stop()
            self._process = None


class Agent:
    """The agent with a memory of its own, without senses and models."""

    def __init__(
        self, broker: Broker, folder: Path, robot: str, *, allow: bool = True, mqtt: str = "", toml: str = ""
    ) -> None:
        self.robot, self.port = robot, broker.port
        self._folder = folder
        (folder / "models").mkdir(parents=True, exist_ok=True)
        allowed = "\n".join(f"{name} = true" for name in GUARDED) if allow else ""
        (folder / "engram.toml").write_text(
            f'robot = "{robot}"\ndata_dir = "{folder / "data"}"\n{toml}\n'
            f'[models]\ndir = "{folder / "models"}"\n[metrics]\nenabled = false\n'
            f"[mqtt]\nport = {broker.port}\nhealth_interval_s = 1\n{mqtt}\n[mqtt.allow]\n{allowed}\n"
        )
        self._process: Process | None = None

    def start(self) -> None:
        """Starts the program; does not wait for anything."""
        command = [program(), "--config", str(self._folder / "engram.toml"), "run"]
        self._process = Process(command, self._folder / "log")

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        if self._process is not None:
            self._process.stop(number)
            self._process = None

    def freeze(self) -> None:
        assert self._process is not None
        self._process.freeze()

    def thaw(self) -> None:
        assert self._process is not None
        self._process.thaw()

    def memory(self, **more: Any) -> Memory:
        """Returns a client of it. A busy machine may take its time."""
        return Memory(self.robot, port=self.port, **{"timeout": SOON, **more})

    def online(self) -> Agent:
        """Starts it and waits until it is there."""
        self.start()
        with self.memory() as memory:
            try:
                memory.wait_until_online(SOON)
            except Exception as error:
                raise AssertionError((self._folder / "log").read_text()) from error
        return self
