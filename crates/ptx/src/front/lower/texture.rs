//! `tex`, `tld4`, `txq` and `suq`.

use super::builder::Builder;
use super::operand::{Resolved, count};
use crate::front::ast::{Base, Instruction, Operand, OperandKind};
use crate::front::check::Modifiers;
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::ir::{Opaque, VDst, VSrc};
use crate::isa::{Detail, Geometry, Op, TextureFetch, TextureQuery, Ty};

const GEOMETRIES: [(&str, Geometry); 7] = [
    ("1d", Geometry::D1),
    ("2d", Geometry::D2),
    ("3d", Geometry::D3),
    ("a1d", Geometry::Layers1),
    ("a2d", Geometry::Layers2),
    ("cube", Geometry::Cube),
    ("acube", Geometry::Cubes),
];

/// What can be asked: of a surface the first six, of a texture all.
const QUERIES: [(&str, TextureQuery); 8] = [
    ("width", TextureQuery::Width),
    ("height", TextureQuery::Height),
    ("depth", TextureQuery::Depth),
    ("channel_data_type", TextureQuery::ChannelType),
    ("channel_order", TextureQuery::ChannelOrder),
    ("array_size", TextureQuery::Layers),
    ("normalized_coords", TextureQuery::Normalized),
    ("num_mipmap_levels", TextureQuery::Levels),
];

/// What can be asked of a level.
const LEVEL_QUERIES: [(&str, TextureQuery); 3] = [
    ("width", TextureQuery::LevelWidth),
    ("height", TextureQuery::LevelHeight),
    ("depth", TextureQuery::LevelDepth),
];

impl<'a> Builder<'a> {
    /// `tex`.
    pub(super) fn texture(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        if m.contains("2dms") || m.contains("a2dms") {
            return Err(self.unsupported(i, "texture with several samples a texel"));
        }
        m.flag("base");
        let detail = m.pick(&[("level", Detail::Level), ("grad", Detail::Gradients)]).unwrap_or(Detail::Base);
        let geometry = m.require(&GEOMETRIES)?;
        let elements = m.require(&[("v4", 4), ("v2", 2)])?;
        let result =
            m.ty(if elements == 4 { &[Ty::U32, Ty::S32, Ty::F32, Ty::F16] } else { &[Ty::F16x2] })?;
        let coordinate = m.ty(if geometry.is_cube() { &[Ty::F32] } else { &[Ty::S32, Ty::F32] })?;
        m.finish()?;
        let behind = match detail {
            Detail::Base => 0,
            Detail::Level => 1,
            Detail::Gradients => 2,
        };
        self.without_offset(i, 2 + behind)?;
        let fetch = TextureFetch { geometry, integer: coordinate == Ty::S32, result, gather: None, detail };
        let mut src = self.place_in(&i.operands[1], Opaque::Texture, geometry, coordinate)?;
        for operand in &i.operands[2..] {
            match detail {
                Detail::Gradients => src.extend(self.vector(operand, geometry.derivatives(), Ty::F32)?),
                // An integer coordinate goes with an integer level.
                _ => src.push(self.src(operand, coordinate)?),
            }
        }
        self.fetch(&i.operands[0], fetch, &src)
    }

    /// `tld4`.
    pub(super) fn gather(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let component = m.require(&[("r", 0), ("g", 1), ("b", 2), ("a", 3)])?;
        let geometry = m.require(&[
            ("2d", Geometry::D2),
            ("a2d", Geometry::Layers2),
            ("cube", Geometry::Cube),
            ("acube", Geometry::Cubes),
        ])?;
        m.require(&[("v4", ())])?;
        let result = m.ty(&[Ty::U32, Ty::S32, Ty::F32])?;
        m.ty(&[Ty::F32])?;
        m.finish()?;
        self.without_offset(i, 2)?;
        let fetch =
            TextureFetch { geometry, integer: false, result, gather: Some(component), detail: Detail::Base };
        let src = self.place_in(&i.operands[1], Opaque::Texture, geometry, Ty::F32)?;
        self.fetch(&i.operands[0], fetch, &src)
    }

    /// `txq` and `suq`.
    pub(super) fn texture_query(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let kind = if self.text(i.opcode) == "txq" { Opaque::Texture } else { Opaque::Surface };
        let refused = [
            "num_samples",
            "force_unnormalized_coords",
            "filter_mode",
            "addr_mode_0",
            "addr_mode_1",
            "addr_mode_2",
            "memory_layout",
        ];
        if refused.iter().any(|word| m.contains(word)) {
            return Err(self.unsupported(i, "query whose result PTX does not specify"));
        }
        let level = kind == Opaque::Texture && m.flag("level");
        let known = match (kind, level) {
            (_, true) => LEVEL_QUERIES.as_slice(),
            (Opaque::Surface, _) => &QUERIES[..6],
            _ => &QUERIES,
        };
        let query = m.require(known)?;
        m.ty(&[Ty::B32])?;
        m.finish()?;
        let wanted = 2 + usize::from(level);
        if i.operands.len() != wanted {
            return Err(count(i, &wanted.to_string()));
        }
        let dst = self.dst(&i.operands[0], Ty::B32)?;
        let OperandKind::Memory { base, offset: 0 } = i.operands[1].kind else {
            return Err(self.wrong_kind(&i.operands[1], "a texture or surface in brackets"));
        };
        let handle = self.handle(&i.operands[1], base, kind)?;
        let mut src = vec![handle];
        if level {
            src.push(self.src(&i.operands[2], Ty::B32)?);
        }
        self.emit(Op::TextureQuery(query), &[dst], &src);
        Ok(())
    }

    /// Refuses operands behind the `plain` ones: offsets, and depths to compare with.
    fn without_offset(&self, i: &Instruction, plain: usize) -> Result<(), Fail> {
        match i.operands.len() {
            found if found > plain => Err(self.unsupported(i, "texture offset or depth comparison")),
            found if found < plain => Err(count(i, &plain.to_string())),
            _ => Ok(()),
        }
    }

    fn fetch(&mut self, results: &Operand, fetch: TextureFetch, src: &[VSrc]) -> Result<(), Fail> {
        if let OperandKind::Pair(_) = results.kind {
            return Err(Diagnostic::unsupported(results.place, "residency of a texture"));
        }
        let mut dst: Vec<VDst> = Vec::new();
        for element in self.elements(results, fetch.results() as u8)? {
            dst.push(self.dst_or_sink(&element, fetch.result)?);
        }
        self.emit(Op::Texture(fetch), &dst, src);
        Ok(())
    }

    /// `[texture, {coordinates}]`: the handle and the coordinates that count.
    pub(super) fn place_in(
        &mut self,
        operand: &Operand,
        kind: Opaque,
        geometry: Geometry,
        coordinate: Ty,
    ) -> Result<Vec<VSrc>, Fail> {
        let expected = "a texture or surface and its coordinates in brackets";
        let OperandKind::Bracket(list) = &operand.kind else {
            return Err(self.wrong_kind(operand, expected));
        };
        let [first, coordinates] = list.as_slice() else {
            return Err(Diagnostic::unsupported(operand.place, "separate sampler")
                .found(format!("{} operands in brackets", list.len()))
                .expected("a texture and coordinates"));
        };
        let OperandKind::Memory { base, offset: 0 } = first.kind else {
            return Err(self.wrong_kind(first, expected));
        };
        let mut src = vec![self.handle(first, base, kind)?];
        let layer = usize::from(geometry.is_layered());
        if let OperandKind::Vector(elements) = &coordinates.kind
            && let (1, Some(first)) = (layer, elements.first())
        {
            src.push(self.src(first, Ty::U32)?);
            let rest =
                Operand { place: coordinates.place, kind: OperandKind::Vector(elements[1..].to_vec()) };
            src.extend(self.vector_of(&rest, geometry.coordinates() - 1, 1, coordinate)?);
        } else if layer == 1 {
            return Err(self.wrong_kind(coordinates, "a layer and coordinates in braces"));
        } else {
            src.extend(self.vector_of(coordinates, geometry.coordinates(), 0, coordinate)?);
        }
        Ok(src)
    }

    /// The handle of a texture or surface.
    fn handle(&mut self, operand: &Operand, base: Base, kind: Opaque) -> Result<VSrc, Fail> {
        let Base::Name(name) = base else {
            return Err(self.wrong_kind(operand, "a texture, a surface or a 64-bit register"));
        };
        match self.resolve(name, operand.place)? {
            Resolved::Opaque(found, constant) if found == kind => Ok(VSrc::Const(constant)),
            Resolved::Opaque(found, _) => Err(Diagnostic::invalid(operand.place, "wrong kind of reference")
                .found(format!("{found:?} `{}`", self.text(name)))
                .expected(format!("{kind:?}"))),
            Resolved::Inert(what) => Err(Diagnostic::unsupported(operand.place, format!("use of {what}"))
                .found(format!("`{}`", self.text(name)))),
            _ => {
                let register = Operand { place: operand.place, kind: OperandKind::Name(name) };
                self.src(&register, Ty::U64)
            }
        }
    }

    /// As many elements as there are axes; three may be padded with a fourth.
    fn vector(&mut self, operand: &Operand, wanted: usize, ty: Ty) -> Result<Vec<VSrc>, Fail> {
        self.vector_of(operand, wanted, 0, ty)
    }

    /// `wanted` elements behind `before` others; what fills a vector of four up is checked and ignored.
    fn vector_of(
        &mut self,
        operand: &Operand,
        wanted: usize,
        before: usize,
        ty: Ty,
    ) -> Result<Vec<VSrc>, Fail> {
        let elements = match &operand.kind {
            OperandKind::Vector(elements) => elements.clone(),
            _ if wanted == 1 => vec![operand.clone()],
            OperandKind::Name(_) => {
                // A vector register has two elements or four.
                let width = if wanted == 3 { 4 } else { wanted };
                self.elements(operand, width as u8)?
            }
            _ => return Err(self.wrong_kind(operand, &format!("{wanted} coordinates in braces"))),
        };
        let padded = before + wanted == 3 && before + elements.len() == 4;
        if elements.len() != wanted && !padded {
            return Err(Diagnostic::invalid(operand.place, "wrong number of coordinates")
                .found((before + elements.len()).to_string())
                .expected((before + wanted).to_string()));
        }
        let mut sources = Vec::new();
        for (n, element) in elements.iter().enumerate() {
            if n < wanted {
                sources.push(self.src(element, ty)?);
            } else if !matches!(element.kind, OperandKind::Sink) {
                self.src(element, Ty::B32)?;
            }
        }
        Ok(sources)
    }
}
