//! The part behind the banks of shared memory, in machines that have one ([`Scratchpad`]).
//!
//! Every instruction of shared memory is offered to it when its passes through the banks begin, and is complete when both
//! are done with it. While the part has no room no passes begin. The lanes of an instruction name their mappings in the high
//! bits of their addresses, which end here.

use std::collections::VecDeque;

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_memory::Packet;
use strata_memory::Tray;
use strata_memory::doors::{
    LaneAction, LaneCause, Scratchpad, ScratchpadAction, ScratchpadRequest, TileAction, Wrong,
};
use strata_memory::tile::{Mapping, Tile};
use strata_ptx::exec::Operands;
use strata_ptx::isa::{MAP_SHIFT, MAPPED, Op, TileOp, TileOperands, Ty};
use strata_ptx::lanes::{LaneMask, WARP_LANES, lanes_of};

use super::Lsu;
use super::address::fault;
use super::entry::{Entry, Operation, Place};
use super::instruction::MemoryInstruction;
use crate::launch::{Fault, FaultKind, Launch};

/// Set in the token of an access to the L1D that the part has made; those of a lane path do not have it.
pub const BEHIND: u32 = 1 << 31;

/// An instruction that the part has found to be wrong.
#[derive(Clone, Debug)]
pub struct WrongAccess {
    /// Its warp slot.
    pub warp: u8,
    /// Its place in the code.
    pub pc: u32,
    /// The lane at fault.
    pub lane: usize,
    /// What is wrong.
    pub what: String,
}

/// The part, and what goes to it.
pub struct Behind {
    /// The part.
    pub part: Box<dyn Scratchpad>,
    /// Operations on tiles in the queue of shared memory.
    tiles: VecDeque<Box<ScratchpadRequest>>,
    /// Entries of the front in a machine whose memory no transfer blocks.
    front: u32,
    /// Transfers that block the core's memory instructions.
    transfers: u32,
    /// Boxes of requests that are not under way.
    #[allow(clippy::vec_box, reason = "a request travels in its box")]
    spare: Vec<Box<ScratchpadRequest>>,
    /// The first instruction found to be wrong.
    wrong: Option<WrongAccess>,
}

impl Behind {
    /// Whether an instruction was found to be wrong.
    pub fn found_wrong(&self) -> bool {
        self.wrong.is_some()
    }

    fn request(&mut self) -> Box<ScratchpadRequest> {
        self.spare.pop().unwrap_or_else(|| Box::new(ScratchpadRequest::EMPTY))
    }
}

impl Lsu {
    /// Puts a part behind the banks of shared memory.
    pub fn with_scratchpad(mut self, part: Option<Box<dyn Scratchpad>>) -> Lsu {
        self.resolver.takes_mappings(part.is_some());
        let front = self.queue;
        self.behind = part.map(|part| {
            let (tiles, spare) = (VecDeque::new(), Vec::new());
            Box::new(Behind { part, tiles, front, transfers: 0, spare, wrong: None })
        });
        self
    }

    /// Accepts an operation on a tile.
    ///
    /// # Errors
    /// Returns the fault of a tile that cannot be, or of a machine that has nothing behind its banks.
    #[inline(never)]
    pub(super) fn issue_tile<O: Operands>(
        &mut self,
        memory: &MemoryInstruction<'_>,
        operands: &O,
        launch: &Launch,
        op: TileOp,
        now: Cycle,
    ) -> Result<(), Fault> {
        let lane = memory.lanes.trailing_zeros() as usize % WARP_LANES;
        if self.behind.is_none() {
            return Err(fault(memory, launch, lane, FaultKind::Unsupported { what: lacking(op) }));
        }
        let of = TileOperands::of(op, |slot, half| operands.source(slot, half).0[lane]);
        let mapping = self.tile(memory, launch, op, &of).map_err(|why| {
            let what = format!("{}: {why}", op.function());
            fault(memory, launch, lane, FaultKind::Mapping { what })
        })?;
        let action = action(op, of.index);
        let entry = self.table.vacant();
        entry.begin(memory);
        (entry.operation, entry.ty, entry.vector, entry.width) = (Operation::Tile, Ty::U32, 0, 0);
        (entry.lanes, entry.issued, entry.lane_action) = (memory.lanes, now, LaneAction::Pass);
        (entry.global, entry.local, entry.local_left, entry.constant) = (0, 0, 0, 0);
        entry.shared = memory.lanes;
        let statistics = &mut self.statistics;
        statistics.instructions += 1;
        statistics.copy_controls += 1;
        statistics.shared_instructions += 1;
        let place = self.table.claim();
        let behind = self.behind.as_mut().expect("it was there just now");
        let mut request = behind.request();
        request.token = u32::from(place);
        request.cause = LaneCause { pc: memory.pc, warp: memory.warp };
        (request.cta, request.lanes, request.action) =
            (memory.cta_slot, 0, ScratchpadAction::Tile(action, mapping));
        behind.tiles.push_back(request);
        if action.copies() {
            if behind.part.blocks_core() {
                behind.transfers += 1;
                self.queue = 0;
            } else {
                self.copies.hold(memory.warp);
            }
        }
        self.start(place, now);
        Ok(())
    }

    /// The tile of an operation, in the SM's shared memory: all of it must be in the CTA's, and in allocated global memory.
    fn tile(
        &mut self,
        memory: &MemoryInstruction<'_>,
        launch: &Launch,
        op: TileOp,
        of: &TileOperands,
    ) -> Result<Mapping, String> {
        let mapping = Mapping {
            stash_base: u64::from(of.shared_base) + u64::from(memory.shared_base),
            global_base: of.global_base,
            field_size: of.field.into(),
            object_size: of.object.into(),
            row_size: of.row.into(),
            stride_size: of.stride.into(),
            num_strides: of.rows.into(),
            is_coherent: op.maps() && of.is_coherent,
        };
        let tile = Tile::new(&mapping).map_err(|error| error.to_string())?;
        let (found, shared) = (u64::from(of.shared_base), u64::from(launch.shared_per_cta()));
        let name = if op.maps() { "stashBase" } else { "sharedBase" };
        for (name, found) in [(name, found), ("globalBase", of.global_base)] {
            if !found.is_multiple_of(4) {
                return Err(format!("{name} must be a multiple of 4, found {found:#x}"));
            }
        }
        let end = found.saturating_add(tile.stash_bytes());
        if end > shared {
            return Err(format!(
                "the tile must end in the CTA's {shared} bytes of shared memory, found its end at {end}"
            ));
        }
        let inside = |resolver: &mut super::address::Resolver, at: u64, bytes: u64| {
            let end = at.checked_add(bytes)?;
            resolver.is_allocated(launch, memory.pc, at, end).then_some(())
        };
        if inside(&mut self.resolver, of.global_base, tile.global_bytes()).is_some() {
            return Ok(mapping);
        }
        for (offset, bytes) in tile.runs() {
            let at = of.global_base.saturating_add(offset);
            if inside(&mut self.resolver, at, bytes).is_none() {
                return Err(format!("the tile must lie in memory, found {at:#x}, which holds none"));
            }
        }
        Ok(mapping)
    }

    /// Whether a warp waits from the issue of an operation on until it is done: a copy of a tile for which others do not wait.
    #[inline]
    pub fn holds_warp(&self, op: Op) -> bool {
        let Op::Tile(op) = op else { return false };
        !op.maps() && self.behind.as_ref().is_some_and(|behind| !behind.part.blocks_core())
    }

    /// Whether passes through the banks may begin.
    #[inline]
    pub(super) fn banks_are_open(&self) -> bool {
        self.behind.as_ref().is_none_or(|behind| behind.part.has_room() && behind.wrong.is_none())
    }

    /// Offers the instruction whose passes begin. Returns whether it has any.
    #[inline(never)]
    pub(super) fn offer_behind(&mut self, place: Place, now: Cycle) -> bool {
        let Some(behind) = self.behind.as_mut() else { return true };
        let entry = self.table.get_mut(place);
        let has_passes = entry.operation != Operation::Tile;
        let request = if has_passes {
            let mut request = behind.request();
            describe(place, entry, &mut request);
            entry.open += 1;
            request
        } else {
            behind.tiles.pop_front().expect("an operation on a tile waits in order")
        };
        if let Err(Wrong { request, lane, why }) = behind.part.offer(request, now) {
            let what = match entry.operation {
                Operation::Tile => format!("{}: {why}", function(request.action)),
                _ => why,
            };
            behind.spare.push(request);
            let lane = if has_passes { lane } else { entry.lanes.trailing_zeros() as usize % WARP_LANES };
            behind.wrong = Some(WrongAccess { warp: entry.warp, pc: entry.pc, lane, what });
        }
        has_passes
    }

    /// Advances the part: takes what it has completed, and hands its accesses on.
    #[inline(never)]
    pub(super) fn step_behind(&mut self, now: Cycle) {
        let Some(mut behind) = self.behind.take() else { return };
        behind.part.tick(self.scratchpad.bytes_mut(), now);
        while let Some(request) = behind.part.completed(now) {
            self.finish_behind(&mut behind, request, now);
        }
        if self.device.waiting() < behind.front as usize
            && let Some(mut access) = behind.part.access(now)
        {
            access.token |= BEHIND;
            self.device.push_own(access, now);
        }
        self.behind = Some(behind);
    }

    fn finish_behind(&mut self, behind: &mut Behind, request: Box<ScratchpadRequest>, now: Cycle) {
        let place = request.token as Place;
        let entry = self.table.get_mut(place);
        match request.action {
            ScratchpadAction::Load => {
                let lanes = lanes_of(request.lanes).filter(|lane| request.maps[*lane] != 0);
                let lanes: LaneMask = lanes.fold(0, |mask, lane| mask | 1 << lane);
                let words = usize::from(request.width).div_ceil(4);
                for (row, loaded) in entry.image.words.iter_mut().zip(&request.words).take(words) {
                    row.merge(lanes, loaded);
                }
            }
            ScratchpadAction::Tile(action, _) if action.copies() => {
                if !behind.part.blocks_core() {
                    self.copies.let_go(request.cause.warp);
                } else {
                    behind.transfers -= 1;
                    if behind.transfers == 0 {
                        self.queue = behind.front;
                    }
                }
            }
            ScratchpadAction::Store | ScratchpadAction::Plain | ScratchpadAction::Tile(..) => {}
        }
        behind.spare.push(request);
        self.close(place, now);
    }

    /// Returns the tray of an access that the part has made.
    pub(super) fn performed_behind(&mut self, token: u32, tray: Tray, now: Cycle) {
        let behind = self.behind.as_mut().expect("it made the access");
        behind.part.performed(token & !BEHIND, tray, now);
        self.due = self.due.min(now);
    }

    /// The instruction that the part has found to be wrong, if any: the SM's fault.
    pub fn take_wrong(&mut self) -> Option<WrongAccess> {
        self.behind.as_mut()?.wrong.take()
    }

    /// Takes a packet for the part behind the banks.
    ///
    /// # Panics
    /// Without one.
    pub fn accept(&mut self, packet: Packet, now: Cycle) {
        self.behind.as_mut().expect("only a part behind the banks gets packets").part.accept(packet, now);
        self.due = self.due.min(now);
    }

    /// The part behind the banks, as a client of the network.
    #[inline]
    pub fn client(&mut self) -> Option<&mut dyn Scratchpad> {
        self.behind.as_mut().map(|behind| &mut *behind.part as &mut dyn Scratchpad)
    }

    /// Tells the part behind the banks that a CTA has ended.
    pub fn end_cta(&mut self, cta: u8, now: Cycle) {
        self.resolver.end_cta(cta);
        if let Some(behind) = &mut self.behind {
            behind.part.end_cta(cta, now);
            self.due = self.due.min(now);
        }
    }

    /// Whether the part behind the banks is done with the kernel. It may have more to do for that.
    pub(super) fn has_ended_behind(&mut self, now: Cycle) -> bool {
        let Some(behind) = &mut self.behind else { return true };
        let has_ended = behind.part.end_kernel(now);
        self.due = self.due.min(behind.part.next_event(now.next()));
        has_ended
    }

    /// The counters of the part behind the banks.
    pub fn scratchpad_statistics(&self) -> Vec<Group> {
        self.behind.as_ref().map_or_else(Vec::new, |behind| behind.part.statistics())
    }
}

/// Refuses what no mapping allows of an instruction, whose lanes `shared` have these addresses in the SM's shared memory.
#[inline(never)]
pub(super) fn check_mapped(
    memory: &MemoryInstruction<'_>,
    launch: &Launch,
    addresses: &[u64; WARP_LANES],
    shared: LaneMask,
) -> Result<(), Fault> {
    let Some(lane) = lanes_of(shared).find(|lane| addresses[*lane] >= MAPPED) else { return Ok(()) };
    let address = addresses[lane] - u64::from(memory.shared_base);
    let what = match memory.instruction.op {
        Op::Load(mode) | Op::Store(mode) if mode.ty.bytes() >= 4 => return Ok(()),
        Op::Load(mode) | Op::Store(mode) => {
            let bytes = mode.ty.bytes();
            format!(
                "a mapped word must be accessed whole, found {bytes} bytes at shared address {address:#x}"
            )
        }
        _ => format!("only ld and st may name a mapping, found shared address {address:#x}"),
    };
    Err(fault(memory, launch, lane, FaultKind::Mapping { what }))
}

/// Fills in the request of an instruction, whose addresses lose their mappings.
fn describe(place: Place, entry: &mut Entry, request: &mut ScratchpadRequest) {
    request.token = u32::from(place);
    request.cause = LaneCause { pc: entry.pc, warp: entry.warp };
    (request.cta, request.lanes, request.width) = (entry.cta, entry.shared, entry.width);
    let mut is_mapped = false;
    for (lane, address) in entry.addresses.iter_mut().enumerate() {
        if entry.shared >> lane & 1 == 1 {
            request.maps[lane] = (*address >> MAP_SHIFT) as u8;
            is_mapped |= request.maps[lane] != 0;
            *address %= MAPPED;
            request.addresses[lane] = *address as u32;
        }
    }
    // Inactive lanes repeat an active one's address.
    let active = entry.addresses[entry.shared.trailing_zeros() as usize];
    for lane in lanes_of(!(entry.shared | entry.global | entry.local | entry.constant)) {
        entry.addresses[lane] = active;
    }
    request.action = match entry.operation {
        Operation::Load if is_mapped => ScratchpadAction::Load,
        Operation::Store if is_mapped => ScratchpadAction::Store,
        _ => ScratchpadAction::Plain,
    };
    if request.action == ScratchpadAction::Store {
        let words = usize::from(entry.width).div_ceil(4);
        request.words[..words].copy_from_slice(&entry.image.words[..words]);
    }
}

fn action(op: TileOp, index: u32) -> TileAction {
    match op {
        TileOp::AddMap => TileAction::AddMap,
        TileOp::ChgMap => TileAction::ChangeMap { index },
        TileOp::DmaLoad => TileAction::Load,
        TileOp::DmaStore => TileAction::Store,
    }
}

/// The function by which a program asked for an operation on a tile.
fn function(action: ScratchpadAction) -> &'static str {
    let ScratchpadAction::Tile(action, _) = action else { return "an access" };
    let op = match action {
        TileAction::AddMap => TileOp::AddMap,
        TileAction::ChangeMap { .. } => TileOp::ChgMap,
        TileAction::Load => TileOp::DmaLoad,
        TileAction::Store => TileOp::DmaStore,
    };
    op.function()
}

/// What a machine with nothing behind its banks lacks.
const fn lacking(op: TileOp) -> &'static str {
    if op.maps() {
        "a mapping of shared memory on a machine without a stash (`scratchpad.stash`)"
    } else {
        "a copy of a tile on a machine without a DMA engine (`scratchpad.dma`)"
    }
}
