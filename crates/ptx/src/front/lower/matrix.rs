//! Matrix instructions of fixed fragments: `mma`, `ldmatrix`, `stmatrix`, `movmatrix`.

use super::builder::Builder;
use super::operand::operands;
use crate::front::ast::{Instruction, Operand, OperandKind, Value};
use crate::front::check::Modifiers;
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::ir::{VDst, VSrc};
use crate::isa::{Accumulator, Combine, Element, Layout, MatrixAccess, Mma, Op, Space, Sparse, Ty};

/// Shapes of `mma` as rows and depth; all have eight columns.
const SHAPES: [(&str, (u8, u16)); 12] = [
    ("m8n8k4", (8, 4)),
    ("m8n8k16", (8, 16)),
    ("m8n8k32", (8, 32)),
    ("m8n8k128", (8, 128)),
    ("m16n8k4", (16, 4)),
    ("m16n8k8", (16, 8)),
    ("m16n8k16", (16, 16)),
    ("m16n8k32", (16, 32)),
    ("m16n8k64", (16, 64)),
    ("m16n8k128", (16, 128)),
    ("m16n8k256", (16, 256)),
    ("m16n8k512", (16, 512)),
];

/// Types of A and B.
pub(super) const ELEMENTS: [(&str, Element); 11] = [
    ("f16", Element::F16),
    ("bf16", Element::Bf16),
    ("tf32", Element::Tf32),
    ("e4m3", Element::E4m3),
    ("e5m2", Element::E5m2),
    ("f64", Element::F64),
    ("s8", Element::S8),
    ("u8", Element::U8),
    ("s4", Element::S4),
    ("u4", Element::U4),
    ("b1", Element::B1),
];

/// Types of C and D.
pub(super) const ACCUMULATORS: [(&str, Accumulator); 4] = [
    ("f16", Accumulator::F16),
    ("f32", Accumulator::F32),
    ("f64", Accumulator::F64),
    ("s32", Accumulator::S32),
];

/// Layouts: whether by rows.
pub(super) const LAYOUTS: [(&str, bool); 2] = [("row", true), ("col", false)];

/// The type that the registers of A or B have.
pub(super) const fn register_of(element: Element) -> Ty {
    match element {
        Element::F64 => Ty::F64,
        _ => Ty::B32,
    }
}

/// The type that the registers of C or D have.
pub(super) const fn register_of_sum(elements: Accumulator) -> Ty {
    match elements {
        Accumulator::F16 => Ty::B32,
        Accumulator::F32 => Ty::F32,
        Accumulator::F64 => Ty::F64,
        Accumulator::S32 => Ty::S32,
    }
}

/// The shapes that a type of A has (PTX ISA, "mma").
fn has_shape(element: Element, shape: (u8, u16)) -> bool {
    let shapes: &[(u8, u16)] = match element {
        Element::F16 => &[(8, 4), (16, 8), (16, 16)],
        Element::Bf16 => &[(16, 8), (16, 16)],
        Element::Tf32 => &[(16, 4), (16, 8)],
        Element::F64 => &[(8, 4), (16, 4), (16, 8), (16, 16)],
        Element::S8 | Element::U8 => &[(8, 16), (16, 16), (16, 32)],
        Element::S4 | Element::U4 => &[(8, 32), (16, 32), (16, 64)],
        Element::B1 => &[(8, 128), (16, 128), (16, 256)],
        Element::E4m3 | Element::E5m2 => &[(16, 16), (16, 32)],
    };
    shapes.contains(&shape)
}

/// The shapes that a type of A has with half of A zero (PTX ISA, "mma.sp").
fn has_sparse_shape(element: Element, (rows, depth): (u8, u16)) -> bool {
    let depths: &[u16] = match element {
        Element::F16 | Element::Bf16 => &[16, 32],
        Element::Tf32 => &[8, 16],
        Element::S8 | Element::U8 => &[32, 64],
        Element::S4 | Element::U4 => &[64, 128],
        Element::E4m3 | Element::E5m2 => &[64],
        Element::F64 | Element::B1 => &[],
    };
    rows == 16 && depths.contains(&depth)
}

/// Whether elements of B go with those of A.
pub(super) fn go_together(a: Element, b: Element) -> bool {
    let kind = |element| match element {
        Element::S8 | Element::U8 => Element::S8,
        Element::S4 | Element::U4 => Element::S4,
        Element::E4m3 | Element::E5m2 => Element::E4m3,
        other => other,
    };
    kind(a) == kind(b)
}

/// Whether products of such elements are summed so.
pub(super) fn sums_to(a: Element, sum: Accumulator) -> bool {
    match a {
        Element::F16 | Element::E4m3 | Element::E5m2 => matches!(sum, Accumulator::F16 | Accumulator::F32),
        Element::Bf16 | Element::Tf32 => sum == Accumulator::F32,
        Element::F64 => sum == Accumulator::F64,
        Element::S8 | Element::U8 | Element::S4 | Element::U4 | Element::B1 => sum == Accumulator::S32,
    }
}

impl<'a> Builder<'a> {
    /// `mma`.
    pub(super) fn mma(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        if m.contains("block_scale") || self.has_kind(i) {
            return Err(self.unsupported(i, "this matrix product"));
        }
        let is_sparse = m.pick(&[("sp", ()), ("sp::ordered_metadata", ())]).is_some();
        m.require(&[("sync", ())])?;
        m.require(&[("aligned", ())])?;
        let place = m.place();
        let shape = m.require(&SHAPES)?;
        let (a_rows, b_rows) = (m.require(&LAYOUTS)?, m.require(&LAYOUTS)?);
        let saturates = m.flag("satfinite");
        let d = m.require(&ACCUMULATORS)?;
        let (a, b) = (m.require(&ELEMENTS)?, m.require(&ELEMENTS)?);
        let c = m.require(&ACCUMULATORS)?;
        let combine = self.combine(a, saturates, m)?;
        m.finish()?;
        let quads = a == Element::F16 && shape == (8, 4) && !is_sparse;
        let fits = (if is_sparse { has_sparse_shape(a, shape) } else { has_shape(a, shape) })
            && go_together(a, b)
            && sums_to(a, c)
            && sums_to(a, d)
            && (quads || (c == d && a_rows && !b_rows));
        if !fits {
            return Err(Diagnostic::invalid(place, "matrix product that does not exist")
                .found(self.name_of(i))
                .expected("a shape, layouts and types of the PTX ISA's table for `mma`"));
        }
        let layout = if quads { Layout::Quads { a_rows, b_rows } } else { Layout::Warp { rows: shape.0 } };
        let mma = Mma { layout, depth: shape.1, a, b, c, d, combine, sparse: None };
        if is_sparse {
            return self.sparse_product(i, mma);
        }
        let [to, from_a, from_b, from_c] = operands(i)?;
        let dst = self.fragment_dst(to, mma.c_registers(d), register_of_sum(d))?;
        let a = self.fragment(from_a, mma.a_registers(), register_of(a))?;
        let b = self.fragment(from_b, mma.b_registers(), register_of(b))?;
        let c = self.fragment(from_c, mma.c_registers(c), register_of_sum(c))?;
        if mma.a == Element::F64 && shape != (8, 4) {
            return self.product_of_doubles(&mma, &dst, &a, &b, &c);
        }
        self.emit(Op::Mma(mma), &dst, &[a, b, c].concat());
        Ok(())
    }

    /// `mma.sp`, whose last operands are the metadata and the lanes that have it.
    fn sparse_product(&mut self, i: &'a Instruction, mma: Mma) -> Result<(), Fail> {
        let [to, from_a, from_b, from_c, metadata, lanes] = operands(i)?;
        let selector = self.selector(&Mma { sparse: Some(Sparse { selector: 0 }), ..mma }, lanes)?;
        let mma = Mma { sparse: Some(Sparse { selector }), ..mma };
        let dst = self.fragment_dst(to, mma.c_registers(mma.d), register_of_sum(mma.d))?;
        let mut src = self.fragment(from_a, mma.a_registers(), register_of(mma.a))?;
        src.extend(self.fragment(from_b, mma.b_registers(), register_of(mma.b))?);
        src.extend(self.fragment(from_c, mma.c_registers(mma.c), register_of_sum(mma.c))?);
        src.push(self.src(metadata, Ty::B32)?);
        self.emit(Op::Mma(mma), &dst, &src);
        Ok(())
    }

    /// The sparsity selector: one lane of four, a pair of them, or all (PTX ISA, "Sparse matrix storage").
    fn selector(&self, mma: &Mma, operand: &Operand) -> Result<u8, Fail> {
        let most = match mma.metadata_bits() {
            16 => 3,
            32 => 1,
            _ => 0,
        };
        match operand.kind {
            OperandKind::Value(Value::Int(selector)) if selector <= most => Ok(selector as u8),
            _ => Err(self.wrong_kind(operand, &format!("a constant from 0 to {most}"))),
        }
    }

    /// A product of f64 beyond 8 by 8 with k 4: as products of that shape, whose fragments are parts of the larger ones.
    /// Nothing is written before all is read.
    fn product_of_doubles(
        &mut self,
        whole: &Mma,
        dst: &[VDst],
        a: &[VSrc],
        b: &[VSrc],
        c: &[VSrc],
    ) -> Result<(), Fail> {
        let step = Mma { layout: Layout::Warp { rows: 8 }, depth: 4, ..*whole };
        let halves = whole.rows() as usize / 8;
        let mut sums = Vec::new();
        for half in 0..halves {
            let mut sum = c[2 * half..2 * half + 2].to_vec();
            for (k, b) in b.iter().enumerate() {
                let next = [self.fresh(Ty::F64), self.fresh(Ty::F64)];
                let sources = [a[k * halves + half], *b, sum[0], sum[1]];
                self.emit(Op::Mma(step), &next.map(VDst::Reg), &sources);
                sum = next.map(|reg| VSrc::Reg(reg, false)).to_vec();
            }
            sums.extend(sum);
        }
        for (to, sum) in dst.iter().zip(sums) {
            self.emit(Op::Mov(Ty::F64), &[*to], &[sum]);
        }
        Ok(())
    }

    /// How products are summed: integers may saturate, bits say what is counted.
    pub(super) fn combine(
        &mut self,
        a: Element,
        saturates: bool,
        m: &mut Modifiers<'_>,
    ) -> Result<Combine, Fail> {
        let combine = match a {
            Element::B1 => {
                let combine = m.require(&[("xor", Combine::Xor), ("and", Combine::And)])?;
                m.require(&[("popc", ())])?;
                combine
            }
            Element::S8 | Element::U8 | Element::S4 | Element::U4 if saturates => Combine::Saturate,
            _ => Combine::Multiply,
        };
        if saturates && combine != Combine::Saturate {
            return Err(Diagnostic::invalid(m.place(), "`.satfinite` of a product that is not of integers")
                .found("`.satfinite`")
                .expected("a product of s8, u8, s4 or u4"));
        }
        Ok(combine)
    }

    fn has_kind(&self, i: &Instruction) -> bool {
        i.modifiers.iter().any(|modifier| self.text(modifier.name).starts_with("kind::"))
    }

    /// The registers of a fragment that is read.
    pub(super) fn fragment(
        &mut self,
        operand: &Operand,
        registers: usize,
        ty: Ty,
    ) -> Result<Vec<VSrc>, Fail> {
        let mut fragment = Vec::with_capacity(registers);
        for element in self.elements(operand, registers as u8)? {
            fragment.push(self.src(&element, ty)?);
        }
        Ok(fragment)
    }

    /// The registers of a fragment that is written.
    pub(super) fn fragment_dst(
        &mut self,
        operand: &Operand,
        registers: usize,
        ty: Ty,
    ) -> Result<Vec<VDst>, Fail> {
        let mut fragment = Vec::with_capacity(registers);
        for element in self.elements(operand, registers as u8)? {
            fragment.push(self.dst_or_sink(&element, ty)?);
        }
        Ok(fragment)
    }

    /// `ldmatrix` and `stmatrix`.
    pub(super) fn matrix_access(
        &mut self,
        i: &'a Instruction,
        m: &mut Modifiers<'_>,
        loads: bool,
    ) -> Result<(), Fail> {
        if ["m16n16", "m8n16", "m16n8"].iter().any(|shape| m.contains(shape)) {
            return Err(self.unsupported(i, "this move of matrices"));
        }
        m.require(&[("sync", ())])?;
        m.require(&[("aligned", ())])?;
        m.require(&[("m8n8", ())])?;
        let count = m.require(&[("x1", 1), ("x2", 2), ("x4", 4)])?;
        let transposed = m.flag("trans");
        let space =
            m.pick(&[("shared", Space::Shared), ("shared::cta", Space::Shared)]).unwrap_or(Space::Generic);
        m.ty(&[Ty::B16])?;
        m.finish()?;
        let access = MatrixAccess { space, count, transposed };
        let [first, second] = operands(i)?;
        let (address, registers) = if loads { (second, first) } else { (first, second) };
        let (base, offset) = self.address(address, space)?;
        if loads {
            let dst = self.fragment_dst(registers, count.into(), Ty::B32)?;
            self.emit(Op::LoadMatrix(access), &dst, &[base]).offset = offset;
        } else {
            let mut src = vec![base];
            src.extend(self.fragment(registers, count.into(), Ty::B32)?);
            self.emit(Op::StoreMatrix(access), &[], &src).offset = offset;
        }
        Ok(())
    }

    /// `movmatrix`.
    pub(super) fn move_matrix(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        for word in [("sync", ()), ("aligned", ()), ("m8n8", ()), ("trans", ())] {
            m.require(&[word])?;
        }
        m.ty(&[Ty::B16])?;
        m.finish()?;
        let [d, a] = operands(i)?;
        let (d, a) = (self.dst(d, Ty::B32)?, self.src(a, Ty::B32)?);
        self.emit(Op::TransposeMatrix, &[d], &[a]);
        Ok(())
    }
}
