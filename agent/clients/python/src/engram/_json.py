"""From JSON to dataclasses and back. Unknown fields are kept in `raw`: the contract only ever adds fields."""

from __future__ import annotations

import dataclasses
import functools
import re
import types
import typing
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, TypeVar, Union, cast

from ._display import Listing
from .errors import ProtocolError

T = TypeVar("T")

#: A point in time: with its zone, or in local time; a span back from now; or a text that Engram reads itself.
When = datetime | timedelta | str

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|z|[+-]\d\d:\d\d)(?::\d\d)?(?:\[.*\])?")


def read_time(text: str) -> datetime:
    """Reads a time of the contract. Times outside of Python's years become the nearest that there is."""
    found = _TIME.fullmatch(text)
    if not found:
        if text.startswith("-") or text.startswith("+"):
            return datetime.min.replace(tzinfo=timezone.utc) if text[0] == "-" else _LAST
        raise ProtocolError(f"`{text[:64]}` is not a time of the contract")
    day, clock, fraction, zone = found.groups()
    zone = "+00:00" if zone in "Zz" else zone
    micros = (fraction or "")[:6].ljust(6, "0")
    return datetime.fromisoformat(f"{day}T{clock}.{micros}{zone}")


_LAST = datetime.max.replace(tzinfo=timezone.utc)


def write_time(when: When, now: datetime | None = None) -> str:
    """Writes a time as the contract wants it."""
    if isinstance(when, str):
        return when
    if isinstance(when, timedelta):
        when = (now or datetime.now(timezone.utc)) - when
    if when.tzinfo is None:
        when = when.astimezone()
    return when.isoformat()


def without_nones(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Leaves out what was not said."""
    return {name: value for name, value in fields.items() if value is not None}


@functools.cache
def _plan(cls: object) -> list[tuple[str, Any, bool]]:
    hints = typing.get_type_hints(cast(Any, cls))
    required = dataclasses.MISSING
    return [
        (field.name, hints[field.name], field.default is required and field.default_factory is required)
        for field in dataclasses.fields(cast(Any, cls))
        if field.init and field.name != "raw"
    ]


def decode(cls: type[T], value: object) -> T:
    """Makes a dataclass of a JSON object, and of the objects in it.

    :raises ProtocolError: if a required field is missing or of another type.
    """
    if not isinstance(value, Mapping):
        raise ProtocolError(f"expected an object for {cls.__name__} and got {_short(value)}")
    arguments: dict[str, Any] = {}
    for name, hint, required in _plan(cast(Any, cls)):
        if value.get(name) is None and not (required and _optional(hint)):
            if required:
                raise ProtocolError(f"`{name}` is missing in {cls.__name__}: {_short(value)}")
            continue
        arguments[name] = _convert(hint, value.get(name), name)
    if any(field.name == "raw" for field in dataclasses.fields(cast(Any, cls))):
        arguments["raw"] = dict(value)
    return cls(**arguments)


def decode_list(cls: type[T], value: object) -> Listing[T]:
    """Makes a list of dataclasses."""
    if not isinstance(value, list):
        raise ProtocolError(f"expected a list of {cls.__name__} and got {_short(value)}")
    return Listing(decode(cls, item) for item in value)


def _optional(hint: Any) -> bool:
    return type(None) in typing.get_args(hint)


def _convert(hint: Any, value: Any, name: str) -> Any:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return value
    if origin in (Union, types.UnionType):
        if value is None and type(None) in inner:
            return None
        chosen = [one for one in inner if one is not type(None)]
        return _convert(chosen[0], value, name) if len(chosen) == 1 else value
    if origin is tuple:
        if not isinstance(value, list):
            raise ProtocolError(f"`{name}` is not a list: {_short(value)}")
        return tuple(_convert(inner[0], item, name) for item in value)
    if origin in (dict, Mapping) or getattr(origin, "__name__", "") == "Mapping":
        if not isinstance(value, Mapping):
            raise ProtocolError(f"`{name}` is not an object: {_short(value)}")
        return {key: _convert(inner[1], item, name) for key, item in value.items()}
    if dataclasses.is_dataclass(hint):
        return decode(cast("type[Any]", hint), value)
    if hint is datetime and isinstance(value, str):
        return read_time(value)
    if hint is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if isinstance(hint, type) and isinstance(value, hint) and not (hint is int and isinstance(value, bool)):
        return value
    raise ProtocolError(f"`{name}` is not {getattr(hint, '__name__', hint)}: {_short(value)}")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 160 else text[:157] + "…"
