//! What an instruction computes, as one function that is chosen before it runs.
//!
//! [`execute`] finds its way by the operation, its type and its modes each time. The operations that most programs
//! consist of have routines in which all of that is constant; the rest share one.

use super::{Operands, WarpContext, bits, compare, convert, execute, float, integer, moves};
use crate::isa::{Compare, FloatMode, FloatOp, Instruction, IntOp, Logic, Op, Part, Signs, Space, Ty};
use crate::lanes::LaneMask;

/// A kind of operands, whatever they borrow from.
pub trait OperandFamily {
    /// The operands.
    type Of<'a>: Operands;
}

/// Does what [`execute`] does for the instructions that it was chosen for.
pub type Routine<F> = for<'a> fn(&Instruction, &mut <F as OperandFamily>::Of<'a>, LaneMask, &WarpContext);

/// Matches an operation with those that are known when this is compiled: `known operation => what executes it`, with
/// names for the instruction, its operands and its lanes there.
macro_rules! choose {
    ($family:ident, $op:expr, |$instruction:ident, $o:ident, $lanes:ident|
        $($known:pat => $body:expr,)*
    ) => {
        match $op {
            $($known => {
                #[allow(unused_variables, reason = "few ask for the instruction")]
                fn run<F: OperandFamily>(
                    $instruction: &Instruction,
                    $o: &mut F::Of<'_>,
                    $lanes: LaneMask,
                    _context: &WarpContext,
                ) {
                    $body
                }
                run::<$family>
            })*
            _ => any::<$family>,
        }
    };
}

/// The routine of an instruction, and of all others with the same operation.
///
/// # Panics
/// The routine panics where [`execute`] does.
pub fn routine<F: OperandFamily>(instruction: &Instruction) -> Routine<F> {
    const PLAIN: FloatMode = FloatMode::DEFAULT;
    /// A product that is subtracted.
    const LESS: Signs = Signs { product: true, addend: false };
    macro_rules! comparison {
        ($relation:ident, $ty:ident, $instruction:ident, $o:ident, $lanes:ident) => {
            compare::set_predicate((Compare::$relation, Ty::$ty, None, false), $instruction, $o, $lanes)
        };
    }
    // The sign plays no part in what U32 stands for together with S32.
    choose! { F, instruction.op, |i, o, lanes|
        Op::Int(IntOp::Add, Ty::U32 | Ty::S32 | Ty::B32) => integer::arithmetic(IntOp::Add, Ty::U32, o, lanes),
        Op::Int(IntOp::Sub, Ty::U32 | Ty::S32 | Ty::B32) => integer::arithmetic(IntOp::Sub, Ty::U32, o, lanes),
        Op::Int(IntOp::Add, Ty::U64 | Ty::S64 | Ty::B64) => integer::arithmetic(IntOp::Add, Ty::U64, o, lanes),
        Op::Int(IntOp::Min, Ty::S32) => integer::arithmetic(IntOp::Min, Ty::S32, o, lanes),
        Op::Int(IntOp::Max, Ty::S32) => integer::arithmetic(IntOp::Max, Ty::S32, o, lanes),
        Op::Mul(Part::Lo, Ty::U32) => integer::multiply(Part::Lo, Ty::U32, o, lanes),
        Op::Mul(Part::Lo, Ty::S32) => integer::multiply(Part::Lo, Ty::S32, o, lanes),
        Op::Mul(Part::Wide, Ty::U32) => integer::multiply(Part::Wide, Ty::U32, o, lanes),
        Op::Mul(Part::Wide, Ty::S32) => integer::multiply(Part::Wide, Ty::S32, o, lanes),
        Op::Mad { part: Part::Lo, ty: Ty::U32, sat: false } => {
            integer::multiply_add(Part::Lo, Ty::U32, false, o, lanes)
        },
        Op::Mad { part: Part::Lo, ty: Ty::S32, sat: false } => {
            integer::multiply_add(Part::Lo, Ty::S32, false, o, lanes)
        },
        Op::Mad { part: Part::Wide, ty: Ty::U32, sat: false } => {
            integer::multiply_add(Part::Wide, Ty::U32, false, o, lanes)
        },
        Op::Mad { part: Part::Wide, ty: Ty::S32, sat: false } => {
            integer::multiply_add(Part::Wide, Ty::S32, false, o, lanes)
        },
        Op::Mov(Ty::U32 | Ty::S32 | Ty::B32 | Ty::F32) => moves::copy(Ty::U32, o, lanes),
        Op::Mov(Ty::U64 | Ty::S64 | Ty::B64 | Ty::F64) => moves::copy(Ty::U64, o, lanes),
        // Their addresses are generic ones already.
        Op::Cvta { space: Space::Global | Space::Const, .. } => moves::copy(Ty::U64, o, lanes),
        Op::Select(Ty::U32 | Ty::S32 | Ty::B32 | Ty::F32) => moves::select(i, Ty::U32, o, lanes),
        Op::Cvt {
            to: Ty::U64 | Ty::S64 | Ty::B64,
            from: Ty::U32 | Ty::B32,
            mode: FloatMode { sat: false, .. }
        } => {
            convert::resize_integer(Ty::U64, Ty::U32, o, lanes)
        },
        Op::Cvt { to: Ty::U64 | Ty::S64 | Ty::B64, from: Ty::S32, mode: FloatMode { sat: false, .. } } => {
            convert::resize_integer(Ty::U64, Ty::S32, o, lanes)
        },
        Op::PredLogic(Logic::And) => compare::predicate_logic(Logic::And, i, o, lanes),
        Op::PredLogic(Logic::Or) => compare::predicate_logic(Logic::Or, i, o, lanes),
        Op::PredNot => compare::predicate_copy(true, i, o, lanes),
        Op::Logic(Logic::And, Ty::B32) => bits::logic(Logic::And, Ty::B32, o, lanes),
        Op::Logic(Logic::Or, Ty::B32) => bits::logic(Logic::Or, Ty::B32, o, lanes),
        Op::Shl(Ty::B64) => bits::shift_left(Ty::B64, o, lanes),
        Op::Shl(Ty::B32) => bits::shift_left(Ty::B32, o, lanes),
        Op::Shr(Ty::U32) => bits::shift_right(Ty::U32, o, lanes),
        Op::Float(FloatOp::Add, Ty::F32, PLAIN) => float::arithmetic(FloatOp::Add, Ty::F32, PLAIN, o, lanes),
        Op::Float(FloatOp::Sub, Ty::F32, PLAIN) => float::arithmetic(FloatOp::Sub, Ty::F32, PLAIN, o, lanes),
        Op::Float(FloatOp::Mul, Ty::F32, PLAIN) => float::arithmetic(FloatOp::Mul, Ty::F32, PLAIN, o, lanes),
        Op::Fma(Ty::F32, PLAIN, Signs::PLUS) => float::multiply_add(Ty::F32, PLAIN, Signs::PLUS, o, lanes),
        Op::Fma(Ty::F32, PLAIN, LESS) => float::multiply_add(Ty::F32, PLAIN, LESS, o, lanes),
        Op::Setp { cmp: Compare::Eq, ty: Ty::S32, combine: None, ftz: false } => {
            comparison!(Eq, S32, i, o, lanes)
        },
        Op::Setp { cmp: Compare::Ne, ty: Ty::S32, combine: None, ftz: false } => {
            comparison!(Ne, S32, i, o, lanes)
        },
        Op::Setp { cmp: Compare::Lt, ty: Ty::S32, combine: None, ftz: false } => {
            comparison!(Lt, S32, i, o, lanes)
        },
        Op::Setp { cmp: Compare::Le, ty: Ty::S32, combine: None, ftz: false } => {
            comparison!(Le, S32, i, o, lanes)
        },
        Op::Setp { cmp: Compare::Gt, ty: Ty::S32, combine: None, ftz: false } => {
            comparison!(Gt, S32, i, o, lanes)
        },
        Op::Setp { cmp: Compare::Ge, ty: Ty::S32, combine: None, ftz: false } => {
            comparison!(Ge, S32, i, o, lanes)
        },
        Op::Setp { cmp: Compare::Le, ty: Ty::U32, combine: None, ftz: false } => {
            comparison!(Le, U32, i, o, lanes)
        },
        Op::Setp { cmp: Compare::Gt, ty: Ty::U32, combine: None, ftz: false } => {
            comparison!(Gt, U32, i, o, lanes)
        },
        Op::Setp { cmp: Compare::Ge, ty: Ty::U32, combine: None, ftz: false } => {
            comparison!(Ge, U32, i, o, lanes)
        },
        Op::Setp { cmp: Compare::Lt, ty: Ty::U32, combine: None, ftz: false } => {
            comparison!(Lt, U32, i, o, lanes)
        },
    }
}

/// The routine of all operations without one of their own.
fn any<F: OperandFamily>(
    instruction: &Instruction,
    o: &mut F::Of<'_>,
    lanes: LaneMask,
    context: &WarpContext,
) {
    execute(instruction, o, lanes, context);
}
