"""Instructions of a whole warp: a vector is a lane's operands, 32 of them a warp."""

import struct

from case import draw
from lines import Line, case

# Warps of a line.
WARPS = 4


def lanes(name, make):
    """Vectors of all warps: `make(random, warp)` gives those of 32 lanes."""
    random = draw(name)
    return [vector for warp in range(WARPS) for vector in make(random, warp)]


def shuffles():
    for mode in ("up", "down", "bfly", "idx"):
        for width in (32, 16, 8, 4):
            bound = (32 - width) << 8 | (0 if mode == "up" else 31)
            code = f"shfl.sync.{mode}.b32 %r1|%p1, %r2, %r3, {bound:#x}, -1"
            make = lambda random, warp: [[random.getrandbits(32), random.choice([random.randrange(32), random.getrandbits(32), warp])]
                                         for _ in range(32)]
            yield Line(code, ["%r2", "%r3"], ["%r1", "%p1"], lanes(code, make))
            # Whole segments without the others.
            guarded = f"mov.b32 %r1, 0; setp.ne.u32 %p1, 0, 1; @%p2 shfl.sync.{mode}.b32 %r1|%p1, %r2, %r3, {bound:#x}, %r4"

            def some(random, warp, width=width):
                parts = [random.random() < 0.6 for _ in range(32 // width)]
                parts[warp % len(parts)] = True
                mask = sum(1 << lane for lane in range(32) if parts[lane // width])
                return [[random.getrandbits(32), random.randrange(width), int(parts[lane // width]), mask] for lane in range(32)]

            if width < 32:
                yield Line(guarded, ["%r2", "%r3", "%p2", "%r4"], ["%r1", "%p1"], lanes(guarded, some))


def groups():
    def values(draw_one):
        def make(random, warp):
            mask = 0xFFFFFFFF if warp == 0 else random.getrandbits(32) | 1 << random.randrange(32)
            return [[draw_one(random, warp), mask >> lane & 1, mask] for lane in range(32)]
        return make

    bit = values(lambda random, warp: int(random.random() < (0.5, 0.95, 1, 0)[warp]))
    for words in ("all.pred", "any.pred", "uni.pred"):
        code = f"setp.ne.u32 %p1, 0, 0; @%p3 vote.sync.{words} %p1, %p2, %r3"
        yield Line(code, ["%p2", "%p3", "%r3"], ["%p1"], lanes(code, bit))
    code = "mov.b32 %r1, 0; @%p3 vote.sync.ballot.b32 %r1, %p2, %r3"
    yield Line(code, ["%p2", "%p3", "%r3"], ["%r1"], lanes(code, bit))
    for n in (32, 64):
        register = "%r2" if n == 32 else "%rd2"
        few = values(lambda random, warp, n=n: random.choice([0, 2**n - 1, 2 ** (n - 1), 7]) if warp < 3 else 5)
        code = f"mov.b32 %r1, 0; @%p3 match.any.sync.b{n} %r1, {register}, %r3"
        yield Line(code, [register, "%p3", "%r3"], ["%r1"], lanes(code, few))
        few = values(lambda random, warp, n=n: random.choice([2, 3]) if warp == 1 else 2**n - 1 - warp)
        code = f"mov.b32 %r1, 0; setp.ne.u32 %p1, 0, 0; @%p3 match.all.sync.b{n} %r1|%p1, {register}, %r3"
        yield Line(code, [register, "%p3", "%r3"], ["%r1", "%p1"], lanes(code, few))
    for words in [f"{op}.{t}" for op in ("add", "min", "max") for t in ("u32", "s32")] + [f"{op}.b32" for op in ("and", "or", "xor")]:
        code = f"mov.b32 %r1, 0; @%p3 redux.sync.{words} %r1, %r2, %r3"
        number = values(lambda random, warp: random.getrandbits(32) | (0xFFFF0000 if warp == 2 else 0))
        yield Line(code, ["%r2", "%p3", "%r3"], ["%r1"], lanes(code, number))
    code = "mov.b32 %r1, 0; setp.ne.u32 %p1, 0, 0; @%p3 elect.sync %r1|%p1, %r3"
    yield Line(code, ["%r2", "%p3", "%r3"], ["%r1", "%p1"], lanes(code, values(lambda random, warp: 0)))
    code = "activemask.b32 %r1"
    yield Line(code, ["%r2"], ["%r1"], lanes(code, lambda random, warp: [[0]] * 32))
    code = "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2"
    yield Line(code, ["%r2"], ["%r1"], lanes(code, lambda random, warp: [[random.getrandbits(32)] for _ in range(32)]))


def cases():
    yield "warps-shuffles", lambda name: case(name, list(shuffles()))
    yield "warps-groups", lambda name: case(name, list(groups()))
