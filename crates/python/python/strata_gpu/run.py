"""One run of a program on a machine."""

from __future__ import annotations

import os
import pathlib
import threading
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import _native, _progress
from .checkpoint import part
from .errors import Cancelled, NotFinished, StrataError, WrongResults
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
    trace: str | os.PathLike | None = None,
    trace_from: int | None = None,
    trace_cycles: int | None = None,
    trace_launch: int | None = None,
    trace_sms: Iterable[int] | None = None,
    trace_sample: int | None = None,
    trace_sample_warps: int | None = None,
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
    trace: a file for what warps, accesses, packets and DRAM do in each cycle, which https://ui.perfetto.dev opens (docs/trace.md).
    trace_from, trace_cycles, trace_launch, trace_sms: the part of the run that is traced.
    trace_sample, trace_sample_warps: of an SM, trace only every so many-th memory request, and every so many-th warp slot.
    progress: whether to show a bar; by default in notebooks and terminals.
    cancel: an event that stops this run, and no other, when another thread sets it. Ctrl-C stops the main thread's run.

    Raises `StrataError` for what is refused, `NotFinished` for a run that stopped, `Cancelled` for one that `cancel` stopped, and
    `WrongResults` where results are not what was expected. The last three have the `result` until then.
    """
    program = program_of(program, size)
    machine = machine_of(machine, systems, set)
    traced = {
        "from": trace_from, "cycles": trace_cycles, "launch": trace_launch, "sms": None if trace_sms is None else list(trace_sms),
        "sample": trace_sample, "sample_warps": trace_sample_warps,
    }
    file = _trace_file(trace, traced)
    with _progress.ctas(progress, program.name) as show:
        native = _native.run(
            program._native,
            machine._native,
            {
                "threads": threads, "check": check, "max_cycles": max_cycles, "span": timeline, "by": [by] if isinstance(by, str) else list(by),
                "trace": None if file is None else traced, "command": _progress.command(), "cancel": cancel, "progress": show,
                "part": part(
                    from_launch=from_launch, from_cta=from_cta, from_instruction=from_instruction, from_checkpoint=from_checkpoint,
                    to_launch=to_launch, for_ctas=for_ctas, for_cycles=for_cycles, for_instructions=for_instructions, kernel=kernel,
                    warm=warm, warm_ctas=warm_ctas, finish=finish,
                ),
            },
        )
    result = Result(native)
    if file is not None:
        _write_trace(file, native)
    for warning in result.warnings:
        warnings.warn(warning, stacklevel=2)
    if native.stopped is not None:
        raise (Cancelled if native.cancelled else NotFinished)(native.stopped, result)
    if native.verdict == "wrong":
        raise WrongResults("; ".join(native.problems), result)
    _give_back(program, result)
    return result


def _trace_file(trace: str | os.PathLike | None, traced: Mapping[str, Any]) -> pathlib.Path | None:
    """The file of a trace, if there is one, which can be written."""
    if trace is None:
        given = [name for name, value in traced.items() if value is not None]
        if given:
            raise StrataError(f"trace_{given[0]}: found it without a file, expected `trace`, too")
        return None
    file = pathlib.Path(trace)
    is_new = not file.exists()
    try:
        file.open("ab").close()
    except OSError as error:
        raise StrataError(f"{file}: {error.strerror}, expected a file that can be written") from None
    if is_new:
        file.unlink()
    return file


def _write_trace(file: pathlib.Path, native: _native.Run) -> None:
    """Writes a run's trace, if it has one."""
    bytes_of_it = native.trace()
    if bytes_of_it is not None:
        file.write_bytes(bytes_of_it)
    elif native.stopped is None:
        warnings.warn(
            f"{file}: no launch ran in the cycles of the trace; trace_from and trace_launch choose them", stacklevel=3
        )


def _give_back(program: Program, result: Result) -> None:
    """Writes what a run left in the buffers of arrays to these."""
    for name, array in program._arrays.items():
        array[...] = result.outputs[name].view(array.dtype).reshape(array.shape)


def raw(array: np.ndarray) -> np.ndarray:
    """An array's elements in a row, in C's order."""
    return np.ascontiguousarray(array).reshape(-1)
