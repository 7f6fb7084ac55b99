"""Exceptions, each with what was measured until then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._native import StrataError

if TYPE_CHECKING:
    from .result import Result


class NotFinished(StrataError):
    """A run stopped before its end: a fault, a limit. `result` has what it measured until then."""

    def __init__(self, message: str, result: Result | None = None):
        super().__init__(message)
        self.result = result


class Cancelled(NotFinished):
    """The caller's event stopped it."""


class WrongResults(StrataError):
    """A run ended, and its results are not what was expected. `result` has them and the numbers."""

    def __init__(self, message: str, result: Result | None = None):
        super().__init__(message)
        self.result = result
