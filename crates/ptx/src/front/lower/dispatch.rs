//! From an opcode to its family.

use super::builder::Builder;
use crate::front::ast::Instruction;
use crate::front::check::Modifiers;
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::isa::{FloatUnary, IntOp, Logic, Op};

/// Opcodes of PTX 9 that are parsed and not executed.
const REFUSED: &[&str] =
    &["brkpt", "clusterlaunchcontrol", "discard", "istypep", "multimem", "tcgen05", "tensormap"];

/// Lowers one instruction.
pub(super) fn instruction<'a>(
    b: &mut Builder<'a>,
    i: &'a Instruction,
    failures: &mut Vec<Fail>,
) -> Result<(), Fail> {
    let opcode = b.text(i.opcode);
    let m = &mut Modifiers::new(&b.module.names, i)?;
    match opcode {
        "mapa" => b.map_address(i, m),
        "getctarank" => b.cta_rank(i, m),
        "st" if m.contains("async") => b.store_async(i, m),
        "red" if m.contains("async") => b.reduce_async(i, m),
        "ld" | "ldu" => b.load(i, m),
        "st" => b.store(i, m),
        "mov" if m.contains("indirect") => b.mov_indirect(i, m),
        "mov" => b.mov(i, m),
        "add" | "sub" | "mul" | "fma" if m.contains("f32x2") => b.singles(i, m),
        "add" | "sub" if m.contains("cc") => b.add_carry(i, m),
        "add" | "sub" => b.add_sub(i, m),
        "mul" => b.mul(i, m),
        "mad" if m.contains("cc") => b.mad_carry(i, m),
        "mad" => b.mad(i, m),
        "fma" => b.fma(i, m),
        "bra" => b.bra(i, m),
        "setp" => b.setp(i, m),
        "selp" => b.selp(i, m),
        "cvt" if m.contains("pack") => b.cvt_pack(i, m),
        "cvt" => b.cvt(i, m),
        "cvta" => b.cvta(i, m),
        "and" => b.logic(i, m, Logic::And),
        "or" => b.logic(i, m, Logic::Or),
        "xor" => b.logic(i, m, Logic::Xor),
        "not" | "cnot" => b.not(i, m),
        "shl" | "shr" => b.shift(i, m),
        "addc" | "subc" => b.add_carry(i, m),
        "madc" => b.mad_carry(i, m),
        "div" => b.div(i, m),
        "rem" => b.int_divide(i, m, IntOp::Rem),
        "min" | "max" => b.min_max(i, m),
        "abs" | "neg" => b.abs_neg(i, m),
        "sad" => b.sad(i, m),
        "vadd" | "vsub" | "vabsdiff" | "vmin" | "vmax" | "vshl" | "vshr" | "vset" => b.video(i, m),
        "vmad" => b.video_mad(i, m),
        "vadd2" | "vsub2" | "vavrg2" | "vabsdiff2" | "vmin2" | "vmax2" | "vset2" | "vadd4" | "vsub4"
        | "vavrg4" | "vabsdiff4" | "vmin4" | "vmax4" | "vset4" => b.video_simd(i, m),
        "mul24" | "mad24" => b.mul24(i, m),
        "dp4a" | "dp2a" => b.dot(i, m),
        "rcp" | "sqrt" => b.rcp_sqrt(i, m),
        "rsqrt" => b.approximate(i, m, FloatUnary::RsqrtApprox),
        "sin" => b.approximate(i, m, FloatUnary::SinApprox),
        "cos" => b.approximate(i, m, FloatUnary::CosApprox),
        "lg2" => b.approximate(i, m, FloatUnary::Lg2Approx),
        "ex2" => b.approximate(i, m, FloatUnary::Ex2Approx),
        "tanh" => b.approximate(i, m, FloatUnary::TanhApprox),
        "copysign" => b.copysign(i, m),
        "testp" => b.testp(i, m),
        "shf" => b.funnel(i, m),
        "bfe" => b.bfe(i, m),
        "bfi" => b.bfi(i, m),
        "bmsk" => b.bmsk(i, m),
        "brev" | "popc" | "clz" | "bfind" => b.bit_unary(i, m),
        "szext" => b.szext(i, m),
        "fns" => b.fns(i, m),
        "prmt" => b.prmt(i, m),
        "lop3" => b.lop3(i, m),
        "set" => b.set(i, m),
        "slct" => b.slct(i, m),
        "isspacep" => b.isspacep(i, m),
        "prefetch" | "prefetchu" | "applypriority" => b.prefetch(i, m),
        "createpolicy" => b.create_policy(i),
        "atom" | "red" => b.atomic(i, m),
        "bar" | "barrier" => b.bar(i, m),
        "membar" | "fence" => b.fence(i, m),
        "shfl" => b.shfl(i, m),
        "vote" => b.vote(i, m),
        "match" => b.matching(i, m),
        "activemask" => b.activemask(i, m),
        "redux" => b.redux(i, m),
        "elect" => b.elect(i, m),
        "mma" => b.mma(i, m),
        "setmaxnreg" => b.set_most_registers(i, m),
        "wgmma" => b.wgmma(i, m),
        "wmma" => b.wmma(i, m),
        "cp" => b.cp(i, m),
        "mbarrier" => b.mbarrier(i, m),
        "ldmatrix" => b.matrix_access(i, m, true),
        "stmatrix" => b.matrix_access(i, m, false),
        "movmatrix" => b.move_matrix(i, m),
        "tex" => b.texture(i, m),
        "tld4" => b.gather(i, m),
        "txq" | "suq" => b.texture_query(i, m),
        "suld" => b.surface_load(i, m),
        "sust" => b.surface_store(i, m),
        "sured" => b.surface_reduce(i, m),
        "brx" => b.brx(i, m),
        "call" => b.call(i, m, failures),
        "ret" => b.ret(i, m),
        "exit" => b.bare(i, m, Op::Exit),
        "trap" => b.bare(i, m, Op::Trap),
        "alloca" => b.alloca(i, m),
        "stacksave" => b.stack_save(i, m),
        "stackrestore" => b.stack_restore(i, m),
        "griddepcontrol" => b.grid_dependency(i, m),
        "nanosleep" => b.nanosleep(i, m),
        "pmevent" => b.pmevent(i, m),
        _ if REFUSED.contains(&opcode) => Err(b.unsupported(i, "instruction")),
        _ => Err(Diagnostic::invalid(i.place, "unknown instruction")
            .found(format!("`{opcode}`"))
            .expected("an opcode of PTX")),
    }
}

impl Builder<'_> {
    /// The refusal of an instruction by its full name.
    pub(super) fn unsupported(&self, i: &Instruction, what: &str) -> Fail {
        Diagnostic::unsupported(i.place, what).found(self.name_of(i))
    }

    /// Opcode and modifiers of an instruction, for messages.
    pub(super) fn name_of(&self, i: &Instruction) -> String {
        let mut name = self.text(i.opcode).to_string();
        for modifier in &i.modifiers {
            name.push('.');
            name.push_str(self.text(modifier.name));
        }
        format!("`{name}`")
    }
}
