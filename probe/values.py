"""Types of elements and arguments, and what a buffer holds: generated or from a file."""

import math
from dataclasses import dataclass

import numpy as np

#: Elements generated at a time.
PIECE = 1 << 20


class Beyond(float):
    """Digits that are beyond every f64: no way to write infinity."""

    def __str__(self):
        return self.text


def real(text):
    """A float as TOML writes it."""
    value = float(text)
    if not math.isinf(value) or "inf" in text:
        return value
    value = Beyond(value)
    value.text = text
    return value


class Type:
    """The type of an element or argument, by its name in launch files."""

    NAMES = ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f32", "f64"]

    def __init__(self, name):
        self.name = name
        self.is_float = name[0] == "f"
        self.bytes = int(name[1:]) // 8
        self.dtype = np.dtype(f"<{name[0]}{self.bytes}")

    def values(self):
        """What the type holds, for an error."""
        if self.is_float:
            return f"a number that {self.name} holds"
        info = np.iinfo(self.dtype)
        return f"an integer from {info.min} to {info.max}"

    def holds(self, number):
        """Whether it holds the number; a float type rounds it, but not to infinity."""
        if self.is_float:
            if isinstance(number, Beyond):
                return False
            value = float(number)
            with np.errstate(over="ignore"):
                return not math.isfinite(value) or bool(np.isfinite(np.float64(value).astype(self.dtype)))
        info = np.iinfo(self.dtype)
        return isinstance(number, int) and info.min <= number <= info.max

    def pack(self, number):
        """The bytes of a number that the type holds."""
        return (
            np.array(float(number) if self.is_float else number, np.float64 if self.is_float else self.dtype)
            .astype(self.dtype)
            .tobytes()
        )


TYPES = {name: Type(name) for name in Type.NAMES}


def random_bits(seed, first, count):
    """Numbers `first` to `first + count` of the SplitMix64 stream of `seed` (Steele, Lea, Flood, "Fast splittable
    pseudorandom number generators", OOPSLA 2014). The state after n numbers is seed + n * gamma, so none needs another."""
    index = np.arange(first + 1, first + count + 1, dtype=np.uint64)
    z = np.uint64(seed) + index * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def high_product(a, b):
    """The upper 64 bits of the products of an array of 64-bit numbers with one."""
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    b_high, b_low = np.uint64(b >> 32), np.uint64(b & 0xFFFFFFFF)
    a_high, a_low = a >> half, a & low
    middle = a_high * b_low + ((a_low * b_low) >> half)
    middle_2 = a_low * b_high + (middle & low)
    return a_high * b_high + (middle >> half) + (middle_2 >> half)


def wrapped(number):
    """An integer modulo 2^64."""
    return np.uint64(number & 0xFFFFFFFFFFFFFFFF)


@dataclass
class Zeros:
    def piece(self, ty, first, count):
        return np.zeros(count, ty.dtype)


@dataclass
class Constant:
    number: int | float

    def piece(self, ty, first, count):
        return np.full(count, np.frombuffer(ty.pack(self.number), ty.dtype)[0])


@dataclass
class Values:
    """Elements that are written out."""

    bytes: bytes

    def piece(self, ty, first, count):
        return np.frombuffer(self.bytes, ty.dtype)[first : first + count]


@dataclass
class Ramp:
    """start + step * index."""

    start: int | float
    step: int | float

    def at(self, index):
        if isinstance(self.start, int) and isinstance(self.step, int):
            return self.start + self.step * index
        return float(self.start) + float(self.step) * float(index)

    def piece(self, ty, first, count):
        index = np.arange(first, first + count, dtype=np.uint64)
        if not (isinstance(self.start, int) and isinstance(self.step, int)):
            return (float(self.start) + float(self.step) * index.astype(np.float64)).astype(ty.dtype)
        if not ty.is_float:
            # The values fit the type, so that arithmetic modulo 2^64 gives them.
            return (wrapped(self.start) + wrapped(self.step) * index).astype(ty.dtype)
        if max(abs(self.at(first)), abs(self.at(first + count))) < 1 << 63:
            exact = (wrapped(self.start) + wrapped(self.step) * index).view(np.int64)
            return exact.astype(np.float64).astype(ty.dtype)
        exact = np.array([float(self.at(i)) for i in range(first, first + count)])
        return exact.astype(ty.dtype)


@dataclass
class Uniform:
    """Integers from low to high, both included; floats from low up to high."""

    seed: int
    low: int | float
    high: int | float

    def piece(self, ty, first, count):
        bits = random_bits(self.seed, first, count)
        if not ty.is_float:
            choices = self.high - self.low + 1
            # All 2^64 values of a 64-bit type are one choice more than 64 bits count.
            offset = bits if choices == 1 << 64 else high_product(bits, choices)
            return (wrapped(self.low) + offset).astype(ty.dtype)
        unit = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return (float(self.low) * (1.0 - unit) + float(self.high) * unit).astype(ty.dtype)


@dataclass
class File:
    """Little-endian elements."""

    path: str

    def piece(self, ty, first, count):
        return np.fromfile(self.path, ty.dtype, count, offset=first * ty.bytes)


def generate(contents, ty, count):
    """`count` elements as an array of the type."""
    array = np.empty(count, ty.dtype)
    for first in range(0, count, PIECE):
        part = min(PIECE, count - first)
        with np.errstate(over="ignore"):
            array[first : first + part] = contents.piece(ty, first, part)
    return array
