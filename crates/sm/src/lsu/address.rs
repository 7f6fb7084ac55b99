//! Address resolution: the space, bounds and alignment of each lane's address, and the resulting faults.

use strata_ptx::exec::Operands;
use strata_ptx::exec::memory::{self, Progression};
use strata_ptx::ir::window;
use strata_ptx::isa::{MAPPED, Pc, Space};
use strata_ptx::lanes::{LaneMask, WARP_LANES, lanes_of};

use super::instruction::MemoryInstruction;
use crate::launch::{Fault, FaultKind, Launch};

/// An instruction's lanes, split by the memory they access. The first four masks are disjoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Lanes in global memory. Constant variables reached through generic addresses count as global.
    pub global: LaneMask,
    /// Lanes in their thread's local memory.
    pub local: LaneMask,
    /// Lanes in their CTA's shared memory.
    pub shared: LaneMask,
    /// Lanes in constant or parameter memory.
    pub constant: LaneMask,
    /// Of those in shared memory, the lanes in that of another CTA of the cluster.
    pub remote: LaneMask,
}

impl Places {
    /// Whether all lanes access the same memory.
    pub fn is_one(&self) -> bool {
        [self.global, self.local, self.shared, self.constant].iter().filter(|lanes| **lanes != 0).count() == 1
    }
}

/// Instructions whose last allocation is remembered.
const RECENT: usize = 16;

/// Where the lanes of an instruction are.
#[derive(Clone, Copy, Debug)]
pub struct Resolved {
    /// Lanes by memory.
    pub places: Places,
    /// Whether that is the same for all lanes.
    pub is_one: bool,
    /// From each lane's address to the next one's, if that is known to be the same for all.
    pub stride: Option<i64>,
}

/// How addresses in a window become addresses in the memory behind it.
#[derive(Clone, Copy, Debug)]
enum Shift {
    /// They are those already.
    None,
    /// By the place of the CTA's shared memory.
    Shared,
    /// By the place of the parameters.
    Param,
    /// Each lane's own way ([`Launch::local_address`]).
    Local,
}

/// Resolves and checks the addresses of a memory instruction's lanes.
#[derive(Clone, Debug)]
pub struct Resolver {
    /// GPU-wide number of the SM's warp slot 0.
    first_warp: u64,
    /// By the lower bits of an instruction's place in the code: index of the allocation that it hit last, and usually
    /// hits again.
    recent: [usize; RECENT],
    /// The high bits of shared addresses name mappings.
    takes_mappings: bool,
    /// By CTA slot: the cluster of the CTA there, its number in it, and where its shared memory begins; nothing where none
    /// runs.
    ctas: Vec<Option<(u64, u32, u32)>>,
}

impl Resolver {
    /// A resolver for the SM whose warp slot 0 has the GPU-wide number `first_warp`.
    pub fn new(first_warp: u64) -> Resolver {
        Resolver { first_warp, recent: [0; RECENT], takes_mappings: false, ctas: Vec::new() }
    }

    /// Whether the high bits of shared addresses name mappings ([`MAPPED`]); else they lie out of bounds.
    pub fn takes_mappings(&mut self, takes: bool) {
        self.takes_mappings = takes;
    }

    /// A CTA starts in a slot: its cluster, its number in it, and where its shared memory begins.
    pub fn start_cta(&mut self, slot: u8, (cluster, rank): (u64, u32), base: u32) {
        let slot = usize::from(slot);
        if self.ctas.len() <= slot {
            self.ctas.resize(slot + 1, None);
        }
        self.ctas[slot] = Some((cluster, rank, base));
    }

    /// The CTA in a slot has ended.
    pub fn end_cta(&mut self, slot: u8) {
        if let Some(cta) = self.ctas.get_mut(usize::from(slot)) {
            *cta = None;
        }
    }

    /// Where the shared memory of a CTA of the cluster begins, while it runs.
    pub fn base_in_cluster(&self, slot: u8, rank: u32) -> Option<u32> {
        let (cluster, ..) = self.ctas.get(usize::from(slot)).copied().flatten()?;
        let is_it = |(of, number, _): &&(u64, u32, u32)| *of == cluster && *number == rank;
        self.ctas.iter().flatten().find(is_it).map(|(.., base)| *base)
    }

    /// Resolves the active lanes' addresses into `addresses`: device addresses, or byte offsets into the SM's
    /// scratchpad. Inactive lanes get an active lane's address.
    ///
    /// The instruction must have at least one active lane; `width` is the number of bytes per lane.
    ///
    /// # Errors
    /// Returns the fault of the lowest lane whose address is out of bounds or misaligned.
    #[inline]
    pub fn resolve<O: Operands>(
        &mut self,
        memory: &MemoryInstruction<'_>,
        operands: &O,
        launch: &Launch,
        (space, width): (Space, u64),
        addresses: &mut [u64; WARP_LANES],
    ) -> Result<Resolved, Fault> {
        let line = memory::progression(memory.instruction, operands, space, memory.lanes);
        let (low, high, bits) = match line {
            Some(line) => line.bounds(),
            None => spread(memory, operands, space, addresses),
        };
        let is_aligned = bits & (width - 1) == 0;
        let one = match space {
            Space::Generic if low / window::BYTES == high / window::BYTES => Some(memory::resolve(low).0),
            Space::Generic => (high < window::SHARED).then_some(Space::Global),
            space => Some(space),
        };
        let Some((places, shift)) = one
            .filter(|_| is_aligned)
            .and_then(|one| self.resolve_as(one, memory, launch, (low, high, width)))
        else {
            if let Some(line) = line {
                line.fill(addresses);
            }
            let places = self.resolve_slowly(memory, launch, (space, width), addresses)?;
            return Ok(Resolved { places, is_one: places.is_one(), stride: None });
        };
        let base = match shift {
            Shift::None => None,
            Shift::Shared => Some(u64::from(memory.shared_base)),
            Shift::Param => Some(launch.params_at.0),
            Shift::Local => {
                if let Some(line) = line {
                    line.fill(addresses);
                }
                let warp = self.first_warp + u64::from(memory.warp);
                for (lane, address) in addresses.iter_mut().enumerate() {
                    *address = launch.local_address(warp, lane, *address % window::BYTES).0;
                }
                return Ok(Resolved { places, is_one: true, stride: None });
            }
        };
        if let Some(line) = line {
            // Windows begin at multiples of their size.
            let first = base.map_or(line.first, |base| line.first % window::BYTES + base);
            Progression { first, ..line }.fill(addresses);
        } else if let Some(base) = base {
            for address in addresses {
                *address = *address % window::BYTES + base;
            }
        }
        Ok(Resolved { places, is_one: true, stride: line.map(|line| line.stride) })
    }

    /// Like [`Resolver::resolve`] in global memory, for lanes that read only part of their width: lane n reads its
    /// first `sizes[n]` bytes.
    ///
    /// # Errors
    /// Returns the fault of the lowest lane whose address is out of bounds or misaligned.
    pub fn resolve_sized<O: Operands>(
        &mut self,
        memory: &MemoryInstruction<'_>,
        operands: &O,
        launch: &Launch,
        (width, sizes): (u64, &[u8; WARP_LANES]),
        addresses: &mut [u64; WARP_LANES],
    ) -> Result<(), Fault> {
        *addresses = memory::addresses(memory.instruction, operands, Space::Global);
        for lane in lanes_of(memory.lanes) {
            let (address, bytes) = (addresses[lane], u32::from(sizes[lane]));
            if !address.is_multiple_of(width) {
                let kind = FaultKind::Misaligned { address, bytes: width as u32 };
                return Err(fault(memory, launch, lane, kind));
            }
            if !self.is_allocated(launch, memory.pc, address, address.saturating_add(bytes.into())) {
                let kind = FaultKind::OutOfBounds { address, bytes, space: "global" };
                return Err(fault(memory, launch, lane, kind));
            }
        }
        let active = addresses[memory.lanes.trailing_zeros() as usize];
        for (lane, address) in addresses.iter_mut().enumerate() {
            if memory.lanes >> lane & 1 == 0 {
                *address = active;
            }
        }
        Ok(())
    }

    /// The lanes whose addresses lie in memory that lines are fetched from, global or local; their addresses become device
    /// addresses. The others name no line, and fault neither.
    pub fn resolve_hint<O: Operands>(
        &mut self,
        memory: &MemoryInstruction<'_>,
        operands: &O,
        launch: &Launch,
        space: Space,
        addresses: &mut [u64; WARP_LANES],
    ) -> Places {
        *addresses = memory::addresses(memory.instruction, operands, space);
        let [(_, global), _, (_, local), _] = memory::split_by_space(space, addresses, memory.lanes);
        let warp = self.first_warp + u64::from(memory.warp);
        let mut places = Places::default();
        for lane in lanes_of(global) {
            let at = addresses[lane];
            let inside = self.is_allocated(launch, memory.pc, at, at.saturating_add(1));
            places.global |= u32::from(space != Space::Const && inside) << lane;
        }
        for lane in lanes_of(local) {
            let at = addresses[lane] % window::BYTES;
            if at < u64::from(launch.kernel.local_bytes) {
                addresses[lane] = launch.local_address(warp, lane, at).0;
                places.local |= 1 << lane;
            }
        }
        places
    }

    /// Fast path: finds where all lanes are at once. Returns `None` unless they all lie in bounds in one space.
    #[inline]
    fn resolve_as(
        &mut self,
        space: Space,
        memory: &MemoryInstruction<'_>,
        launch: &Launch,
        (low, high, width): (u64, u64, u64),
    ) -> Option<(Places, Shift)> {
        let (lanes, pc) = (memory.lanes, memory.pc);
        let nowhere = Places::default();
        let last = high % window::BYTES + width;
        match space {
            Space::Generic | Space::Global => {
                let inside = self.is_allocated(launch, pc, low, high.saturating_add(width));
                inside.then_some((Places { global: lanes, ..nowhere }, Shift::None))
            }
            Space::Const => {
                let inside = self.is_allocated(launch, pc, low, high.saturating_add(width));
                inside.then_some((Places { constant: lanes, ..nowhere }, Shift::None))
            }
            Space::Shared if last <= u64::from(launch.shared_per_cta()) => {
                Some((Places { shared: lanes, ..nowhere }, Shift::Shared))
            }
            Space::Local if last <= u64::from(launch.kernel.local_bytes) => {
                Some((Places { local: lanes, ..nowhere }, Shift::Local))
            }
            Space::Param if last <= launch.params.len() as u64 => {
                Some((Places { constant: lanes, ..nowhere }, Shift::Param))
            }
            Space::Shared | Space::Local | Space::Param => None,
        }
    }

    /// Slow path of [`Resolver::resolve`]: goes lane by lane, for lanes in several spaces or allocations, and to
    /// identify the lane at fault.
    fn resolve_slowly(
        &mut self,
        memory: &MemoryInstruction<'_>,
        launch: &Launch,
        (space, width): (Space, u64),
        addresses: &mut [u64; WARP_LANES],
    ) -> Result<Places, Fault> {
        let given = *addresses;
        let lanes = memory.lanes;
        let [(_, global), (_, shared), (_, local), (_, params)] =
            memory::split_by_space(space, addresses, lanes);
        let mut bases = [memory.shared_base; WARP_LANES];
        let mut remote = 0;
        for lane in lanes_of(lanes) {
            let (at, bit) = (addresses[lane], 1 << lane);
            let end = at.saturating_add(width);
            let (inside, name) = if global & bit != 0 {
                let name = if space == Space::Const { "constant" } else { "global" };
                (self.is_allocated(launch, memory.pc, at, end), name)
            } else if shared & bit != 0
                && !self.takes_mappings
                && let (Some(rank), within) = memory::of_cluster(at)
            {
                let base = self.base_in_cluster(memory.cta_slot, rank);
                bases[lane] = base.unwrap_or_default();
                remote |= LaneMask::from(bases[lane] != memory.shared_base) << lane;
                let inside = within + width <= u64::from(launch.shared_per_cta());
                (at < MAPPED && base.is_some() && inside, "shared::cluster")
            } else if shared & bit != 0 {
                let end = if self.takes_mappings { at % MAPPED + width } else { end };
                (end <= u64::from(launch.shared_per_cta()), "shared")
            } else if local & bit != 0 {
                (end <= u64::from(launch.kernel.local_bytes), "local")
            } else {
                (end <= launch.params.len() as u64, "parameter")
            };
            let (address, bytes) = (given[lane], width as u32);
            if at % width != 0 {
                return Err(fault(memory, launch, lane, FaultKind::Misaligned { address, bytes }));
            }
            if !inside {
                let kind = if name == "local" && launch.kernel.overflows_stack(memory.instruction) {
                    FaultKind::StackOverflow { limit: launch.kernel.stack_bytes }
                } else {
                    FaultKind::OutOfBounds { address, bytes, space: name }
                };
                return Err(fault(memory, launch, lane, kind));
            }
        }
        if shared | local | params != 0 {
            let warp = self.first_warp + u64::from(memory.warp);
            for (lane, address) in addresses.iter_mut().enumerate() {
                let bit = 1 << lane;
                if shared & bit != 0 {
                    let within = if self.takes_mappings { *address } else { memory::of_cluster(*address).1 };
                    *address = within + u64::from(bases[lane]);
                } else if local & bit != 0 {
                    *address = launch.local_address(warp, lane, *address).0;
                } else if params & bit != 0 {
                    *address += launch.params_at.0;
                }
            }
        }
        Ok(if space == Space::Const {
            Places { constant: global, ..Places::default() }
        } else {
            Places { global, local, shared, constant: params, remote }
        })
    }

    /// Whether the bytes `[low, end)` lie within one allocation.
    #[inline]
    pub(super) fn is_allocated(&mut self, launch: &Launch, pc: Pc, low: u64, end: u64) -> bool {
        let recent = &mut self.recent[pc as usize % RECENT];
        if let Some((start, stop)) = launch.allocations.get(*recent)
            && *start <= low
            && end <= *stop
        {
            return true;
        }
        let after = launch.allocations.partition_point(|(start, _)| *start <= low);
        let Some(index) = after.checked_sub(1) else { return false };
        if end > launch.allocations[index].1 {
            return false;
        }
        *recent = index;
        true
    }
}

/// Addresses without a pattern: writes them out, those of active lanes for inactive ones. Returns the lowest and the
/// highest, and bits of which those below the alignment of all addresses are 0.
fn spread<O: Operands>(
    memory: &MemoryInstruction<'_>,
    operands: &O,
    space: Space,
    addresses: &mut [u64; WARP_LANES],
) -> (u64, u64, u64) {
    let lanes = memory.lanes;
    if let Some((base, distances)) = memory::narrow_addresses(memory.instruction, operands, space, lanes) {
        let (low, high, bits) = distances.0.iter().fold((u32::MAX, 0, 0), |(low, high, bits), distance| {
            (low.min(*distance), high.max(*distance), bits | distance)
        });
        *addresses = std::array::from_fn(|lane| base | u64::from(distances.0[lane]));
        return (base | u64::from(low), base | u64::from(high), u64::from(bits));
    }
    *addresses = memory::addresses(memory.instruction, operands, space);
    let active = addresses[lanes.trailing_zeros() as usize];
    for (lane, address) in addresses.iter_mut().enumerate() {
        if lanes >> lane & 1 == 0 {
            *address = active;
        }
    }
    addresses.iter().fold((u64::MAX, 0, 0), |(low, high, bits), address| {
        (low.min(*address), high.max(*address), bits | *address)
    })
}

/// Builds the fault of one lane, with its kernel, line, CTA and thread.
pub fn fault(memory: &MemoryInstruction<'_>, launch: &Launch, lane: usize, kind: FaultKind) -> Fault {
    let thread = memory.warp_in_cta * WARP_LANES as u32 + lane as u32;
    let [x, y, _] = launch.block.map(|threads| threads.max(1));
    let (text, line) = launch.kernel.source(memory.instruction.line);
    Fault {
        kind,
        kernel: launch.kernel.name.clone(),
        line,
        text,
        cta: memory.cta,
        thread: [thread % x, thread / x % y, thread / (x * y)],
    }
}
