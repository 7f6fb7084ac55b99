"""Progress bars, and what asked for a run."""

from __future__ import annotations

import importlib.util
import sys
from contextlib import contextmanager

from tqdm import tqdm as lines  # type: ignore[import-untyped]


def command() -> list[str]:
    """This process' command line, for the provenance of results."""
    return list(getattr(sys, "orig_argv", sys.argv))


def wanted(progress: bool | None) -> bool:
    """Whether to show progress: where somebody may see it, unless the caller says."""
    if progress is not None:
        return progress
    return "ipykernel" in sys.modules or sys.stderr.isatty()


def bar(**options):
    """A bar: a widget in notebooks that have widgets, a line elsewhere."""
    if "ipykernel" in sys.modules and importlib.util.find_spec("ipywidgets"):
        from tqdm.notebook import tqdm as widget  # type: ignore[import-untyped]

        return widget(**options)
    return lines(**options)


@contextmanager
def jobs(progress: bool | None, what: str):
    """A bar of jobs, as a callback; None if no progress is wanted."""
    if not wanted(progress):
        yield None
        return
    with bar(desc=what, unit=" jobs", delay=0.5, leave=False) as shown:

        def show(ended: int, total: int, last: str) -> None:
            shown.total = total
            shown.n = ended
            shown.set_postfix_str(last, refresh=False)
            shown.update(0)

        yield show


@contextmanager
def ctas(progress: bool | None, what: str):
    """A bar of a launch's CTAs, as a callback; None if no progress is wanted."""
    if not wanted(progress):
        yield None
        return
    with bar(desc=what, unit=" CTAs", delay=0.5, leave=False) as shown:

        def show(launch: int, cycle: int, total: int, done: int) -> None:
            shown.total = total
            shown.n = done
            shown.set_postfix_str(f"launch {launch}, cycle {cycle:,}", refresh=False)
            shown.update(0)

        yield show
