"""Fetches from textures and accesses to surfaces."""

import struct

from case import Case, draw, kernel
from gpu import CUBE, FORMATS, GATHER, LAYERED, NORMALIZED, READ_AS_INTEGER, SURFACE

THREADS = 256
# Width, height and depth or layers.
EXTENTS = {"1d": (37, 0, 0), "2d": (19, 11, 0), "3d": (9, 7, 5), "a1d": (21, 0, 4), "a2d": (13, 9, 3), "cube": (8, 8, 6), "acube": (8, 8, 12)}
FLAGS = {"a1d": LAYERED, "a2d": LAYERED, "cube": CUBE, "acube": CUBE | LAYERED}
# By geometry the registers of coordinates, of a float or an integer kind; layers are integers.
COORDINATES = {"1d": "{c0}", "2d": "{c0}, {c1}", "3d": "{c0}, {c1}, {c2}, {c2}", "a1d": "%r0, {c0}", "a2d": "%r0, {c0}, {c1}, {c1}",
               "cube": "{c0}, {c1}, {c2}, {c2}", "acube": "%r0, {c0}, {c1}, {c2}"}


def texels(title, format_, count):
    random = draw(title)
    size = FORMATS[format_][1]
    if format_ == "f32":
        return b"".join(struct.pack("<f", random.choice([random.uniform(-100, 100), random.randrange(-8, 9)])) for _ in range(count))
    if format_ == "f16":
        return b"".join(struct.pack("<e", random.choice([random.uniform(-100, 100), random.randrange(-8, 9)])) for _ in range(count))
    return random.randbytes(size * count)


def places(title, geometry, normalized, integers, extent):
    """Per thread three coordinates, a layer, a level and gradients."""
    random, data = draw(title + "places"), b""
    for n in range(THREADS):
        point = []
        for size in (*extent, 1, 1)[:3]:
            size = max(size, 1)
            if integers:
                point.append(struct.pack("<i", random.randrange(-3, size + 3)))
                continue
            if "cube" in geometry:
                # Among them ties, and the middle of an axis.
                point.append(struct.pack("<f", random.choice([random.uniform(-1, 1), random.choice([-1, 1, 0.5, 0.25])])))
                continue
            x = random.uniform(-2, size + 2) if n % 4 else random.randrange(-2, 2 * size + 4) / 2
            if n % 4 == 1:
                # Close to where the weight's 8 bits are rounded.
                x = random.randrange(0, 512 * size) / 512 + random.choice([0, 2.0**-12, -(2.0**-12)])
            if normalized:
                x = x / size if n % 3 else random.uniform(-3, 3)
            point.append(struct.pack("<f", x))
        layer = random.randrange(0, max(extent[2], 1))
        if geometry == "acube":
            layer //= 6
        if n % 16 == 5:
            layer = random.choice([9, 100])
        level = random.choice([random.uniform(-1, 6), random.randrange(-2, 12) / 2])
        gradient = [random.choice([0, random.uniform(-0.5, 0.5)]) for _ in range(6)]
        data += b"".join(point) + struct.pack("<if6f", layer, level, *gradient) + bytes(4)
    return data


LOAD = ("mad.wide.u32 %rd1, %t, 48, %in; mad.wide.u32 %rd2, %t, 16, %out; ld.global.b32 %f0, [%rd1]; ld.global.b32 %f1, [%rd1+4]; ld.global.b32 %f2, [%rd1+8]; ld.global.b32 %r0, [%rd1+12]; ld.global.b32 %f4, [%rd1+16];\n"
        "ld.global.b32 %f5, [%rd1+20]; ld.global.b32 %f6, [%rd1+24]; ld.global.b32 %f7, [%rd1+28]; ld.global.b32 %f8, [%rd1+32]; ld.global.b32 %f9, [%rd1+36]; ld.global.b32 %f10, [%rd1+40];\n"
        "mov.b32 %r1, %f0; mov.b32 %r2, %f1; mov.b32 %r3, %f2; ld.param.u64 %rd0, [x];\n")
STORE = "st.global.b32 [%rd2], %r10; st.global.b32 [%rd2+4], %r11; st.global.b32 [%rd2+8], %r12; st.global.b32 [%rd2+12], %r13;"


def fetch(geometry, format_="f32", channels=4, words_="tex.{g}.v4.{r}.{c}", linear=False, address="clamp", normalized=False, integers=False, as_integer=False, levels=0, mipmap=None,
          border=(0, 0, 0, 0), made="array", tail="", extent=None, gather=False, result=None, title=None):
    extent = extent or EXTENTS[geometry]
    numbers = format_[0] == "f" or (not as_integer and format_[1:] != "32")
    kind = result or ("f32" if numbers else format_[0] + "32")
    coordinates = COORDINATES[geometry].format(**({"c0": "%r1", "c1": "%r2", "c2": "%r3"} if integers else {"c0": "%f0", "c1": "%f1", "c2": "%f2"}))
    words_ = words_.format(g=geometry, r=kind, c="s32" if integers else "f32")
    if kind == "f32":
        body = LOAD + f"{words_} {{%f20, %f21, %f22, %f23}}, [%rd0, {{{coordinates}}}]{tail};\n" + "".join(f"mov.b32 %r{10 + n}, %f{20 + n}; " for n in range(4)) + STORE
    elif kind == "f16":
        body = LOAD + f"{words_} {{%h0, %h1, %h2, %h3}}, [%rd0, {{{coordinates}}}]{tail};\n" + "".join(f"cvt.u32.u16 %r{10 + n}, %h{n}; " for n in range(4)) + STORE
    elif kind == "f16x2":
        body = LOAD + f"{words_} {{%r10, %r11}}, [%rd0, {{{coordinates}}}]{tail}; mov.u32 %r12, 0; mov.u32 %r13, 0;\n" + STORE
    else:
        body = LOAD + f"{words_} {{%r10, %r11, %r12, %r13}}, [%rd0, {{{coordinates}}}]{tail};\n" + STORE
    title = title or (f"{words_} of {format_}x{channels} {made} {'linear' if linear else 'point'} {address} {'normalized' if normalized else 'plain'} {'whole' if as_integer else ''}"
                      f" {levels or ''} {mipmap or ''}").replace("  ", " ").replace(",", "").strip()
    size = FORMATS[format_][1] * channels
    flags = NORMALIZED * normalized | READ_AS_INTEGER * as_integer

    def more(gpu, inputs):
        width, height, depth = extent
        if made == "line":
            data = texels(title, format_, channels * width)
            resource = gpu.of_line(gpu.buffer(data), format_, channels, len(data))
        elif made == "pitched":
            pitch = 512
            resource = gpu.of_pitched(gpu.buffer(texels(title, format_, pitch * height // FORMATS[format_][1])), format_, channels, width, height, pitch)
        elif levels:
            array = gpu.array(format_, channels, extent, FLAGS.get(geometry, 0), levels)
            for level in range(levels):
                small = [max(x >> level, 1) if x else 0 for x in extent]
                if FLAGS.get(geometry):
                    small[2] = depth
                count = small[0] * max(small[1], 1) * max(small[2], 1)
                gpu.fill(gpu.level(array, level), texels(f"{title}{level}", format_, channels * count), small[0] * size, small[1], small[2])
            resource = gpu.of_array(array, True)
        else:
            array = gpu.array(format_, channels, extent, FLAGS.get(geometry, 0) | GATHER * gather)
            gpu.fill(array, texels(title, format_, channels * width * max(height, 1) * max(depth, 1)), width * size, height, depth)
            resource = gpu.of_array(array)
        return [struct.pack("<Q", gpu.texture(resource, address, linear, flags, border, mipmap))]

    return title, lambda name: Case(name, kernel(body, more=", .param .u64 x"), 16 * THREADS, [places(name, geometry, normalized, integers, extent)], block=(THREADS, 1, 1), more=more)


def fetches():
    for format_ in FORMATS:
        for channels in (1, 2, 4):
            for as_integer in ((False, True) if format_[0] in "us" and format_[1:] != "32" else (False,)):
                numbers = format_[0] == "f" or (format_[1:] != "32" and not as_integer)
                for linear in ((False, True) if numbers else (False,)):
                    yield fetch("2d", format_, channels, linear=linear, as_integer=as_integer)
    for geometry in EXTENTS:
        for linear in (False, True):
            for normalized in ((True,) if "cube" in geometry else (False, True)):
                for address in ("wrap", "clamp", "mirror", "border"):
                    yield fetch(geometry, linear=linear, address=address, normalized=normalized, border=(0.25, -3, 7, 0.5) if address == "border" else (0, 0, 0, 0))
        if "cube" not in geometry:
            for address in ("clamp", "border"):
                yield fetch(geometry, "u8", 4, integers=True, as_integer=True, address=address)
                yield fetch(geometry, "f32", 2, integers=True, address=address)
    yield fetch("2d", "u8", 4, linear=True, address="border", border=(0.25, 0.5, 1, 0.75))
    yield fetch("2d", "u8", 1, linear=True, address="border", border=(0.25, 0.5, 1, 0.75))
    yield fetch("2d", words_="tex.{g}.v4.{r}.{c}", result="f16", linear=True)
    yield fetch("3d", words_="tex.{g}.v2.{r}.{c}", result="f16x2", linear=True)
    yield fetch("2d", words_="tex.base.{g}.v4.{r}.{c}", linear=True, normalized=True, levels=4, extent=(32, 16, 0), mipmap=(0, 0, 0, 3))
    for made, geometry in (("line", "1d"), ("pitched", "2d")):
        for format_, channels in (("f32", 1), ("f32", 4), ("u8", 4), ("s16", 2), ("u32", 2)):
            yield fetch(geometry, format_, channels, integers=True, as_integer=format_[0] != "f", made=made)
    yield fetch("2d", made="pitched", linear=True, address="wrap", normalized=True)
    yield fetch("2d", "u8", 4, made="pitched", linear=True)
    for linear in (False, True):
        for levels_linear in (0, 1):
            for bias, least, most in ((0, 0, 4), (0.75, 0, 4), (0, 1.5, 2.5)):
                mipmap = (levels_linear, bias, least, most)
                yield fetch("2d", words_="tex.level.{g}.v4.{r}.{c}", tail=", %f4", linear=linear, normalized=True, address="wrap", levels=5, extent=(32, 16, 0), mipmap=mipmap)
            mipmap = (levels_linear, 0, 0, 4)
            for geometry, extent in (("a2d", (32, 16, 3)), ("cube", (16, 16, 6)), ("acube", (16, 16, 12)), ("3d", (32, 16, 8)), ("a1d", (32, 0, 3)), ("1d", (32, 0, 0))):
                yield fetch(geometry, words_="tex.level.{g}.v4.{r}.{c}", tail=", %f4", linear=linear, normalized=True, address="clamp", levels=5, extent=extent, mipmap=mipmap)
            yield fetch("2d", words_="tex.grad.{g}.v4.{r}.{c}", tail=", {%f5, %f6}, {%f7, %f8}", linear=linear, normalized=True, address="wrap", levels=5, extent=(32, 16, 0), mipmap=mipmap)
            yield fetch("3d", words_="tex.grad.{g}.v4.{r}.{c}", tail=", {%f5, %f6, %f7, %f7}, {%f8, %f9, %f10, %f10}", linear=linear, normalized=True, address="wrap", levels=5, extent=(32, 16, 8), mipmap=mipmap)
    for component in "rgba":
        for format_, as_integer in (("f32", False), ("u8", False), ("u8", True), ("s16", True)):
            yield fetch("2d", format_, 4, words_=f"tld4.{component}.{{g}}.v4.{{r}}.{{c}}", as_integer=as_integer, gather=True, normalized=component in "ra")
    for geometry in ("a2d", "cube"):
        yield fetch(geometry, "f32", 4, words_="tld4.g.{g}.v4.{r}.{c}", normalized=geometry == "cube")


QUERIES = ["width", "height", "depth", "channel_data_type", "channel_order", "normalized_coords", "array_size", "num_mipmap_levels"]


def query(geometry, of, words_, format_="f32", channels=4, levels=0):
    extent = EXTENTS[geometry]
    body = "ld.param.u64 %rd0, [x];\n" + "".join(f"{of}.{word}.b32 %r1, [%rd0]; st.global.u32 [%out+{4 * n}], %r1;\n" for n, word in enumerate(words_))
    if levels and not words_:
        body += "".join(f"mov.u32 %r2, {level}; txq.level.width.b32 %r1, [%rd0], %r2; st.global.u32 [%out+{64 + 4 * level}], %r1;\n" for level in range(levels))

    def more(gpu, inputs):
        array = gpu.array(format_, channels, extent, FLAGS.get(geometry, 0) | SURFACE * (of == "suq"), levels)
        if of == "suq":
            return [struct.pack("<Q", gpu.surface(array))]
        return [struct.pack("<Q", gpu.texture(gpu.of_array(array, levels > 0), flags=NORMALIZED, mipmap=(0, 0, 0, levels) if levels else None))]

    return f"{of} of {geometry} {format_}x{channels} {levels}{''.join(' ' + word for word in words_)}", lambda name: Case(name, kernel(body, inputs=0, more=", .param .u64 x"), 128, block=(1, 1, 1), more=more)


def surface(geometry, unit, vector, mode, what):
    """Bytes read and written, in range where the edge would trap."""
    extent = EXTENTS[geometry]
    size = int(unit[1:]) // 8 * vector
    # An array whose texels are as large as an access.
    format_, channels = {1: ("u8", 1), 2: ("u16", 1), 4: ("u32", 1), 8: ("u32", 2), 16: ("u32", 4)}[size]
    width = extent[0] * size
    name = {"b8": "%h", "b16": "%h", "b32": "%r2", "b64": "%rd1"}[unit]
    registers = [f"{name}{n}" for n in range(vector)]
    point = {"1d": "%r1", "2d": "%r1, %r2", "3d": "%r1, %r2, %r3, %r3", "a1d": "%r0, %r1", "a2d": "%r0, %r1, %r2, %r2"}[geometry]
    v = "" if vector == 1 else f".v{vector}"
    braces = "{" + ", ".join(registers) + "}"
    move = {"b8": "b8", "b16": "b16", "b32": "b32", "b64": "b64"}[unit]
    load = f"suld.b.{geometry}{v}.{unit}.{mode} {braces}, [%rd0, {{{point}}}];\n"
    body = LOAD + f"mul.lo.s32 %r1, %r1, {size};\n"
    if what == "suld":
        body += load + "".join(f"st.global.{move} [%rd2+{n * int(unit[1:]) // 8}], {register};\n" for n, register in enumerate(registers))
    elif what == "sust":
        body += "".join(f"ld.global.{move} {register}, [%rd1+{20 + 0 * n}];\n" if unit != "b64" else f"ld.global.b64 {register}, [%rd1+24];\n" for n, register in enumerate(registers))
        body += f"sust.b.{geometry}{v}.{unit}.{mode} [%rd0, {{{point}}}], {braces};\n"
    else:
        op, ty = what
        value = "%rd10" if "64" in ty else "%r20"
        body += f"ld.global.b64 %rd10, [%rd1+24]; cvt.u32.u64 %r20, %rd10; sured.b.{op}.{geometry}.{ty}.{mode} [%rd0, {{{point}}}], {value};\n"
    title = f"{what if isinstance(what, str) else '.'.join(('sured',) + what)} {geometry}{v} {unit} {mode}"

    def more(gpu, inputs):
        array = gpu.array(format_, channels, extent, FLAGS.get(geometry, 0) | SURFACE)
        count = extent[0] * max(extent[1], 1) * max(extent[2], 1)
        gpu.fill(array, draw(title).randbytes(size * count), width, extent[1], extent[2])
        gpu.after.append(lambda: gpu.drain(array, width, extent[1], extent[2]))
        return [struct.pack("<Q", gpu.surface(array))]

    def make(name_):
        random, data = draw(title + "places"), b""
        # A place has one writer at most, so that the order does not matter; sums may meet.
        spots = [(x, y, z) for x in range(extent[0]) for y in range(max(extent[1], 1)) for z in range(max(extent[2], 1))]
        random.shuffle(spots)
        for n in range(THREADS):
            x, y, z = spots[n % len(spots)]
            if what == "suld" and mode != "trap" or what != "sust" and mode == "zero":
                x, y = random.randrange(-3, extent[0] + 3), random.randrange(-3, max(extent[1], 1) + 3)
                z = random.randrange(-2, max(extent[2], 1) + 2) if geometry == "3d" else z
            elif what == "sust" and n >= len(spots):
                x = extent[0] + 5 if mode == "zero" else spots[0][0]
                y, z = (y, z) if mode == "zero" else spots[0][1:]
            data += struct.pack("<iiii", x, y, z, z) + random.randbytes(32)
        if what == "sust" and mode != "zero" and len(spots) < THREADS:
            # The rest of the threads write what the first does.
            data = data[: 48 * len(spots)] + (struct.pack("<iiii", *spots[0], spots[0][2]) + data[16:48]) * (THREADS - len(spots))
        return Case(name_, kernel(body, more=", .param .u64 x"), 16 * THREADS, [data], block=(THREADS, 1, 1), more=more)

    return title, make


def surfaces():
    for geometry in ("1d", "2d", "3d", "a1d", "a2d"):
        for unit, vector in (("b8", 1), ("b16", 1), ("b32", 1), ("b64", 1), ("b32", 2), ("b64", 2), ("b32", 4), ("b16", 4), ("b8", 2)):
            for mode in ("trap", "clamp", "zero"):
                yield surface(geometry, unit, vector, mode, "suld")
                yield surface(geometry, unit, vector, mode, "sust")
    for geometry in ("1d", "2d", "3d"):
        for op, ty in (("add", "u32"), ("add", "u64"), ("add", "s32"), ("min", "u32"), ("min", "s32"), ("max", "u32"), ("max", "s32"), ("min", "u64"), ("max", "u64"), ("and", "b32"), ("or", "b32")):
            for mode in ("trap", "zero"):
                yield surface(geometry, "b64" if "64" in ty else "b32", 1, mode, (op, ty))


def cases():
    yield from fetches()
    yield from surfaces()
    # One question a kernel: a GPU's driver does not take all of them.
    for geometry in EXTENTS:
        for word in QUERIES:
            if word in ("width", "height") or geometry in ("2d", "3d", "a2d"):
                yield query(geometry, "txq", [word])
                if "cube" not in geometry and word not in ("normalized_coords", "num_mipmap_levels"):
                    yield query(geometry, "suq", [word], "u16", 2)
    for word in QUERIES:
        yield query("2d", "txq", [word], "u8", 1, 3)
        yield query("3d", "txq", [word], "s16", 2, 2)
    yield query("2d", "txq", [], "u8", 1, 3)
