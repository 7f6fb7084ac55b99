//! The video instructions.

use super::builder::Builder;
use super::compare::COMPARISONS;
use super::operand::{count, operands};
use crate::front::ast::{Instruction, Operand, OperandKind, Place};
use crate::front::check::Modifiers;
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::ir::{VDst, VSrc};
use crate::isa::{
    Op, Part32, ScalarVideo, SecondStep, SimdVideo, Ty, VideoMad, VideoNegate, VideoOp, VideoOperand,
};

const WORDS: [Ty; 2] = [Ty::U32, Ty::S32];

const PARTS_32: [(&str, Part32); 6] = [
    ("b0", Part32 { shift: 0, bits: 8 }),
    ("b1", Part32 { shift: 8, bits: 8 }),
    ("b2", Part32 { shift: 16, bits: 8 }),
    ("b3", Part32 { shift: 24, bits: 8 }),
    ("h0", Part32 { shift: 0, bits: 16 }),
    ("h1", Part32 { shift: 16, bits: 16 }),
];

/// The operation of a name without its number of elements; comparisons and shifts have modifiers besides.
fn operation(stem: &str) -> Option<VideoOp> {
    Some(match stem {
        "vadd" => VideoOp::Add,
        "vsub" => VideoOp::Sub,
        "vabsdiff" => VideoOp::AbsDiff,
        "vavrg" => VideoOp::Average,
        "vmin" => VideoOp::Min,
        "vmax" => VideoOp::Max,
        _ => return None,
    })
}

impl<'a> Builder<'a> {
    /// `vadd`, `vsub`, `vabsdiff`, `vmin`, `vmax`, `vshl`, `vshr`, `vset`.
    pub(super) fn video(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let opcode = self.text(i.opcode);
        let compares = opcode == "vset";
        let shifts = matches!(opcode, "vshl" | "vshr");
        let signed = !compares && m.ty(&WORDS)?.is_signed();
        let a_signed = m.ty(&WORDS)?.is_signed();
        let b_signed = m.ty(if shifts { &[Ty::U32] } else { &WORDS })?.is_signed();
        let sat = !compares && m.flag("sat");
        let op = match operation(opcode) {
            Some(op) => op,
            None if compares => VideoOp::Set(m.require(&COMPARISONS[..6])?),
            None => {
                let wrap = m.require(&[("clamp", false), ("wrap", true)])?;
                if opcode == "vshl" { VideoOp::Shl { wrap } } else { VideoOp::Shr { wrap } }
            }
        };
        let second = m.pick(&[("add", SecondStep::Add), ("min", SecondStep::Min), ("max", SecondStep::Max)]);
        m.finish()?;
        let Some(destination) = i.operands.first() else { return Err(count(i, "3")) };
        let (destination, part) = self.selected(destination);
        let second = match (second, part) {
            (Some(_), Some(_)) => {
                return Err(Diagnostic::invalid(destination.place, "merge after a second operation")
                    .found("a part of the destination")
                    .expected("the whole destination"));
            }
            (Some(second), None) => second,
            (None, Some(part)) => SecondStep::Merge(part),
            (None, None) => SecondStep::None,
        };
        let expected = if second == SecondStep::None { 3 } else { 4 };
        if i.operands.len() != expected {
            return Err(count(i, &expected.to_string()));
        }
        let d = self.dst(&destination, word_type(signed))?;
        let (x, a) = self.video_operand(&i.operands[1], a_signed)?;
        let (y, b) = self.video_operand(&i.operands[2], b_signed)?;
        let mut src = vec![x, y];
        if let Some(c) = i.operands.get(3) {
            src.push(self.src(c, word_type(signed))?);
        }
        self.emit(Op::Video(ScalarVideo { op, a, b, signed, sat, second }), &[d], &src);
        Ok(())
    }

    /// `vmad`.
    pub(super) fn video_mad(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        // The result's sign follows from the operands'; the type in the text is that of the register.
        let ty = m.ty(&WORDS)?;
        let a_signed = m.ty(&WORDS)?.is_signed();
        let b_signed = m.ty(&WORDS)?.is_signed();
        let plus_one = m.flag("po");
        let sat = m.flag("sat");
        let shift = m.pick(&[("shr7", 7), ("shr15", 15)]).unwrap_or(0);
        m.finish()?;
        let [d, a, b, c] = operands(i)?;
        let [(a, not_a), (b, not_b), (c, not_c)] = [a, b, c].map(positive);
        let negate = match (not_a != not_b, not_c) {
            (false, false) => VideoNegate::None,
            (true, false) => VideoNegate::Product,
            (false, true) => VideoNegate::Addend,
            (true, true) => {
                return Err(Diagnostic::invalid(c.place, "product and addend both negated")
                    .expected("at most one of them negated"));
            }
        };
        if plus_one && (not_a || not_b || not_c) {
            return Err(
                Diagnostic::invalid(i.place, "negated operand with `.po`").expected("operands without `-`")
            );
        }
        let d = self.dst(d, ty)?;
        let (x, a) = self.video_operand(&a, a_signed)?;
        let (y, b) = self.video_operand(&b, b_signed)?;
        let z = self.src(&c, Ty::B32)?;
        self.emit(Op::VideoMad(VideoMad { a, b, negate, plus_one, sat, shift }), &[d], &[x, y, z]);
        Ok(())
    }

    /// `vadd2`, `vadd4` and their kin.
    pub(super) fn video_simd(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let opcode = self.text(i.opcode);
        let (stem, bits) = match opcode.strip_suffix('4') {
            Some(stem) => (stem, 8),
            None => (opcode.trim_end_matches('2'), 16),
        };
        let compares = stem == "vset";
        let signed = !compares && m.ty(&WORDS)?.is_signed();
        let a_signed = m.ty(&WORDS)?.is_signed();
        let b_signed = m.ty(&WORDS)?.is_signed();
        let op = match operation(stem) {
            Some(op) => op,
            None => VideoOp::Set(m.require(&COMPARISONS[..6])?),
        };
        let accumulate = m.flag("add");
        let sat = !compares && !accumulate && m.flag("sat");
        m.finish()?;
        let [d, a, b, c] = operands(i)?;
        let (d, mask) = self.with_digits(d);
        let (a, pick_a) = self.with_digits(a);
        let (b, pick_b) = self.with_digits(b);
        let elements = 32 / bits;
        let mask = match mask {
            Some((word, place)) => mask_of(word, bits, place)?,
            None => (1 << elements) - 1,
        };
        let default_a: u16 = if bits == 8 { 0x3210 } else { 0x10 };
        let default_b: u16 = if bits == 8 { 0x7654 } else { 0x32 };
        let picked = |given: Option<(&str, Place)>, default: u16| match given {
            Some((word, place)) => pick_of(word, bits, place),
            None => Ok(default),
        };
        let (pick_a, pick_b) = (picked(pick_a, default_a)?, picked(pick_b, default_b)?);
        let d: VDst = self.dst(&d, word_type(signed))?;
        let (a, b) = (self.src(&a, word_type(a_signed))?, self.src(&b, word_type(b_signed))?);
        let c = self.src(c, word_type(signed))?;
        let video = SimdVideo { op, bits, pick_a, pick_b, a_signed, b_signed, signed, sat, mask, accumulate };
        self.emit(Op::VideoSimd(video), &[d], &[a, b, c]);
        Ok(())
    }

    /// A register and the part of it that is named, if one is.
    fn selected(&self, operand: &Operand) -> (Operand, Option<Part32>) {
        if let OperandKind::Component(name, component) = operand.kind {
            let word = self.text(component);
            if let Some((_, part)) = PARTS_32.iter().find(|(known, _)| *known == word) {
                return (Operand { place: operand.place, kind: OperandKind::Name(name) }, Some(*part));
            }
        }
        (operand.clone(), None)
    }

    fn video_operand(&mut self, operand: &Operand, signed: bool) -> Result<(VSrc, VideoOperand), Fail> {
        let (whole, part) = self.selected(operand);
        let source = self.src(&whole, word_type(signed))?;
        Ok((source, VideoOperand { part: part.unwrap_or(Part32::WHOLE), signed }))
    }

    /// A register and the selector behind it, such as `b3210`, if there is one.
    fn with_digits(&self, operand: &Operand) -> (Operand, Option<(&'a str, Place)>) {
        if let OperandKind::Component(name, component) = operand.kind {
            let word = self.module.names.text(component);
            if word.len() > 1 && word.starts_with(['b', 'h']) {
                let register = Operand { place: operand.place, kind: OperandKind::Name(name) };
                return (register, Some((word, operand.place)));
            }
        }
        (operand.clone(), None)
    }
}

const fn word_type(signed: bool) -> Ty {
    if signed { Ty::S32 } else { Ty::U32 }
}

/// An operand without its sign, and whether it had one.
fn positive(operand: &Operand) -> (Operand, bool) {
    match &operand.kind {
        OperandKind::Negated(kind) => (Operand { place: operand.place, kind: (**kind).clone() }, true),
        _ => (operand.clone(), false),
    }
}

/// The digits of a selector, from the left, each below `limit`.
fn digits(word: &str, bits: u8, limit: u32) -> Option<Vec<u32>> {
    let digits = word.strip_prefix(if bits == 8 { 'b' } else { 'h' })?;
    digits.chars().map(|digit| digit.to_digit(limit)).collect()
}

/// `.b210`: which elements of the destination are written, each once and from the highest.
fn mask_of(word: &str, bits: u8, place: Place) -> Result<u8, Fail> {
    match digits(word, bits, 32 / u32::from(bits)) {
        Some(digits) if digits.is_sorted_by(|a, b| a > b) => {
            Ok(digits.iter().fold(0, |mask, digit| mask | 1 << digit))
        }
        _ => {
            Err(Diagnostic::invalid(place, "bad mask of a destination").found(format!("`.{word}`")).expected(
                if bits == 8 { "`.b` and descending digits from 3 to 0" } else { "`.h0`, `.h1` or `.h10`" },
            ))
        }
    }
}

/// `.b7654`: which element of both sources each place takes, from the highest; as nibbles from the lowest.
fn pick_of(word: &str, bits: u8, place: Place) -> Result<u16, Fail> {
    let elements = 32 / u32::from(bits);
    match digits(word, bits, 2 * elements) {
        Some(digits) if digits.len() == elements as usize => {
            Ok(digits.iter().fold(0, |pick, digit| pick << 4 | *digit as u16))
        }
        _ => Err(Diagnostic::invalid(place, "bad selector of elements")
            .found(format!("`.{word}`"))
            .expected(if bits == 8 {
                "`.b` and four digits from 0 to 7"
            } else {
                "`.h` and two digits from 0 to 3"
            })),
    }
}
