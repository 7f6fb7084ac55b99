//! The memories of a warp, and the part of an access that reaches one of them.

use super::fault::FaultKind;
use super::global::GlobalMemory;
use super::maps::Maps;
use super::observer::{Access, AccessKind, Issuer, Observer, Written};
use crate::exec::Operands;
use crate::exec::memory::{CTA_SHARED_BITS, of_cluster};
use crate::isa::{MAPPED, MemoryMode, Space};
use crate::lanes::{LaneMask, WARP_LANES, lanes_of};

/// The memories that a warp reaches.
pub(super) struct Memories<'a> {
    pub global: &'a mut GlobalMemory,
    /// The CTA's shared memory.
    pub shared: &'a mut [u8],
    /// That of the cluster's CTAs, by their number; the CTA's own is not among them.
    pub peers: &'a mut [Vec<u8>],
    /// The CTA's number in its cluster.
    pub rank: usize,
    /// What of it is mapped to global memory.
    pub maps: &'a mut Maps,
    /// Local memory of the warp's threads, one lane after the other.
    pub local: &'a mut [u8],
    /// Bytes of local memory a thread.
    pub local_bytes: usize,
    /// The parameter block.
    pub params: &'a [u8],
    /// The warp and its instruction.
    pub by: Issuer<'a>,
    pub observer: Option<&'a mut dyn Observer>,
}

impl Memories<'_> {
    /// Shows an access to the observer, unless it is to memory that is not there.
    #[inline(always)]
    pub(super) fn show(&mut self, kind: AccessKind, part: &Part<'_>) {
        if let Some(observer) = &mut self.observer
            && part.is_there(self.global, self.shared)
        {
            observer.access(&part.seen(kind, self.by, None));
        }
    }

    /// As [`Memories::show`], of a store.
    #[inline(always)]
    pub(super) fn show_store(&mut self, part: &Part<'_>, operands: &impl Operands, mode: &MemoryMode) {
        if let Some(observer) = &mut self.observer {
            let Memories { global, shared, by, .. } = self;
            if part.is_there(global, shared) {
                let written = Stored { operands, mode, part, global, shared };
                observer.access(&part.seen(AccessKind::Store, *by, Some(&written)));
            }
        }
    }
}

/// What a store writes, and where.
struct Stored<'a, O> {
    operands: &'a O,
    mode: &'a MemoryMode,
    part: &'a Part<'a>,
    global: &'a GlobalMemory,
    shared: &'a [u8],
}

impl<O: Operands> Written for Stored<'_, O> {
    fn after(&self, lane: usize, byte: usize) -> u8 {
        let size = self.mode.ty.bytes();
        let (element, at) = (byte / size, byte % size);
        (self.operands.source(1 + element, at / 4).0[lane] >> (8 * (at % 4))) as u8
    }

    fn before(&self, lane: usize, byte: usize) -> Option<u8> {
        let address = self.part.addresses[lane] + byte as u64;
        match self.part.space {
            Space::Shared => self.shared.get(usize::try_from(address).ok()?).copied(),
            Space::Global => self.global.bytes(address, 1).map(|bytes| bytes[0]),
            _ => None,
        }
    }
}

/// A fault and the lane that caused it.
pub(super) type LaneFault = (usize, FaultKind);

/// The lanes of an access that reach one space, checked for alignment.
pub(super) struct Part<'a> {
    pub space: Space,
    pub lanes: LaneMask,
    pub addresses: &'a [u64; WARP_LANES],
    bytes: usize,
    first: u64,
    end: u64,
}

/// Where each lane's bytes begin in a piece of memory.
#[derive(Clone, Copy)]
pub(super) struct Indices<'a> {
    addresses: &'a [u64; WARP_LANES],
    /// Address of the piece's first byte.
    base: u64,
    /// Distance between the lanes' own memories.
    stride: u64,
}

impl Indices<'_> {
    #[inline(always)]
    pub(super) fn of(&self, lane: usize) -> usize {
        (self.addresses[lane].wrapping_sub(self.base) + lane as u64 * self.stride) as usize
    }
}

impl<'a> Part<'a> {
    pub(super) fn new(
        space: Space,
        lanes: LaneMask,
        addresses: &'a [u64; WARP_LANES],
        bytes: usize,
    ) -> Result<Self, LaneFault> {
        let (mut first, mut last, mut low_bits) = (u64::MAX, 0, 0);
        for (lane, address) in addresses.iter().enumerate() {
            // An inactive lane counts as the neutral element of each reduction.
            let keep = u64::from(lanes >> lane & 1).wrapping_neg();
            first = first.min(address | !keep);
            last = last.max(address & keep);
            low_bits |= address & keep;
        }
        if low_bits & (bytes as u64 - 1) != 0 {
            let lane = lanes_of(lanes)
                .find(|lane| addresses[*lane] & (bytes as u64 - 1) != 0)
                .expect("an active lane has the low bits that were found");
            return Err((lane, FaultKind::Misaligned { space, address: addresses[lane], bytes }));
        }
        let end = last.checked_add(bytes as u64);
        let Some(end) = end else {
            let lane = lanes_of(lanes).find(|lane| addresses[*lane] == last).unwrap_or(0);
            return Err((lane, FaultKind::OutOfBounds { space, address: last, bytes }));
        };
        Ok(Part { space, lanes, addresses, bytes, first, end })
    }

    /// Whether the memory that it reaches is there. A thread's own is not looked at.
    fn is_there(&self, global: &GlobalMemory, shared: &[u8]) -> bool {
        match self.space {
            Space::Shared => self.end <= shared.len() as u64,
            Space::Local | Space::Param => true,
            Space::Global | Space::Const | Space::Generic => {
                let whole = usize::try_from(self.end - self.first).ok();
                whole.is_some_and(|length| global.bytes(self.first, length).is_some())
                    || lanes_of(self.lanes)
                        .all(|lane| global.bytes(self.addresses[lane], self.bytes).is_some())
            }
        }
    }

    /// As an observer sees it.
    fn seen<'b>(&'b self, kind: AccessKind, by: Issuer<'b>, written: Option<&'b dyn Written>) -> Access<'b> {
        let Part { space, lanes, addresses, bytes, .. } = *self;
        Access { by, kind, space, lanes, addresses, bytes, written }
    }

    fn out_of_bounds(&self, lane: usize) -> LaneFault {
        (lane, FaultKind::OutOfBounds { space: self.space, address: self.addresses[lane], bytes: self.bytes })
    }

    /// Runs `visit` on memory that holds every lane's bytes, with each lane's index into it: once for the
    /// whole part when one piece of memory holds all, else once a lane.
    #[inline(always)]
    pub(super) fn visit(
        &self,
        memories: &mut Memories<'_>,
        mut visit: impl FnMut(&mut [u8], LaneMask, Indices<'_>),
    ) -> Result<(), LaneFault> {
        match self.space {
            Space::Shared => {
                if !memories.maps.is_empty() {
                    self.check_plain(memories.maps)?;
                }
                if self.names_cta() {
                    return self.visit_cluster(memories, visit);
                }
                self.visit_array(memories.shared, visit)
            }
            Space::Local => {
                let stride = memories.local_bytes;
                if self.end > stride as u64 {
                    let lane = self.first_beyond(stride);
                    return Err(self.out_of_bounds(lane));
                }
                let indices = Indices { addresses: self.addresses, base: 0, stride: stride as u64 };
                visit(memories.local, self.lanes, indices);
                Ok(())
            }
            Space::Param => unreachable!("parameters are read-only and have their own way"),
            Space::Global | Space::Const | Space::Generic => {
                if let Some(allocation) = memories.global.containing(self.first)
                    && self.end <= allocation.end()
                {
                    let indices = Indices { addresses: self.addresses, base: allocation.base, stride: 0 };
                    visit(&mut allocation.bytes, self.lanes, indices);
                    return Ok(());
                }
                for lane in lanes_of(self.lanes) {
                    let bytes = memories
                        .global
                        .bytes_mut(self.addresses[lane], self.bytes)
                        .ok_or_else(|| self.out_of_bounds(lane))?;
                    let base = self.addresses[lane];
                    visit(bytes, 1 << lane, Indices { addresses: self.addresses, base, stride: 0 });
                }
                Ok(())
            }
        }
    }

    /// Whether a lane names a CTA of the cluster.
    pub(super) fn names_cta(&self) -> bool {
        self.end > 1 << CTA_SHARED_BITS && !self.is_mapped()
    }

    /// As [`Part::visit`], lane by lane, in the shared memory of CTAs of the cluster.
    #[cold]
    fn visit_cluster(
        &self,
        memories: &mut Memories<'_>,
        mut visit: impl FnMut(&mut [u8], LaneMask, Indices<'_>),
    ) -> Result<(), LaneFault> {
        for lane in lanes_of(self.lanes) {
            let address = self.addresses[lane];
            let (rank, within) = of_cluster(address);
            let rank = rank.map_or(memories.rank, |rank| rank as usize);
            let array = match memories.peers.get_mut(rank) {
                _ if rank == memories.rank => &mut *memories.shared,
                Some(array) => array,
                None => return Err(self.out_of_bounds(lane)),
            };
            if within + self.bytes as u64 > array.len() as u64 {
                return Err(self.out_of_bounds(lane));
            }
            let base = address - within;
            visit(array, 1 << lane, Indices { addresses: self.addresses, base, stride: 0 });
        }
        Ok(())
    }

    /// Refuses bytes of shared memory that a mapping has.
    #[cold]
    fn check_plain(&self, maps: &Maps) -> Result<(), LaneFault> {
        let check = |lane: usize| {
            let address = self.addresses[lane];
            if address >= MAPPED {
                let reason = format!("only ld and st may name a mapping, found shared address {address:#x}");
                return Err((lane, FaultKind::Mapping { reason }));
            }
            maps.check_plain(address, self.bytes as u64).map_err(|kind| (lane, kind))
        };
        lanes_of(self.lanes).try_for_each(check)
    }

    /// Whether a lane names a mapping.
    pub(super) fn is_mapped(&self) -> bool {
        self.space == Space::Shared && self.end > MAPPED
    }

    /// As [`Part::visit`], of one array.
    #[inline(always)]
    pub(super) fn visit_array(
        &self,
        array: &mut [u8],
        visit: impl FnOnce(&mut [u8], LaneMask, Indices<'_>),
    ) -> Result<(), LaneFault> {
        let indices = self.indices_in(array)?;
        visit(array, self.lanes, indices);
        Ok(())
    }

    /// As [`Part::visit_array`], of bytes that are only read.
    #[inline(always)]
    pub(super) fn read_array(
        &self,
        array: &[u8],
        read: impl FnOnce(&[u8], LaneMask, Indices<'_>),
    ) -> Result<(), LaneFault> {
        let indices = self.indices_in(array)?;
        read(array, self.lanes, indices);
        Ok(())
    }

    fn indices_in(&self, array: &[u8]) -> Result<Indices<'_>, LaneFault> {
        if self.end > array.len() as u64 {
            return Err(self.out_of_bounds(self.first_beyond(array.len())));
        }
        Ok(Indices { addresses: self.addresses, base: 0, stride: 0 })
    }

    /// The first active lane whose bytes reach beyond `limit`.
    fn first_beyond(&self, limit: usize) -> usize {
        lanes_of(self.lanes)
            .find(|lane| self.addresses[*lane] + self.bytes as u64 > limit as u64)
            .expect("the lane with the highest address reaches beyond")
    }
}

/// The word at an offset of bytes that hold the whole access.
#[inline(always)]
pub(super) fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(*bytes[at..].first_chunk().expect("the whole access is in bounds"))
}
