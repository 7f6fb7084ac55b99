"""Instructions by form, and operands with which they go wrong."""

import pathlib
import random
import re
import struct

FORMS = pathlib.Path(__file__).resolve().parents[2] / "crates/ptx/tests/forms.txt"
FAMILIES = ["Integer arithmetic", "Floating-point arithmetic", "Comparison and selection", "Logic and bits", "Conversion and movement"]
# Extended precision, in one kind of operation and mixed.
CHAINS = [
    f"{first}.cc.{t} {r}7, {r}2, {r}3; {second}c.{t} {r}1, {r}4, {r}5"
    for t, r in (("u32", "%r"), ("s32", "%r"), ("u64", "%rd"), ("s64", "%rd"))
    for first in ("add", "sub")
    for second in ("add", "sub")
] + [
    f"{first}.cc.{t} {r}7, {r}2, {r}3; {second}c.cc.{t} {r}6, {r}3, {r}4; {third}c.{t} {r}1, {r}4, {r}5"
    for t, r in (("u32", "%r"), ("s64", "%rd"))
    for first in ("add", "sub")
    for second in ("add", "sub")
    for third in ("add", "sub")
] + [
    code.format(t=t, r=r)
    for t, r in (("u32", "%r"), ("s32", "%r"), ("u64", "%rd"), ("s64", "%rd"))
    for code in (
        "mad.lo.cc.{t} {r}7, {r}2, {r}3, {r}4; addc.{t} {r}1, {r}4, {r}5",
        "mad.hi.cc.{t} {r}7, {r}2, {r}3, {r}4; subc.{t} {r}1, {r}4, {r}5",
        "mad.lo.cc.{t} {r}7, {r}2, {r}3, {r}4; madc.hi.{t} {r}1, {r}2, {r}3, {r}5",
        "mad.lo.cc.{t} {r}7, {r}2, {r}3, {r}4; madc.hi.cc.{t} {r}6, {r}2, {r}3, {r}5; addc.{t} {r}1, {r}4, {r}5",
        "sub.cc.{t} {r}7, {r}2, {r}3; madc.lo.{t} {r}1, {r}2, {r}4, {r}5",
        "sub.cc.{t} {r}7, {r}2, {r}3; madc.lo.cc.{t} {r}6, {r}2, {r}4, {r}5; madc.hi.{t} {r}1, {r}4, {r}5, {r}2",
    )
]
SINGLES = [0, 0x80000000, 0x3F800000, 0xBF800000, 0x3FC00000, 1, 0x80000001, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000,
           0xFF800000, 0x7FC00000, 0x7F800001, 0xFFC12345, 0x40490FDB, 0x4B7FFFFF, 0x4F000000, 0x5F000000, 0x3EFFFFFF, 0x3F000000,
           0x40200000, 0xC0200000, 0x477FF000, 0x33800000, 0x43FF8000]
DOUBLES = [0, 1 << 63, 0x3FF0000000000000, 0xBFF8000000000000, 1, 0xFFFFFFFFFFFFF, 0x10000000000000, 0x7FEFFFFFFFFFFFFF,
           0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0x7FF0000000000001, 0xFFF8000012345678, 0x400921FB54442D18,
           0x41E0000000000000, 0x43E0000000000000, 0x3FE0000000000000, 0x4004000000000000, 0x40EFFE0000000000, 0x36A0000000000000,
           0x47EFFFFFE0000000, 0x47EFFFFFF0000000]
HALVES = [0, 0x8000, 0x3C00, 0xBC00, 1, 0x8001, 0x3FF, 0x400, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x7C01, 0xFE12, 0x3E00, 0x4248,
          0x5640, 0x1400]
BRAINS = [0, 0x8000, 0x3F80, 0xBFC0, 1, 0x8001, 0x7F, 0x80, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FC0, 0x7F81, 0xFFC1, 0x4049, 0x4B7F]
TYPE = r"\b(f32x2|b?f16x2|[us]16x2|e\dm\dx2|tf32|bf16|f16|f32|f64|[usb](?:8|16|32|64)|pred)\b"
BITS = {"p": 1, "h": 16, "r": 32, "f": 32, "rd": 64, "d": 64}


def register_class(register):
    return re.match(r"%([a-z]+)", register).group(1)


def forms():
    """(family, words, operands) of every form that is executed."""
    family = None
    for line in FORMS.read_text().splitlines():
        if line.startswith("# "):
            family = line[2:]
        elif line and not line.startswith("! "):
            words, _, operands = line.split(" @ ")[0].partition(" ")
            yield family, words, operands


def expansions(words):
    everything, rest = [""], words
    while rest:
        at = re.search(r"[(\[]", rest)
        end = at.start() if at else len(rest)
        everything, rest = [text + rest[:end] for text in everything], rest[end:]
        if rest:
            close = re.search(r"[)\]]", rest).start()
            choices = rest[1:close].split(",") + ([""] if rest[0] == "[" else [])
            everything, rest = [text + choice for choice in choices for text in everything], rest[close + 1 :]
    return everything


def parts(code):
    """Destinations of the last instruction, and the registers that are read before they are written."""
    written, sources = set(), []
    for instruction in code.split("; "):
        operands = instruction.split(" ", 1)[1]
        if operands.startswith("{"):
            first, rest = operands[: operands.index("}")], operands[operands.index("}") :]
        else:
            first, _, rest = operands.partition(", ")
        destinations = re.findall(r"%[a-z]+\d+", first)
        for register in re.findall(r"%[a-z]+\d+", rest):
            if register not in sources and register not in written:
                sources.append(register)
        written.update(destinations)
    return destinations, sources


def kind(register, words):
    """What a register means to an instruction: a format, or a number of bits."""
    types = re.findall(TYPE, words)
    last = types[-1] if types else ""
    name = register_class(register)
    if name == "h":
        return next((t for t in reversed(types) if t in ("f16", "bf16")), "16")
    if name == "r":
        return last if last in ("f16x2", "bf16x2", "f32") else "32"
    if name == "rd":
        return last if last == "f32x2" else "f64" if last == "f64" else "64"
    return {"p": "1", "f": "f32", "d": "f64"}[name]


def value(what, draw):
    """An operand: often one at an edge."""
    often = draw.random()
    if what in ("f16x2", "bf16x2", "f32x2"):
        half = int(what[-4:-2])
        return value(what[:-2], draw) << half | value(what[:-2], draw)
    if what == "f32" or what == "f64":
        edges, bits, form, plain = (SINGLES, 32, "<f", "<I") if what == "f32" else (DOUBLES, 64, "<d", "<Q")
        if often < 0.6:
            return draw.choice(edges)
        return draw.getrandbits(bits) if often < 0.7 else struct.unpack(plain, struct.pack(form, draw.uniform(-300, 300)))[0]
    if what in ("f16", "bf16"):
        return draw.choice(HALVES if what == "f16" else BRAINS) if often < 0.6 else draw.getrandbits(16)
    n = int(what)
    top, everything = 1 << n - 1, (1 << n) - 1
    if n == 32 and often < 0.15:
        return draw.randint(0, 40)
    edges = [0, 1, 2, 3, 7, 31, 32, 33, 100, top - 1, top, top + 1, everything - 1, everything, everything // 3]
    return draw.choice(edges) & everything if often < 0.6 else draw.getrandbits(n)


def instructions(most):
    """(code, vectors of operands) of the chains and of each form's instructions, at most so many of a form."""
    draw = random.Random(7)
    for code in CHAINS:
        yield code, [[value("64" if "d" in s else "32", draw) for s in parts(code)[1]] for _ in range(14)]
    for family, words, operands in forms():
        if family not in FAMILIES or "%q" in operands or re.match(r"addc|subc|madc|cvta|isspacep|mov.pred", words):
            continue
        everything = expansions(words)
        for picked in everything if len(everything) <= most else draw.sample(everything, most):
            code = f"{picked} {operands}"
            vectors = []
            for _ in range(14):
                vector = [value(kind(s, picked), draw) for s in parts(code)[1]]
                if picked.startswith(("bfe", "bfi")):
                    # Position and length: what stands above their eight bits the vendor's 64-bit forms take in, against the text.
                    vector[-2:] = [x & 0xFF for x in vector[-2:]]
                vectors.append(vector)
            yield code, vectors
