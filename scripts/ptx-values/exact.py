"""What the PTX ISA's text says that instructions compute, in integers and fractions without bounds.

Nothing here knows how Strata computes. Where the ISA leaves a result open, or this file does not say, it answers None.
"""
import re
from fractions import Fraction

from binary import FORMATS, INF, NAN, decode, encode, finish, flushed, integral, number, order, product, quotient, root, special, total


# --- modifiers ------------------------------------------------------------------------------------
class Modifiers:
    def __init__(self, words):
        self.words = words.split(".")[1:]
        self.opcode = words.split(".")[0]
        roundings = [w for w in self.words if w in ("rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "rna")]
        self.rounding = roundings[0].rstrip("i") if roundings else "rn"
        self.integral = bool(roundings) and roundings[0].endswith("i")
        self.explicit = bool(roundings)
        for flag in ("ftz", "sat", "relu", "satfinite", "NaN", "abs", "cc", "approx", "full", "wide", "hi", "lo", "shiftamt"):
            setattr(self, flag, flag in self.words)
        self.types = [w for w in self.words if re.fullmatch(r"[usb](8|16|32|64|128)|b?f(16|32|64)(x2)?|bf16x2|[us]16x2|pred|tf32|e\dm\dx2", w)]
        self.ty = self.types[-1] if self.types else None


def width(ty):
    return 32 if ty.endswith("x2") and ty != "f32x2" else int(re.search(r"\d+", ty.replace("tf32", "f32")).group())


def signed(x, n):
    x &= 2**n - 1
    return x - 2**n if x >> (n - 1) else x


def of(x, ty):
    """The number that the low bits of a register mean."""
    n = width(ty)
    return signed(x, n) if ty[0] == "s" else x & (2**n - 1)


def limits(ty):
    n = width(ty)
    return (-(2 ** (n - 1)), 2 ** (n - 1) - 1) if ty[0] == "s" else (0, 2**n - 1)


def clamp(x, ty):
    low, high = limits(ty)
    return min(max(x, low), high)


def truncated(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


# --- operations -----------------------------------------------------------------------------------
def integer(m, a):
    """Results by opcode, as numbers; None where the ISA leaves it open."""
    ty, n = m.ty, width(m.ty)
    if ty in ("u16x2", "s16x2"):
        part = Modifiers(f"{m.opcode}{'.relu' if m.relu else ''}.{ty[:3]}")
        halves = [integer(part, [x >> k & 0xFFFF for x in a]) & 0xFFFF for k in (0, 16)]
        return halves[1] << 16 | halves[0]
    v = [of(x, ty) for x in a]
    op = m.opcode
    if op in ("add", "sub"):
        x = v[0] + v[1] if op == "add" else v[0] - v[1]
        return clamp(x, ty) if m.sat else x
    if op in ("min", "max"):
        x = (min if op == "min" else max)(v[0], v[1])
        return max(x, 0) if m.relu else x
    if op in ("mul", "mad"):
        x = v[0] * v[1]
        x = x >> n if m.hi else x
        c = (of(a[2], ty[0] + str(2 * n)) if m.wide else v[2]) if op == "mad" else 0
        return clamp(x + c, ty) if m.sat else x + c
    if op in ("mul24", "mad24"):
        low = [signed(x, 24) if ty[0] == "s" else x & 0xFFFFFF for x in a[:2]]
        x = low[0] * low[1]
        x = signed(x >> 16, 32) if m.hi else x
        c = v[2] if op == "mad24" else 0
        return clamp(x + c, ty) if m.sat else x + c
    if op == "sad":
        return v[2] + abs(v[0] - v[1])
    if op in ("div", "rem"):
        if v[1] == 0 or v[1] == -1 and v[0] == limits(ty)[0]:
            return None
        q = truncated(v[0], v[1])
        return q if op == "div" else v[0] - v[1] * q
    return {"abs": lambda: abs(v[0]), "neg": lambda: -v[0]}[op]()


def dot(m, a):
    ta, tb = m.types
    bytes_of = lambda x, ty: [of(x >> 8 * k, ty[0] + "8") for k in range(4)]
    if m.opcode == "dp4a":
        return sum(x * y for x, y in zip(bytes_of(a[0], ta), bytes_of(a[1], tb))) + a[2]
    halves = [of(a[0] >> 16 * k, ta[0] + "16") for k in range(2)]
    picked = bytes_of(a[1], tb)[2:] if m.hi else bytes_of(a[1], tb)[:2]
    return sum(x * y for x, y in zip(halves, picked)) + a[2]


def chain(code, inputs):
    """Extended precision: a subtraction adds the complement, and its carry is that sum's."""
    registers, carry = dict(inputs), 0
    for part in code.split("; "):
        words, operands = part.split(" ", 1)
        m, names = Modifiers(words), [x.strip() for x in operands.split(",")]
        n = width(m.ty)
        mask = 2**n - 1
        v = [registers[x] if x.startswith("%") else int(x) & mask for x in names[1:]]
        takes = m.opcode.endswith("c")
        if m.opcode.startswith("mad"):
            x = of(v[0], m.ty) * of(v[1], m.ty)
            x = (x >> n if m.hi else x) & mask
            x = x + v[2] + (carry if takes else 0)
        elif m.opcode.startswith("add"):
            x = v[0] + v[1] + (carry if takes else 0)
        else:
            x = v[0] + (v[1] ^ mask) + (carry if takes else 1)
        registers[names[0]] = x & mask
        carry = x >> n if m.cc else carry
    return registers


def bits(m, a, immediate):
    op, n = m.opcode, width(m.ty) if m.ty != "pred" else 1
    mask = 2**n - 1
    if op in ("and", "or", "xor"):
        return {"and": a[0] & a[1], "or": a[0] | a[1], "xor": a[0] ^ a[1]}[op]
    if op == "not":
        return ~a[0]
    if op == "cnot":
        return int(a[0] & mask == 0)
    if op in ("shl", "shr"):
        by = min(a[1], n)
        return a[0] << by if op == "shl" else of(a[0], m.ty) >> by
    if op == "shf":
        by = a[2] & 31 if "wrap" in m.words else min(a[2], 32)
        both = a[1] << 32 | a[0]
        return both << by >> 32 if "l" in m.words else both >> by
    if op == "bfe":
        pos, length = a[1] & 255, a[2] & 255
        msb = n - 1
        sign = 0 if m.ty[0] == "u" or length == 0 else a[0] >> min(pos + length - 1, msb) & 1
        return sum(((a[0] >> (pos + k) & 1) if k < length and pos + k <= msb else sign) << k for k in range(n))
    if op == "bfi":
        pos, length = a[2] & 255, a[3] & 255
        f = a[1]
        for k in range(length):
            if pos + k < n:
                f = f & ~(1 << pos + k) | (a[0] >> k & 1) << pos + k
        return f
    if op == "bfind":
        x = a[0] & mask
        if m.ty[0] == "s" and x >> n - 1:
            x ^= mask
        found = x.bit_length() - 1
        return found if found < 0 or not m.shiftamt else n - 1 - found
    if op == "bmsk":
        wrap = "wrap" in m.words
        a0, b0 = (a[0] & 31, a[1] & 31) if wrap else (a[0], a[1])
        low = 2**32 - 1 if a0 >= 32 else 2**a0 - 1
        total_ = a0 + b0
        high = 2**32 - 1 if total_ >= 32 else 2**total_ - 1
        return high & ~low if b0 else 0
    if op == "szext":
        wrap = "wrap" in m.words
        length = a[1] & 31 if wrap else min(a[1], 32)
        if length == 0:
            return 0
        return signed(a[0], length) if m.ty[0] == "s" else a[0] & 2**length - 1
    if op == "brev":
        return int(f"{a[0]:0{n}b}"[::-1], 2)
    if op == "popc":
        return bin(a[0]).count("1")
    if op == "clz":
        return n - a[0].bit_length()
    if op == "lop3":
        return sum((immediate >> ((a[0] >> k & 1) << 2 | (a[1] >> k & 1) << 1 | a[2] >> k & 1) & 1) << k for k in range(32))
    if op == "prmt":
        both = [(a[1] << 32 | a[0]) >> 8 * k & 255 for k in range(8)]
        modes = {"f4e": [[k + s for k in range(4)] for s in range(4)],
                 "b4e": [[(s - k) % 8 for k in range(4)] for s in range(4)],
                 "rc8": [[s] * 4 for s in range(4)], "ecl": [[max(k, s) for k in range(4)] for s in range(4)],
                 "ecr": [[min(k, s) for k in range(4)] for s in range(4)],
                 "rc16": [[0, 1, 0, 1], [2, 3, 2, 3]] * 2}
        mode = [w for w in m.words if w in modes]
        if mode:
            return sum(both[at] << 8 * k for k, at in enumerate(modes[mode[0]][a[2] & 3]))
        picks = [a[2] >> 4 * k & 15 for k in range(4)]
        byte = lambda p: (255 if both[p & 7] & 128 else 0) if p & 8 else both[p & 7]
        return sum(byte(p) << 8 * k for k, p in enumerate(picks))
    return None


def compared(cmp, x, y, nan):
    if cmp in ("num", "nan"):
        return (cmp == "nan") == nan
    if nan:
        return cmp in ("equ", "neu", "ltu", "leu", "gtu", "geu")
    cmp = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.get(cmp, cmp.rstrip("u") if len(cmp) == 3 else cmp)
    return {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}[cmp]


def comparison(m, a, ty, ftz):
    cmp = m.words[0]
    if ty in FORMATS:
        x, y = (flushed(decode(v, ty), ty, ftz) for v in a[:2])
        nan = NAN in (x[1], y[1])
        low = lambda v: (0 if v[1] != INF else -1 if v[0] else 1, 0 if v[1] in (INF, NAN) else number(v))
        return compared(cmp, low(x), low(y), nan)
    return compared(cmp, of(a[0], ty), of(a[1], ty), False)


def combined(m, result, c):
    for op in ("and", "or", "xor"):
        if op in m.words:
            return {"and": result and c, "or": result or c, "xor": result != c}[op]
    return result


def arithmetic(m, a, kinds):
    """Floating-point arithmetic; kinds are the formats of the operands."""
    fmt = kinds[-1] if m.opcode != "set" else m.ty
    if fmt.endswith("x2") or m.ty.endswith("x2"):
        base = m.ty[:-2]
        n = width(base)
        part = Modifiers(".".join([m.opcode, *[w for w in m.words if w != m.ty], base]))
        halves = [arithmetic(part, [x >> k * n & 2**n - 1 for x in a], [base] * len(a)) for k in (0, 1)]
        if None in halves or NAN in halves:
            return None
        return halves[1] << n | halves[0]
    out = m.types[0] if len(m.types) > 1 else m.ty
    v = [flushed(decode(x, k), k, m.ftz) for x, k in zip(a, kinds)]
    op = m.opcode
    if op == "add":
        return finish(total(v[0], v[1], m.rounding), out, m)
    if op == "sub":
        return finish(total(v[0], (1 - v[1][0], v[1][1]), m.rounding), out, m)
    if op == "mul":
        return finish(product(v[0], v[1]), out, m)
    if op in ("fma", "mad"):
        return finish(total(product(v[0], v[1]), v[2], m.rounding), out, m)
    if op == "div":
        return finish(quotient(v[0], v[1]), out, m)
    if op == "rcp":
        return finish(quotient((0, Fraction(1)), v[0]), out, m)
    if op == "sqrt":
        return finish(root(v[0]), out, m)
    if op in ("min", "max"):
        sign = 0
        if "xorsign" in m.words:
            sign = (a[0] ^ a[1]) >> (width(out) - 1) & 1
        if m.abs:
            v = [(0, x[1]) for x in v]
        numbers = [x for x in v if x[1] != NAN]
        if not numbers or m.NaN and len(numbers) < len(v):
            return NAN
        best = (min if op == "min" else max)(numbers, key=order)
        best = (sign, best[1]) if "xorsign" in m.words else best
        return encode(*best, out)
    if op in ("abs", "neg"):
        return encode(0 if op == "abs" else 1 - v[0][0], v[0][1], out)
    return None


def conversion(m, a):
    to, source = m.types
    if source not in FORMATS and to not in FORMATS:
        x = of(a[0], source)
        x = clamp(x, to) if m.sat else x
        return of(x, to)
    if source in FORMATS:
        # `.ftz` is about singles.
        value = flushed(decode(a[0], source), source, m.ftz and source == "f32")
        m.ftz = m.ftz and to == "f32"
        if to not in FORMATS:
            if value[1] == NAN:
                return None
            low, high = limits(to)
            if value[1] == INF:
                return low if value[0] else high
            whole = integral(value, m.rounding)
            return min(max(-whole if value[0] else whole, low), high)
        if m.integral and not special(value):
            value = (value[0], Fraction(integral(value, m.rounding)))
        if m.satfinite and value[1] == NAN:
            return NAN
        bits_ = finish(value, to, m)
        if m.satfinite and bits_ != NAN and decode(bits_, to)[1] == INF:
            e, f = FORMATS[to]
            return bits_ - 1
        return bits_
    x = of(a[0], source)
    return finish((int(x < 0), Fraction(abs(x))), to, m)


def expected(words, operands, dsts, srcs, inputs):
    """Results by destination; None where this file does not say, or the ISA leaves it open."""
    m = Modifiers(words)
    op, ty = m.opcode, m.ty
    formats = [t[:-2] if t.endswith("x2") else t for t in m.types]
    floating = bool(formats) and formats[-1] in FORMATS
    if m.approx or m.full:
        return None
    kinds = []
    for name in srcs:
        c = re.match(r"%([a-z]+)", name).group(1)
        kinds.append({"f": "f32", "d": "f64", "p": "pred"}.get(c, ty))
    one = lambda x: None if x is None else [x]
    if op == "testp":
        e, f = FORMATS[ty]
        sign, x = decode(inputs[0], ty)
        exponent = inputs[0] >> f & 2**e - 1
        return [int({"finite": not isinstance(x, str), "infinite": x == INF, "number": x != NAN, "notanumber": x == NAN,
                     "normal": 0 < exponent < 2**e - 1 or x == 0, "subnormal": exponent == 0 and x != 0}[m.words[0]])]
    if op == "copysign":
        n = width(ty)
        return [inputs[0] & 1 << n - 1 | inputs[1] & (1 << n - 1) - 1]
    if op == "selp":
        return [inputs[0] if inputs[2] else inputs[1]]
    if op == "slct":
        if ty == "f32":
            x = flushed(decode(inputs[2], "f32"), "f32", m.ftz)
            first = x[1] != NAN and (x[0] == 0 or x[1] == 0)
        else:
            first = of(inputs[2], ty) >= 0
        return [inputs[0] if first else inputs[1]]
    if op in ("setp", "set"):
        packed = ty.endswith("x2")
        base = ty[:-2] if packed else ty
        if packed:
            n = width(base)
            halves = [[x >> n * k & 2**n - 1 for x in inputs[:2]] for k in (0, 1)]
            results = [comparison(m, h, base, m.ftz) for h in halves]
        else:
            results = [comparison(m, inputs, base, m.ftz)]
        c = bool(inputs[2]) if len(inputs) > 2 else True
        if len(inputs) > 2 and f"!{srcs[2]}" in operands:
            c = not c
        if op == "setp":
            if packed:
                both = [combined(m, r, c) for r in results]
                return [int(x) for x in both][: len(dsts)]
            return [int(combined(m, results[0], c)), int(combined(m, not results[0], c))][: len(dsts)]
        results = [combined(m, r, c) for r in results]
        to = m.types[0]
        if packed:
            if to in ("u32", "s32"):
                return [sum(0xFFFF << 16 * k for k, r in enumerate(results) if r)]
            return [sum(encode(0, Fraction(1), base) << 16 * k for k, r in enumerate(results) if r)]
        if to in FORMATS:
            return [encode(0, Fraction(int(results[0])), to)]
        return [(2 ** width(to) - 1) * int(results[0])]
    if op == "cvt":
        if "x2" in words or "tf32" in words or "pack" in m.words:
            return None
        return one(conversion(m, inputs))
    if op == "mov":
        if "{" in operands:
            if operands.startswith("{"):
                return [inputs[0] & 0xFFFFFFFF, inputs[0] >> 32]
            return [inputs[1] << 16 | inputs[0]]
        return [inputs[0]]
    if op in ("dp4a", "dp2a"):
        return [dot(m, inputs)]
    if floating and op in ("add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt", "min", "max", "abs", "neg"):
        if len(m.types) > 1 and op in ("add", "sub", "fma"):
            kinds = [ty if re.match(r"%h", s) else "f32" for s in srcs]
        else:
            kinds = [ty] * len(srcs)
        return one(arithmetic(m, inputs, kinds))
    if ty and not floating:
        if op in ("add", "sub", "mul", "mad", "mul24", "mad24", "sad", "div", "rem", "abs", "neg", "min", "max"):
            return one(integer(m, inputs))
        immediate = int(operands.rsplit(", ", 1)[1], 16) if op == "lop3" and "," in operands and "0x" in operands and "%p" not in operands else 0
        if op == "lop3" and "%p" in operands:
            table = int(re.search(r"0x[0-9a-f]+", operands).group(), 16)
            x = bits(m, inputs, table)
            joined = (x != 0) and bool(inputs[3]) if "and" in m.words else (x != 0) or bool(inputs[3])
            return [x, int(joined)]
        if op in ("and", "or", "xor", "not") and ty == "pred":
            a = [1 - x if f"!{s}" in operands else x for x, s in zip(inputs, srcs)]
            return [bits(m, a, 0) & 1]
        return one(bits(m, inputs, immediate))
    return None
