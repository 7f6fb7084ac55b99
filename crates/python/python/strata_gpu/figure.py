"""Figures of the papers, repeated."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from . import _native, _progress
from .compare import options
from .errors import Cancelled
from .machine import names, overrides


class Figure:
    """A figure or table of a paper, with what was measured. `to_arrow()` has the columns `workload`, `system`, `value`, `missing` with
    the reason of a missing number, and `kind`, which tells means from workloads."""

    def __init__(self, paper: str, number: str, title: str, table: _native.Table):
        self.paper = paper
        self.number = number
        self.title = title
        self._table = table

    def rows(self) -> list[dict[str, Any]]:
        """A dict for each number."""
        columns = self._table.to_pydict()
        return [dict(zip(columns, row)) for row in zip(*columns.values())]

    def value(self, workload: str, system: str) -> float | None:
        """One number; None if it is missing."""
        for row in self.rows():
            if (row["workload"], row["system"]) == (workload, system):
                return row["value"]
        raise _native.StrataError(f"figure {self.number}: found no `{workload}` on `{system}`, expected those of its rows")

    def to_arrow(self) -> _native.Table:
        """The numbers as a table."""
        return self._table

    def to_pandas(self):
        """The numbers as a pandas DataFrame; needs pandas and pyarrow."""
        return self._table.to_pandas()

    def plot(self):
        """The figure as an Altair chart: a group of bars for each workload, and the means."""
        from .plot import COLOURS, altair

        alt = altair()
        rows = [row for row in self.rows() if row["value"] is not None]
        across = list(dict.fromkeys(row["workload"] for row in rows))
        systems = list(dict.fromkeys(row["system"] for row in rows))
        return (
            alt.Chart(alt.Data(values=rows), title=f"Figure {self.number}: {self.title}")
            .mark_bar()
            .encode(
                x=alt.X("workload:N", sort=across, title=None, axis=alt.Axis(labelAngle=-40)),
                xOffset=alt.XOffset("system:N", sort=systems),
                y=alt.Y("value:Q", title=None),
                color=alt.Color("system:N", sort=systems, title=None, scale=alt.Scale(range=COLOURS)),
                tooltip=["workload:N", "system:N", "value:Q"],
            )
            .properties(width=alt.Step(9), height=220)
        )

    def __repr__(self) -> str:
        return f"<strata_gpu.Figure {self.number} of {self.paper}: {self.title}>"

    def _repr_html_(self) -> str:
        return self._table._repr_html_()


def figure(
    paper: str | os.PathLike,
    number: str,
    *,
    size: str = "test",
    workloads: Iterable[str] | None = None,
    systems: str | Iterable[str] | None = None,
    set: Mapping[str, Any] | Iterable[str] | None = None,
    store: str | os.PathLike = "strata-store",
    jobs: int | None = None,
    memory_gib: float | None = None,
    run: bool = True,
    progress: bool | None = None,
    cancel: threading.Event | None = None,
) -> Figure:
    """Repeats a figure or table of a paper (`strata.papers()`), or of a paper's file, and runs what the store lacks for it.

    workloads: only these of the paper's.
    set: values to replace on the paper's systems, or on those of `systems` alone: an assumption, moved.
    The rest is as in `strata.compare`.
    """
    changes = {
        "size": size, "workloads": list(workloads or []), "sets": overrides(set), "systems": names(systems),
    }
    with _progress.jobs(progress, f"{paper} {number}") as show:
        (title, table), stopped = _native.figure(
            os.fspath(paper), str(number), changes, options(store, jobs, memory_gib, run, cancel, show),
        )
    if stopped:
        raise Cancelled(f"cancelled; what has ended is in {os.fspath(store)}, and the same call goes on with the rest")
    return Figure(os.fspath(paper), str(number), title, table)
