"""Lines of vectors: instructions whose sources come from memory, a vector a lane, and whose destinations go there.

They may use 64 bytes of each lane in global memory, at `%gm`, and in shared memory, at `%sm`.
"""

import pathlib
import sys

from case import Case, HEAD, REGISTERS

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from vectors import register_class  # noqa: E402

# Lines in one kernel.
LINES = 32


class Line:
    """`code` with its source and destination registers; the number of vectors is a multiple of 32."""

    def __init__(self, code, sources, destinations, vectors):
        self.code, self.sources, self.destinations, self.vectors = code, sources, destinations, vectors


def load(register, at):
    kind = register_class(register)
    if kind == "p":
        return f"ld.global.u32 %u, [%in+{at}]; setp.ne.u32 {register}, %u, 0;"
    return f"ld.global.b{ {'h': 16, 'r': 32, 'f': 32}.get(kind, 64)} {register}, [%in+{at}];"


def store(register, at):
    kind = register_class(register)
    if kind == "p":
        return f"selp.u32 %u, 1, 0, {register}; st.global.u32 [%out+{at}], %u;"
    return f"st.global.b{ {'h': 16, 'r': 32, 'f': 32}.get(kind, 64)} [%out+{at}], {register};"


def body(line, source, target):
    """One line's instructions; every slot has 8 bytes a vector."""
    step = 8 * len(line.vectors)
    text = "{ " + REGISTERS.split(" .reg .b64 %out")[0] + "\n"
    text += " ".join(load(register, source + step * n) for n, register in enumerate(line.sources))
    text += f"\n{line.code};\n"
    return text + " ".join(store(register, target + step * n) for n, register in enumerate(line.destinations)) + "\n}\n"


def case(name, lines):
    """Lines with equally many vectors in one kernel, a thread for each vector."""
    threads = len(lines[0].vectors)
    text, source, target, data = "", 0, 0, bytearray()
    for line in lines:
        text += body(line, source, target)
        for slot in range(len(line.sources)):
            for vector in line.vectors:
                data += vector[slot].to_bytes(8, "little")
        source, target = len(data), target + 8 * threads * len(line.destinations)
    memory = target + -target % 64
    text = (f"{HEAD}.visible .entry k(.param .u64 out, .param .u64 in) {{\n.reg .b64 %out, %in, %gm, %sm; .reg .b32 %t, %u;\n"
            f".shared .align 128 .b8 scratch[{64 * threads}];\n"
            "ld.param.u64 %out, [out]; ld.param.u64 %in, [in]; mov.u32 %t, %tid.x;\n"
            f"mov.u64 %sm, scratch; mad.wide.u32 %sm, %t, 64, %sm; mad.wide.u32 %gm, %t, 64, %out; add.u64 %gm, %gm, {memory};\n"
            f"mad.wide.u32 %in, %t, 8, %in; mad.wide.u32 %out, %t, 8, %out;\n{text}ret; }}\n")
    return Case(name, text, memory + 64 * threads, [bytes(data)], block=(threads, 1, 1), lines=lines)


def results(lines, out):
    """By line and vector the destinations' values."""
    at, found = 0, []
    for line in lines:
        values = [[] for _ in line.vectors]
        for _ in line.destinations:
            for vector in values:
                vector.append(int.from_bytes(out[at : at + 8], "little"))
                at += 8
        found.append(values)
    return found
