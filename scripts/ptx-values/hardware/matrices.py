"""Products of matrices by warps, fragments in the lanes' registers; and `wmma`, whose fragments only memory shows."""

import re
import struct

from case import Case, draw, kernel, words
from lines import Line, case
from vectors import expansions, forms

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f64": 64, "f32": 32, "s32": 32, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "e4m3": 8,
        "e5m2": 8}
# What a 2:4 pattern can say of four elements, two bits for each of two in their order; of two elements, where one stays.
PAIRS, HALVES = (0x4, 0x8, 0xC, 0x9, 0xD, 0xE), (0x4, 0xE)
WARPS = 2


def single(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def small(x, fraction, bias):
    """A narrow float of a whole number."""
    if x == 0:
        return 0
    exponent = abs(x).bit_length() - 1
    return (x < 0) << 7 | exponent + bias << fraction | (abs(x) << fraction >> exponent) & (1 << fraction) - 1


def encode(kind, x):
    return {"f16": lambda: struct.unpack("<H", struct.pack("<e", x))[0], "bf16": lambda: single(x) >> 16, "tf32": lambda: single(x),
            "f32": lambda: single(x), "f64": lambda: struct.unpack("<Q", struct.pack("<d", x))[0], "e4m3": lambda: small(int(x), 3, 7),
            "e5m2": lambda: small(int(x), 2, 15)}.get(kind, lambda: int(x) & 2 ** BITS[kind] - 1)()


def element(kind, random, how):
    """An element: of whole numbers whose sums are exact, of any numbers, or of those at the edges."""
    if kind in ("s32", "s8", "u8", "s4", "u4", "b1"):
        if kind == "s32":
            return random.choice([0, 1, 2**31 - 1, 2**31, random.getrandbits(32)]) if how == "edges" else random.randrange(-1000, 1000) & 2**32 - 1
        return random.getrandbits(BITS[kind])
    if how == "whole":
        return encode(kind, float(random.choice([0, *range(-4, 5)])))
    if how == "any":
        if kind in ("e4m3", "e5m2"):
            return random.choice([x for x in range(256) if x & 0x7F < (0x7F if kind == "e4m3" else 0x7C)])
        return encode(kind, random.gauss(0, 1) * 2.0 ** random.randrange(-8, 9))
    edges = {"f16": [0, 0x8000, 1, 0x3FF, 0x3C00, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00], "bf16": [0, 0x8000, 1, 0x7F, 0x3F80, 0x7F7F, 0x7F80, 0xFF80, 0x7FC0],
             "tf32": [0, 1 << 31, 0x2000, 0x7FE000, 0x3F800000, 0x7F7FE000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x3F801FFF, 0x3F801000],
             "f32": [0, 1 << 31, 1, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000], "e4m3": [0, 0x80, 1, 7, 0x38, 0x7E, 0xFE, 0x7F], "e5m2": [0, 0x80, 1, 3, 0x3C, 0x7B, 0x7C, 0xFC, 0x7E],
             "f64": [0, 1 << 63, 1, 0x3FF0000000000000, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF8000000000000]}[kind]
    # Few, so that not every sum meets a NaN.
    return random.choice(edges) if random.random() < 0.12 else encode(kind, float(random.choice([0, 1, -1])))


def register(kind, random, how):
    """The bits of a register full of elements."""
    if kind == "f64":
        return element(kind, random, how)
    n = BITS[kind]
    return sum(element(kind, random, how) << n * k for k in range(32 // n))


def metadata(kind, random):
    picks = HALVES if kind == "tf32" else PAIRS
    return sum(random.choice(picks) << 4 * k for k in range(8))


def shapes(code):
    """m, n, k and the types of D, A, B and C."""
    m, n, k = map(int, re.search(r"m(\d+)n(\d+)k(\d+)", code).groups())
    types = re.findall(r"\.(f16|bf16|tf32|f64|f32|s32|[su][48]|b1|e4m3|e5m2)(?=\.|$)", code)
    return m, n, k, types


def products(code, selector=None, how="whole"):
    """A line of one `mma` with the fragments that its shape has."""
    m, n, k, (d, a, b, c) = shapes(code)
    # Four 8 by 8 by 4 products are made at a time.
    times = 4 if (m, n, k) == (8, 8, 4) and a == "f16" else 1
    count = lambda rows, columns, kind: max(1, times * rows * columns * BITS[kind] // (64 if kind == "f64" else 32) // 32)
    sparse = ".sp" in code
    next_ = {"%r": 0, "%f": 0, "%d": 0}

    def registers(number, kind):
        name = {"f32": "%f", "f64": "%d"}.get(kind, "%r")
        first = next_[name]
        next_[name] += number
        return [f"{name}{at}" for at in range(first, first + number)]

    to, of_a = registers(count(m, n, d), d), registers(count(m, k // 2 if sparse else k, a), a)
    of_b, of_c = registers(count(k, n, b), b), registers(count(m, n, c), c)
    braces = lambda names: "{" + ", ".join(names) + "}"
    text = f"{code} {braces(to)}, {braces(of_a)}, {braces(of_b)}, {braces(of_c)}"
    sources = of_a + of_b + of_c
    if sparse:
        word = registers(1, "b1")
        text, sources = f"{text}, {word[0]}, {selector}", sources + word
    random, vectors = draw(text + how), []
    for _ in range(32 * (WARPS if how == "whole" else 4)):
        vector = [register(kind, random, how) for names, kind in ((of_a, a), (of_b, b), (of_c, c)) for _ in names]
        vectors.append(vector + ([metadata(a, random)] if sparse else []))
    return Line(text, sources, to, vectors)


def dense():
    return [code for family, words_, _ in forms() if family == "Matrices" and words_.startswith("mma.") for code in expansions(words_)]


def sparse():
    for family, words_, _ in forms():
        if family == "Matrices" and words_.startswith("mma("):
            for code in expansions(words_):
                m, n, k, (_, a, _, _) = shapes(code)
                # Four bits for each group of a row; what is left over of a warp's registers the selector tells apart.
                group = {32: 2, 16: 4, 8: 4, 4: 8}[BITS[a]]
                for selector in range(32 // (16 * k // group * 4 // 32)):
                    yield code, selector


def wmma_counts(m, n, kind):
    """Registers of the fragments A, B."""
    if kind in ("s4", "u4", "b1", "f64"):
        return 1, 1
    if kind == "f16":
        return 8, 8
    if kind == "tf32":
        return 4, 4
    full = {"bf16": {16: 4, 32: 8, 8: 2}, "s8": {16: 2, 32: 4, 8: 1}}["s8" if kind in ("s8", "u8") else kind]
    return full[m], full[n]


def wmma(code, space="global"):
    """Loads, a product and a store: the matrices in memory before and after."""
    m, n, k = map(int, re.search(r"m(\d+)n(\d+)k(\d+)", code).groups())
    shape = f"m{m}n{n}k{k}"
    layouts = re.findall(r"\.(row|col)", code)
    types = re.findall(r"\.(f16|bf16|tf32|f64|f32|s32|[su][48]|b1)(?=\.|$)", code)
    d, a, b, c = types if len(types) == 4 else [types[0], "f16", "f16", types[1]]
    na, nb = wmma_counts(m, n, a)
    nc = {"f64": 2, "s32": 2 if m == n == 8 else 8, "f32": 8, "f16": 4}
    name = lambda kind: {"f32": "%f", "f64": "%d"}.get(kind, "%r")
    braces = lambda kind, first, count: "{" + ", ".join(f"{name(kind)}{at}" for at in range(first, first + count)) + "}"
    fa, fb = braces(a, 0, na), braces(b, 10, nb)
    fc, fd = braces(c, 20, nc[c]), braces(d, 40 if d != "f64" else 24, nc[d])
    size = lambda rows, columns, kind: rows * columns * BITS[kind] // 8
    at_b = size(m, k, a)
    at_c = (at_b + size(k, n, b) + 31) // 32 * 32
    end = at_c + size(m, n, c)
    random = draw(code + space)
    pack = lambda count, kind: b"".join(
        register(kind, random, "whole").to_bytes(8 if kind == "f64" else 4, "little") for _ in range(count * BITS[kind] // (64 if kind == "f64" else 32)))
    data = pack(m * k, a) + pack(k * n, b)
    data += bytes(at_c - len(data)) + pack(m * n, c)
    la, lb = layouts
    stride = lambda layout, rows, columns: columns if layout == "row" else rows
    # C and D by rows here, by columns where A is by columns.
    body = ""
    base = "%in"
    if space == "shared":
        body += (f".shared .align 128 .b8 s[{end}]; mov.u32 %r60, s; shl.b32 %r61, %t, 2; add.u32 %r62, %r60, %r61; cvt.u64.u32 %rd1, %r61;"
                 f" add.u64 %rd1, %in, %rd1;\nC: setp.ge.u32 %p1, %r61, {end}; @%p1 bra D; ld.global.u32 %r63, [%rd1]; st.shared.u32 [%r62], %r63;"
                 " add.u32 %r61, %r61, 128; add.u32 %r62, %r62, 128; add.u64 %rd1, %rd1, 128; bra C;\nD: bar.sync 0;\n")
        base = "%r60"
    body += (f"wmma.load.a.sync.aligned.{la}.{shape}.{space}.{a} {fa}, [{base}], {stride(la, m, k)};\n"
             f"wmma.load.b.sync.aligned.{lb}.{shape}.{space}.{b} {fb}, [{base}+{at_b}], {stride(lb, k, n)};\n"
             f"wmma.load.c.sync.aligned.{la}.{shape}.{space}.{c} {fc}, [{base}+{at_c}], {stride(la, m, n)};\n"
             f"{code} {fd}, {fa}, {fb}, {fc};\n"
             f"wmma.store.d.sync.aligned.{lb}.{shape}.global.{d} [%out], {fd}, {stride(lb, m, n)};")
    return lambda title: Case(title, kernel(body), size(m, n, d), [data])


def matrix_moves(trans, number):
    """`ldmatrix` of rows in any order, and `stmatrix` of what it brought."""
    registers = "{" + ", ".join(f"%r{n}" for n in range(10, 10 + number)) + "}"
    body = (".shared .align 128 .b8 s[2048]; .shared .align 128 .b8 z[2048];\n"
            "mov.u32 %r0, s; mov.u32 %r1, z; shl.b32 %r2, %t, 2; add.u32 %r3, %r0, %r2; add.u32 %r4, %r1, %r2;\n"
            "mul.wide.u32 %rd0, %t, 4; add.u64 %rd1, %in, %rd0; add.u64 %rd2, %out, %rd0;\n"
            + "".join(f"ld.global.u32 %r5, [%rd1+{128 * n}]; st.shared.u32 [%r3+{128 * n}], %r5; st.shared.u32 [%r4+{128 * n}], 0;\n" for n in range(16))
            + "bar.sync 0; ld.global.u32 %r6, [%rd1+2048]; add.u32 %r7, %r0, %r6; add.u32 %r8, %r1, %r6;\n"
            f"ldmatrix.sync.aligned.m8n8.x{number}{trans}.shared.b16 {registers}, [%r7];\n"
            + "".join(f"st.global.u32 [%rd2+{128 * n}], %r{10 + n};\n" for n in range(number))
            + f"stmatrix.sync.aligned.m8n8.x{number}{trans}.shared.b16 [%r8], {registers}; bar.sync 0;\n"
            + "".join(f"ld.shared.u32 %r5, [%r4+{128 * n}]; st.global.u32 [%rd2+{512 + 128 * n}], %r5;\n" for n in range(16)))

    def make(title):
        random = draw(title)
        rows = random.sample(range(128), 32)
        return Case(title, kernel(body), 2560, [words([random.getrandbits(32) for _ in range(512)] + [16 * row for row in rows])])

    return make


def cases(refused):
    def batches(lines, name, size=12):
        lines = [line for line in lines if line.code not in refused]
        for at in range(0, len(lines), size):
            yield f"{name}-{at // size:03}", lambda title, some=lines[at : at + size]: case(title, some)

    codes = dense()
    yield from batches([products(code) for code in codes], "mma-whole")
    floats = [code for code in codes if not re.search(r"\.b1\.|\.[su][48]\.", code)]
    for how in ("any", "edges"):
        yield from batches([products(code, how=how) for code in floats], f"mma-{how}")
    yield from batches([products(code, how="edges") for code in codes if re.search(r"\.[su][48]\.", code)], "mma-limits")
    yield from batches([products(code, selector) for code, selector in sparse()], "sparse-whole")
    some = [products(code, selector, "any") for code, selector in sparse() if selector == 0 and re.search(r"\.(f16|bf16|tf32|e\dm\d)\.", code)]
    yield from batches(some, "sparse-any")
    for family, words_, _ in forms():
        if family == "Matrices" and words_.startswith("wmma.mma"):
            for code in expansions(words_):
                # The ISA has no products of two kinds of integers here.
                if re.search(r"\.s(\d)\.u\1|\.u(\d)\.s\2", code):
                    continue
                for space in ("global", "shared"):
                    yield f"{code} {space}", lambda title, code=code, space=space: wmma(code, space)(title)
    for trans in ("", ".trans"):
        for number in (1, 2, 4):
            yield f"ldmatrix and stmatrix x{number}{trans}", matrix_moves(trans, number)
