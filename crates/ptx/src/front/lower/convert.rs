//! `cvt`.

use super::builder::Builder;
use super::float::ROUNDINGS;
use super::operand::operands;
use crate::front::ast::Instruction;
use crate::front::check::{Modifiers, word};
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::ir::{VDst, VSrc};
use crate::isa::{FloatMode, Op, Rounding, Ty};

const TO_INTEGER: [(&str, Rounding); 4] =
    [("rni", Rounding::Rni), ("rzi", Rounding::Rzi), ("rmi", Rounding::Rmi), ("rpi", Rounding::Rpi)];

const CONVERTED: [Ty; 14] = [
    Ty::U8,
    Ty::U16,
    Ty::U32,
    Ty::U64,
    Ty::S8,
    Ty::S16,
    Ty::S32,
    Ty::S64,
    Ty::F16,
    Ty::F32,
    Ty::F64,
    Ty::Bf16,
    Ty::F16x2,
    Ty::Bf16x2,
];

/// What a pair of types asks of the rounding.
#[derive(PartialEq)]
enum Wanted {
    /// An integer result of a floating-point value: `.rni` and its kin.
    ToInteger,
    /// A result that may not hold the value exactly: `.rn` and its kin.
    ToFloat,
    /// Same floating-point type: an integral value, or none.
    Integral,
    /// Always exact, or integers.
    None,
}

fn wanted(to: Ty, from: Ty) -> Wanted {
    match (to.is_float(), from.is_float()) {
        (false, true) => Wanted::ToInteger,
        (true, false) => Wanted::ToFloat,
        (false, false) => Wanted::None,
        (true, true) if to == from => Wanted::Integral,
        // f16 and bf16 do not hold each other's values.
        (true, true) if to.bytes() <= from.bytes() => Wanted::ToFloat,
        (true, true) => Wanted::None,
    }
}

impl<'a> Builder<'a> {
    pub(super) fn cvt(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        if m.contains("pack")
            || m.contains("satfinite")
            || m.contains("relu")
            || m.contains("rna")
            || m.contains("rs")
        {
            return Err(self.unsupported(i, "this conversion"));
        }
        let place = m.place();
        let rounding = m.pick(&ROUNDINGS).or_else(|| m.pick(&TO_INTEGER));
        let ftz = m.flag("ftz");
        let sat = m.flag("sat");
        if m.peek().is_some_and(is_narrow_float) {
            return Err(self.unsupported(i, "this conversion"));
        }
        let to = m.ty(&CONVERTED)?;
        if m.peek().is_some_and(is_narrow_float) {
            return Err(self.unsupported(i, "this conversion"));
        }
        let from = m.ty(&CONVERTED[..12])?;
        m.finish()?;
        check_rounding(rounding, to, from).map_err(|(found, expected)| {
            Diagnostic::invalid(place, format!("rounding of `cvt.{}.{}`", word(to), word(from)))
                .found(found)
                .expected(expected)
        })?;
        if ftz && to != Ty::F32 && from != Ty::F32 {
            return Err(Diagnostic::invalid(place, "`.ftz` without single precision")
                .found(format!("`.{}.{}`", word(to), word(from)))
                .expected("`.f32` on a side"));
        }
        let mode = FloatMode { rounding: rounding.unwrap_or(Rounding::Rn), ftz, sat };
        if matches!(to, Ty::F16x2 | Ty::Bf16x2) {
            return self.cvt_pair(i, to, from, mode);
        }
        let [d, a] = operands(i)?;
        let wide = self.dst_relaxed(d, to)?;
        let a = self.src_relaxed(a, from)?;
        // A plain copy of bits is a move.
        let same = to == from && rounding.is_none() && !ftz && !sat && to.bytes() >= 4;
        self.emit(if same { Op::Mov(to) } else { Op::Cvt { to, from, mode } }, &[wide.dst], &[a]);
        self.extend(wide, to);
        Ok(())
    }

    /// `cvt.rn.f16x2.f32 d, a, b` and its bf16 form: a in the upper half.
    fn cvt_pair(&mut self, i: &'a Instruction, to: Ty, from: Ty, mode: FloatMode) -> Result<(), Fail> {
        if from != Ty::F32 {
            return Err(self.unsupported(i, "this conversion"));
        }
        let [d, a, b] = operands(i)?;
        let d = self.dst(d, Ty::B32)?;
        let piece = if to == Ty::F16x2 { Ty::F16 } else { Ty::Bf16 };
        let mut halves = Vec::new();
        for operand in [b, a] {
            let value = self.src(operand, from)?;
            let half = self.fresh(piece);
            self.emit_always(Op::Cvt { to: piece, from, mode }, &[VDst::Reg(half)], &[value]);
            halves.push(VSrc::Reg(half, false));
        }
        self.emit(Op::Pack { whole: Ty::B32, pieces: 2 }, &[d], &halves);
        Ok(())
    }
}

/// Formats that are not executed.
fn is_narrow_float(word: &str) -> bool {
    matches!(word, "tf32" | "s2f6x2")
        || ["e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "ue8m0"].iter().any(|format| word.starts_with(format))
}

fn check_rounding(rounding: Option<Rounding>, to: Ty, from: Ty) -> Result<(), (String, &'static str)> {
    let integral = matches!(rounding, Some(Rounding::Rni | Rounding::Rzi | Rounding::Rmi | Rounding::Rpi));
    let found = || match rounding {
        None => "none".to_string(),
        Some(rounding) => format!("`.{rounding:?}`").to_lowercase(),
    };
    match wanted(to, from) {
        Wanted::ToInteger if !integral => Err((found(), "`.rni`, `.rzi`, `.rmi`, `.rpi`")),
        Wanted::ToFloat if rounding.is_none() || integral => Err((found(), "`.rn`, `.rz`, `.rm`, `.rp`")),
        Wanted::Integral if rounding.is_some() && !integral => {
            Err((found(), "none, `.rni`, `.rzi`, `.rmi`, `.rpi`"))
        }
        Wanted::None if rounding.is_some() => Err((found(), "none, as the result is exact")),
        _ => Ok(()),
    }
}
