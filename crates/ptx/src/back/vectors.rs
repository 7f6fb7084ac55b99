//! Joins neighbouring accesses of shared and local memory into accesses of 8 or 16 bytes a lane, as an assembler does.
//!
//! Compilers write one access for each element of an array that the text aligns to its elements; the assembler places the
//! array and knows more. An access is joined where its address is known to be aligned to the whole. Loads move up to the first
//! of them and stores down to the last, past nothing that may touch their bytes. Global memory is left alone: nobody knows
//! where a pointer leads.

use super::alignment::zero_bits;
use super::body::{Body, definitions, uses};
use super::cfg::Cfg;
use crate::ir::{Constant, VDst, VInst, VReg, VSrc};
use crate::isa::{MemoryMode, Op, Order, Ordering, Space, Ty};
use std::collections::BTreeMap;
use std::ops::Range;

/// Bytes of the widest access of a lane.
const WIDEST: i64 = 16;

/// Joins what can be joined.
pub fn join(body: &mut Body, cfg: &Cfg) {
    let zeros = zero_bits(body);
    let mut joined = Vec::new();
    for block in &cfg.order {
        Block::new(body, &zeros).join(cfg.block(*block).range(), &mut joined);
    }
    let mut dead = vec![false; body.code.len()];
    for Joined { members, at, inst } in joined {
        members.iter().for_each(|member| dead[*member] = true);
        body.code[at] = inst;
        dead[at] = false;
    }
    body.retain(|at, _| !dead[at]);
}

/// Accesses that become one.
struct Joined {
    members: Vec<usize>,
    /// The member in whose place the joined access stands.
    at: usize,
    inst: VInst,
}

/// What accesses that may be joined have in common. A register counts with the number of its writes so far in the block.
#[derive(Clone, PartialEq)]
struct Kind {
    writes: bool,
    mode: MemoryMode,
    base: Option<(VReg, u32)>,
    guard: Option<((VReg, bool), u32)>,
}

/// An access of a group.
struct Member {
    at: usize,
    /// The instruction before it that last touched what a load writes.
    touched: Option<usize>,
}

/// Accesses of one kind, by address relative to the base, with nothing between them that keeps them apart.
struct Group {
    kind: Kind,
    members: BTreeMap<i64, Member>,
    /// Bytes that were stored since a group of loads began: what is loaded there later does not move up.
    stored: Vec<Range<i64>>,
}

/// The walk through a block.
struct Block<'a> {
    body: &'a Body,
    zeros: &'a [u32],
    groups: Vec<Group>,
    /// Writes of each register so far.
    versions: BTreeMap<VReg, u32>,
    /// The last instruction that read or wrote each register.
    touched: BTreeMap<VReg, usize>,
}

impl<'a> Block<'a> {
    fn new(body: &'a Body, zeros: &'a [u32]) -> Self {
        let (groups, versions, touched) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        Block { body, zeros, groups, versions, touched }
    }

    fn join(mut self, range: Range<usize>, joined: &mut Vec<Joined>) {
        for at in range {
            let inst = &self.body.code[at];
            match self.access(inst) {
                Some((kind, from)) => self.add(at, kind, from, joined),
                None => match inst.op.traits().order {
                    Order::Free => {}
                    Order::Access(access) if apart(access.mode.space) => {}
                    _ => self.close(|_| true, joined),
                },
            }
            // What a store writes is read in its place: it does not move past the next value.
            let written: Vec<VReg> = definitions(inst).collect();
            self.close(
                |group| group.kind.writes && written.iter().any(|reg| group.reads(self.body, *reg)),
                joined,
            );
            written.iter().for_each(|reg| *self.versions.entry(*reg).or_default() += 1);
            self.touched.extend(written.into_iter().chain(uses(inst)).map(|reg| (reg, at)));
        }
        self.close(|_| true, joined);
    }

    /// The kind of an access that may be joined, and its address relative to the base.
    fn access(&self, inst: &VInst) -> Option<(Kind, i64)> {
        let (mode, writes) = match inst.op {
            Op::Load(mode) => (mode, false),
            Op::Store(mode) => (mode, true),
            _ => return None,
        };
        let fits = matches!(mode.space, Space::Shared | Space::Local)
            && mode.vector == 1
            && matches!(mode.ty.bytes(), 4 | 8)
            && mode.ordering == Ordering::Weak;
        let version = |reg: VReg| self.versions.get(&reg).copied().unwrap_or(0);
        let (base, from) = match inst.src[0] {
            VSrc::Reg(reg, _) => (Some((reg, version(reg))), inst.offset),
            VSrc::Const(Constant::Bits(bits)) => (None, inst.offset.wrapping_add(bits as i64)),
            _ => return None,
        };
        // Addresses of the windows wrap at 32 bits: far offsets may be near.
        let near = from.unsigned_abs() < 1 << 30;
        let guard = inst.guard.map(|guard| (guard, version(guard.0)));
        let mode = MemoryMode { ty: if mode.ty.bytes() == 8 { Ty::B64 } else { Ty::B32 }, ..mode };
        (fits && near).then_some((Kind { writes, mode, base, guard }, from))
    }

    /// Adds an access to its group, and closes the groups that do not go past it.
    fn add(&mut self, at: usize, kind: Kind, from: i64, joined: &mut Vec<Joined>) {
        let bytes = from..from + kind.mode.ty.bytes() as i64;
        self.close(|group| group.is_ended_by(&kind, &bytes), joined);
        if kind.writes {
            let loads = self.groups.iter_mut().filter(|group| !group.kind.writes);
            loads.filter(|group| group.kind.mode.space == kind.mode.space).for_each(|group| {
                group.stored.push(bytes.clone());
            });
        }
        let touched =
            definitions(&self.body.code[at]).filter_map(|reg| self.touched.get(&reg)).max().copied();
        let member = Member { at, touched };
        match self.groups.iter_mut().find(|group| group.kind == kind) {
            Some(group) => _ = group.members.insert(from, member),
            None => self.groups.push(Group { kind, members: [(from, member)].into(), stored: Vec::new() }),
        }
    }

    fn close(&mut self, which: impl Fn(&Group) -> bool, joined: &mut Vec<Joined>) {
        let (body, zeros) = (self.body, self.zeros);
        self.groups.retain_mut(|group| {
            let closes = which(group);
            if closes {
                group.join(body, zeros, joined);
            }
            !closes
        });
    }
}

impl Group {
    /// Whether an access that comes next ends the group: it must stay behind what is in the group, or what comes later must
    /// stay behind it.
    fn is_ended_by(&self, kind: &Kind, bytes: &Range<i64>) -> bool {
        let mine = self.kind.mode;
        if mine.space != kind.mode.space || !(self.kind.writes || kind.writes) {
            return *kind == self.kind && self.members.contains_key(&bytes.start);
        }
        let meets = |others: &Range<i64>| others.start < bytes.end && bytes.start < others.end;
        let size = mine.ty.bytes() as i64;
        let met = || {
            self.members.range(bytes.start - size..bytes.end).any(|(from, _)| meets(&(*from..from + size)))
        };
        kind.base != self.kind.base || self.kind.writes && met()
    }

    /// Whether an access of the group reads a register.
    fn reads(&self, body: &Body, reg: VReg) -> bool {
        self.members.values().any(|member| uses(&body.code[member.at]).any(|used| used == reg))
    }

    /// Joins what is in the group: first as wide as can be.
    fn join(&mut self, body: &Body, zeros: &[u32], joined: &mut Vec<Joined>) {
        let aligned = self.kind.base.map_or(WIDEST, |(reg, _)| 1 << zeros[reg.0 as usize].min(4));
        let size = self.kind.mode.ty.bytes() as i64;
        let wider = [WIDEST, WIDEST / 2].into_iter().filter(|bytes| *bytes <= aligned && *bytes > size);
        for bytes in wider {
            let begins: Vec<i64> = self.members.keys().copied().filter(|from| from % bytes == 0).collect();
            for from in begins {
                let places: Vec<i64> = (from..from + bytes).step_by(size as usize).collect();
                if let Some(one) = self.joined(body, &places) {
                    joined.push(one);
                    places.iter().for_each(|place| _ = self.members.remove(place));
                }
            }
        }
    }

    /// One access in place of those at some addresses, if all are there and may be together.
    fn joined(&self, body: &Body, places: &[i64]) -> Option<Joined> {
        let members: Vec<&Member> =
            places.iter().map(|place| self.members.get(place)).collect::<Option<_>>()?;
        let all = members.iter().map(|member| member.at);
        let at = if self.kind.writes { all.max() } else { all.min() }?;
        let apart = members.iter().zip(places).any(|(member, from)| {
            let moves = member.at != at && !self.kind.writes;
            let size = self.kind.mode.ty.bytes() as i64;
            let stored = self.stored.iter().any(|bytes| bytes.start < from + size && *from < bytes.end);
            moves && (member.touched.is_some_and(|touched| touched >= at) || stored)
        });
        if apart {
            return None;
        }
        let first = &body.code[members[0].at];
        let mode = MemoryMode { vector: places.len() as u8, ..self.kind.mode };
        let mut inst = VInst { line: body.code[at].line, ..first.clone() };
        if self.kind.writes {
            inst.op = Op::Store(mode);
            inst.src.extend(members[1..].iter().map(|member| body.code[member.at].src[1]));
        } else {
            inst.op = Op::Load(mode);
            let dst: Vec<VDst> = members.iter().map(|member| body.code[member.at].dst[0]).collect();
            inst.dst = dst;
        }
        Some(Joined { members: members.iter().map(|member| member.at).collect(), at, inst })
    }
}

/// Whether no byte of a space is shared or local memory.
fn apart(space: Space) -> bool {
    matches!(space, Space::Global | Space::Const | Space::Param)
}
