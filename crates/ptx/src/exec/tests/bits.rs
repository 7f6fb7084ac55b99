//! Bit manipulation, bit by bit.

use super::{compute, compute32};
use crate::isa::{BitUnary, Logic, Op, Permute, Ty};

const WORDS: [u64; 9] = [
    0,
    1,
    0x8000_0000,
    0x8000_0000_0000_0000,
    u64::MAX,
    0xffff_ffff,
    0x1234_5678_9abc_def0,
    0x7fff_ffff_ffff_ffff,
    0xdead_beef_cafe_f00d,
];

fn bit(value: u64, place: u32) -> bool {
    place < 64 && value >> place & 1 == 1
}

/// The value whose bit k is `f(k)`.
fn from_bits(width: u32, f: impl Fn(u32) -> bool) -> u64 {
    (0..width).filter(|k| f(*k)).fold(0, |value, k| value | 1 << k)
}

fn checked(op: Op, ty: Ty, sources: &[u64], wanted: u64) {
    let got = compute(op, sources);
    let got = if ty.rows() == 2 { got } else { got & 0xffff_ffff };
    assert_eq!(got, wanted, "{op:?} {sources:x?}");
}

#[test]
fn fields() {
    let positions = [0, 1, 7, 31, 32, 33, 63, 64, 200, 255, 0x100, 0x107];
    for (ty, width) in [(Ty::U32, 32), (Ty::S32, 32), (Ty::U64, 64), (Ty::S64, 64)] {
        for a in WORDS {
            let a = if width == 32 { a & 0xffff_ffff } else { a };
            for position in positions {
                for length in positions {
                    // The pseudocode of the PTX ISA, "bfe" and "bfi".
                    let (pos, len) = (position as u32 & 0xff, length as u32 & 0xff);
                    let sign = ty.is_signed() && len != 0 && bit(a, (pos + len - 1).min(width - 1));
                    let wanted =
                        from_bits(width, |k| if k < len && pos + k < width { bit(a, pos + k) } else { sign });
                    checked(Op::Bfe(ty), ty, &[a, position, length], wanted);
                    let b = 0xa5a5_5a5a_0ff0_f00f & (u64::MAX >> (64 - width));
                    let wanted =
                        from_bits(
                            width,
                            |k| if k >= pos && k - pos < len { bit(a, k - pos) } else { bit(b, k) },
                        );
                    let bits = if width == 32 { Ty::B32 } else { Ty::B64 };
                    checked(Op::Bfi(bits), bits, &[a, b, position, length], wanted);
                }
            }
        }
    }
}

#[test]
fn shifts_clamp() {
    for (bits, unsigned, signed, width) in
        [(Ty::B16, Ty::U16, Ty::S16, 16), (Ty::B32, Ty::U32, Ty::S32, 32), (Ty::B64, Ty::U64, Ty::S64, 64)]
    {
        for a in WORDS {
            let a = a & (u64::MAX >> (64 - width));
            for n in [0, 1, 15, 16, 31, 32, 33, 63, 64, 65, u32::MAX] {
                let amount = u64::from(n);
                let left = from_bits(width, |k| k >= n && bit(a, k - n));
                checked(Op::Shl(bits), bits, &[a, amount], left);
                let right =
                    from_bits(width, |k| k.checked_add(n).is_some_and(|from| from < width && bit(a, from)));
                checked(Op::Shr(unsigned), unsigned, &[a, amount], right);
                // A register holds a narrow signed result extended to 32 bits.
                let arithmetic = from_bits(width.max(32), |k| bit(a, k.saturating_add(n).min(width - 1)));
                checked(Op::Shr(signed), signed, &[a, amount], arithmetic);
            }
        }
    }
}

#[test]
fn funnel_shifts() {
    let (a, b) = (0x89ab_cdefu32, 0x0123_4567u32);
    let both = u64::from(b) << 32 | u64::from(a);
    for n in [0, 1, 8, 31, 32, 33, 40, u32::MAX] {
        for wrap in [false, true] {
            let amount = if wrap { n % 32 } else { n.min(32) };
            let left = from_bits(32, |k| bit(both, (32 + k) - amount)) as u32;
            let right = from_bits(32, |k| bit(both, k + amount)) as u32;
            assert_eq!(compute32(Op::Shf { left: true, wrap }, &[a, b, n]), left, "left {n} {wrap}");
            assert_eq!(compute32(Op::Shf { left: false, wrap }, &[a, b, n]), right, "right {n} {wrap}");
        }
    }
}

#[test]
fn lookup_tables() {
    let (a, b, c) = (0xf0f0_f0f0, 0xcccc_cccc, 0xaaaa_aaaau32);
    for table in 0..=255u8 {
        // With these operands every byte of the result is the table itself.
        assert_eq!(compute32(Op::Lop3(table), &[a, b, c]), u32::from(table) * 0x0101_0101);
    }
}

#[test]
fn counts_and_searches() {
    let table: [(BitUnary, Ty, u64, u64); 20] = [
        (BitUnary::Popc, Ty::B32, 0xffff_ffff, 32),
        (BitUnary::Popc, Ty::B64, u64::MAX, 64),
        (BitUnary::Clz, Ty::B32, 0, 32),
        (BitUnary::Clz, Ty::B64, 0, 64),
        (BitUnary::Clz, Ty::B64, 1, 63),
        (BitUnary::Brev, Ty::B32, 1, 0x8000_0000),
        (BitUnary::Brev, Ty::B64, 2, 0x4000_0000_0000_0000),
        (BitUnary::Cnot, Ty::B32, 0, 1),
        (BitUnary::Cnot, Ty::B64, 1 << 40, 0),
        (BitUnary::Not, Ty::B32, 0, 0xffff_ffff),
        (BitUnary::Not, Ty::B16, 0, 0xffff),
        (BitUnary::Bfind { shiftamt: false }, Ty::U32, 0, 0xffff_ffff),
        (BitUnary::Bfind { shiftamt: true }, Ty::U32, 0, 0xffff_ffff),
        (BitUnary::Bfind { shiftamt: false }, Ty::U32, 0x0010_0000, 20),
        (BitUnary::Bfind { shiftamt: true }, Ty::U32, 0x0010_0000, 11),
        (BitUnary::Bfind { shiftamt: false }, Ty::S32, 0xffff_ffff, 0xffff_ffff),
        (BitUnary::Bfind { shiftamt: false }, Ty::S32, 0x8000_0000, 30),
        (BitUnary::Bfind { shiftamt: false }, Ty::S64, u64::MAX << 8, 7),
        (BitUnary::Bfind { shiftamt: true }, Ty::U64, 1, 63),
        (BitUnary::Bfind { shiftamt: false }, Ty::S64, 0, 0xffff_ffff),
    ];
    for (op, ty, a, wanted) in table {
        let narrow = matches!(op, BitUnary::Popc | BitUnary::Clz | BitUnary::Bfind { .. });
        let result = if narrow { Ty::U32 } else { ty };
        checked(Op::Bit(op, ty), result, &[a], wanted);
    }
}

#[test]
fn nth_set_bit() {
    // The pseudocode of the PTX ISA, "fns".
    let expected = |mask: u32, base: u32, offset: i32| -> u32 {
        if offset == 0 {
            return if mask >> base & 1 == 1 { base } else { u32::MAX };
        }
        let (mut position, mut count) = (base as i32, offset.abs() - 1);
        while (0..32).contains(&position) {
            if mask >> position & 1 == 1 {
                if count == 0 {
                    return position as u32;
                }
                count -= 1;
            }
            position += offset.signum();
        }
        u32::MAX
    };
    for mask in [0, 1, 0x8000_0000, 0xaaaa_aaaa, u32::MAX, 0x0010_0400] {
        for base in [0, 1, 10, 30, 31] {
            for offset in [-40, -32, -3, -2, -1, 0, 1, 2, 3, 32, 40] {
                let got = compute32(Op::Fns, &[mask, base, offset as u32]);
                assert_eq!(got, expected(mask, base, offset), "{mask:#x} {base} {offset}");
            }
        }
    }
}

#[test]
fn masks() {
    for (start, length, clamped, wrapped) in [
        (0, 0, 0, 0),
        (0, 32, u32::MAX, 0),
        (4, 8, 0xff0, 0xff0),
        (28, 8, 0xf000_0000, 0xf000_0000),
        (32, 5, 0, 0x1f),
        (33, 33, 0, 2),
    ] {
        assert_eq!(compute32(Op::Bmsk { wrap: false }, &[start, length]), clamped, "{start} {length}");
        assert_eq!(compute32(Op::Bmsk { wrap: true }, &[start, length]), wrapped, "{start} {length}");
    }
}

#[test]
fn byte_permutes() {
    let (a, b) = (0x8322_1100, 0x7766_55c4);
    let table = [
        (Permute::Default, 0x3210, 0x8322_1100),
        (Permute::Default, 0x7654, 0x7766_55c4),
        (Permute::Default, 0xfb4c, 0x00ff_c4ff),
        (Permute::F4e, 1, 0xc483_2211),
        (Permute::F4e, 7, 0x6655_c483),
        (Permute::B4e, 0, 0x5566_7700),
        (Permute::B4e, 3, 0x0011_2283),
        (Permute::Rc8, 3, 0x8383_8383),
        (Permute::Ecl, 1, 0x8322_1111),
        (Permute::Ecr, 2, 0x2222_1100),
        (Permute::Rc16, 1, 0x8322_8322),
        (Permute::Rc16, 2, 0x1100_1100),
    ];
    for (mode, selector, wanted) in table {
        let got = compute32(Op::Prmt(mode), &[a, b, selector]);
        assert_eq!(got, wanted, "{mode:?} {selector:#x}: {got:#x}");
    }
}

#[test]
fn logic() {
    for (op, wanted) in [(Logic::And, 0b1000), (Logic::Or, 0b1110), (Logic::Xor, 0b0110)] {
        for (ty, shift) in [(Ty::B16, 0), (Ty::B32, 20), (Ty::B64, 40)] {
            checked(Op::Logic(op, ty), ty, &[0b1100 << shift, 0b1010 << shift], wanted << shift);
        }
    }
}

#[test]
fn extension_from_any_width() {
    let run = |signed, wrap, a: u32, width| compute32(Op::Szext { signed, wrap }, &[a, width]);
    for width in 1..32 {
        // A field of ones is minus one, and its mask; above it nothing counts.
        let ones = (1u32 << width) - 1;
        assert_eq!(run(true, true, ones | 1 << 31, width), !0, "{width}");
        assert_eq!(run(false, false, u32::MAX, width), ones, "{width}");
        assert_eq!(run(true, false, ones >> 1, width), ones >> 1, "{width}");
    }
    for a in [0, 1, 0x8000_0000, u32::MAX] {
        for signed in [false, true] {
            assert_eq!(run(signed, true, a, 0), 0);
            assert_eq!(run(signed, false, a, 0), 0);
            assert_eq!(run(signed, true, a, 32), 0, "32 wraps to none");
            assert_eq!(run(signed, false, a, 32), a);
            assert_eq!(run(signed, false, a, 1 << 31), a);
        }
    }
    assert_eq!(run(true, true, 0x88, 40), 0xffff_ff88);
}
