//! Which accesses of memory must keep their order.
//!
//! Two accesses keep it when one of them writes and the bytes may be the same. Writes keep theirs in any case, so a
//! read waits only for the last write in its way, and only the first write in the way of a read waits for it: the rest
//! follows. That leaves as many edges as accesses.

use crate::ir::{Constant, VInst, VReg, VSrc};
use crate::isa::{Access, CacheOp, MemoryMode, Space};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The address operand of an access, and which write of it is meant.
type Base = (u64, usize);

/// The base of an access of which nothing is known.
const UNKNOWN: Base = (u64::MAX, 0);

/// Where an access lies, when that is known relative to others: the address operand, which write of it is meant,
/// and the bytes.
pub struct Extent {
    access: Access,
    base: Base,
    bytes: Range<i64>,
}

impl Extent {
    /// The extent of an access; `version` tells the writes of a register apart.
    pub fn new(inst: &VInst, access: Access, version: impl Fn(VReg) -> usize) -> Extent {
        let bytes = (access.mode.ty.bytes() * usize::from(access.mode.vector)) as i64;
        let (base, from) = match inst.src[0] {
            _ if !access.is_addressed => (UNKNOWN, 0),
            VSrc::Reg(reg, _) => ((u64::from(reg.0), version(reg)), 0),
            VSrc::Const(Constant::Bits(bits)) => ((u64::MAX - 1, 0), bits as i64),
            VSrc::Const(Constant::Symbol { symbol, addend }) => ((1 << 32 | u64::from(symbol), 0), addend),
            _ => (UNKNOWN, 0),
        };
        // Addresses in the windows are sums of low words. What is so far off that it may wrap is not known.
        let narrow = matches!(access.mode.space, Space::Shared | Space::Local | Space::Param);
        let from = from.wrapping_add(inst.offset);
        let from = if narrow { i64::from(from as i32) } else { from };
        let base = if from.unsigned_abs() >> 30 == 0 { base } else { UNKNOWN };
        Extent { access, base, bytes: from..from.wrapping_add(bytes) }
    }
}

/// Whether nothing that a kernel writes is read there.
fn is_read_only(mode: MemoryMode) -> bool {
    matches!(mode.space, Space::Const | Space::Param) || mode.cache == CacheOp::NonCoherent
}

/// Whether no byte lies in both spaces.
fn are_apart(one: Space, other: Space) -> bool {
    one != other && one != Space::Generic && other != Space::Generic
}

/// The spaces that accesses name.
const SPACES: [Space; 6] =
    [Space::Generic, Space::Global, Space::Shared, Space::Local, Space::Const, Space::Param];

/// The accesses of a segment so far, by number.
#[derive(Default)]
pub struct MemoryOrder {
    last_write: Option<u32>,
    writes: [Writes; SPACES.len()],
    reads: [Reads; SPACES.len()],
}

impl MemoryOrder {
    /// Adds the access of instruction `at` behind all others; `after` gets those that it must stay behind, apart from
    /// those that the order of others implies.
    pub fn add(&mut self, at: u32, extent: &Extent, mut after: impl FnMut(u32)) {
        let mode = extent.access.mode;
        if extent.access.writes {
            self.last_write.replace(at).into_iter().for_each(&mut after);
        }
        if is_read_only(mode) {
            return;
        }
        let reachable = SPACES.iter().enumerate().filter(|(_, space)| !are_apart(**space, mode.space));
        if extent.access.writes {
            for (n, space) in reachable {
                let aside = (*space == mode.space).then_some(extent);
                self.reads[n].take(aside, &mut after);
            }
            self.writes[mode.space as usize].add(at, extent);
        } else {
            let last = reachable.filter_map(|(n, space)| {
                let aside = (*space == mode.space).then_some(extent);
                self.writes[n].last(aside)
            });
            last.max().into_iter().for_each(after);
            self.reads[mode.space as usize].add(at, extent);
        }
    }
}

/// The writes of a space.
#[derive(Default)]
struct Writes {
    /// The last whose place is unknown.
    unknown: Option<u32>,
    /// The last at a known base.
    recent: Option<(Base, u32)>,
    /// The last at any other known base.
    other: Option<u32>,
    /// The last to each byte.
    bytes: HashMap<(Base, i64), u32>,
}

impl Writes {
    fn add(&mut self, at: u32, extent: &Extent) {
        if extent.base == UNKNOWN {
            self.unknown = Some(at);
            return;
        }
        if let Some((_, before)) =
            self.recent.replace((extent.base, at)).filter(|(base, _)| *base != extent.base)
        {
            self.other = Some(before);
        }
        for byte in extent.bytes.clone() {
            self.bytes.insert((extent.base, byte), at);
        }
    }

    /// The last that may meet a read; `aside` is the read when it is of the same space.
    fn last(&self, aside: Option<&Extent>) -> Option<u32> {
        let known = match (aside, self.recent) {
            (Some(read), Some((base, _))) if base == read.base => {
                let bytes = read.bytes.clone().filter_map(|byte| self.bytes.get(&(base, byte)).copied());
                bytes.max().max(self.other)
            }
            (_, recent) => recent.map(|(_, at)| at),
        };
        known.max(self.unknown)
    }
}

/// The reads of a space that no write had to wait for yet.
#[derive(Default)]
struct Reads {
    bases: HashMap<Base, Pending>,
}

/// Those at one base.
#[derive(Default)]
struct Pending {
    reads: HashSet<u32>,
    /// The reads of each byte; some may be gone from `reads`.
    bytes: HashMap<i64, Vec<u32>>,
}

impl Reads {
    fn add(&mut self, at: u32, extent: &Extent) {
        let pending = self.bases.entry(extent.base).or_default();
        pending.reads.insert(at);
        for byte in extent.bytes.clone() {
            pending.bytes.entry(byte).or_default().push(at);
        }
    }

    /// Takes out what may meet a write; `aside` is the write when it is of the same space.
    fn take(&mut self, aside: Option<&Extent>, after: &mut impl FnMut(u32)) {
        let beside = aside.filter(|write| write.base != UNKNOWN);
        let same = beside.and_then(|write| Some((write, self.bases.remove(&write.base)?)));
        // The order does not matter: each becomes an edge of a graph.
        for (_, pending) in self.bases.drain() {
            pending.reads.into_iter().for_each(&mut *after);
        }
        if let Some((write, mut pending)) = same {
            for byte in write.bytes.clone() {
                for read in pending.bytes.remove(&byte).into_iter().flatten() {
                    if pending.reads.remove(&read) {
                        after(read);
                    }
                }
            }
            if !pending.reads.is_empty() {
                self.bases.insert(write.base, pending);
            }
        }
    }
}
