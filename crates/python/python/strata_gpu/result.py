"""What a run measured."""

from __future__ import annotations

import json
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from . import _native


class Result:
    """What a run measured. The numbers are those of `strata run --json` (docs/results.md)."""

    def __init__(self, native: _native.Run):
        self._native = native

    @cached_property
    def _dict(self) -> dict:
        return json.loads(self._native.json())

    @property
    def cycles(self) -> int:
        """Core cycles of all launches and host phases."""
        return self._dict["cycles"]

    @property
    def ipc(self) -> float:
        """Thread instructions a core cycle."""
        return self._dict["ipc"]

    @property
    def verdict(self) -> str:
        """`verified`, `wrong`, `not checked` (nothing was expected), `not compared` (the run ended with its region) or
        `not finished`."""
        return self._native.verdict

    @property
    def problems(self) -> list[str]:
        """What was found wrong, a sentence each."""
        return self._native.problems

    @property
    def warnings(self) -> list[str]:
        """What is dubious about the program's kernels, a sentence each."""
        return self._native.warnings

    @property
    def machine(self) -> str:
        """Name of the machine."""
        return self._dict["machine"]

    @property
    def system(self) -> str | None:
        """The systems laid over it."""
        return self._dict["system"]

    @property
    def workload(self) -> str:
        """Name of the program."""
        return self._dict["workload"]

    @property
    def counters(self) -> dict[str, dict[str, int]]:
        """Every counter, by group and name: `counters["l1d"]["loads"]`. `strata explain` says what each counts."""
        return self._dict["statistics"]

    @property
    def launches(self) -> list[SimpleNamespace]:
        """The launches: kernel, grid, block, cycles, and what limits how many CTAs an SM takes."""
        return [SimpleNamespace(**launch) for launch in self._dict["launches"]]

    @property
    def energy(self) -> dict | None:
        """Energy by structure in joules; None if the machine does not say what events take."""
        return self._dict["energy"]

    @property
    def statistics_hash(self) -> str:
        """Hash of all numbers, equal on every host and for any number of threads."""
        return self._dict["statistics_hash"]

    @cached_property
    def outputs(self) -> dict[str, np.ndarray]:
        """The buffers that hold results, by name."""
        return {
            name: np.frombuffer(data, dtype=np.dtype(element_dtype(element))) for name, element, data in self._native.outputs()
        }

    @property
    def timeline(self) -> _native.Table | None:
        """Counters and energy of each span, for a run that was asked for `timeline`."""
        return self._native.timeline()

    def by(self, by: str) -> _native.Table:
        """Counters of each part (`sm`, `slice`, `channel`, `launch`, `line`, `instruction`, `cta`, `buffer`, `level`), for a run that was
        asked for it: part, group, counter, count or real. Of lines, instructions, CTAs and buffers the group `energy` has what they take."""
        return self._native.by(by)

    def metric(self, name: str) -> float:
        """A metric: a built-in name (`strata.metrics()`), or an expression over counters, as `l1d.fills / l1d.loads`."""
        return self._native.metric(name)

    def to_dict(self) -> dict[str, Any]:
        """Every result, as in the JSON that `strata run --json` writes."""
        return json.loads(self._native.json())

    def to_arrow(self) -> _native.Table:
        """Every number as a table: launch (null for the whole run), group, counter, count or real."""
        return self._native.rows()

    def summary(self) -> str:
        """The summary that `strata run` prints."""
        return self._native.summary()

    def __repr__(self) -> str:
        over = f" with {self.system}" if self.system else ""
        return f"<strata_gpu.Result {self.workload} on {self.machine}{over}: {self.cycles:,} cycles, {self.verdict}>"

    def __str__(self) -> str:
        return self.summary()


#: NumPy's names of a launch file's types.
DTYPES = {
    "u8": "<u1", "i8": "<i1", "u16": "<u2", "i16": "<i2", "u32": "<u4", "i32": "<i4", "u64": "<u8", "i64": "<i8", "f32": "<f4",
    "f64": "<f8",
}


def element_dtype(element: str) -> str:
    """NumPy's type of a launch file's."""
    return DTYPES[element]
