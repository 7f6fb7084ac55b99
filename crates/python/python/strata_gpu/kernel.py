"""Kernels on NumPy arrays."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from . import _native
from .program import Program
from .result import DTYPES, Result
from .run import raw, run

StrataError = _native.StrataError

#: A launch file's types by NumPy's kind and size.
TYPES = {np.dtype(dtype).str: name for name, dtype in DTYPES.items()}

Extent = int | Sequence[int]


class Kernel:
    """A kernel of a PTX text.

    `ptx` is the text or a file's path; `name` may be left out where the text has one kernel. Calling the kernel runs it:
    `kernel(x, 2.0, grid=32, block=128, machine="volta-fuse")`. An array is a buffer on the GPU, and holds what the kernel left in it
    afterwards; a number becomes what the parameter is; None is a null pointer.
    """

    def __init__(self, ptx: str | os.PathLike, name: str | None = None):
        text, source = os.fspath(ptx), "kernel.ptx"
        if isinstance(ptx, os.PathLike) or ("\n" not in ptx and ptx.endswith(".ptx")):
            source = text
            try:
                text = Path(source).read_text()
            except OSError as error:
                raise StrataError(f"{source}: {error.strerror}, expected a PTX file") from error
        kernels = dict(_native.kernels(source, text))
        if not kernels:
            raise StrataError(f"{source}: found no kernel, expected an .entry with a body")
        if name is None and len(kernels) > 1:
            raise StrataError(f"{source}: found several kernels, expected the name of one: {', '.join(kernels)}")
        name = name if name is not None else next(iter(kernels))
        if name not in kernels:
            raise StrataError(f"{source}: found no kernel `{name}`, expected one of {', '.join(kernels)}")
        self.name = name
        self.ptx = text
        self.source = source
        #: Name and type of each parameter. Names that compilers make, as `scale_param_0`, are cut to `param_0`.
        self.parameters: list[tuple[str, str]] = [
            (parameter.removeprefix(f"{name}_") if parameter.startswith(f"{name}_param_") else parameter, kind)
            for parameter, kind in kernels[name]
        ]

    def launch(self, *arguments: Any, grid: Extent, block: Extent, shared: int = 0, repeat: int = 1) -> Launch:
        """A launch of the kernel, for `strata.program`: `grid` CTAs of `block` threads, each a number or up to three, with `shared`
        bytes of dynamic shared memory a CTA, made `repeat` times."""
        if len(arguments) != len(self.parameters):
            known = ", ".join(f"{name} (.{kind})" for name, kind in self.parameters) or "none"
            raise StrataError(f"kernel {self.name}: found {len(arguments)} arguments, expected {len(self.parameters)}: {known}")
        return Launch(self, arguments, extent(grid), extent(block), shared, repeat)

    def program(self, *arguments: Any, grid: Extent, block: Extent, shared: int = 0, repeat: int = 1, **others: Any) -> Program:
        """The program that launches the kernel once, or `repeat` times; see `strata.program`."""
        launch = self.launch(*arguments, grid=grid, block=block, shared=shared, repeat=repeat)
        return program([launch], **others)

    def __call__(
        self,
        *arguments: Any,
        grid: Extent,
        block: Extent,
        shared: int = 0,
        repeat: int = 1,
        expect: Mapping[str, np.ndarray] | None = None,
        absolute: float = 0.0,
        relative: float = 0.0,
        **options: Any,
    ) -> Result:
        """Runs the kernel on arrays, which then hold what it left in them. `options` are those of `strata.run`."""
        launch = self.launch(*arguments, grid=grid, block=block, shared=shared, repeat=repeat)
        made = program([launch], expect=expect, absolute=absolute, relative=relative)
        return run(made, **options)

    def __repr__(self) -> str:
        parameters = ", ".join(f".{kind} {name}" for name, kind in self.parameters)
        return f"<strata_gpu.Kernel {self.name}({parameters})>"


@dataclass(frozen=True)
class Launch:
    """A launch of a kernel with its arguments."""

    kernel: Kernel
    arguments: tuple[Any, ...]
    grid: list[int]
    block: list[int]
    shared: int = 0
    repeat: int = 1


def program(
    launches: Iterable[Launch],
    *,
    name: str | None = None,
    expect: Mapping[str, np.ndarray] | None = None,
    absolute: float = 0.0,
    relative: float = 0.0,
) -> Program:
    """A program that makes launches in order. The same array in two launches is one buffer.

    Buffers are called as the parameters that they are first given to. `expect` says what buffers should hold after the last launch, by
    name; floats may differ by `absolute + relative * abs(expected)`. Arrays are read when the program is made, and written after each
    run of it, those that are read-only excepted.
    """
    launches = list(launches)
    if not launches:
        raise StrataError("launches: found none, expected at least one")
    texts = {launch.kernel.ptx for launch in launches}
    if len(texts) > 1:
        raise StrataError("launches: found kernels of several texts, expected those of one")
    name = name or launches[0].kernel.name
    file = _File(name, launches[0].kernel)
    for launch in launches:
        file.launch(launch)
    for buffer, expected in (expect or {}).items():
        file.expect(buffer, expected, absolute, relative)
    return Program._of_package(name, *file.finish())


@dataclass
class _File:
    """A launch file that grows by launches."""

    name: str
    kernel: Kernel
    files: dict[str, bytes] = field(default_factory=dict)
    buffers: dict[str, np.ndarray] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    checks: list[str] = field(default_factory=list)

    def launch(self, launch: Launch) -> None:
        kernel = launch.kernel
        arguments = [
            self.argument(kernel, parameter, kind, argument)
            for (parameter, kind), argument in zip(kernel.parameters, launch.arguments)
        ]
        self.lines += [
            "[[launch]]", f"kernel = {quoted(kernel.name)}", f"grid = {launch.grid}", f"block = {launch.block}",
            f"dynamic_shared_bytes = {launch.shared}", f"repeat = {launch.repeat}", f"arguments = [{', '.join(arguments)}]", "",
        ]

    def argument(self, kernel: Kernel, parameter: str, kind: str, argument: Any) -> str:
        if isinstance(argument, np.ndarray) and argument.ndim > 0:
            return f"{{ buffer = {quoted(self.buffer(parameter, argument))} }}"
        ty, value = scalar(argument, kind, f"kernel {kernel.name}: argument `{parameter}`")
        return f"{{ {ty} = {value} }}"

    def buffer(self, parameter: str, array: np.ndarray) -> str:
        """The buffer of an array."""
        for name, known in self.buffers.items():
            if known is array or same(known, array):
                return name
            if np.may_share_memory(known, array):
                raise StrataError(
                    f"argument `{parameter}`: found an array that shares memory with the buffer `{name}`, expected the same array or "
                    "another's memory"
                )
        if array.size == 0:
            raise StrataError(f"argument `{parameter}`: found an empty array, expected at least one element")
        name, number = parameter, 2
        while name in self.buffers:
            name, number = f"{parameter}_{number}", number + 1
        self.buffers[name] = array
        self.files[f"{name}.bin"] = elements(array).tobytes()
        return name

    def expect(self, buffer: str, expected: np.ndarray, absolute: float, relative: float) -> None:
        if buffer not in self.buffers:
            raise StrataError(f"expect: found no buffer `{buffer}`, expected one of {', '.join(self.buffers)}")
        array = self.buffers[buffer]
        expected = np.broadcast_to(np.asarray(expected, dtype=array.dtype), array.shape)
        self.files[f"{buffer}.expected.bin"] = elements(expected).tobytes()
        self.checks += [
            "[[check]]", f"buffer = {quoted(buffer)}", f"name = {quoted(buffer + ' as expected')}",
            f"expected = {{ file = {quoted(buffer + '.expected.bin')} }}",
        ]
        if array.dtype.kind == "f" and (absolute or relative):
            self.checks += [f"absolute = {number(float(absolute))}", f"relative = {number(float(relative))}"]
        self.checks += [""]

    def finish(self) -> tuple[str, dict[str, bytes], dict[str, np.ndarray]]:
        module = Path(self.kernel.source).name
        head = [f"name = {quoted(self.name)}", f"module = {quoted(module)}", ""]
        for name, array in self.buffers.items():
            flat = elements(array)
            head += [
                "[[buffer]]", f"name = {quoted(name)}", f"type = {quoted(TYPES[flat.dtype.str])}", f"count = {flat.size}",
                f"contents = {{ file = {quoted(name + '.bin')} }}", "",
            ]
        written = {name: array for name, array in self.buffers.items() if array.flags.writeable}
        for name in written:
            self.checks += ["[[check]]", f"buffer = {quoted(name)}", ""]
        self.files[module] = self.kernel.ptx.encode()
        return "\n".join([*head, *self.lines, *self.checks]), self.files, written


def same(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays are views of the same elements in the same order."""
    return one.__array_interface__["data"] == other.__array_interface__["data"] and (one.shape, one.strides, one.dtype) == (
        other.shape, other.strides, other.dtype,
    )


def elements(array: np.ndarray) -> np.ndarray:
    """An array's elements as numbers of a launch file's types: others as unsigned numbers of their size, or of bytes."""
    flat = raw(array)
    if flat.dtype.hasobject:
        raise StrataError(f"found an array of {flat.dtype}, expected numbers")
    if flat.dtype.byteorder == ">":
        raise StrataError("found an array of big-endian numbers, expected little-endian ones")
    if flat.dtype.str in TYPES:
        return flat
    if flat.dtype.kind == "c":
        return flat.view(f"<f{flat.dtype.itemsize // 2}")
    return flat.view(f"<u{flat.dtype.itemsize}" if flat.dtype.itemsize in (1, 2, 4, 8) else "<u1")


def scalar(value: Any, kind: str, where: str) -> tuple[str, str]:
    """Type and text of a number for a parameter's type."""
    if value is None and kind in ("u64", "s64", "b64"):
        return "u64", "0"
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = np.asarray(value)[()]
        if value.dtype.str in TYPES:
            return TYPES[value.dtype.str], number(value.item())
        if value.dtype.itemsize in (1, 2, 4, 8) and value.dtype.kind != "O":
            return f"u{8 * value.dtype.itemsize}", str(int(value.view(f"<u{value.dtype.itemsize}")))
    if isinstance(value, (bool, int, float)):
        if kind in ("f32", "f64"):
            return kind, number(float(value))
        if kind in ("b32", "b64") and isinstance(value, float):
            return f"f{kind[1:]}", number(value)
        if kind == "f16" and isinstance(value, (int, float)):
            return "u16", str(int(np.float16(value).view(np.uint16)))
        if isinstance(value, (bool, int)) and kind[0] in "usb" and kind[1:].isdigit():
            signed = int(value) < 0
            return f"{'i' if signed or kind[0] == 's' else 'u'}{kind[1:]}", str(int(value))
    raise StrataError(f"{where}: found {value!r}, expected an array, or a number for a parameter of type .{kind}")


def number(value: bool | int | float) -> str:
    """A number as TOML writes it."""
    if isinstance(value, float):
        return "nan" if value != value else {float("inf"): "inf", float("-inf"): "-inf"}.get(value, repr(value))
    return str(int(value))


def quoted(text: str) -> str:
    """A string as TOML writes it."""
    return json.dumps(text, ensure_ascii=False)


def extent(size: Extent) -> list[int]:
    """A grid's or CTA's size as up to three numbers."""
    return [int(size)] if isinstance(size, (int, np.integer)) else [int(part) for part in size]
