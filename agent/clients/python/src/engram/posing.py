"""Where something was: poses and circles on a map, in metres and radians as in ROS (REP 103 and 105)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ._json import When, write_time


@dataclass(frozen=True, slots=True)
class Pose:
    """A place on a map and a heading. Poses of different frames are never compared."""

    #: Metres from the origin of the map.
    x: float
    y: float
    #: Radians, counter-clockwise from the x axis.
    yaw: float = 0.0
    z: float = 0.0
    #: The name of the map.
    frame: str = "map"
    #: The 36 numbers of ROS, 9 (rows of x, y and yaw) or 3 (their variances). Engram gives back the 9.
    covariance: tuple[float, ...] | None = None
    #: `thing`: of what was observed. `robot`: of the robot when it observed it.
    of: str = "thing"

    def to_json(self) -> dict[str, Any]:
        """Returns the fields of the contract."""
        fields: dict[str, Any] = {"frame": self.frame, "x": self.x, "y": self.y, "z": self.z, "yaw": self.yaw}
        if self.covariance is not None:
            fields["covariance"] = list(self.covariance)
        return {**fields, "of": self.of}


@dataclass(frozen=True, slots=True)
class Near:
    """A circle on a map: only what happened in it counts."""

    #: Metres.
    x: float
    y: float
    radius: float
    #: The name of the map.
    frame: str = "map"

    def to_json(self) -> dict[str, Any]:
        """Returns the fields of the contract."""
        return {"frame": self.frame, "x": self.x, "y": self.y, "radius": self.radius}


#: A circle, its numbers (x, y, radius), or its fields as the contract has them.
Circle = Near | Sequence[float] | Mapping[str, Any]


def write_circle(near: Circle | None) -> dict[str, Any] | None:
    """Returns a circle as the contract wants it."""
    if near is None:
        return None
    if isinstance(near, Near):
        return near.to_json()
    if isinstance(near, Mapping):
        return dict(near)
    x, y, radius = near
    return Near(x, y, radius).to_json()


def write_pose(pose: Pose | Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Returns a pose as the contract wants it."""
    return pose.to_json() if isinstance(pose, Pose) else None if pose is None else dict(pose)


def write_robot_pose(pose: Pose | Mapping[str, Any], at: When | float | None) -> dict[str, Any]:
    """Returns a message for the topic of the robot's pose. It gets no answer, so what is no pose is refused here.

    :raises ValueError: if a number is none, or the frame is empty.
    """
    fields = pose.to_json() if isinstance(pose, Pose) else dict(pose)
    fields.pop("of", None)
    for name in ("x", "y", "z", "yaw"):
        number = fields.get(name, 0.0)
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not math.isfinite(number):
            raise ValueError(f"{name} of a pose is {number!r}; it takes a finite number")
    if not isinstance(fields.get("frame"), str) or not fields["frame"].strip():
        raise ValueError("frame of a pose is empty; it names the map")
    if isinstance(at, (datetime, timedelta, str)):
        fields["at"] = write_time(at)
    elif at is not None:
        fields["at"] = at
    return fields
