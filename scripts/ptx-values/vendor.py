"""What the vendor's assembler computes when it folds constants: PTX with constant operands through ptxas, the stored constants
read back from nvdisasm's listing."""

import re
import struct
import subprocess
import tempfile

from vectors import BITS, parts, register_class

# Instructions are not in every target.
TARGETS = ["sm_80", "sm_90", "sm_100"]
# A vector's place in the output, and a destination's in it.
STRIDE, PLACE = 32, 8


def give(register, value):
    name = register_class(register)
    if name == "p":
        return f"setp.ne.u32 {register}, {value}, 0;"
    return f"mov.b{BITS[name]} {register}, {value:#x};"


def put(register, offset):
    name = register_class(register)
    if name == "p":
        return f"selp.u32 %o, 1, 0, {register}; st.volatile.global.u32 [%out+{offset}], %o;"
    return f"st.volatile.global.b{BITS[name]} [%out+{offset}], {register};"


def kernel(name, code, vectors):
    destinations, sources = parts(code)
    text = f""".visible .entry {name}(.param .u64 p) {{
        .reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>; .reg .f64 %d<8>;
        .reg .b64 %out; .reg .b32 %o; ld.param.u64 %out, [p];\n"""
    for n, vector in enumerate(vectors):
        text += " ".join(give(*pair) for pair in zip(sources, vector)) + f" {code}; "
        text += " ".join(put(d, STRIDE * n + PLACE * k) for k, d in enumerate(destinations)) + "\n"
    return text + "ret; }\n"


def immediate(text):
    if text in ("RZ", "URZ"):
        return 0
    if re.fullmatch(r"-?(0x[0-9a-f]+|\d+)", text):
        return int(text, 0) & 0xFFFFFFFF
    return None


def half(text, brain):
    """A half as the listing prints it."""
    if "NAN" in text:
        return None
    number = float(text.replace("INF", "inf"))
    if brain:
        return struct.unpack("<I", struct.pack("<f", number))[0] >> 16
    return struct.unpack("<H", struct.pack("<e", number))[0]


def constants(listing):
    """By kernel and offset the constants that it stores; None for what it computes."""
    kernels, registers, stored = {}, {}, None
    for line in listing.splitlines():
        if section := re.match(r"\.text\.(\w+):", line):
            registers, stored = {}, kernels.setdefault(section.group(1), {})
        found = re.match(r"\s+/\*[0-9a-f]+\*/\s+(@!?U?P\w+\s+)?(\S+)\s*(.*?)\s*;", line)
        if not found or stored is None:
            continue
        guard, operation, operands = found.groups()
        a = [operand.replace(".reuse", "").strip() for operand in operands.split(",")]
        get = lambda operand: registers[operand] if operand in registers else immediate(operand)
        if operation.startswith("CALL"):
            registers.clear()
        elif operation.startswith("STG"):
            at = re.search(r"\+(0x[0-9a-f]+)\]", a[0])
            at = int(at.group(1), 16) if at else 0
            stored[at] = get(a[1])
            if ".64" in operation and a[1] != "RZ":
                low, high = get(a[1]), registers.get(f"R{int(a[1][1:]) + 1}")
                stored[at] = None if low is None or high is None else high << 32 | low
            if guard:
                stored[at] = None
        elif re.fullmatch(r"U?R\d+", a[0]):
            file, n = re.match(r"(U?R)(\d+)", a[0]).groups()
            registers[a[0]] = None if guard else computed(operation, a, get)
            if operation == "CS2R":
                registers[f"R{int(n) + 1}"] = registers[a[0]]
            elif ".64" in operation or ".WIDE" in operation or operation[0] == "D":
                registers[f"{file}{int(n) + 1}"] = None
    return kernels


def computed(operation, a, get):
    """The constant that an instruction only moves, or makes in one of the ways the assembler makes constants."""
    if operation in ("MOV", "UMOV", "IMAD.MOV", "IMAD.MOV.U32"):
        return get(a[-1])
    if operation in ("CS2R", "CS2R.32") and a[1] == "SRZ":
        return 0
    if operation.startswith("HFMA2") and "RZ" in a[1] and "RZ" in a[2] and len(a) == 5:
        high, low = (half(x, "BF16" in operation) for x in a[3:])
        return None if high is None or low is None else high << 16 | low
    if operation == "IMAD.X" and a[1] == a[2] == "RZ" and a[-1] in ("PT", "!PT") and get(a[3]) is not None:
        return (get(a[3]) + (a[-1] == "PT")) & 0xFFFFFFFF
    return None


def folded(items, tools):
    """By kernel and offset what is stored by the kernels of some texts, each with its name; those that no target has fall out."""
    ptxas, nvdisasm = tools
    for target in TARGETS:
        with tempfile.TemporaryDirectory() as folder:
            source, binary = f"{folder}/v.ptx", f"{folder}/v.cubin"
            with open(source, "w") as file:
                file.write(f".version 8.8\n.target {target}\n.address_size 64\n" + "".join(items))
            done = subprocess.run([ptxas, f"-arch={target}", source, "-o", binary], capture_output=True)
            if done.returncode == 0:
                listing = subprocess.run([nvdisasm, "-c", binary], check=True, capture_output=True, text=True)
                return constants(listing.stdout)
    if len(items) == 1:
        return {}
    middle = len(items) // 2
    return folded(items[:middle], tools) | folded(items[middle:], tools)
