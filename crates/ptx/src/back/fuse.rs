//! Joins a multiplication and the sums that alone use its product, as an assembler does.
//!
//! The sum of an integer product is the same in one instruction or two. A floating-point product that is joined is not
//! rounded before it is added: the text allows that where neither instruction names a rounding (PTX ISA, `add` and `mul`:
//! "may be optimized to use fused-multiply-add"), and the vendor's assembler does it wherever the product then needs no
//! instruction of its own.

use super::body::{Body, definitions, uses};
use super::cfg::Cfg;
use crate::ir::{Constant, VDst, VInst, VReg, VSrc};
use crate::isa::{FloatMode, FloatOp, IntOp, Op, Part, Signs, Ty};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// A sum that may take in one of its operands, a product of the same block.
#[derive(Clone, Copy)]
struct Pair {
    sum: usize,
    /// The operand that is the product.
    slot: usize,
    product: usize,
}

/// Replaces `mul d, a, b; add e, d, c` within a block by `mad e, a, b, c` or `fma e, a, b, c`.
pub fn fuse(body: &mut Body, cfg: &Cfg) {
    let mut reads = vec![0usize; body.registers.len()];
    for inst in &body.code {
        uses(inst).for_each(|reg| reads[reg.0 as usize] += 1);
    }
    let mut dead = vec![false; body.code.len()];
    let mut written = vec![None; body.registers.len()];
    for block in &cfg.order {
        let pairs = pairs(body, cfg.block(*block).range(), &mut written);
        for pair in chosen(&pairs, |product| reads[result(&body.code[product]).0 as usize]) {
            let product = &body.code[pair.product];
            let (factors, sum) = (factors(product), &body.code[pair.sum]);
            let op = joined(product, sum, pair.slot).expect("a pair can be joined");
            let sum = &mut body.code[pair.sum];
            sum.src = vec![factors[0], factors[1], sum.src[1 - pair.slot]];
            sum.op = op;
            dead[pair.product] = true;
        }
    }
    body.retain(|at, _| !dead[at]);
}

/// What could be joined in a block, by sum and operand. `written` remembers which instruction last wrote each register.
fn pairs(body: &Body, range: Range<usize>, written: &mut [Option<usize>]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for sum in range.clone() {
        let inst = &body.code[sum];
        for slot in 0..inst.src.len().min(2) {
            let VSrc::Reg(reg, _) = inst.src[slot] else { continue };
            let Some(product) = written[reg.0 as usize].filter(|from| range.contains(from)) else { continue };
            let factors_stay = uses(&body.code[product])
                .all(|factor| written[factor.0 as usize].is_none_or(|w| !range.contains(&w) || w < product));
            if factors_stay && joined(&body.code[product], inst, slot).is_some() {
                pairs.push(Pair { sum, slot, product });
            }
        }
        definitions(inst).for_each(|reg| written[reg.0 as usize] = Some(sum));
    }
    pairs
}

/// The pairs to join: of each product all its uses or none, so that it needs no instruction of its own. Products of one use
/// come first, and a sum of two such takes in its first operand.
fn chosen(pairs: &[Pair], reads: impl Fn(usize) -> usize) -> Vec<Pair> {
    let mut of_product: HashMap<usize, Vec<Pair>> = HashMap::new();
    pairs.iter().for_each(|pair| of_product.entry(pair.product).or_default().push(*pair));
    let (mut chosen, mut taken) = (Vec::new(), HashSet::new());
    for single in [true, false] {
        for pair in pairs {
            let all = &of_product[&pair.product];
            let fits = all.len() == reads(pair.product) && single == (all.len() == 1);
            if fits && all.iter().all(|pair| !taken.contains(&pair.sum)) {
                taken.extend(all.iter().map(|pair| pair.sum));
                chosen.extend(all);
            }
        }
    }
    chosen
}

/// What is multiplied: a shift is a product with a power of two.
fn factors(product: &VInst) -> Vec<VSrc> {
    match (product.op, &product.src[..]) {
        (Op::Shl(_), [value, VSrc::Const(Constant::Bits(by))]) => {
            vec![*value, VSrc::Const(Constant::Bits(1 << *by))]
        }
        _ => product.src.clone(),
    }
}

/// The register that a product is in.
fn result(product: &VInst) -> VReg {
    match product.dst[0] {
        VDst::Reg(reg) => reg,
        VDst::None => unreachable!("a product that is added is in a register"),
    }
}

/// The operation that does both; nothing where one instruction would do something else. A product that is added to itself
/// stays.
fn joined(product: &VInst, sum: &VInst, slot: usize) -> Option<Op> {
    let op = match (product.op, sum.op) {
        (Op::Mul(part, of), Op::Int(IntOp::Add, ty)) => {
            let fits = match part {
                Part::Lo => of.bytes() == ty.bytes() && of.bytes() >= 4,
                Part::Wide => matches!(of, Ty::U32 | Ty::S32) && ty.bytes() == 8,
                Part::Hi => false,
            };
            fits.then_some(Op::Mad { part, ty: of, sat: false })
        }
        (Op::Shl(of), Op::Int(IntOp::Add, ty)) => {
            let by = |src: &VSrc| matches!(src, VSrc::Const(Constant::Bits(by)) if *by < 32);
            let fits = of.bytes() == 4 && ty.bytes() == 4 && product.src.get(1).is_some_and(by);
            fits.then_some(Op::Mad { part: Part::Lo, ty: Ty::U32, sat: false })
        }
        (
            Op::Float(FloatOp::Mul, of, FloatMode { ftz, sat: false, .. }),
            Op::Float(op @ (FloatOp::Add | FloatOp::Sub), ty, mode),
        ) if product.contracts && sum.contracts && of == ty && ftz == mode.ftz => {
            let subtracts = op == FloatOp::Sub;
            let signs = Signs { product: subtracts && slot == 1, addend: subtracts && slot == 0 };
            Some(Op::Fma(ty, mode, signs))
        }
        _ => None,
    }?;
    (product.guard.is_none() && sum.src[0] != sum.src[1]).then_some(op)
}
