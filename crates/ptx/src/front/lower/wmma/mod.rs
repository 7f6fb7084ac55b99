//! `wmma`: matrix products whose fragments the ISA leaves open.
//!
//! A fragment here is that of the `mma` products of 16 by 8 (or 8 by 8) that the whole is made of, one after the other; an 8 by
//! 32 product is the transpose of a 32 by 8 one. Fragments of f16 have more registers than elements need for A and B: the
//! others repeat the first. So `wmma.mma` is `mma`, and loads and stores are ordinary ones, at addresses that follow from
//! the lane's number: as assemblers do it.

mod fragment;

use fragment::{Image, SHAPES, Shape};

use super::builder::Builder;
use super::matrix::{ACCUMULATORS, ELEMENTS, LAYOUTS, go_together, register_of, register_of_sum, sums_to};
use super::operand::count;
use crate::front::ast::{Instruction, Operand, OperandKind, Place, Value};
use crate::front::check::Modifiers;
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::ir::{Constant, VDst, VReg, VSrc};
use crate::isa::{
    CacheOp, Combine, Element, Layout, Logic, MemoryMode, Mma, Op, Ordering, Part, Scope, Space, Special, Ty,
};

const SPACES: [(&str, Space); 3] =
    [("global", Space::Global), ("shared", Space::Shared), ("shared::cta", Space::Shared)];

/// Elements from one x to the next.
#[derive(Clone, Copy)]
enum Stride {
    Known(u64),
    /// Bytes, in a register.
    Bytes(VReg),
}

/// Addresses of a fragment's elements.
struct Addresses {
    space: Space,
    /// Of lane's first element, without `offset`.
    origin: VSrc,
    offset: i64,
    stride: Stride,
    bits: u32,
    /// The origin moved in x by so much, as far as that is known.
    moved: Vec<(u16, VSrc)>,
}

impl<'a> Builder<'a> {
    /// `wmma`.
    pub(super) fn wmma(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        #[derive(Clone, Copy)]
        enum Form {
            Load,
            Store,
            Product,
        }
        match m.require(&[("load", Form::Load), ("store", Form::Store), ("mma", Form::Product)])? {
            Form::Load => self.wmma_load(i, m),
            Form::Store => self.wmma_store(i, m),
            Form::Product => self.wmma_product(i, m),
        }
    }

    fn wmma_load(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let which = m.require(&[("a", 0), ("b", 1), ("c", 2)])?;
        let (by_rows, shape, space, place) = access(m)?;
        let (image, ty) = if which == 2 {
            let elements = m.require(&ACCUMULATORS)?;
            m.finish()?;
            if !shape.sums(elements) {
                return Err(self.no_such_product(i, place));
            }
            (Image::of_sum(shape, elements, by_rows), register_of_sum(elements))
        } else {
            let element = m.require(&ELEMENTS)?;
            m.finish()?;
            let is_small = matches!(element, Element::S4 | Element::U4 | Element::B1);
            if !shape.takes(element) || is_small && by_rows != (which == 0) {
                return Err(self.no_such_product(i, place));
            }
            (Image::of_factor(shape, element, which == 0, by_rows), register_of(element))
        };
        let (registers, address, stride) = match i.operands.as_slice() {
            [registers, address] => (registers, address, None),
            [registers, address, stride] => (registers, address, Some(stride)),
            _ => return Err(count(i, "2 or 3")),
        };
        let is_half = which != 2 && image.bits == 16 && m.contains("f16");
        let many = if is_half { image.pieces.len().max(8) } else { image.pieces.len() };
        let dst = self.fragment_dst(registers, many, ty)?;
        let mut addresses = self.addresses(&image, space, address, stride)?;
        // Addresses first: a destination may be what they are made of.
        let places = self.places(&image, &mut addresses);
        for (n, to) in dst.iter().enumerate() {
            let own = n % image.pieces.len();
            if own != n {
                if let VDst::Reg(_) = to {
                    let VDst::Reg(from) = dst[own] else { continue };
                    self.emit(Op::Mov(Ty::B32), &[*to], &[VSrc::Reg(from, false)]);
                }
                continue;
            }
            self.load_piece(&image, &addresses, &places[n], *to);
        }
        Ok(())
    }

    /// Loads one register of a fragment.
    fn load_piece(&mut self, image: &Image, addresses: &Addresses, place: &[(VSrc, i64)], to: VDst) {
        let load = |ty| {
            Op::Load(MemoryMode {
                space: addresses.space,
                ty,
                vector: 1,
                cache: CacheOp::All,
                ordering: Ordering::Weak,
                scope: Scope::Cta,
            })
        };
        if let [(base, offset)] = place {
            self.emit(load(image.register_type()), &[to], &[*base]).offset = *offset;
            return;
        }
        let mut parts = Vec::new();
        for (base, offset) in place {
            let part = self.fresh(image.element_type());
            self.emit(load(image.element_type()), &[VDst::Reg(part)], &[*base]).offset = *offset;
            parts.push(VSrc::Reg(part, false));
        }
        self.emit(Op::Pack { whole: Ty::B32, pieces: parts.len() as u8 }, &[to], &parts);
    }

    fn wmma_store(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        m.require(&[("d", ())])?;
        let (by_rows, shape, space, place) = access(m)?;
        let elements = m.require(&ACCUMULATORS)?;
        m.finish()?;
        if !shape.sums(elements) {
            return Err(self.no_such_product(i, place));
        }
        let image = Image::of_sum(shape, elements, by_rows);
        let (address, registers, stride) = match i.operands.as_slice() {
            [address, registers] => (address, registers, None),
            [address, registers, stride] => (address, registers, Some(stride)),
            _ => return Err(count(i, "2 or 3")),
        };
        let src = self.fragment(registers, image.pieces.len(), register_of_sum(elements))?;
        let mut addresses = self.addresses(&image, space, address, stride)?;
        let places = self.places(&image, &mut addresses);
        for (value, place) in src.iter().zip(&places) {
            let store = |ty| {
                Op::Store(MemoryMode {
                    space,
                    ty,
                    vector: 1,
                    cache: CacheOp::All,
                    ordering: Ordering::Weak,
                    scope: Scope::Cta,
                })
            };
            if let [(base, offset)] = place[..] {
                self.emit(store(image.register_type()), &[], &[base, *value]).offset = offset;
                continue;
            }
            let parts: Vec<VReg> = place.iter().map(|_| self.fresh(image.element_type())).collect();
            let dst: Vec<VDst> = parts.iter().map(|part| VDst::Reg(*part)).collect();
            self.emit(Op::Unpack { whole: Ty::B32, pieces: dst.len() as u8 }, &dst, &[*value]);
            for (part, (base, offset)) in parts.iter().zip(place) {
                let value = VSrc::Reg(*part, false);
                self.emit(store(image.element_type()), &[], &[*base, value]).offset = *offset;
            }
        }
        Ok(())
    }

    /// Where the elements of each register are: one place when they are neighbours.
    fn places(&mut self, image: &Image, addresses: &mut Addresses) -> Vec<Vec<(VSrc, i64)>> {
        let parts = if image.is_along { 1 } else { image.each };
        let mut places = Vec::new();
        for piece in &image.pieces {
            places.push((0..parts).map(|part| self.place(addresses, piece.x + part, piece.y)).collect());
        }
        places
    }

    /// Base and offset of the element of a lane that is (x, y) from its first.
    fn place(&mut self, addresses: &mut Addresses, x: u16, y: u16) -> (VSrc, i64) {
        let bytes = |elements: u64| (elements * u64::from(addresses.bits) / 8) as i64;
        let along = addresses.offset.wrapping_add(bytes(y.into()));
        let stride = match addresses.stride {
            Stride::Known(stride) => {
                let across = bytes(stride.wrapping_mul(x.into()));
                return (addresses.origin, along.wrapping_add(across));
            }
            Stride::Bytes(stride) => stride,
        };
        if let Some((_, moved)) = addresses.moved.iter().find(|(known, _)| *known == x) {
            return (*moved, along);
        }
        let factor = VSrc::Const(Constant::Bits(x.into()));
        let moved = self.sum_of_product(addresses.space, VSrc::Reg(stride, false), factor, addresses.origin);
        addresses.moved.push((x, moved));
        (moved, along)
    }

    /// The addresses of a fragment at a memory operand.
    fn addresses(
        &mut self,
        image: &Image,
        space: Space,
        address: &Operand,
        stride: Option<&Operand>,
    ) -> Result<Addresses, Fail> {
        let (base, offset) = self.address(address, space)?;
        let stride = match stride {
            None => Stride::Known(image.stride.into()),
            Some(Operand { kind: OperandKind::Value(Value::Int(stride)), .. }) => Stride::Known(*stride),
            Some(operand) => {
                let elements = self.src(operand, Ty::U32)?;
                let bytes = self.fresh(Ty::U32);
                // No element that a register's stride counts has less than four bits, and the multiples of 16 bytes
                // that strides are make whole bytes.
                let bits = VSrc::Const(Constant::Bits(image.bits.into()));
                let product = self.fresh(Ty::U32);
                self.emit_always(Op::Mul(Part::Lo, Ty::U32), &[VDst::Reg(product)], &[elements, bits]);
                let three = VSrc::Const(Constant::Bits(3));
                self.emit_always(Op::Shr(Ty::U32), &[VDst::Reg(bytes)], &[VSrc::Reg(product, false), three]);
                Stride::Bytes(bytes)
            }
        };
        // The lane's group and its place there.
        let lane = self.fresh(Ty::U32);
        self.emit_always(Op::ReadSpecial(Special::LaneId), &[VDst::Reg(lane)], &[]);
        let lane = VSrc::Reg(lane, false);
        let (group, place) = (self.fresh(Ty::U32), self.fresh(Ty::U32));
        let number = |bits: u64| VSrc::Const(Constant::Bits(bits));
        self.emit_always(Op::Shr(Ty::U32), &[VDst::Reg(group)], &[lane, number(2)]);
        self.emit_always(Op::Logic(Logic::And, Ty::B32), &[VDst::Reg(place)], &[lane, number(3)]);
        let (in_x, in_y) = if image.lane_x.0 == 1 { (group, place) } else { (place, group) };
        // One of the two is 0 in each.
        let steps = |(groups, places): (u16, u16)| u64::from(groups + places);
        let along = steps(image.lane_y) * u64::from(image.bits) / 8;
        let origin = self.sum_of_product(space, VSrc::Reg(in_y, false), number(along), base);
        let across = match stride {
            Stride::Known(stride) => {
                number(steps(image.lane_x).wrapping_mul(stride).wrapping_mul(image.bits.into()) / 8)
            }
            Stride::Bytes(bytes) if steps(image.lane_x) == 1 => VSrc::Reg(bytes, false),
            Stride::Bytes(bytes) => {
                let many = self.fresh(Ty::U32);
                let factors = [VSrc::Reg(bytes, false), number(steps(image.lane_x))];
                self.emit_always(Op::Mul(Part::Lo, Ty::U32), &[VDst::Reg(many)], &factors);
                VSrc::Reg(many, false)
            }
        };
        let origin = self.sum_of_product(space, VSrc::Reg(in_x, false), across, origin);
        Ok(Addresses { space, origin, offset, stride, bits: image.bits, moved: vec![(0, origin)] })
    }

    /// base + a b, as wide as the space's addresses.
    fn sum_of_product(&mut self, space: Space, a: VSrc, b: VSrc, base: VSrc) -> VSrc {
        let (part, ty) = if space == Space::Shared { (Part::Lo, Ty::U32) } else { (Part::Wide, Ty::U64) };
        let b = match b {
            VSrc::Const(Constant::Bits(bits)) => VSrc::Const(Constant::Bits(bits & 0xffff_ffff)),
            other => other,
        };
        let sum = self.fresh(ty);
        self.emit_always(Op::Mad { part, ty: Ty::U32, sat: false }, &[VDst::Reg(sum)], &[a, b, base]);
        VSrc::Reg(sum, false)
    }

    fn wmma_product(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let bits = m.pick(&[("xor", Combine::Xor), ("and", Combine::And)]);
        if bits.is_some() {
            m.require(&[("popc", ())])?;
        }
        m.require(&[("sync", ())])?;
        m.require(&[("aligned", ())])?;
        m.require(&LAYOUTS)?;
        m.require(&LAYOUTS)?;
        let place = m.place();
        let shape = m.require(&SHAPES)?;
        m.pick(&[("rn", ())]);
        let d = m.require(&ACCUMULATORS)?;
        let (a, b) = match m.pick(&ELEMENTS[1..]) {
            Some(a) => (a, m.require(&ELEMENTS[1..])?),
            None => (Element::F16, Element::F16),
        };
        let c = m.require(&ACCUMULATORS)?;
        let saturates = m.flag("satfinite");
        m.finish()?;
        let is_integer = matches!(a, Element::S8 | Element::U8 | Element::S4 | Element::U4);
        if saturates && !is_integer || m.contains("rz") {
            return Err(self.unsupported(i, "this matrix product"));
        }
        let fits = shape.takes(a) && go_together(a, b) && sums_to(a, c) && sums_to(a, d);
        if !fits || bits.is_some() != (a == Element::B1) {
            return Err(self.no_such_product(i, place));
        }
        let combine = bits.unwrap_or(if saturates { Combine::Saturate } else { Combine::Multiply });
        let [to, from_a, from_b, from_c] = super::operand::operands(i)?;

        let own = |is_a| Image::of_factor(shape, if is_a { a } else { b }, is_a, true).pieces.len();
        let registers = |is_a| if a == Element::F16 { own(is_a).max(8) } else { own(is_a) };
        let sums = |elements| Image::of_sum(shape, elements, true).pieces.len();
        let dst = self.fragment_dst(to, sums(d), register_of_sum(d))?;
        let left = self.fragment(from_a, registers(true), register_of(a))?;
        let right = self.fragment(from_b, registers(false), register_of(b))?;
        let addend = self.fragment(from_c, sums(c), register_of_sum(c))?;
        let (left, right, a, b) = if shape.is_turned() { (right, left, b, a) } else { (left, right, a, b) };

        let (rows, below, beside) = shape.products();
        let mma = Mma {
            layout: Layout::Warp { rows: rows as u8 },
            depth: shape.k,
            a,
            b,
            c,
            d,
            combine,
            sparse: None,
        };
        let (of_a, of_b) = (mma.a_registers(), mma.b_registers());
        let (of_c, of_d) = (mma.c_registers(c), mma.c_registers(d));
        // Nothing is written that a later product reads.
        let clashes = dst.iter().enumerate().any(|(n, to)| {
            let VDst::Reg(to) = *to else { return false };
            let is_it = |src: &VSrc| *src == VSrc::Reg(to, false);
            let later = &addend[(n / of_d * of_c + of_c).min(addend.len())..];
            left.iter().chain(&right).chain(later).any(is_it)
        });
        let results: Vec<VDst> = if clashes {
            dst.iter().map(|_| VDst::Reg(self.fresh(register_of_sum(d)))).collect()
        } else {
            dst.clone()
        };
        for n in 0..usize::from(below * beside) {
            let (down, across) = (n / usize::from(beside), n % usize::from(beside));
            let sources = [
                &left[down * of_a..(down + 1) * of_a],
                &right[across * of_b..(across + 1) * of_b],
                &addend[n * of_c..(n + 1) * of_c],
            ];
            self.emit(Op::Mma(mma), &results[n * of_d..(n + 1) * of_d], &sources.concat());
        }
        if clashes {
            for (to, from) in dst.iter().zip(&results) {
                let VDst::Reg(from) = *from else { continue };
                self.emit(Op::Mov(register_of_sum(d)), &[*to], &[VSrc::Reg(from, false)]);
            }
        }
        Ok(())
    }

    fn no_such_product(&self, i: &Instruction, place: Place) -> Fail {
        Diagnostic::invalid(place, "matrix product that does not exist")
            .found(self.name_of(i))
            .expected("a shape, layouts and types of the PTX ISA's tables for `wmma`")
    }
}

/// Layout, shape and space of a load or store, and the place of the shape.
fn access(m: &mut Modifiers<'_>) -> Result<(bool, Shape, Space, Place), Fail> {
    m.require(&[("sync", ())])?;
    m.require(&[("aligned", ())])?;
    let by_rows = m.require(&LAYOUTS)?;
    let place = m.place();
    let shape = m.require(&SHAPES)?;
    Ok((by_rows, shape, m.pick(&SPACES).unwrap_or(Space::Generic), place))
}
