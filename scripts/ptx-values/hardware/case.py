"""A case: a kernel, what it is given, and how much it gives back."""

import hashlib
import random
import struct
from dataclasses import dataclass, field
from typing import Callable

HEAD = ".version 8.8\n.target sm_90a\n.address_size 64\n"
REGISTERS = (".reg .pred %p<16>; .reg .b16 %h<32>; .reg .b32 %r<64>; .reg .b64 %rd<32>; .reg .b128 %q<8>; .reg .f32 %f<64>;"
             " .reg .f64 %d<32>; .reg .b64 %out, %in; .reg .b32 %t, %u;\n")


@dataclass
class Case:
    """The kernel `k` takes the address of its output, of each input, and what `more` makes."""

    name: str
    text: str
    out: int
    inputs: list = field(default_factory=list)
    grid: tuple = (1, 1, 1)
    block: tuple = (32, 1, 1)
    # Of a device and the addresses of the inputs: more arguments, as bytes.
    more: Callable = None
    # What to read when it has ended, beside the output: inputs by number, or what `more` left in `gpu.after`.
    reads: tuple = ()
    # Lines of vectors, if it is made of them.
    lines: list = None

    def identity(self):
        """Of the text and the inputs: whether two results are of the same case."""
        return hashlib.sha256(b"".join([self.text.encode(), *self.inputs])).hexdigest()[:16]

    def run(self, gpu):
        module = gpu.module(self.text)
        out = gpu.buffer(bytes(self.out))
        inputs = [gpu.buffer(data) for data in self.inputs]
        gpu.after = []
        arguments = [struct.pack("<Q", at) for at in [out, *inputs]]
        arguments += self.more(gpu, inputs) if self.more else []
        gpu.launch(module, self.grid, self.block, arguments)
        found = [gpu.bytes(out, self.out)] + [gpu.bytes(inputs[n], len(self.inputs[n])) for n in self.reads]
        return found + [read() for read in gpu.after]


def kernel(body, inputs=1, more="", declarations="", directives=""):
    """A kernel's text: `%out` and `%in` hold addresses, `%t` the thread's number in its CTA."""
    parameters = ", ".join([".param .u64 out", *(f".param .u64 in{n}" for n in range(inputs))]) + more
    load = "ld.param.u64 %in, [in0];" if inputs else ""
    return (f"{HEAD}{declarations}.visible .entry k({parameters}) {directives} {{\n{REGISTERS}"
            f"ld.param.u64 %out, [out]; {load} mov.u32 %t, %tid.x;\n{body}\nret; }}\n")


def draw(name):
    """Random numbers of a case: always the same."""
    return random.Random(name)


def words(numbers):
    return b"".join(struct.pack("<I", x & 0xFFFFFFFF) for x in numbers)
