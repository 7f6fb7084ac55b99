"""Result stores as tables."""

from __future__ import annotations

import os

from . import _native
from .compare import Metrics, expressions


class Store:
    """A folder of results, which sweeps fill and `strata` commands share.

    It is read when it is opened. The tables can be queried by what reads Arrow's C data interface:

        runs = strata.Store("strata-store").runs(metrics=["ipc"])
        duckdb.sql("select workload, max(ipc) from runs group by workload")
    """

    def __init__(self, folder: str | os.PathLike = "strata-store"):
        self._native = _native.Store(os.fspath(folder))

    def __len__(self) -> int:
        return len(self._native)

    @property
    def passed_over(self) -> list[str]:
        """What lies in the folder and is no result, a sentence each."""
        return self._native.passed_over

    def runs(self, metrics: Metrics = ()) -> _native.Table:
        """A row for each run: key, workload, size, machine, system, overrides, simulator, cycles, and metrics. A metric that a run has
        no counters for is null."""
        return self._native.runs(expressions(metrics))

    def rows(self, key: str) -> _native.Table:
        """Every number of a run: launch (null for the whole run), group, counter, count or real."""
        return self._native.rows(key)

    def failures(self) -> _native.Table:
        """Jobs that failed: what ran, and why."""
        return self._native.failures()

    def claims(self, paper: str, *, size: str = "test") -> _native.Table:
        """A row for each published number of a paper: what was published, what the store's runs at a size say, and the verdict."""
        return self._native.claims(paper, size)

    def to_arrow(self) -> _native.Table:
        """The runs; as `runs()`."""
        return self.runs()

    def __repr__(self) -> str:
        return f"<strata_gpu.Store {os.fspath(self._native.folder)}: {len(self)} runs>"
