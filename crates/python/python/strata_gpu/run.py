"""One run of a program on a machine."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import _native, _progress
from .checkpoint import part
from .errors import Cancelled, NotFinished, WrongResults
from .machine import Machine, machine_of
from .program import Program, program_of
from .result import Result


def run(
    program: Program | str | os.PathLike,
    *,
    size: str = "test",
    machine: Machine | str | os.PathLike = "gtx480",
    systems: str | Iterable[str] | None = None,
    set: Mapping[str, Any] | Iterable[str] | None = None,
    threads: int | None = None,
    check: bool = False,
    from_launch: int | None = None,
    from_cta: int | None = None,
    from_instruction: int | None = None,
    from_checkpoint: str | os.PathLike | None = None,
    to_launch: int | None = None,
    for_ctas: int | None = None,
    for_cycles: int | None = None,
    for_instructions: int | None = None,
    kernel: str | None = None,
    warm: bool = False,
    warm_ctas: int = 0,
    finish: bool = False,
    max_cycles: int | None = None,
    timeline: int | None = None,
    by: str | Iterable[str] = (),
    progress: bool | None = None,
    cancel: threading.Event | None = None,
) -> Result:
    """Runs a program on a machine and returns what it cost.

    program: a workload's name, a launch file's path, or a `Program`.
    size: size of a workload (`test`, `small`, `paper`; `suite`, `stash` or `morpheus` where it has them).
    machine, systems, set: see `Machine`.
    threads: most threads; fewer run while more would not be faster. They change no number. By default, all cores.
    check: also run the reference executor, and compare all of memory after every launch.
    from_launch, from_cta, from_instruction, to_launch, for_ctas, for_cycles, for_instructions, kernel, warm, warm_ctas, finish: the
        part that is measured (docs/long-programs.md).
    from_checkpoint: a file that `checkpoint` wrote; the run begins with the state in it.
    max_cycles: core cycles after which the run is given up.
    timeline: length of a span in cycles; the result then has counters over time.
    by: parts whose counters the result has, too: `sm`, `slice`, `channel`, `launch`, `line`, `instruction`, `cta`, `buffer`, `level`.
    progress: whether to show a bar; by default in notebooks and terminals.
    cancel: an event that stops this run, and no other, when another thread sets it. Ctrl-C stops the main thread's run.

    Raises `StrataError` for what is refused, `NotFinished` for a run that stopped, `Cancelled` for one that `cancel` stopped, and
    `WrongResults` where results are not what was expected. The last three have the `result` until then.
    """
    program = program_of(program, size)
    machine = machine_of(machine, systems, set)
    with _progress.ctas(progress, program.name) as show:
        native = _native.run(
            program._native,
            machine._native,
            {
                "threads": threads, "check": check, "max_cycles": max_cycles, "span": timeline, "by": [by] if isinstance(by, str) else list(by),
                "command": _progress.command(), "cancel": cancel, "progress": show,
                "part": part(
                    from_launch=from_launch, from_cta=from_cta, from_instruction=from_instruction, from_checkpoint=from_checkpoint,
                    to_launch=to_launch, for_ctas=for_ctas, for_cycles=for_cycles, for_instructions=for_instructions, kernel=kernel,
                    warm=warm, warm_ctas=warm_ctas, finish=finish,
                ),
            },
        )
    result = Result(native)
    for warning in result.warnings:
        warnings.warn(warning, stacklevel=2)
    if native.stopped is not None:
        raise (Cancelled if native.cancelled else NotFinished)(native.stopped, result)
    if native.verdict == "wrong":
        raise WrongResults("; ".join(native.problems), result)
    _give_back(program, result)
    return result


def _give_back(program: Program, result: Result) -> None:
    """Writes what a run left in the buffers of arrays to these."""
    for name, array in program._arrays.items():
        array[...] = result.outputs[name].view(array.dtype).reshape(array.shape)


def raw(array: np.ndarray) -> np.ndarray:
    """An array's elements in a row, in C's order."""
    return np.ascontiguousarray(array).reshape(-1)
