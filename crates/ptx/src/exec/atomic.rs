//! Read-modify-write operations on one value.

use half::{bf16, f16};

use crate::isa::{AtomicOp, Ty};

/// The new value that an atomic leaves in memory. Values lie in the low bits; `swap` is the third operand of
/// a compare-and-swap, whose second (`operand`) is the value compared with.
///
/// Sums of f32 keep subnormals (hardware flushes them in global memory only; the ISA allows both) and NaN
/// results are canonical.
///
/// Values of 128 bits have [`apply_wide`].
///
/// # Panics
/// On a pair of operation and type that PTX does not have: the front end refuses it.
#[inline]
pub fn apply(op: AtomicOp, ty: Ty, old: u64, operand: u64, swap: u64) -> u64 {
    match ty.bytes() {
        4 => apply_32(op, ty, old as u32, operand as u32, swap as u32).into(),
        8 => apply_64(op, ty, old, operand, swap),
        2 => apply_16(op, ty, old as u16, operand as u16, swap as u16).into(),
        other => panic!("an atomic on {other} bytes: the front end refuses it"),
    }
}

/// As [`apply`], of 128 bits.
///
/// # Panics
/// On other operations than an exchange and a compare-and-swap: the front end refuses them.
pub fn apply_wide(op: AtomicOp, old: u128, operand: u128, swap: u128) -> u128 {
    match op {
        AtomicOp::Exch => operand,
        AtomicOp::Cas if old == operand => swap,
        AtomicOp::Cas => old,
        other => panic!("{other:?} of 128 bits: the front end refuses it"),
    }
}

fn apply_32(op: AtomicOp, ty: Ty, old: u32, operand: u32, swap: u32) -> u32 {
    match (op, ty) {
        (AtomicOp::Add, Ty::F32) => {
            let sum = f32::from_bits(old) + f32::from_bits(operand);
            if sum.is_nan() { 0x7fff_ffff } else { sum.to_bits() }
        }
        (AtomicOp::Add, Ty::F16x2 | Ty::Bf16x2) => {
            let element = if ty == Ty::F16x2 { Ty::F16 } else { Ty::Bf16 };
            let sum = |shift: u32| {
                u32::from(apply_16(op, element, (old >> shift) as u16, (operand >> shift) as u16, 0)) << shift
            };
            sum(0) | sum(16)
        }
        (AtomicOp::Add, _) => old.wrapping_add(operand),
        (AtomicOp::Min, Ty::S32) => (old as i32).min(operand as i32) as u32,
        (AtomicOp::Max, Ty::S32) => (old as i32).max(operand as i32) as u32,
        (AtomicOp::Min, _) => old.min(operand),
        (AtomicOp::Max, _) => old.max(operand),
        (AtomicOp::Inc, _) => {
            if old >= operand {
                0
            } else {
                old + 1
            }
        }
        (AtomicOp::Dec, _) => {
            if old == 0 || old > operand {
                operand
            } else {
                old - 1
            }
        }
        (AtomicOp::And, _) => old & operand,
        (AtomicOp::Or, _) => old | operand,
        (AtomicOp::Xor, _) => old ^ operand,
        (AtomicOp::Exch, _) => operand,
        (AtomicOp::Cas, _) => {
            if old == operand {
                swap
            } else {
                old
            }
        }
    }
}

fn apply_64(op: AtomicOp, ty: Ty, old: u64, operand: u64, swap: u64) -> u64 {
    match (op, ty) {
        (AtomicOp::Add, Ty::F64) => {
            let sum = f64::from_bits(old) + f64::from_bits(operand);
            if sum.is_nan() { 0xfff8_0000_0000_0000 } else { sum.to_bits() }
        }
        (AtomicOp::Add, _) => old.wrapping_add(operand),
        (AtomicOp::Min, Ty::S64) => (old as i64).min(operand as i64) as u64,
        (AtomicOp::Max, Ty::S64) => (old as i64).max(operand as i64) as u64,
        (AtomicOp::Min, _) => old.min(operand),
        (AtomicOp::Max, _) => old.max(operand),
        (AtomicOp::And, _) => old & operand,
        (AtomicOp::Or, _) => old | operand,
        (AtomicOp::Xor, _) => old ^ operand,
        (AtomicOp::Exch, _) => operand,
        (AtomicOp::Cas, _) => {
            if old == operand {
                swap
            } else {
                old
            }
        }
        (AtomicOp::Inc | AtomicOp::Dec, _) => panic!("{op:?} is 32 bits wide: the front end refuses others"),
    }
}

fn apply_16(op: AtomicOp, ty: Ty, old: u16, operand: u16, swap: u16) -> u16 {
    match (op, ty) {
        // A sum of two f16 rounded to f32 and then to f16 is correctly rounded: 24 >= 2 * 11 + 2.
        (AtomicOp::Add, Ty::F16) => {
            let sum = f16::from_bits(old).to_f32() + f16::from_bits(operand).to_f32();
            if sum.is_nan() { 0x7fff } else { f16::from_f32(sum).to_bits() }
        }
        // Likewise of two bf16: 24 >= 2 * 8 + 2.
        (AtomicOp::Add, Ty::Bf16) => {
            let sum = bf16::from_bits(old).to_f32() + bf16::from_bits(operand).to_f32();
            if sum.is_nan() { 0x7fff } else { bf16::from_f32(sum).to_bits() }
        }
        (AtomicOp::Min | AtomicOp::Max, Ty::F16 | Ty::Bf16) => {
            let wide = |bits: u16| match ty {
                Ty::F16 => f16::from_bits(bits).to_f32(),
                _ => bf16::from_bits(bits).to_f32(),
            };
            // -0 is below 0 here; a number wins over what is none.
            let keeps = match (wide(old), wide(operand)) {
                (old, new) if old.is_nan() && new.is_nan() => return 0x7fff,
                (_, new) if new.is_nan() => true,
                (old, _) if old.is_nan() => false,
                (old, new) if op == AtomicOp::Min => old.total_cmp(&new).is_le(),
                (old, new) => old.total_cmp(&new).is_ge(),
            };
            if keeps { old } else { operand }
        }
        (AtomicOp::Cas, _) if old == operand => swap,
        (AtomicOp::Cas, _) => old,
        (AtomicOp::Exch, _) => operand,
        _ => panic!("{op:?} of {ty:?}: the front end refuses it"),
    }
}
