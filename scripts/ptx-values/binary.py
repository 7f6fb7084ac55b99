"""Binary floating-point formats and their arithmetic in exact fractions, from IEEE 754 and the PTX ISA's text."""

from fractions import Fraction
from math import isqrt

# exponent bits, fraction bits
FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}
NAN, INF = "nan", "inf"


def decode(bits, fmt):
    """(sign, magnitude), the magnitude a fraction, INF or NAN."""
    e, f = FORMATS[fmt]
    sign, exponent, fraction = bits >> (e + f) & 1, bits >> f & (2**e - 1), bits & (2**f - 1)
    bias = 2 ** (e - 1) - 1
    if exponent == 2**e - 1:
        return sign, NAN if fraction else INF
    if exponent == 0:
        return sign, Fraction(fraction, 2**f) * Fraction(2) ** (1 - bias)
    return sign, (1 + Fraction(fraction, 2**f)) * Fraction(2) ** (exponent - bias)


def special(value):
    return isinstance(value[1], str)


def number(value):
    return -value[1] if value[0] else value[1]


def integral(x, mode):
    """A fraction of at least 0, and its sign, to an integer."""
    sign, x = x
    floor, rest = x.numerator // x.denominator, x - x.numerator // x.denominator
    up = {"rn": rest > Fraction(1, 2) or rest == Fraction(1, 2) and floor % 2, "rz": False,
          "rm": sign and rest > 0, "rp": not sign and rest > 0, "rna": rest >= Fraction(1, 2)}[mode]
    return floor + bool(up)


def encode(sign, x, fmt, mode="rn", ftz=False):
    """The number of a format nearest to sign and magnitude in a direction."""
    e, f = FORMATS[fmt]
    bias, top = 2 ** (e - 1) - 1, sign << (e + f)
    if x == NAN:
        return NAN
    if x == INF:
        return top | (2**e - 1) << f
    if x == 0:
        return top
    exponent = max(len(bin(x.numerator)) - len(bin(x.denominator)) - 1, -10000)
    while Fraction(2) ** (exponent + 1) <= x:
        exponent += 1
    exponent = max(exponent, 1 - bias)
    steps = integral((sign, x / Fraction(2) ** (exponent - f)), mode)
    if steps >= 2 ** (f + 1):
        exponent, steps = exponent + 1, steps // 2
    if exponent > bias:
        away = mode in ("rn", "rna") or mode == ("rm" if sign else "rp")
        return top | (2**e - 1) << f if away else top | ((2**e - 1) << f) - 1
    if steps < 2**f:
        return top if ftz else top | steps
    return top | (exponent + bias) << f | steps - 2**f


def flushed(value, fmt, ftz):
    e, f = FORMATS[fmt]
    least = Fraction(2) ** (2 - 2 ** (e - 1))
    return (value[0], Fraction(0)) if ftz and not special(value) and value[1] < least else value


def total(a, b, mode):
    """The exact sum of two values; its sign when it is zero."""
    if NAN in (a[1], b[1]) or a[1] == b[1] == INF and a[0] != b[0]:
        return 0, NAN
    if INF in (a[1], b[1]):
        return a if a[1] == INF else b
    x = number(a) + number(b)
    if x == 0:
        return (a[0] if a[0] == b[0] and a[1] == b[1] == 0 else int(mode == "rm")), Fraction(0)
    return int(x < 0), abs(x)


def product(a, b):
    sign = a[0] ^ b[0]
    if NAN in (a[1], b[1]) or INF in (a[1], b[1]) and 0 in (a[1], b[1]):
        return 0, NAN
    return sign, INF if INF in (a[1], b[1]) else a[1] * b[1]


def quotient(a, b):
    sign = a[0] ^ b[0]
    if NAN in (a[1], b[1]) or a[1] == b[1] and a[1] in (INF, 0):
        return 0, NAN
    if a[1] == INF or b[1] == 0:
        return sign, INF
    return sign, Fraction(0) if b[1] == INF else a[1] / b[1]


def root(a):
    """A fraction that rounds as the square root does: more bits than any format has, the last sticky."""
    if a[1] == NAN or a[0] and a[1] != 0:
        return 0, NAN
    if special(a) or a[1] == 0:
        return a
    scale = 4**1300
    whole = a[1].numerator * scale // a[1].denominator
    r = isqrt(whole)
    exact = r * r == whole and whole * a[1].denominator == a[1].numerator * scale
    return 0, Fraction(2 * r + (not exact), 2 * 2**1300)


def finish(value, fmt, m):
    """Rounds, then clamps as the modifiers say."""
    mode = m.rounding
    bits = encode(*value, fmt, mode, m.ftz)
    if m.sat:
        if bits == NAN:
            return 0
        sign, x = decode(bits, fmt)
        if sign or x == 0:
            return 0
        return encode(0, Fraction(1), fmt) if x == INF or x > 1 else bits
    if m.relu and bits != NAN and decode(bits, fmt)[0]:
        return 0
    return bits


def order(value):
    """For minima: minus zero lies below zero."""
    if value[1] == INF:
        return (-1 if value[0] else 1, 0, 0)
    return (0, number(value), -value[0])


