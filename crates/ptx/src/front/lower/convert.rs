//! `cvt`.

use super::builder::Builder;
use super::float::ROUNDINGS;
use super::operand::{count, operands};
use crate::front::ast::Instruction;
use crate::front::check::{Modifiers, word};
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::isa::{FloatMode, Op, Rounding, Ty};

const TO_INTEGER: [(&str, Rounding); 4] =
    [("rni", Rounding::Rni), ("rzi", Rounding::Rzi), ("rmi", Rounding::Rmi), ("rpi", Rounding::Rpi)];

const CONVERTED: [Ty; 17] = [
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
    // Special forms only.
    Ty::F16x2,
    Ty::Bf16x2,
    Ty::Tf32,
    Ty::E4m3x2,
    Ty::E5m2x2,
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

/// A conversion to or from a packed or narrow format: what its text may and must say, and what its registers are.
struct Special {
    roundings: &'static [Rounding],
    relu: bool,
    finite: Needed,
    /// Type of the destination's register.
    to: Ty,
    /// Types of the sources' registers.
    from: &'static [Ty],
}

/// Whether a modifier may stand.
#[derive(Clone, Copy, PartialEq)]
enum Needed {
    No,
    May,
    Must,
}

/// The special form of a pair of types (PTX ISA, "cvt"); nothing for the common ones.
fn special(to: Ty, from: Ty, rounding: Option<Rounding>) -> Option<Special> {
    const NEAREST: &[Rounding] = &[Rounding::Rn];
    const NEAREST_OR_ZERO: &[Rounding] = &[Rounding::Rn, Rounding::Rz];
    let form = |roundings, finite, to, from| Special { roundings, relu: true, finite, to, from };
    Some(match (to, from) {
        (Ty::F16x2 | Ty::Bf16x2, Ty::F32) => form(NEAREST_OR_ZERO, Needed::May, Ty::B32, &[Ty::F32, Ty::F32]),
        (Ty::Tf32, Ty::F32) if rounding == Some(Rounding::Rna) => {
            Special { relu: false, ..form(&[Rounding::Rna], Needed::May, Ty::B32, &[Ty::F32]) }
        }
        (Ty::Tf32, Ty::F32) => form(NEAREST_OR_ZERO, Needed::May, Ty::B32, &[Ty::F32]),
        (Ty::E4m3x2 | Ty::E5m2x2, Ty::F32) => form(NEAREST, Needed::Must, Ty::B16, &[Ty::F32, Ty::F32]),
        (Ty::E4m3x2 | Ty::E5m2x2, Ty::F16x2) => form(NEAREST, Needed::Must, Ty::B16, &[Ty::F16x2]),
        (Ty::F16x2, Ty::E4m3x2 | Ty::E5m2x2) => form(NEAREST, Needed::No, Ty::B32, &[Ty::B16]),
        _ => return None,
    })
}

impl Special {
    /// What of a mode does not go with the form, and what would.
    fn misfit(&self, rounding: Option<Rounding>, mode: FloatMode) -> Option<(String, String)> {
        let dotted = |roundings: &[Rounding]| {
            let words: Vec<String> =
                roundings.iter().map(|rounding| format!("`.{rounding:?}`").to_lowercase()).collect();
            words.join(", ")
        };
        let none = || "none".to_string();
        match (rounding, self.finite) {
            (None, _) => Some((none(), dotted(self.roundings))),
            (Some(rounding), _) if !self.roundings.contains(&rounding) => {
                Some((dotted(&[rounding]), dotted(self.roundings)))
            }
            _ if mode.ftz || mode.sat => Some(("`.ftz` or `.sat`".into(), none())),
            _ if mode.relu && !self.relu => Some(("`.relu`".into(), none())),
            (_, Needed::No) if mode.finite => Some(("`.satfinite`".into(), none())),
            (_, Needed::Must) if !mode.finite => Some((none(), "`.satfinite`".into())),
            _ => None,
        }
    }
}

impl<'a> Builder<'a> {
    pub(super) fn cvt(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        if m.contains("pack") || m.contains("rs") || i.modifiers.iter().any(|x| is_refused(self.text(x.name)))
        {
            return Err(self.unsupported(i, "this conversion"));
        }
        let place = m.place();
        let rounding = m.pick(&ROUNDINGS).or_else(|| m.pick(&TO_INTEGER));
        let rounding = rounding.or_else(|| m.silently(&[("rna", Rounding::Rna)]));
        let ftz = m.flag("ftz");
        let sat = m.flag("sat");
        let relu = m.silently(&[("relu", ())]).is_some();
        let finite = m.silently(&[("satfinite", ())]).is_some();
        let to = m.ty(&CONVERTED)?;
        let from = m.ty(&CONVERTED)?;
        m.finish()?;
        let mode = FloatMode { rounding: rounding.unwrap_or(Rounding::Rn), ftz, sat, relu, finite };
        if let Some(special) = special(to, from, rounding) {
            return match special.misfit(rounding, mode) {
                None => self.special_conversion(i, special, Op::Cvt { to, from, mode }),
                Some((found, expected)) => {
                    Err(Diagnostic::invalid(place, format!("modifiers of `cvt.{}.{}`", word(to), word(from)))
                        .found(found)
                        .expected(expected))
                }
            };
        }
        if [to, from].iter().any(|ty| !CONVERTED[..12].contains(ty)) {
            return Err(Diagnostic::invalid(place, "conversion that does not exist")
                .found(format!("`cvt.{}.{}`", word(to), word(from)))
                .expected("packed halves from `.f32`, or the 8-bit formats from and to `.f16x2`"));
        }
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
        if relu || finite {
            let halves = matches!((to, from), (Ty::F16 | Ty::Bf16, Ty::F32)) && !ftz && !sat;
            if !halves || !matches!(mode.rounding, Rounding::Rn | Rounding::Rz) {
                return Err(Diagnostic::invalid(place, "`.relu` or `.satfinite` on this conversion")
                    .found(format!("`.{}.{}`", word(to), word(from)))
                    .expected("`.rn` or `.rz`, a half from `.f32`, without `.ftz` and `.sat`"));
            }
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

    /// `cvt.rn.f16x2.f32 d, a, b` and its kin: a in the upper half.
    fn special_conversion(&mut self, i: &'a Instruction, form: Special, op: Op) -> Result<(), Fail> {
        let expected = 1 + form.from.len();
        if i.operands.len() != expected {
            return Err(count(i, &expected.to_string()));
        }
        let d = self.dst(&i.operands[0], form.to)?;
        let mut src = Vec::new();
        for (operand, ty) in i.operands[1..].iter().zip(form.from) {
            src.push(self.src(operand, *ty)?);
        }
        self.emit(op, &[d], &src);
        Ok(())
    }
}

/// Formats that are not executed.
fn is_refused(word: &str) -> bool {
    matches!(word, "s2f6x2" | "e4m3x4" | "e5m2x4")
        || ["e3m2", "e2m3", "e2m1", "ue8m0"].iter().any(|format| word.starts_with(format))
}

fn check_rounding(rounding: Option<Rounding>, to: Ty, from: Ty) -> Result<(), (String, &'static str)> {
    let integral = matches!(rounding, Some(Rounding::Rni | Rounding::Rzi | Rounding::Rmi | Rounding::Rpi));
    let found = || match rounding {
        None => "none".to_string(),
        Some(rounding) => format!("`.{rounding:?}`").to_lowercase(),
    };
    match wanted(to, from) {
        _ if rounding == Some(Rounding::Rna) => Err((found(), "`.rna` for `.tf32` only")),
        Wanted::ToInteger if !integral => Err((found(), "`.rni`, `.rzi`, `.rmi`, `.rpi`")),
        Wanted::ToFloat if rounding.is_none() || integral => Err((found(), "`.rn`, `.rz`, `.rm`, `.rp`")),
        Wanted::Integral if rounding.is_some() && !integral => {
            Err((found(), "none, `.rni`, `.rzi`, `.rmi`, `.rpi`"))
        }
        Wanted::None if rounding.is_some() => Err((found(), "none, as the result is exact")),
        _ => Ok(()),
    }
}
