//! Compiled instructions as text: what the back end has made of a line, with physical registers.
//!
//! An operation is named by its value, so there is a text for each: `Mad { part: Lo, ty: S32, sat: false }` is `mad.lo.s32`.

use crate::ir::Constant;
use crate::isa::{Dst, Guard, Instruction, Op, Pc, Src, Ty};
use crate::program::{ConstantRow, Kernel};

/// Names of operations that only say of what kind the next name is.
const KINDS: [&str; 10] =
    ["int", "intunary", "float", "floatunary", "logic", "bit", "predlogic", "video", "videosimd", "bulk"];

/// What goes without saying.
const USUAL: [&str; 3] = ["none", "weak", "rn"];

/// Operations that PTX calls otherwise than their values.
const IN_PTX: [(&str, &str); 6] = [
    ("load", "ld"),
    ("store", "st"),
    ("atomic", "atom"),
    ("reduce", "red"),
    ("branch", "bra"),
    ("readspecial", "mov"),
];

impl Kernel {
    /// An instruction as text: its guard, operation and operands. Registers are `r`, predicates `p`, parameters of the launch `c[`offset`]`.
    ///
    /// # Panics
    /// If the kernel has no such instruction.
    pub fn instruction_text(&self, pc: Pc) -> String {
        let of = &self.code[pc as usize];
        let guard = match of.guard {
            Guard::Always => String::new(),
            Guard::If(predicate) => format!("@p{} ", predicate.0),
            Guard::IfNot(predicate) => format!("@!p{} ", predicate.0),
        };
        let results = of.dst.iter().filter_map(|dst| match dst {
            Dst::None => None,
            Dst::Reg(register) => Some(format!("r{}", register.0)),
            Dst::Pred(predicate) => Some(format!("p{}", predicate.0)),
        });
        let sources = of.src.iter().enumerate().filter_map(|(place, src)| {
            let text = self.source_text(*src, of.op)?;
            Some(if place == 0 && is_address(of) { format!("[{text}{}]", offset(of.offset)) } else { text })
        });
        let target = of.op.traits().flow.has_target().then(|| format!("#{}", of.target));
        let operands: Vec<String> = results.chain(sources).chain(target).collect();
        format!("{guard}{} {}", name(&of.op), operands.join(", ")).trim_end().to_owned()
    }

    fn source_text(&self, src: Src, op: Op) -> Option<String> {
        Some(match src {
            Src::None => return None,
            Src::Reg(register) => format!("r{}", register.0),
            Src::Const(row) => constant(self.constants.get(row as usize)?, op),
            Src::Pred(predicate, false) => format!("p{}", predicate.0),
            Src::Pred(predicate, true) => format!("!p{}", predicate.0),
            Src::PredConst(value) => value.to_string(),
        })
    }
}

/// Whether the first source is an address that the offset is added to.
fn is_address(of: &Instruction) -> bool {
    of.op.traits().address.is_some()
}

fn offset(offset: i64) -> String {
    match offset {
        0 => String::new(),
        _ => format!("{offset:+}"),
    }
}

/// What a row of constants holds. Bits are read as the operation's numbers are.
fn constant(row: &ConstantRow, op: Op) -> String {
    match row.value {
        Constant::Bits(bits) => immediate(bits, row.half, op),
        Constant::Symbol { symbol, addend } => format!("variable{symbol}{}", offset(addend)),
        Constant::StackBase => "stack".to_owned(),
        Constant::Param { offset } => format!("c[{}]", offset + 4 * u32::from(row.half)),
    }
}

fn immediate(bits: u64, half: u8, op: Op) -> String {
    let word = (bits >> (32 * u32::from(half))) as u32;
    match op {
        Op::Float(_, Ty::F32, _) | Op::Fma(Ty::F32, ..) | Op::Setp { ty: Ty::F32, .. } => {
            format!("{:?}f", f32::from_bits(word))
        }
        Op::Float(_, Ty::F64, _) | Op::Fma(Ty::F64, ..) | Op::Setp { ty: Ty::F64, .. } => {
            format!("{:?}", f64::from_bits(bits))
        }
        _ if bits <= u64::from(u32::MAX) => (word as i32).to_string(),
        _ => format!("{bits:#x}"),
    }
}

/// An operation's name: the names in its value, those of kinds, of fields and of what is not so left out.
fn name(op: &Op) -> String {
    let value = format!("{op:?}");
    let mut words: Vec<String> = Vec::new();
    // The field that the next value belongs to.
    let mut field = "";
    // The scope of a weak access means nothing.
    let mut is_weak = false;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let mut rest = value.as_str();
    while let Some(start) = rest.find(is_word) {
        rest = &rest[start..];
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        rest = behind;
        if behind.starts_with(": ") {
            field = word;
            continue;
        }
        let names_a_struct = behind.starts_with(" {") && !words.is_empty();
        let text = match word {
            "true" => field.to_owned(),
            "false" | "Some" => continue,
            _ if names_a_struct => continue,
            "1" if field == "vector" => continue,
            "All" if field == "cache" => continue,
            _ if field == "scope" && is_weak => continue,
            _ if word.starts_with(|c: char| c.is_ascii_digit()) && !field.is_empty() => {
                format!("{field}{word}")
            }
            _ => word.to_ascii_lowercase(),
        };
        field = "";
        is_weak |= text == "weak";
        if !USUAL.contains(&text.as_str()) {
            words.push(text);
        }
    }
    if words.len() > 1 && KINDS.contains(&words[0].as_str()) {
        words.remove(0);
    }
    if let Some((_, ptx)) = IN_PTX.iter().find(|(value, _)| words[0] == *value) {
        words[0] = (*ptx).to_owned();
    }
    words.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::back::Options;
    use crate::isa::{IntOp, Part, samples};
    use crate::load::load;

    #[test]
    fn every_operation_has_a_name_without_what_goes_without_saying() {
        for op in samples() {
            let name = name(&op);
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            assert!(!name.is_empty() && name.chars().all(is_plain), "{op:?}: {name}");
            assert!(!name.contains("false") && !name.contains("true"), "{op:?}: {name}");
        }
        assert_eq!(name(&Op::Mad { part: Part::Lo, ty: Ty::S32, sat: false }), "mad.lo.s32");
        assert_eq!(name(&Op::Int(IntOp::Add, Ty::U64)), "add.u64");
        assert_eq!(name(&Op::Shf { left: true, wrap: true }), "shf.left.wrap");
        assert_eq!(name(&Op::Lop3(0x1e)), "lop3.30");
        assert_eq!(name(&Op::Exit), "exit");
    }

    /// Two products and sums become one instruction each, and the address one with its offset.
    const TEXT: &str = r"
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out, .param .f32 by)
{
    .reg .b32 %r<6>;
    .reg .b64 %d<4>;
    .reg .f32 %f<4>;
    .reg .pred %p<2>;
    ld.param.u64 %d0, [out];
    ld.param.f32 %f0, [by];
    mov.u32 %r0, %tid.x;
    setp.ge.u32 %p0, %r0, 7;
    @%p0 bra END;
    mul.wide.u32 %d1, %r0, 4;
    add.s64 %d2, %d0, %d1;
    ld.global.f32 %f1, [%d2+8];
    mul.f32 %f2, %f1, 0f40200000;
    add.f32 %f3, %f2, %f0;
    st.global.f32 [%d2], %f3;
END:
    ret;
}
";

    #[test]
    fn a_kernel_reads_as_it_is_executed() {
        let module = load("k.ptx", TEXT, &Options::default()).unwrap_or_else(|errors| panic!("{errors}"));
        let kernel = module.kernel("k").unwrap();
        let texts: Vec<String> = (0..kernel.code.len() as Pc).map(|pc| kernel.instruction_text(pc)).collect();
        let expected = [
            "mov.tid.x r4",
            "setp.ge.u32 p0, r4, 7",
            "@p0 bra #7",
            "mad.wide.u32 r0, r4, 4, c[0]",
            "ld.global.f32 r3, [r0+8]",
            "fma.f32 r2, r3, 2.5f, c[8]",
            "st.global.f32 [r0], r2",
            "exit",
        ];
        assert_eq!(texts, expected);
    }
}
