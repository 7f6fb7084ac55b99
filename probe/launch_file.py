"""Launch files, as docs/launch-files.md describes them. What is not described there is refused before anything runs."""

import hashlib
import math
import os
import tomllib
from dataclasses import dataclass

import numpy as np

import ptx
from node import Fields, Refused
from values import TYPES, Constant, File, Ramp, Type, Uniform, Values, Zeros, generate, real

FILE_BYTES = 8 << 20
MODULE_BYTES = 64 << 20
BUFFERS = 1024
BUFFER_BYTES = 4 << 30
TOTAL_BYTES = 16 << 30
LAUNCHES = 1 << 16
WRITES = 1024
#: Values that are written out in one buffer.
VALUES = 1 << 16
CONTENTS = '"zeros" or a table with one of constant, ramp, uniform, values, file'
REPEAT = 1_000_000
ARGUMENTS = 512
CHECKS = 256
GRID = [0x7FFFFFFF, 65_535, 65_535]
#: A host phase is a grid of CTAs of one thread.
CPU_THREADS = GRID[0]
BLOCK = [1024, 1024, 64]
BLOCK_THREADS = 1024
DYNAMIC_SHARED_BYTES = 227 << 10


@dataclass
class Buffer:
    name: str
    type: Type
    count: int
    contents: object
    #: It is the module's variable of its name.
    variable: bool
    #: Its contents may depend on the order in which threads run.
    unordered: bool

    @property
    def bytes(self):
        return self.count * self.type.bytes


@dataclass
class Write:
    """What the host writes before a launch: a file's bytes, or one byte many times."""

    buffer: int
    byte_offset: int
    bytes: int
    path: str | None
    fill: int | None


@dataclass
class Argument:
    """An address in a buffer, or the bytes of a scalar."""

    buffer: int | None
    byte_offset: int
    scalar: bytes | None


@dataclass
class Launch:
    """A launch, or a host phase: the same kernel as CTAs of one thread, whose time is not the GPU's."""

    kernel: str
    on_cpu: bool
    grid: list[int]
    block: list[int]
    dynamic_shared_bytes: int
    repeat: int
    before: list[Write]
    arguments: list[Argument]


@dataclass
class Check:
    buffer: int
    name: str
    type: Type
    byte_offset: int
    count: int
    #: None: nothing says what the buffer should hold.
    expected: object | None
    #: None: bit for bit; a path: a bound for each element; a pair: absolute and relative.
    tolerance: str | tuple[float, float] | None


@dataclass
class LaunchFile:
    path: str
    name: str
    ptx: bytes
    buffers: list[Buffer]
    launches: list[Launch]
    checks: list[Check]
    launch_sha256: str
    ptx_sha256: str


def read(path):
    """Reads a launch file and checks every file it names; those are looked for beside it."""
    try:
        with open(path, "rb") as file:
            raw = file.read(FILE_BYTES + 1)
        if len(raw) > FILE_BYTES:
            raise Refused(path, "file", f"more than {FILE_BYTES} bytes", f"at most {FILE_BYTES}")
        document = tomllib.loads(raw.decode(), parse_float=real)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise Refused(path, "file", str(error), "a TOML file") from None
    return Parser(path).whole(document, hashlib.sha256(raw).hexdigest())


def identity(path):
    """SHA-256 of a launch file and of its PTX, as far as they can be read: which program it is."""
    digests = ["", ""]
    try:
        with open(path, "rb") as file:
            raw = file.read(FILE_BYTES)
        digests[0] = hashlib.sha256(raw).hexdigest()
        module = os.path.join(os.path.dirname(path), tomllib.loads(raw.decode(), parse_float=real)["module"])
        with open(module, "rb") as file:
            digests[1] = hashlib.sha256(file.read(MODULE_BYTES)).hexdigest()
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    return tuple(digests)


class Parser:
    """One launch file: what earlier tables have said is known to later ones."""

    def __init__(self, path):
        self.path = path
        self.base = os.path.dirname(path)
        self.buffers = []
        self.kernels = {}

    def whole(self, document, sha256):
        root = Fields(self.path, "", document, ["name", "module", "buffer", "launch", "check"])
        name_node = root.optional("name")
        stem = os.path.splitext(os.path.basename(self.path))[0]
        name = stem if name_node is None else name_node.name("a name")
        module = root.required("module", "the path of a PTX file")
        text = self.module(module)
        total = 0
        for node in root.array("buffer", 0, BUFFERS, "[[buffer]] tables"):
            buffer = self.buffer(node)
            total += buffer.bytes
            if total > TOTAL_BYTES:
                raise node.error(f"{total} bytes in the buffers so far", f"at most {TOTAL_BYTES} in all")
            self.buffers.append(buffer)
        launches = [self.launch(node) for node in root.array("launch", 0, LAUNCHES, "[[launch]] tables")]
        if not launches:
            raise root.missing("launch", "at least one [[launch]] table")
        checks = [self.check(node) for node in root.array("check", 0, CHECKS, "[[check]] tables")]
        return LaunchFile(
            self.path, name, text, self.buffers, launches, checks, sha256, hashlib.sha256(text).hexdigest()
        )

    def module(self, node):
        node.name("the path of a PTX file")
        path, _ = self.file(node, lambda found: found <= MODULE_BYTES, f"at most {MODULE_BYTES} bytes")
        with open(path, "rb") as file:
            text = file.read()
        try:
            self.kernels = ptx.entries(text.decode())
        except UnicodeDecodeError:
            raise node.error("a file that is not text", "a PTX file") from None
        if not self.kernels:
            raise node.error("a file without a kernel", "a PTX file with at least one `.entry`")
        return text

    def file(self, node, right_length, expected):
        """The path and length of a file that a value names."""
        path = os.path.join(self.base, node.name("the path of a file"))
        try:
            if not os.path.isfile(path):
                os.stat(path)
                raise node.error(f"{node.found()}, which is not a regular file", "a readable file")
            with open(path, "rb") as file:
                length = os.fstat(file.fileno()).st_size
        except OSError as error:
            raise node.error(f"{node.found()} ({error.strerror})", "a readable file") from None
        if not right_length(length):
            raise node.error(f"a file of {length} bytes", expected)
        return path, length

    def elements(self, node, ty, count):
        """The path of a file with so many elements."""
        bytes_ = count * ty.bytes
        return self.file(node, lambda found: found == bytes_, f"{bytes_} bytes: {count} elements of {ty.name}")[0]

    def find(self, fields):
        names = ", ".join(buffer.name for buffer in self.buffers)
        node = fields.required("buffer", "the name of a buffer")
        name = node.string(f"the name of a buffer: {names}")
        for index, buffer in enumerate(self.buffers):
            if buffer.name == name:
                return index
        raise node.error(node.found(), f"the name of a buffer: {names}")

    def buffer(self, node):
        fields = node.table(["name", "variable", "unordered", "type", "count", "contents"])
        name_node = fields.required("name", "a name")
        name = name_node.name("a name")
        if any(other.name == name for other in self.buffers):
            raise name_node.error(f'"{name}" again', "a name that no other buffer has")
        variable, unordered = (
            node is not None and node.boolean() for node in map(fields.optional, ["variable", "unordered"])
        )
        ty = element_type(fields.required("type", f"one of {', '.join(TYPES)}"))
        contents_node = fields.optional("contents")
        if fields.optional("count") is None and contents_node is not None and contents_node.has("values"):
            # As many as there are values.
            count = len(contents_node.choice(CONTENTS)[1].array(1, VALUES, "values"))
        else:
            count = fields.required("count", "a number of elements").integer(1, BUFFER_BYTES // ty.bytes)
        contents = Zeros() if contents_node is None else self.contents(contents_node, ty, count)
        return Buffer(name, ty, count, contents, variable, unordered)

    def contents(self, node, ty, count):
        kind, value = node.choice(CONTENTS)
        if kind == "zeros" and value is None:
            return Zeros()
        if value is None or kind not in ["constant", "ramp", "uniform", "values", "file"]:
            raise node.error(f'"{kind}"', CONTENTS)
        if kind == "constant":
            return Constant(number(value, ty))
        if kind == "ramp":
            return ramp(value, ty, count)
        if kind == "uniform":
            return uniform(value, ty)
        if kind == "values":
            nodes = value.array(1, VALUES, "values")
            if len(nodes) != count:
                raise value.error(f"{len(nodes)} values", f"{count}: elements of {ty.name}")
            return Values(b"".join(ty.pack(number(one, ty)) for one in nodes))
        return File(self.elements(value, ty, count))

    def launch(self, node):
        known = ["before", "kernel", "cpu_threads", "grid", "block", "dynamic_shared_bytes", "repeat", "arguments"]
        fields = node.table(known)
        before = [self.write(write) for write in fields.array("before", 0, WRITES, "writes")]
        expected = f"a kernel of the module: {', '.join(self.kernels)}"
        kernel_node = fields.required("kernel", expected)
        kernel = kernel_node.string(expected)
        if kernel not in self.kernels:
            raise kernel_node.error(kernel_node.found(), expected)
        on_cpu = fields.optional("cpu_threads") is not None
        shape = self.phase(fields) if on_cpu else self.shape(fields)
        repeat = fields.integer("repeat", 1, REPEAT, 1)
        nodes = fields.array("arguments", 0, ARGUMENTS, "arguments")
        arguments = self.arguments(fields, nodes, kernel)
        return Launch(kernel, on_cpu, *shape, repeat, before, arguments)

    def shape(self, fields):
        """Grid, block and dynamic shared memory of a launch on the GPU."""
        grid = extent(fields.required("grid", "an array of 1 to 3 CTA counts"), GRID, "CTA counts")
        block_node = fields.required("block", "an array of 1 to 3 thread counts")
        block = extent(block_node, BLOCK, "thread counts")
        if math.prod(block) > BLOCK_THREADS:
            raise block_node.error(f"{math.prod(block)} threads", f"at most {BLOCK_THREADS} threads")
        return grid, block, fields.integer("dynamic_shared_bytes", 0, DYNAMIC_SHARED_BYTES, 0)

    def phase(self, fields):
        """A host phase's threads, in the shape of a launch."""
        for key in ["grid", "block", "dynamic_shared_bytes"]:
            other = fields.optional(key)
            if other is not None:
                raise other.error("both it and `cpu_threads`", "one of them")
        return [fields.integer("cpu_threads", 1, CPU_THREADS, 1), 1, 1], [1, 1, 1], 0

    def arguments(self, fields, nodes, kernel):
        """One argument for each parameter: a driver would read whatever lies in memory instead."""
        parameters = self.kernels[kernel]
        if parameters is None:
            raise fields.missing("arguments", f"parameters of `{kernel}` in the PTX that can be read")
        if len(nodes) != len(parameters):
            each = ", ".join(f"`{parameter.name}` ({parameter.type})" for parameter in parameters)
            expected = f"{len(parameters)}, for the parameters {each}" if each else "none: the kernel has no parameters"
            if fields.optional("arguments") is None:
                raise fields.missing("arguments", expected)
            raise fields.optional("arguments").error(f"{len(nodes)} arguments", expected)
        return [self.argument(node, parameter) for node, parameter in zip(nodes, parameters)]

    def write(self, node):
        fields = node.table(["buffer", "byte_offset", "bytes", "fill", "file"])
        index = self.find(fields)
        size = self.buffers[index].bytes
        byte_offset = fields.integer("byte_offset", 0, size, 0)
        room = size - byte_offset
        file = fields.optional("file")
        if file is not None:
            for key in ["fill", "bytes"]:
                if fields.optional(key) is not None:
                    raise fields.optional(key).error("both it and `file`", "one of them")
            path, length = self.file(
                file, lambda found: found <= room, f"at most the {room} bytes that follow in the buffer"
            )
            return Write(index, byte_offset, length, path, None)
        fill = fields.required("fill", "a byte, or `file` with bytes").integer(0, 255)
        return Write(index, byte_offset, fields.integer("bytes", 0, room, room), None, fill)

    def argument(self, node, parameter):
        if node.has("buffer"):
            fields = node.table(["buffer", "byte_offset"])
            index = self.find(fields)
            byte_offset = fields.integer("byte_offset", 0, self.buffers[index].bytes, 0)
            if not parameter.takes_address():
                raise node.error("the address of a buffer", parameter.expected(TYPES))
            return Argument(index, byte_offset, None)
        expected = f"a table with one of buffer, {', '.join(TYPES)}"
        name, value = node.choice(expected)
        if value is None:
            raise node.error(node.found(), expected)
        if name not in TYPES:
            raise node.error(f'"{name}"', expected)
        scalar = TYPES[name].pack(number(value, TYPES[name]))
        if not parameter.takes(TYPES[name]):
            raise value.error(name, parameter.expected(TYPES))
        return Argument(None, 0, scalar)

    def check(self, node):
        known = ["buffer", "name", "type", "byte_offset", "count", "expected", "absolute", "relative", "bounds"]
        fields = node.table(known)
        index = self.find(fields)
        buffer = self.buffers[index]
        name_node, type_node = fields.optional("name"), fields.optional("type")
        name = buffer.name if name_node is None else name_node.name("a name")
        ty = buffer.type if type_node is None else element_type(type_node)
        byte_offset = fields.integer("byte_offset", 0, buffer.bytes, 0)
        room = (buffer.bytes - byte_offset) // ty.bytes
        count = fields.integer("count", 1, max(room, 1), room)
        if not 0 < count <= room:
            raise fields.missing("count", "a part of the buffer with at least one element")
        expected_node, bounds_node = fields.optional("expected"), fields.optional("bounds")
        expected = None if expected_node is None else self.contents(expected_node, ty, count)
        everywhere_ = everywhere(fields, ty)
        if bounds_node is not None and everywhere_ is not None:
            raise bounds_node.error("both it and `absolute` or `relative`", "one of them")
        tolerance = everywhere_ if bounds_node is None else self.bounds(bounds_node, count)
        if expected is None:
            for key in ["bounds", "absolute", "relative"]:
                if fields.optional(key) is not None:
                    raise fields.optional(key).error("a tolerance without `expected`", "something to compare with")
        return Check(index, name, ty, byte_offset, count, expected, tolerance)

    def bounds(self, node, count):
        path = self.elements(node, TYPES["f64"], count)
        bounds = generate(File(path), TYPES["f64"], count)
        wrong = np.flatnonzero(~(bounds >= 0))
        if wrong.size:
            raise node.error(f"{bounds[wrong[0]]} at index {wrong[0]}", "bounds of at least 0")
        return path


def element_type(node):
    expected = f"one of {', '.join(TYPES)}"
    name = node.string(expected)
    if name not in TYPES:
        raise node.error(node.found(), expected)
    return TYPES[name]


def number(node, ty):
    value = node.number(ty.values())
    if not ty.holds(value):
        raise node.error(node.found(), ty.values())
    return value


def ramp(node, ty, count):
    fields = node.table(["start", "step"])
    start = number(fields.required("start", ty.values()), ty)
    # A step may be negative where elements are not, so only its range is checked, by the last element.
    step_node = fields.required("step", "a number")
    step = step_node.number("a number")
    fits = abs(step) < 1 << 64 if isinstance(step, int) else math.isfinite(step) and ty.is_float
    if not fits:
        raise step_node.error(step_node.found(), "a finite number" if ty.is_float else "an integer of at most 64 bits")
    contents = Ramp(start, step)
    last = contents.at(count - 1)
    if not ty.holds(last) or not math.isfinite(last):
        raise node.error(f"a last element of {last}", ty.values())
    return contents


def uniform(node, ty):
    fields = node.table(["seed", "low", "high"])
    seed = fields.required("seed", "an integer").integer(0, (1 << 64) - 1)
    nodes = [fields.required(key, ty.values()) for key in ["low", "high"]]
    low, high = (number(bound, ty) for bound in nodes)
    for bound, value in zip(nodes, [low, high]):
        if not math.isfinite(value):
            raise bound.error(bound.found(), "a finite number")
    if low > high:
        raise nodes[1].error(nodes[1].found(), f"at least `low`, which is {low}")
    return Uniform(seed, low, high)


def extent(node, limits, what):
    """One to three sizes, each from 1 to its limit; those left out are 1."""
    sizes = [size.integer(1, limit) for size, limit in zip(node.array(1, 3, what), limits)]
    return sizes + [1] * (3 - len(sizes))


def everywhere(fields, ty):
    """One tolerance for all elements: absolute and relative, or None."""
    parts = []
    for key in ["absolute", "relative"]:
        node = fields.optional(key)
        if node is None:
            parts.append(None)
            continue
        if not ty.is_float:
            raise node.error(f"a tolerance for elements of {ty.name}", "none: they are exact")
        value = float(node.number("a number that is not negative"))
        if not (value >= 0 and math.isfinite(value)):
            raise node.error(node.found(), "a number that is not negative")
        parts.append(value)
    return None if parts == [None, None] else tuple(part or 0.0 for part in parts)
