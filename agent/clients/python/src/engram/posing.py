"""Where something was: poses and circles on a map, in metres and radians as in ROS (REP 103 and 105)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


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
