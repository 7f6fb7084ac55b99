"""The state of a program at a place in its run, in a file."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from . import _native
from .machine import Machine, machine_of
from .program import Program, program_of

NOWHERE = {
    "from_launch": None, "from_cta": None, "from_instruction": None, "from_checkpoint": None, "to_launch": None, "for_ctas": None,
    "for_cycles": None, "for_instructions": None, "kernel": None, "warm": False, "warm_ctas": 0, "finish": False,
}


class Place(NamedTuple):
    """A place between two CTAs: launch and CTA, counted from 0, and the thread instructions before it."""

    launch: int
    cta: int
    thread_instructions: int


def checkpoint(
    program: Program | str | os.PathLike,
    path: str | os.PathLike,
    *,
    size: str = "test",
    machine: Machine | str | os.PathLike = "gtx480",
    systems: str | Iterable[str] | None = None,
    set: Mapping[str, Any] | Iterable[str] | None = None,
    from_launch: int | None = None,
    from_cta: int | None = None,
    from_instruction: int | None = None,
    from_checkpoint: str | os.PathLike | None = None,
    cancel: threading.Event | None = None,
) -> Place:
    """Executes a program up to a place, without time, and writes its state to a file for `run(..., from_checkpoint=path)`.

    program, size: see `run`. The program is compiled for the machine; any machine can go on from the file.
    from_launch, from_cta, from_instruction: the place (docs/long-programs.md).
    from_checkpoint: an earlier checkpoint to begin with.

    Raises `StrataError` for what is refused, and for a program that does not come to the place.
    """
    program = program_of(program, size)
    machine = machine_of(machine, systems, set)
    place = part(
        from_launch=from_launch, from_cta=from_cta, from_instruction=from_instruction, from_checkpoint=from_checkpoint,
    )
    return Place(*_native.checkpoint(program._native, machine._native, place, os.fspath(path), cancel))


def part(**options: Any) -> dict[str, Any]:
    """The part of a run that options name, as the library takes it."""
    path = options.get("from_checkpoint")
    return {**NOWHERE, **options, "from_checkpoint": None if path is None else os.fspath(path)}
