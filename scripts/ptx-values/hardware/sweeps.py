"""Functions of one number over many: approximations, and every code of the narrow formats."""

import struct

from case import Case, HEAD, draw

COUNT = 1 << 14


def sweep(code, width_in, width_out, data, second=None):
    """`code` makes %y of %x, and of %z if there is a second input."""
    count = len(data) // width_in
    kind = {2: "b16", 4: "b32", 8: "b64"}
    text = (f"{HEAD}.visible .entry k(.param .u64 out, .param .u64 in0{', .param .u64 in1' if second else ''}) {{\n"
            f".reg .{kind[width_in]} %x, %z; .reg .{kind[width_out]} %y; .reg .b16 %h<2>; .reg .b32 %r<8>; .reg .b64 %rd<8>;\n"
            "ld.param.u64 %rd0, [out]; ld.param.u64 %rd1, [in0]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r3, %r1, %r2, %r0;\n"
            f"mad.wide.u32 %rd2, %r3, {width_in}, %rd1; ld.global.{kind[width_in]} %x, [%rd2]; mad.wide.u32 %rd3, %r3, {width_out}, %rd0;\n"
            + (f"ld.param.u64 %rd4, [in1]; mad.wide.u32 %rd4, %r3, {width_in}, %rd4; ld.global.{kind[width_in]} %z, [%rd4];\n" if second else "")
            + f"{code};\nst.global.{kind[width_out]} [%rd3], %y;\nret; }}\n")
    inputs = [data] + ([second] if second else [])
    return lambda title: Case(title, text, count * width_out, inputs, grid=(count // 256, 1, 1), block=(256, 1, 1))


def singles(title, exponents=(0, 255)):
    """Numbers of all magnitudes, and those at the edges."""
    random = draw(title)
    edges = [0, 1, 0x7FFFFF, 0x800000, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000, 0x40490FDB, 0x3F000000, 0x3F7FFFFF, 0x3F800001, 0x42FE0000, 0x43000000]
    found = [x | sign << 31 for x in edges for sign in (0, 1)]
    while len(found) < COUNT:
        if len(found) % 2:
            found.append(random.getrandbits(1) << 31 | random.randrange(*exponents) << 23 | random.getrandbits(23))
        else:
            found.append(struct.unpack("<I", struct.pack("<f", random.uniform(-20, 20)))[0])
    return b"".join(struct.pack("<I", x) for x in found)


def doubles(title):
    random = draw(title)
    found = [0, 1 << 63, 1, 1 << 52, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0x3FF0000000000000]
    while len(found) < COUNT:
        found.append(random.getrandbits(64) if len(found) % 2 else struct.unpack("<Q", struct.pack("<d", random.uniform(-20, 20)))[0])
    return b"".join(struct.pack("<Q", x) for x in found)


def nothings(title):
    """NaNs of every payload's kind, infinities and what lies below."""
    random = draw(title)
    found = [0x7FFFFFFF, 0xFFFFFFFF, 0x7F800001, 0xFF800001, 0x7FC00000, 0xFFC00000, 0x7F801000, 0x7F800FFF, 0x7FFFF000, 0x7FFFE000, 0x7FFFEFFF, 0x7F800000, 0xFF800000, 0x7F7FFFFF,
             0xFF7FFFFF, 0x7F7FF000, 0x7F7FEFFF]
    while len(found) < 1024:
        found.append(random.getrandbits(1) << 31 | 0x7F800000 | random.getrandbits(23) >> random.randrange(0, 23))
    return b"".join(struct.pack("<I", x) for x in found)


def wide_nothings(title):
    random = draw(title)
    found = [0x7FF8000000000000, 0xFFF8000000000000, 0x7FF0000000000001, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FFFFFFFFFFFFFFF, 0x43E0000000000000, 0xC3E0000000000000, 0x41F0000000000000, 0xC1E0000000000000]
    while len(found) < 1024:
        found.append(random.getrandbits(1) << 63 | 0x7FF << 52 | random.getrandbits(52) >> random.randrange(0, 52))
    return b"".join(struct.pack("<Q", x) for x in found)


EVERY_HALF = b"".join(struct.pack("<H", x) for x in range(1 << 16))


def cases():
    f32 = ["ex2.approx{}.f32 %y, %x", "lg2.approx{}.f32 %y, %x", "sin.approx{}.f32 %y, %x", "cos.approx{}.f32 %y, %x", "rcp.approx{}.f32 %y, %x",
           "rsqrt.approx{}.f32 %y, %x", "sqrt.approx{}.f32 %y, %x"]
    for code in f32:
        for ftz in ("", ".ftz"):
            code_ = code.format(ftz)
            yield f"sweep {code_}", sweep(code_, 4, 4, singles("one"))
    yield "sweep tanh.approx.f32 %y, %x", sweep("tanh.approx.f32 %y, %x", 4, 4, singles("one"))
    for op in ("approx", "full"):
        for ftz in ("", ".ftz"):
            code = f"div.{op}{ftz}.f32 %y, %x, %z"
            yield f"sweep {code}", sweep(code, 4, 4, singles("one"), singles("two"))
    for code in ("rcp.approx.ftz.f64 %y, %x", "rsqrt.approx.f64 %y, %x", "rsqrt.approx.ftz.f64 %y, %x"):
        yield f"sweep {code}", sweep(code, 8, 8, doubles("one"))
    for code in ("ex2.approx.f16 %y, %x", "ex2.approx.ftz.bf16 %y, %x", "tanh.approx.f16 %y, %x", "tanh.approx.bf16 %y, %x"):
        yield f"sweep {code}", sweep(code, 2, 2, EVERY_HALF)
    for code in ("rn.f16", "rz.f16", "rn.relu.f16", "rn.satfinite.f16", "rn.bf16", "rz.bf16", "rz.relu.bf16", "rn.satfinite.bf16"):
        yield f"sweep cvt.{code}.f32", sweep(f"cvt.{code}.f32 %h0, %x; cvt.u32.u16 %y, %h0", 4, 4, singles("narrow", (90, 150)))
    for code in ("rna.tf32", "rn.tf32", "rz.tf32", "rn.relu.tf32", "rna.satfinite.tf32"):
        yield f"sweep cvt.{code}.f32", sweep(f"cvt.{code}.f32 %y, %x", 4, 4, singles("one"))
    for code in ("rn.satfinite.e4m3x2", "rn.satfinite.e5m2x2", "rn.satfinite.relu.e4m3x2", "rn.satfinite.relu.e5m2x2"):
        yield f"sweep cvt.{code}.f32", sweep(f"cvt.{code}.f32 %h0, %x, %z; cvt.u32.u16 %y, %h0", 4, 4, singles("narrow", (110, 145)), singles("other", (110, 145)))
    for kind in ("e4m3x2", "e5m2x2"):
        for relu in ("", ".relu"):
            yield f"sweep cvt.rn{relu}.f16x2.{kind}", sweep(f"cvt.rn{relu}.f16x2.{kind} %y, %x", 2, 4, EVERY_HALF)
            pair = f"mov.b32 %r4, {{%x, %x}}; cvt.rn.satfinite{relu}.{kind}.f16x2 %y, %r4"
            yield f"sweep {pair}", sweep(pair, 2, 2, EVERY_HALF)
    for code in ("rna.tf32", "rn.tf32", "rz.tf32", "rn.relu.tf32", "rna.satfinite.tf32", "rzi.u64", "rzi.s64"):
        wide = code.endswith("64")
        yield f"nothing cvt.{code}.f32", sweep(f"cvt.{code}.f32 %y, %x", 4, 8 if wide else 4, nothings("nothing"))
    for code in ("rn.f16", "rz.f16", "rn.relu.f16", "rn.satfinite.f16", "rn.bf16", "rz.bf16", "rn.satfinite.bf16", "rzi.u8", "rzi.s8", "rzi.u16", "rzi.s16"):
        yield f"nothing cvt.{code}.f32", sweep(f"cvt.{code}.f32 %h0, %x; cvt.u32.u16 %y, %h0" if "f16" in code else f"cvt.{code}.f32 %y, %x", 4, 4, nothings("nothing"))
    for code in ("rzi.u64", "rzi.s64", "rni.u64", "rzi.u32", "rzi.s32", "rzi.u16", "rzi.s16", "rzi.u8", "rzi.s8", "rn.f32", "rz.f32"):
        yield f"nothing cvt.{code}.f64", sweep(f"cvt.{code}.f64 %y, %x", 8, 8 if code.endswith("64") else 4, wide_nothings("nothing"))
    for code in ("f32.bf16", "f32.f16", "ftz.f32.f16", "rn.bf16.f16", "rn.f16.bf16"):
        narrow = code.endswith("f16") and not code.endswith("f32.bf16") and not code.endswith("f32.f16")
        text = f"cvt.{code} %h0, %x; cvt.u32.u16 %y, %h0" if narrow else f"cvt.{code} %y, %x"
        yield f"nothing cvt.{code}", sweep(text, 2, 4, EVERY_HALF)
