"""Loads, stores and atomics: what comes back and what memory then holds."""

import re
import struct

from case import Case, draw, kernel, words
from lines import Line, case
from vectors import expansions, forms, kind, register_class, value

VECTORS = 64
WIDTHS = {"b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2, "f16x2": 4, "bf16x2": 4, "b32": 4, "u32": 4, "s32": 4,
          "f32": 4, "b64": 8, "u64": 8, "s64": 8, "f64": 8, "b128": 16}


def number(ty, random):
    """The bits of a value of a type; of the widest as two halves."""
    if ty == "b128":
        return random.choice([0, 2**128 - 1, random.getrandbits(128)])
    return value(ty if ty in ("f16", "bf16", "f16x2", "bf16x2", "f32", "f64") else str(8 * WIDTHS[ty]) if ty[1:] != "8" else "16", random) & (1 << 8 * WIDTHS[ty]) - 1


def sixteen(ty, random):
    """16 bytes of memory full of such values, as two registers."""
    n = WIDTHS[ty]
    whole = sum(number(ty, random) << 8 * n * k for k in range(16 // n))
    return [whole & 2**64 - 1, whole >> 64]


def typed(words_):
    return re.findall(r"\.(bf16x2|f16x2|bf16|f16|f32|f64|b128|[usb](?:8|16|32|64))(?=\.|$)", words_)[-1]


def around(code, address, space, ty, sources, destinations, name, equal=None, head=""):
    """Memory before, the instruction, memory after."""
    quads = sorted(set(re.findall(r"%q\d", code)))
    before, after, given, found = "", "", [], []
    for register in sources:
        if register in quads:
            low, high = f"%rd{10 + 2 * quads.index(register)}", f"%rd{11 + 2 * quads.index(register)}"
            before += f"mov.b128 {register}, {{{low}, {high}}}; "
            given += [low, high]
        else:
            given.append(register)
    for register in destinations:
        if register in quads:
            after += f"; mov.b128 {{%rd8, %rd9}}, {register}"
            found += ["%rd8", "%rd9"]
        else:
            found.append(register)
    put = f"st.{space}.b64 [{address}], %rd16; st.{space}.b64 [{address}+8], %rd17; "
    get = f"; ld.{space}.b64 %rd18, [{address}]; ld.{space}.b64 %rd19, [{address}+8]"
    text = f"{head}{before}{put}{code}{after}{get}"
    random, vectors = draw(text), []
    for n in range(VECTORS):
        vector = []
        for register in sources:
            if register in quads:
                x = number("b128", random)
                vector += [x & 2**64 - 1, x >> 64]
            else:
                vector.append(number(ty, random) if register_class(register) != "h" or WIDTHS[ty] > 1 else random.getrandbits(16))
        memory = sixteen(ty, random)
        # Compared with what is there, every other time.
        if equal and n % 2:
            if ty == "b128":
                vector[0:2] = memory
            else:
                vector[0] = memory[0] & (1 << 8 * WIDTHS[ty]) - 1
        vectors.append(vector + memory)
    return Line(text, given + ["%rd16", "%rd17"], found + ["%rd18", "%rd19"], vectors)


def atomics():
    for family, words_, operands in forms():
        if family != "Memory" or not words_.startswith(("atom", "red")):
            continue
        everything = expansions(words_)
        for picked in everything if len(everything) <= 40 else draw(words_).sample(everything, 40):
            ty = typed(picked)
            # The ISA has the sum of 64 bits for one type.
            if picked.endswith("add.s64"):
                continue
            before, rest = operands.split("[", 1)
            _, behind = rest.split("]", 1)
            find = lambda text: re.findall(r"%[a-z]+\d+", text)
            sources = list(dict.fromkeys(find(behind)))
            # A register in both places would lose its operand in the next reading.
            address, space = ("%sm", "shared") if ".shared" in picked else ("%gm", "global")
            yield around(f"{picked} {before}[{address}]{behind}", address, space, ty, sources, find(before), picked, ".cas" in picked)
            if ".shared" not in picked and ".global" not in picked and not re.search(r"\.v\d", picked):
                # The same through a generic address of shared memory.
                code = f"cvta.shared.u64 %rd20, %sm; {picked} {before}[%rd20]{behind}"
                yield around(code, "%sm", "shared", ty, sources, find(before), picked, ".cas" in picked)


def accesses():
    for space, address in (("global", "%gm"), ("shared", "%sm"), ("local", "l")):
        head = ".local .align 16 .b8 l[64]; " if space == "local" else ""
        for ty in ("u8", "s8", "b8", "u16", "s16", "b16", "u32", "s32", "b32", "f32", "u64", "s64", "b64", "f64"):
            n = WIDTHS[ty]
            register = {8: "%rd1" if ty != "f64" else "%d1", 4: "%r1" if ty != "f32" else "%f1"}.get(n, "%h1")
            offset = (7 * n) % 16 // n * n
            generic = f"cvta.{space}.u64 %rd20, {address}; " if space != "local" else "mov.u64 %rd20, l; cvta.local.u64 %rd20, %rd20; "
            yield around(f"ld.{space}.{ty} {register}, [{address}+{offset}]", address, space, "b64", [], [register], "ld", head=head)
            yield around(f"st.{space}.{ty} [{address}+{offset}], {register}", address, space, ty, [register], [], "st", head=head)
            yield around(f"{generic}ld.{ty} {register}, [%rd20+{offset}]", address, space, "b64", [], [register], "ld", head=head)
            yield around(f"{generic}st.{ty} [%rd20+{offset}], {register}", address, space, ty, [register], [], "st", head=head)
            if n < 4:
                # Into a wider register.
                yield around(f"ld.{space}.{ty} %r1, [{address}+{offset}]", address, space, "b64", [], ["%r1"], "ld", head=head)
                yield around(f"ld.{space}.{ty} %rd1, [{address}+{offset}]", address, space, "b64", [], ["%rd1"], "ld", head=head)
        for v, ty, name in ((2, "u8", "%h"), (4, "s8", "%h"), (2, "u16", "%h"), (4, "b16", "%h"), (2, "u32", "%r"), (4, "f32", "%f"), (2, "b64", "%rd")):
            names = [f"{name}{k + 1}" for k in range(v)]
            many = "{" + ", ".join(names) + "}"
            yield around(f"ld.{space}.v{v}.{ty} {many}, [{address}]", address, space, "b64", [], names, "ld", head=head)
            yield around(f"st.{space}.v{v}.{ty} [{address}], {many}", address, space, ty, names, [], "st", head=head)
        if space != "local":
            yield around(f"ld.{space}.b128 %q1, [{address}]", address, space, "b64", [], ["%q1"], "ld")
            yield around(f"st.{space}.b128 [{address}], %q1", address, space, "b128", ["%q1"], [], "st")
    for family, words_, operands in forms():
        if family != "Memory" or not words_.startswith(("ld[.vol", "ld.global[", "ld[.global,.shared,.rel", "ldu", "st[.vol", "st.global[", "st[.global,.shared,.rel")):
            continue
        for picked in expansions(words_):
            # What is written is not read through the cache of constant data.
            if ".nc" in picked or picked.startswith("ldu"):
                continue
            ty = typed(picked)
            address, space = ("%sm", "shared") if ".shared" in picked else ("%gm", "global")
            before, behind = operands.split("[", 1)[0], operands.split("]", 1)[1]
            find = lambda text: re.findall(r"%[a-z]+\d+", text)
            yield around(f"{picked} {before}[{address}]{behind}", address, space, ty, find(behind), find(before), picked)


def spaces():
    """Generic addresses and what they belong to."""
    make = lambda code, destinations: Line(code, ["%r2"], destinations, [[0]] * VECTORS)
    generic = {"global": "mov.u64 %rd1, %gm", "shared": "cvta.shared.u64 %rd1, %sm", "local": ".local .align 8 .b8 l[64]; mov.u64 %rd1, l; cvta.local.u64 %rd1, %rd1"}
    for of, code in generic.items():
        for space in ("global", "shared", "local", "shared::cta", "shared::cluster"):
            yield make(f"{code}; isspacep.{space} %p1, %rd1", ["%p1"])
    yield make("cvta.shared.u64 %rd1, %sm; cvta.to.shared.u64 %rd2, %rd1; sub.u64 %rd3, %rd2, %sm", ["%rd3"])
    yield make("cvta.global.u64 %rd1, %gm; cvta.to.global.u64 %rd2, %rd1; sub.u64 %rd3, %rd2, %gm", ["%rd3"])
    yield make("cvta.global.u64 %rd1, %gm; prefetch.global.L1 [%gm]; prefetch.global.L2 [%gm]; prefetchu.L1 [%rd1]; mov.u64 %rd3, 7", ["%rd3"])


def pairs():
    """Moves of 128 bits."""
    random = draw("pairs")
    vectors = [[random.getrandbits(64), random.getrandbits(64)] for _ in range(VECTORS)]
    yield Line("mov.b128 %q1, {%rd2, %rd3}; mov.b128 %q2, %q1; mov.b128 {%rd4, _}, %q2; mov.b128 {%rd5, %rd6}, %q2", ["%rd2", "%rd3"],
               ["%rd4", "%rd5", "%rd6"], vectors)
    bits = [[random.getrandbits(1), random.getrandbits(1)] for _ in range(VECTORS)]
    yield Line("mov.pred %p1, %p2", ["%p2", "%p3"], ["%p1"], bits)


def crowd():
    """All threads on one word: the result does not depend on the order."""
    body, at = ".shared .align 16 .b8 s[2048]; mov.u64 %rd1, s; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r2, %r1, 128, %t; mul.wide.u32 %rd2, %r2, 8; add.u64 %rd2, %in, %rd2; ld.global.u64 %rd3, [%rd2]; cvt.u32.u64 %r3, %rd3;\nmad.wide.u32 %rd4, %t, 16, %rd1; st.shared.v2.u64 [%rd4], {%rd9, %rd9}; bar.sync 0;\n".replace("{%rd9, %rd9}", "{0, 0}"), 0
    for op, types in (("add", ("u32", "s32", "u64")), ("min", ("u32", "s32", "u64", "s64")), ("max", ("u32", "s32", "u64", "s64")), ("and", ("b32", "b64")), ("or", ("b32", "b64")),
                      ("xor", ("b32", "b64")), ("inc", ("u32",)), ("dec", ("u32",))):
        for ty in types:
            register, bound = ("%rd3", "") if "64" in ty else ("%r3", "")
            if op in ("inc", "dec"):
                register = "1000"
            body += f"red.global.{op}.{ty} [%out+{at}], {register}; red.shared.{op}.{ty} [%rd1+{at}], {register};\n"
            at += 8
    body += f"bar.sync 0; setp.lt.u32 %p1, %t, {at // 8}; mul.wide.u32 %rd5, %t, 8; add.u64 %rd6, %rd1, %rd5; mad.lo.u32 %r4, %r1, {at}, {at}; cvt.u64.u32 %rd7, %r4; add.u64 %rd7, %rd7, %rd5; add.u64 %rd7, %out, %rd7;\n@%p1 ld.shared.u64 %rd8, [%rd6]; @%p1 st.global.u64 [%rd7], %rd8;"

    def make(title):
        random = draw(title)
        return Case(title, kernel(body), 3 * at, [b"".join(struct.pack("<Q", random.getrandbits(64)) for _ in range(256))], grid=(2, 1, 1), block=(128, 1, 1))

    return make


def cooperation():
    """Barriers that reduce, indexed branches and calls, by 128 threads."""
    body = ("mul.wide.u32 %rd1, %t, 4; add.u64 %rd2, %in, %rd1; mad.wide.u32 %rd3, %t, 32, %out; ld.global.u32 %r1, [%rd2]; and.b32 %r2, %r1, 1; setp.ne.u32 %p1, %r2, 0;\n"
            "bar.red.popc.u32 %r3, 0, %p1; st.global.u32 [%rd3], %r3; bar.red.popc.u32 %r3, 0, !%p1; st.global.u32 [%rd3+4], %r3;\n"
            "bar.red.and.pred %p2, 1, %p1; selp.u32 %r4, 1, 0, %p2; st.global.u32 [%rd3+8], %r4; bar.red.or.pred %p2, 1, %p1; selp.u32 %r4, 1, 0, %p2; st.global.u32 [%rd3+12], %r4;\n"
            "shr.u32 %r5, %t, 5; and.b32 %r6, %r1, 3; ts: .branchtargets A, B, C, A; brx.idx %r6, ts;\n"
            "A: mov.u32 %r7, 10; bra E; B: mov.u32 %r7, 11; bra E; C: mov.u32 %r7, 12; E: st.global.u32 [%rd3+16], %r7;\n"
            "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), f, (a); ld.param.b32 %r8, [b]; } st.global.u32 [%rd3+20], %r8;\n"
            "setp.lt.u32 %p3, %t, 64; @!%p3 bra L; bar.red.popc.u32 %r9, 2, 64, %p1; st.global.u32 [%rd3+24], %r9; L: nanosleep.u32 20; barrier.cta.sync.aligned 0; membar.gl; fence.sc.gpu;")
    head = (".func (.param .b32 b) f(.param .b32 a) { .reg .b32 %x; .reg .pred %q; ld.param.b32 %x, [a]; setp.gt.s32 %q, %x, 0; @%q bra P; neg.s32 %x, %x;"
            " st.param.b32 [b], %x; ret; P: mul.lo.s32 %x, %x, 3; st.param.b32 [b], %x; ret; }\n")

    def make(title):
        random = draw(title)
        return Case(title, kernel(body, declarations=head), 4096, [words([random.getrandbits(32) for _ in range(128)])], block=(128, 1, 1))

    return make


def cases():
    lines = [*atomics(), *accesses(), *spaces(), *pairs()]
    for at in range(0, len(lines), 32):
        yield f"memory-{at // 32:03}", lambda title, some=lines[at : at + 32]: case(title, some)
    yield "memory by a crowd", crowd()
    yield "control by a crowd", cooperation()
