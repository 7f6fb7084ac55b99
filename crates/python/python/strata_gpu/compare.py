"""Sweeps: programs on machines, with values swept."""

from __future__ import annotations

import itertools
import os
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from . import _native, _progress
from .errors import Cancelled
from .machine import names, overrides
from .program import Program
from .result import Result

StrataError = _native.StrataError
Metrics = str | Iterable[str] | Mapping[str, str]

#: What columns are called beside swept keys and metrics.
FIXED = ("workload", "machine", "system")


class Comparison:
    """Metrics of every combination that was asked for.

    `to_arrow()` gives a row for each: `workload`, `machine`, `system`, each swept key, each metric, and `missing`, which says why a
    number is missing.
    """

    def __init__(self, axes: dict[str, list], values: _native.Table, metrics: list[str]):
        self._table = _native.Table.joined([(name, column) for name, column in axes.items()], values)
        self.axes = {name: list(dict.fromkeys(column)) for name, column in axes.items()}
        self.metrics = metrics

    def __len__(self) -> int:
        return len(self._table)

    def rows(self) -> list[dict[str, Any]]:
        """A dict for each combination."""
        columns = self._table.to_pydict()
        return [dict(zip(columns, row)) for row in zip(*columns.values())]

    def to_dict(self) -> dict[str, list]:
        """Each column as a list."""
        return self._table.to_pydict()

    def to_arrow(self) -> _native.Table:
        """The rows as a table."""
        return self._table

    def to_pandas(self):
        """The rows as a pandas DataFrame; needs pandas and pyarrow."""
        return self._table.to_pandas()

    def over(self, **base: Any) -> Comparison:
        """The metrics divided by those of a base: `over(system="gtx480")`, or several columns. A row's base has the given values and
        is like the row elsewhere. The keys of swept values are given in a dict: `over(**{"l1d.ways": 2})`."""
        for name, value in base.items():
            if name not in self.axes:
                raise StrataError(f"over: found `{name}`, expected some of {', '.join(self.axes)}")
            if value not in self.axes[name]:
                raise StrataError(f"over: {name}: found {value!r}, expected one of {', '.join(map(str, self.axes[name]))}")
        rows = self.rows()
        place = {tuple(row[name] for name in self.axes): row for row in rows}
        ratios: dict[str, list] = {metric: [] for metric in self.metrics}
        missing = []
        for row in rows:
            of = place[tuple(base.get(name, row[name]) for name in self.axes)]
            reason = row["missing"]
            for metric in self.metrics:
                above, below = row[metric], of[metric]
                ratio = above / below if above is not None and below else None
                if ratio is None and reason is None:
                    reason = of["missing"] or f"the base's {metric} is 0"
                ratios[metric].append(ratio)
            missing.append(reason)
        values = _native.Table.joined([*ratios.items(), ("missing", missing)], None)
        return Comparison({name: [row[name] for row in rows] for name in self.axes}, values, self.metrics)

    def plot(self, metric: str | None = None, **options: Any):
        """The metric as an Altair chart; see `strata.plot`."""
        from .plot import plot

        return plot(self, metric, **options)

    def __repr__(self) -> str:
        axes = ", ".join(f"{len(values)} {name}" for name, values in self.axes.items())
        return f"<strata_gpu.Comparison of {axes}: {', '.join(self.metrics)}>"

    def _repr_html_(self) -> str:
        return self._table._repr_html_()


def compare(
    programs: Program | str | os.PathLike | Iterable[Program | str | os.PathLike],
    *,
    machine: str | os.PathLike | Sequence[str | os.PathLike] = "gtx480",
    systems: str | Iterable[str] | None = None,
    sweep: Mapping[str, Iterable[Any]] | None = None,
    set: Mapping[str, Any] | Iterable[str] | None = None,
    metrics: Metrics = ("ipc", "l1d-miss-rate"),
    size: str = "test",
    store: str | os.PathLike = "strata-store",
    jobs: int | None = None,
    memory_gib: float | None = None,
    run: bool = True,
    progress: bool | None = None,
    cancel: threading.Event | None = None,
) -> Comparison:
    """Runs every combination of programs, machines, systems and swept values that a result store lacks, and returns metrics of all.

    programs: workloads' names, launch files' paths, `Program`s; one or several.
    machine: a machine's name or file, or several.
    systems: systems to lay over the machine; `none`, or the machine's own name, is the machine without one. By default, that alone.
    sweep: values of keys: `{"l1d.ways": [2, 4, 8]}`. Every combination is run.
    set: values that all of them have.
    metrics: built-in names (`strata.metrics()`), expressions over counters, or a dict of names and expressions.
    store: folder of the result store. What it holds is not run again.
    jobs, memory_gib: how many run at once (by default, one for each core), and the memory that they may take.
    run: whether to run what is missing.
    progress, cancel: as in `strata.run`. A cancelled sweep raises `Cancelled`, and the next call goes on with the rest.

    A point that cannot be, such as a cache of a size that its key refuses, is `missing` with the reason, and so is one that failed.
    """
    machines = [machine] if isinstance(machine, (str, os.PathLike)) else list(machine)
    machines = [os.fspath(one) for one in machines]
    chosen = names(systems) or ["none"]
    sweep = {key: [plain(value) for value in values] for key, values in (sweep or {}).items()}
    for key, values in sweep.items():
        if not values:
            raise StrataError(f"sweep: {key}: found no values, expected at least one")
    with ExitStack() as stack:
        each = list(named(programs, size, stack))
        labels = [label for label, _, _ in each]
        if twice := {label for label in labels if labels.count(label) > 1}:
            raise StrataError(f"programs: found several called {', '.join(sorted(twice))}, expected a name for each")
        points = []
        axes: dict[str, list] = {name: [] for name in (*FIXED, *sweep)}
        for (label, name, of_size), base, system in itertools.product(each, machines, chosen):
            for values in itertools.product(*sweep.values()):
                swept = dict(zip(sweep, values))
                laid = [] if system in ("none", base) else [system]
                points.append({
                    "program": name, "size": of_size, "machine": base, "systems": laid,
                    "sets": overrides(set) + overrides(swept),
                })
                for axis, value in {"workload": label, "machine": base, "system": system, **swept}.items():
                    axes[axis].append(value)
        found = measure(
            points, metrics, store=store, jobs=jobs, memory_gib=memory_gib, run=run, progress=progress, cancel=cancel, what="compare",
        )
    return Comparison(axes, found, [name for name, _ in expressions(metrics)])


def measure(points, metrics, *, store, jobs, memory_gib, run, progress, cancel, what) -> _native.Table:
    """Metrics of points, a row for each."""
    with _progress.jobs(progress, what) as show:
        found, stopped = _native.sweep(points, expressions(metrics), options(store, jobs, memory_gib, run, cancel, show))
    if stopped:
        raise Cancelled(f"cancelled; what has ended is in {os.fspath(store)}, and the same call goes on with the rest")
    return found


def options(store, jobs, memory_gib, run, cancel, show: Callable | None) -> dict[str, Any]:
    """Where results are kept and how missing ones are run."""
    return {
        "store": os.fspath(store), "jobs": jobs, "memory_gib": memory_gib, "run": run, "command": _progress.command(),
        "cancel": cancel, "progress": show,
    }


def expressions(metrics: Metrics) -> list[tuple[str, str]]:
    """Names and expressions of metrics."""
    if isinstance(metrics, str):
        return [(metrics, metrics)]
    if isinstance(metrics, Mapping):
        return list(metrics.items())
    return [(name, name) for name in metrics]


def named(programs, size: str, stack: ExitStack):
    """Label, name and size of each program. One that is made of arrays gets a launch file for as long as the stack lasts."""
    if isinstance(programs, (Program, str, os.PathLike)):
        programs = [programs]
    for program in programs:
        if not isinstance(program, Program):
            program = Program(program, size=size)
        name = program._native.lies_at
        if name is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="strata-"))
            name = os.fspath(program.save(Path(folder)))
        yield program.name, name, program._size


def of_results(results: Mapping[Any, Result], metrics: Metrics) -> Comparison:
    """Runs under names of the caller's, as a comparison."""
    asked = expressions(metrics)
    values = [(name, [result.metric(expression) for result in results.values()]) for name, expression in asked]
    missing: list[str | None] = [None] * len(results)
    table = _native.Table.joined([*values, ("missing", missing)], None)
    return Comparison({"run": [str(name) for name in results]}, table, [name for name, _ in asked])


def plain(value: Any) -> Any:
    """A number of NumPy's as one of Python's."""
    return value.item() if hasattr(value, "item") else value
