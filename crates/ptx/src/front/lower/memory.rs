//! Loads, stores and hints.

use super::builder::Builder;
use super::operand::{Resolved, count, operands};
use crate::front::ast::{Instruction, Operand, OperandKind};
use crate::front::check::Modifiers;
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::ir::{VDst, VSrc};
use crate::isa::{CacheOp, MemoryMode, Op, Ordering, Prefetch, PrefetchTo, Scope, Space, Ty};

/// State spaces of memory instructions.
pub(super) const SPACES: [(&str, Space); 10] = [
    ("global", Space::Global),
    ("shared", Space::Shared),
    ("shared::cta", Space::Shared),
    ("shared::cluster", Space::Shared),
    ("local", Space::Local),
    ("const", Space::Const),
    ("param", Space::Param),
    ("param::entry", Space::Param),
    ("param::func", Space::Param),
    ("generic", Space::Generic),
];

/// Scopes. A cluster is smaller than the GPU: the wider scope is what is kept.
pub(super) const SCOPES: [(&str, Scope); 4] =
    [("cta", Scope::Cta), ("cluster", Scope::Gpu), ("gpu", Scope::Gpu), ("sys", Scope::Sys)];

const VALUES: [Ty; 15] = [
    Ty::B8,
    Ty::B16,
    Ty::B32,
    Ty::B64,
    Ty::B128,
    Ty::U8,
    Ty::U16,
    Ty::U32,
    Ty::U64,
    Ty::S8,
    Ty::S16,
    Ty::S32,
    Ty::S64,
    Ty::F32,
    Ty::F64,
];

const LOAD_CACHE: [(&str, CacheOp); 5] = [
    ("ca", CacheOp::All),
    ("cg", CacheOp::Global),
    ("cs", CacheOp::Streaming),
    ("lu", CacheOp::LastUse),
    ("cv", CacheOp::Volatile),
];

const STORE_CACHE: [(&str, CacheOp); 4] =
    [("wb", CacheOp::All), ("cg", CacheOp::Global), ("cs", CacheOp::Streaming), ("wt", CacheOp::Volatile)];

/// Words that only hint at what caches should keep.
const HINTS: [(&str, ()); 16] = [
    ("L1::evict_normal", ()),
    ("L1::evict_unchanged", ()),
    ("L1::evict_first", ()),
    ("L1::evict_last", ()),
    ("L1::no_allocate", ()),
    ("L2::evict_normal", ()),
    ("L2::evict_first", ()),
    ("L2::evict_last", ()),
    ("evict_normal", ()),
    ("evict_first", ()),
    ("evict_last", ()),
    ("no_allocate", ()),
    ("L2::cache_hint", ()),
    ("L2::64B", ()),
    ("L2::128B", ()),
    ("L2::256B", ()),
];

/// A load or store with its modifiers read.
pub(super) struct Transfer {
    pub mode: MemoryMode,
    /// Whether an operand with a cache policy follows.
    policy: bool,
}

/// Reads over hints; whether one asks for a policy operand.
pub(super) fn hints(m: &mut Modifiers<'_>) -> bool {
    while m.silently(&HINTS).is_some() {}
    m.contains("L2::cache_hint")
}

fn transfer(m: &mut Modifiers<'_>, load: bool) -> Result<Transfer, Fail> {
    let strong = if load { ("acquire", Ordering::Acquire) } else { ("release", Ordering::Release) };
    let ordering = m
        .pick(&[
            ("weak", Ordering::Weak),
            ("volatile", Ordering::Volatile),
            ("relaxed", Ordering::Relaxed),
            strong,
        ])
        .unwrap_or(Ordering::Weak);
    let scope = match ordering {
        Ordering::Weak => Scope::Cta,
        // PTX ISA: a volatile access is a relaxed one at system scope.
        Ordering::Volatile => Scope::Sys,
        _ => m.require(&SCOPES)?,
    };
    let space = m.pick(&SPACES).unwrap_or(Space::Generic);
    let mut cache = m.pick(if load { &LOAD_CACHE } else { &STORE_CACHE }).unwrap_or(CacheOp::All);
    let nc_place = m.place();
    if load && m.flag("nc") {
        if space != Space::Global {
            return Err(Diagnostic::invalid(nc_place, "`.nc` outside global memory").expected("`.global`"));
        }
        cache = CacheOp::NonCoherent;
    }
    let policy = hints(m);
    let vector = m.pick(&[("v2", 2), ("v4", 4), ("v8", 8)]).unwrap_or(1);
    let place = m.place();
    let ty = m.ty(&VALUES)?;
    m.finish()?;
    let bytes = ty.bytes() * usize::from(vector);
    if vector == 8 || bytes > 16 {
        return Err(Diagnostic::unsupported(place, "access of this width")
            .found(format!("{vector} elements of {} bytes", ty.bytes()))
            .expected("up to 4 elements and 16 bytes"));
    }
    Ok(Transfer { mode: MemoryMode { space, ty, vector, cache, ordering, scope }, policy })
}

/// Operands without the cache policy, which must be a 64-bit value when announced.
fn without_policy<'i>(
    i: &'i Instruction,
    policy: bool,
    kept: usize,
) -> Result<std::borrow::Cow<'i, Instruction>, Fail> {
    if i.operands.len() != kept + usize::from(policy) {
        return Err(count(i, &(kept + usize::from(policy)).to_string()));
    }
    if !policy {
        return Ok(std::borrow::Cow::Borrowed(i));
    }
    let mut shorter = i.clone();
    shorter.operands.truncate(kept);
    Ok(std::borrow::Cow::Owned(shorter))
}

impl<'a> Builder<'a> {
    /// `ld` and `ldu`.
    pub(super) fn load(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let mut transfer = transfer(m, true)?;
        let i = &*without_policy(i, transfer.policy, 2)?;
        let [dst, address] = operands(i)?;
        if transfer.mode.space == Space::Param {
            if self.load_param(i, &transfer)? {
                return Ok(());
            }
            transfer.mode.space = self.param_space(address)?;
        }
        let mode = transfer.mode;
        let elements = self.elements(dst, mode.vector)?;
        let (base, offset) = self.address(address, mode.space)?;
        let mut wide = Vec::with_capacity(elements.len());
        for element in elements {
            wide.push(self.dst_relaxed(&element, mode.ty)?);
        }
        let dst: Vec<VDst> = wide.iter().map(|wide| wide.dst).collect();
        self.emit(Op::Load(mode), &dst, &[base]).offset = offset;
        for wide in wide {
            self.extend(wide, mode.ty);
        }
        Ok(())
    }

    /// `st`.
    pub(super) fn store(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let place = m.place();
        let mut transfer = transfer(m, false)?;
        let i = &*without_policy(i, transfer.policy, 2)?;
        let [address, value] = operands(i)?;
        match transfer.mode.space {
            Space::Const => {
                return Err(Diagnostic::invalid(place, "store to constant memory")
                    .found("`.const`")
                    .expected("`.global`, `.shared`, `.local`, `.param` or a generic address"));
            }
            Space::Param => {
                if self.store_param(i, &transfer)? {
                    return Ok(());
                }
                transfer.mode.space = self.param_space(address)?;
            }
            _ => {}
        }
        let mode = transfer.mode;
        let (base, offset) = self.address(address, mode.space)?;
        let mut src = vec![base];
        for element in self.elements(value, mode.vector)? {
            src.push(self.src_relaxed(&element, mode.ty)?);
        }
        self.emit(Op::Store(mode), &[], &src).offset = offset;
        Ok(())
    }

    /// The elements of a vector operand or vector register, or the operand itself for one.
    pub(super) fn elements(&mut self, operand: &Operand, vector: u8) -> Result<Vec<Operand>, Fail> {
        match &operand.kind {
            OperandKind::Vector(elements) if elements.len() == usize::from(vector) => {
                return Ok(elements.clone());
            }
            OperandKind::Vector(elements) => {
                return Err(Diagnostic::invalid(operand.place, "vector of the wrong length")
                    .found(format!("{} elements", elements.len()))
                    .expected(if vector == 1 {
                        "one register".to_string()
                    } else {
                        format!("{vector} elements")
                    }));
            }
            _ if vector == 1 => return Ok(vec![operand.clone()]),
            OperandKind::Name(name) => {
                if let Resolved::Vector(registers) = self.resolve(*name, operand.place)?
                    && registers.len() == usize::from(vector)
                {
                    let lane = |lane| Operand { place: operand.place, kind: OperandKind::Lane(*name, lane) };
                    return Ok((0..vector).map(lane).collect());
                }
            }
            _ => {}
        }
        Err(self.wrong_kind(operand, &format!("a vector of {vector} elements")))
    }

    /// `prefetch`, `prefetchu`, `applypriority`: hints that change no value. Priorities are read over.
    pub(super) fn prefetch(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let space = m
            .pick(&[
                ("global", Space::Global),
                ("local", Space::Local),
                ("const", Space::Const),
                ("param", Space::Param),
            ])
            .unwrap_or(Space::Generic);
        let apply = self.text(i.opcode) == "applypriority";
        let to = m.require(&[
            ("L1", PrefetchTo::L1),
            ("L2", PrefetchTo::L2),
            ("L2::evict_last", PrefetchTo::L2),
            ("L2::evict_normal", PrefetchTo::L2),
            ("tensormap", PrefetchTo::TensorMap),
        ])?;
        let to = if self.text(i.opcode) == "prefetchu" { PrefetchTo::Uniform } else { to };
        m.finish()?;
        let address = match i.operands.as_slice() {
            [address] => address,
            [address, _] if apply => address,
            _ => return Err(count(i, if apply { "2" } else { "1" })),
        };
        let (base, offset) = self.address(address, space)?;
        self.emit(Op::Prefetch(Prefetch { space, to }), &[], &[base]).offset = offset;
        Ok(())
    }

    /// `createpolicy`: the policy is an opaque value that nothing reads, as hints change no value.
    pub(super) fn create_policy(&mut self, i: &'a Instruction) -> Result<(), Fail> {
        let Some(dst) = i.operands.first() else { return Err(count(i, "2 or more")) };
        let dst = self.dst(dst, Ty::B64)?;
        self.emit(Op::Mov(Ty::B64), &[dst], &[VSrc::Const(crate::ir::Constant::Bits(0))]);
        Ok(())
    }
}
