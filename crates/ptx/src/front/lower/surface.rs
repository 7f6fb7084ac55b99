//! `suld`, `sust` and `sured`: bytes of surfaces.

use super::atomic::OPERATIONS;
use super::builder::Builder;
use super::operand::count;
use crate::front::ast::{Instruction, OperandKind};
use crate::front::check::Modifiers;
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::ir::{Opaque, VDst};
use crate::isa::{AtomicOp, CacheOp, Geometry, Op, Outside, SurfaceMode, Ty};

const GEOMETRIES: [(&str, Geometry); 5] = [
    ("1d", Geometry::D1),
    ("2d", Geometry::D2),
    ("3d", Geometry::D3),
    ("a1d", Geometry::Layers1),
    ("a2d", Geometry::Layers2),
];

const OUTSIDE: [(&str, Outside); 3] =
    [("trap", Outside::Trap), ("clamp", Outside::Clamp), ("zero", Outside::Zero)];

const VALUES: [Ty; 4] = [Ty::B8, Ty::B16, Ty::B32, Ty::B64];

impl<'a> Builder<'a> {
    /// What stands between the opcode and the operands of an unformatted access.
    fn surface_mode(
        &self,
        i: &Instruction,
        m: &mut Modifiers<'_>,
        caches: &[(&'static str, CacheOp)],
    ) -> Result<SurfaceMode, Fail> {
        let geometry = m.require(&GEOMETRIES)?;
        let cache = m.pick(caches).unwrap_or(CacheOp::All);
        let vector = m.pick(&[("v2", 2), ("v4", 4)]).unwrap_or(1);
        let outside = m.pick(&OUTSIDE).unwrap_or(Outside::Trap);
        let place = m.place();
        let ty = m.ty(&VALUES)?;
        m.finish()?;
        let mode = SurfaceMode { geometry, ty, vector, outside, cache };
        if mode.bytes() > 16 {
            return Err(Diagnostic::invalid(place, "surface access of this width")
                .found(format!("{} bytes", mode.bytes()))
                .expected("at most 16 bytes"));
        }
        if i.operands.len() != 2 {
            return Err(count(i, "2"));
        }
        Ok(mode)
    }

    fn unformatted(&self, i: &Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        if m.contains("p") {
            return Err(self.unsupported(i, "formatted surface access"));
        }
        m.require(&[("b", ())])
    }

    /// `suld.b`.
    pub(super) fn surface_load(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        self.unformatted(i, m)?;
        let caches = [
            ("ca", CacheOp::All),
            ("cg", CacheOp::Global),
            ("cs", CacheOp::Streaming),
            ("cv", CacheOp::Volatile),
        ];
        let mode = self.surface_mode(i, m, &caches)?;
        let src = self.place_in(&i.operands[1], Opaque::Surface, mode.geometry, Ty::S32)?;
        let elements = match &i.operands[0].kind {
            // One register may stand in braces.
            OperandKind::Vector(elements) if elements.len() == 1 && mode.vector == 1 => elements.clone(),
            _ => self.elements(&i.operands[0], mode.vector)?,
        };
        let mut wide = Vec::new();
        for element in elements {
            wide.push(self.dst_relaxed(&element, mode.ty)?);
        }
        let dst: Vec<VDst> = wide.iter().map(|wide| wide.dst).collect();
        self.emit(Op::SurfaceLoad(mode), &dst, &src);
        for wide in wide {
            self.extend(wide, mode.ty);
        }
        Ok(())
    }

    /// `sust.b`.
    pub(super) fn surface_store(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        self.unformatted(i, m)?;
        let caches = [
            ("wb", CacheOp::All),
            ("cg", CacheOp::Global),
            ("cs", CacheOp::Streaming),
            ("wt", CacheOp::Volatile),
        ];
        let mode = self.surface_mode(i, m, &caches)?;
        let mut src = self.place_in(&i.operands[0], Opaque::Surface, mode.geometry, Ty::S32)?;
        let elements = match &i.operands[1].kind {
            OperandKind::Vector(elements) if elements.len() == 1 && mode.vector == 1 => elements.clone(),
            _ => self.elements(&i.operands[1], mode.vector)?,
        };
        for element in elements {
            src.push(self.src_relaxed(&element, mode.ty)?);
        }
        self.emit(Op::SurfaceStore(mode), &[], &src);
        Ok(())
    }

    /// `sured.b`.
    pub(super) fn surface_reduce(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        self.unformatted(i, m)?;
        let known: Vec<(&'static str, AtomicOp)> = OPERATIONS
            .into_iter()
            .filter(|(_, op)| {
                matches!(op, AtomicOp::Add | AtomicOp::Min | AtomicOp::Max | AtomicOp::And | AtomicOp::Or)
            })
            .collect();
        let op = m.require(&known)?;
        let geometry = m.require(&GEOMETRIES[..3])?;
        let outside = m.pick(&OUTSIDE).unwrap_or(Outside::Trap);
        let ty = m.ty(match op {
            AtomicOp::Add => &[Ty::U32, Ty::S32, Ty::U64],
            AtomicOp::Min | AtomicOp::Max => &[Ty::U32, Ty::S32, Ty::U64, Ty::S64],
            _ => &[Ty::B32],
        })?;
        m.finish()?;
        if i.operands.len() != 2 {
            return Err(count(i, "2"));
        }
        let mode = SurfaceMode { geometry, ty, vector: 1, outside, cache: CacheOp::All };
        let mut src = self.place_in(&i.operands[0], Opaque::Surface, geometry, Ty::S32)?;
        src.push(self.src(&i.operands[1], ty)?);
        self.emit(Op::SurfaceReduce { op, mode }, &[], &src);
        Ok(())
    }
}
