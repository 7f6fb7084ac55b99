"""Machines: a base, systems laid over it, values replaced."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _native


def overrides(values: Mapping[str, Any] | Iterable[str] | None) -> list[str]:
    """Replaced values as the command takes them: `l1d.ways=8`."""
    if values is None:
        return []
    if isinstance(values, str):
        return [values]
    if isinstance(values, Mapping):
        return [f"{key}={word(value)}" for key, value in values.items()]
    return list(values)


def word(value: Any) -> str:
    """A value as an override spells it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if hasattr(value, "item"):
        return word(value.item())
    return str(value)


def names(systems: str | Iterable[str] | None) -> list[str]:
    """Names of systems, of which one may stand alone."""
    if systems is None:
        return []
    return [systems] if isinstance(systems, str) else list(systems)


class Machine:
    """A machine that programs run on.

    `name` is a built-in name (`strata.machines()`) or the path of a machine file, `systems` are laid over it, and `set` replaces
    values by their keys: `Machine("gtx480", systems=["dy-fuse"], set={"l1d.mshr_entries": 64})`. What cannot be is refused with the
    key, what was found and what was expected.
    """

    def __init__(
        self,
        name: str | os.PathLike = "gtx480",
        *,
        systems: str | Iterable[str] | None = None,
        set: Mapping[str, Any] | Iterable[str] | None = None,
    ):
        self._native = _native.Machine(os.fspath(name), names(systems), overrides(set))

    @property
    def name(self) -> str:
        """Name of the base."""
        return self._native.name

    @property
    def system(self) -> str | None:
        """The systems laid over it, `a+b`."""
        return self._native.system

    @property
    def hash(self) -> str:
        """Hash of all values."""
        return self._native.hash

    def keys(self, containing: str = "") -> list[dict]:
        """Every key that `set` takes, or those that contain a text: value, unit, range, meaning and source."""
        found = json.loads(self._native.keys())
        return [key for key in found if containing in key["key"] or containing in key["short"]]

    def __getitem__(self, key: str) -> Any:
        """The value of a key, in any spelling that `set` takes."""
        for found in self.keys(key):
            if key in (found["key"], found["short"]):
                return found["value"]
        raise KeyError(key)

    def to_toml(self) -> str:
        """The machine as a machine file."""
        return self._native.toml()

    def __repr__(self) -> str:
        over = f" with {self.system}" if self.system else ""
        return f"<strata_gpu.Machine {self.name}{over}>"


def machine_of(
    machine: Machine | str | os.PathLike,
    systems: str | Iterable[str] | None,
    set: Mapping[str, Any] | Iterable[str] | None,
) -> Machine:
    """A machine that a caller gives by name, or as it is."""
    if not isinstance(machine, Machine):
        return Machine(machine, systems=systems, set=set)
    if systems or set:
        raise _native.StrataError("systems and set: found a Machine, which has its own; expected them where it is made")
    return machine
