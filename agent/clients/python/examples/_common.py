"""What the examples share: the flags that say which robot is meant, and a client of it."""

from __future__ import annotations

import argparse

from engram import Memory


def flags(description: str | None) -> argparse.ArgumentParser:
    """Returns the flags of every example."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--robot", help="the robot's name in topics (default: this machine's name)")
    parser.add_argument("--mqtt-host", default="localhost", help="the broker")
    parser.add_argument("--mqtt-port", type=int, default=1883)
    return parser


def connect(arguments: argparse.Namespace, source: str) -> Memory:
    """Returns a client of the robot that is meant, once the agent is there."""
    memory = Memory(arguments.robot, arguments.mqtt_host, arguments.mqtt_port, source=source)
    memory.wait_until_online(30)
    return memory
