"""What runs: a workload, a launch file, or launches of kernels on arrays."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from . import _native

#: Name of a launch file in a folder of its own.
FILE = "launch.toml"


class Program:
    """A program that can run on any machine, as often as one likes.

    `Program("gemm", size="small")` is a workload, `Program("mine.toml")` a launch file; `strata.program` makes one of kernels and
    arrays.
    """

    def __init__(self, name: str | os.PathLike, *, size: str = "test"):
        self._native = _native.Program.named(os.fspath(name), size)
        self._size = size
        self._package: tuple[str, dict[str, bytes]] | None = None
        #: The arrays that a run changes, by the names of their buffers.
        self._arrays: dict[str, np.ndarray] = {}

    @classmethod
    def _of_package(cls, name: str, text: str, files: Mapping[str, bytes], arrays: Mapping[str, np.ndarray]) -> Program:
        made = cls.__new__(cls)
        made._native = _native.Program.in_memory(f"{name}.toml", text, dict(files))
        made._size = "test"
        made._package = (text, dict(files))
        made._arrays = dict(arrays)
        return made

    @property
    def name(self) -> str:
        """Its name in results."""
        return self._native.name

    @property
    def size(self) -> str | None:
        """Size of a workload; other programs have none."""
        return self._native.size

    def save(self, folder: str | os.PathLike) -> Path:
        """Writes the program as a launch file with all that it names to a new or empty folder, for `strata run` or anyone else.
        Returns the launch file."""
        if self._package is None:
            raise _native.StrataError(
                f"{self.name}: found a program that is not made of arrays, expected one; `strata workload export` writes a workload"
            )
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise _native.StrataError(f"{folder}: found files, expected a new or empty folder")
        text, files = self._package
        for name, data in files.items():
            (folder / name).write_bytes(data)
        path = folder / FILE
        path.write_text(text)
        return path

    def __repr__(self) -> str:
        return f"<strata_gpu.Program {self.name}{f' ({self.size})' if self.size else ''}>"


def program_of(program: Program | str | os.PathLike, size: str) -> Program:
    """A program that a caller gives by name, or as it is."""
    return program if isinstance(program, Program) else Program(program, size=size)
