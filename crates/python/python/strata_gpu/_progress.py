"""Progress bars, and what asked for a run."""

from __future__ import annotations

import sys
from contextlib import contextmanager

from tqdm.auto import tqdm  # type: ignore[import-untyped]


def command() -> list[str]:
    """This process' command line, for the provenance of results."""
    return list(getattr(sys, "orig_argv", sys.argv))


def wanted(progress: bool | None) -> bool:
    """Whether to show progress: where somebody may see it, unless the caller says."""
    if progress is not None:
        return progress
    return "ipykernel" in sys.modules or sys.stderr.isatty()


@contextmanager
def jobs(progress: bool | None, what: str):
    """A bar of jobs, as a callback; None if no progress is wanted."""
    if not wanted(progress):
        yield None
        return
    with tqdm(desc=what, unit=" jobs", delay=0.5, leave=False) as bar:

        def show(ended: int, total: int, last: str) -> None:
            bar.total = total
            bar.n = ended
            bar.set_postfix_str(last, refresh=False)
            bar.refresh()

        yield show


@contextmanager
def ctas(progress: bool | None, what: str):
    """A bar of a launch's CTAs, as a callback; None if no progress is wanted."""
    if not wanted(progress):
        yield None
        return
    with tqdm(desc=what, unit=" CTAs", delay=0.5, leave=False) as bar:

        def show(launch: int, cycle: int, total: int, done: int) -> None:
            bar.total = total
            bar.n = done
            bar.set_postfix_str(f"launch {launch}, cycle {cycle:,}", refresh=False)
            bar.update(0)

        yield show
