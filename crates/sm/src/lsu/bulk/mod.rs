//! Bulk copies (`cp.async.bulk`): an engine moves blocks between global and shared memory, 32 pieces at a time.
//!
//! A copy holds its place in the table until its bytes are where they belong and its barrier has counted them; so its CTA
//! stays until then. Each cycle, if the unit could accept an instruction, the oldest copy with something left sends up to 32
//! pieces of up to 16 bytes each. They take the two steps of an asynchronous copy: one in the memory that they come from, one in
//! the memory that they go to, each like an instruction of the warp, past the L1D. ASSUMED: no published figure tells how the
//! engine of a GPU takes its turns; so many bytes a cycle are more than any path behind it takes.
//!
//! | event                                | what follows                                              |
//! |--------------------------------------|-----------------------------------------------------------|
//! | pieces have been read                | they line up for the other memory                         |
//! | all pieces have been written         | the barrier lines up for shared memory                    |
//! | the barrier has counted              | the copy is performed                                     |
//! | wait for all but n groups            | the warp is in [`Bulk::waiting`] while an older one is under way |

mod block;
mod prefetch;

use strata_engine::Cycle;
use strata_memory::doors::{LaneAction, Policy};
use strata_ptx::exec::Operands;
use strata_ptx::isa::{AtomicOp, BulkCopy, BulkWay, MbarrierOp, Ty};
use strata_ptx::lanes::{LaneMask, Row, WARP_LANES, lanes_of};
use strata_ptx::tensor::Piece;

use super::Lsu;
use super::address::fault;
use super::coalesce::{self, Shape};
use super::entry::{Operation, Place, Stage};
use super::instruction::MemoryInstruction;
use crate::launch::{Fault, Launch};

/// Neighbouring bytes and where they go.
#[derive(Clone, Copy, Debug)]
struct Move {
    piece: Piece,
    /// Index of the block that they are of.
    block: u16,
}

/// What one lane copies.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// Bytes of a piece.
    width: u32,
    /// What elements outside of the tensor read as, repeated to 8 bytes.
    outside: u64,
    reduce: Option<(AtomicOp, Ty)>,
    /// Its first entry in the job's targets, and how many it has.
    first_target: usize,
    targets: usize,
}

/// A copy instruction under way. Its vectors are kept for later ones.
#[derive(Clone, Debug)]
struct Job {
    /// Its place in the table.
    place: Place,
    warp: u8,
    way: BulkWay,
    blocks: Vec<Block>,
    moves: Vec<Move>,
    /// For a prefetch, which has no moves: from where to where in global memory.
    wishes: Vec<(u64, u64)>,
    /// For each CTA that a block's bytes go to: what is added to the pieces' shared addresses.
    targets: Vec<u32>,
    /// Barriers, as bytes of the scratchpad, and the bytes that each counts.
    barriers: Vec<(u32, u32)>,
    /// Moves or wishes that have been sent.
    sent: usize,
    /// Barriers that have been sent.
    told: usize,
    /// Steps that have not read yet, and those that are under way.
    reading: u32,
    open: u32,
    group: u64,
}

impl Job {
    /// Whether something can be sent.
    fn has_left(&self) -> bool {
        self.has_moves() || self.open == 0 && self.told < self.barriers.len()
    }

    /// Whether moves or wishes are left; a job has those of one kind.
    fn has_moves(&self) -> bool {
        self.sent < self.moves.len() + self.wishes.len()
    }

    fn is_performed(&self) -> bool {
        !self.has_moves() && self.open == 0 && self.told == self.barriers.len()
    }

    fn has_read(&self) -> bool {
        !self.has_moves() && self.reading == 0
    }
}

/// Groups of a warp's stores, and how it waits for them.
#[derive(Clone, Copy, Debug, Default)]
struct Groups {
    closed: u64,
    pending: u32,
    reads: bool,
}

/// The bulk copies of all warps of an SM, oldest first. Bit n of every mask is warp slot n.
#[derive(Clone, Debug)]
pub struct Bulk {
    jobs: Vec<Job>,
    /// Copies that have ended, whose vectors are empty and keep their room.
    spare: Vec<Job>,
    /// Pieces of the block that is being issued.
    pieces: Vec<Piece>,
    groups: Vec<Groups>,
    waiting: u64,
}

impl Bulk {
    /// No copies, for `warps` warp slots.
    pub fn new(warps: usize) -> Bulk {
        let groups = vec![Groups::default(); warps];
        Bulk { jobs: Vec::new(), spare: Vec::new(), pieces: Vec::new(), groups, waiting: 0 }
    }

    /// Whether no copy is under way.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Whether a copy can send something when there is room for it.
    pub fn has_left(&self) -> bool {
        self.jobs.iter().any(Job::has_left)
    }

    /// Mask of warps that wait for their copies.
    #[inline]
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Closes the warp's open group and opens the next.
    pub fn commit(&mut self, warp: u8) {
        self.groups[usize::from(warp)].closed += 1;
    }

    fn wait(&mut self, warp: u8, pending: u32, reads: bool) {
        let groups = &mut self.groups[usize::from(warp)];
        (groups.pending, groups.reads) = (pending, reads);
        self.waiting |= 1 << warp;
        self.look_again(warp);
    }

    /// Lets the warp go on if nothing that it waits for is left.
    fn look_again(&mut self, warp: u8) {
        let Groups { closed, pending, reads } = self.groups[usize::from(warp)];
        let holds = |job: &&Job| {
            job.warp == warp
                && job.way == BulkWay::Store
                && job.group.saturating_add(pending.into()) < closed
                && !(reads && job.has_read())
        };
        if !self.jobs.iter().any(|job| holds(&job)) {
            self.waiting &= !(1 << warp);
        }
    }
}

impl Lsu {
    /// Accepts a bulk copy; at least one lane is active.
    ///
    /// # Errors
    /// Returns the fault of the first lane whose block lies out of bounds, is misaligned or is not described by a map.
    pub(super) fn issue_bulk<O: Operands>(
        &mut self,
        memory: &MemoryInstruction<'_>,
        operands: &O,
        launch: &Launch,
        copy: BulkCopy,
        now: Cycle,
    ) -> Result<(), Fault> {
        let mut job = self.bulk.spare.pop().unwrap_or(Job::EMPTY);
        let mut pieces = std::mem::take(&mut self.bulk.pieces);
        for lane in lanes_of(memory.lanes) {
            let block = self
                .block(memory, operands, launch, copy, lane, &mut job, &mut pieces)
                .map_err(|kind| fault(memory, launch, lane, kind))?;
            let number = job.blocks.len() as u16;
            job.moves.extend(pieces.drain(..).map(|piece| Move { piece, block: number }));
            job.blocks.push(block);
        }
        self.bulk.pieces = pieces;
        let entry = self.table.vacant();
        entry.operation = Operation::Bulk;
        (entry.ty, entry.vector, entry.width) = (Ty::U32, 0, 0);
        entry.begin(memory);
        (entry.lanes, entry.issued, entry.open) = (memory.lanes, now, 0);
        (entry.global, entry.local, entry.local_left, entry.shared, entry.constant) = (0, 0, 0, 0, 0);
        let place = self.table.claim();
        let is_split = copy.way != BulkWay::Across;
        self.statistics.instructions += 1;
        self.statistics.copies += 1;
        self.statistics.shared_instructions += 1;
        self.statistics.global_instructions += u64::from(is_split);
        self.statistics.split_instructions += u64::from(is_split);
        let group = self.bulk.groups[usize::from(memory.warp)].closed;
        (job.place, job.warp, job.way, job.group) = (place, memory.warp, copy.way, group);
        self.bulk.jobs.push(job);
        self.end_bulk_of(place, now);
        Ok(())
    }

    /// Sends the next pieces of the oldest copy that has some left, if there is room.
    #[inline(never)]
    pub(super) fn step_bulk(&mut self, now: Cycle) {
        if !self.can_accept() {
            return;
        }
        let Some(index) = self.bulk.jobs.iter().position(Job::has_left) else { return };
        let mut job = std::mem::replace(&mut self.bulk.jobs[index], Job::EMPTY);
        if job.sent < job.wishes.len() {
            self.send_wishes(&mut job, now);
        } else if job.has_moves() {
            self.send_pieces(&mut job, now);
        } else {
            self.send_count(&mut job, now);
        }
        self.bulk.jobs[index] = job;
    }

    fn send_pieces(&mut self, job: &mut Job, now: Cycle) {
        let left = &job.moves[job.sent..];
        let number = left[0].block;
        let many = left.iter().take(WARP_LANES).take_while(|piece| piece.block == number).count();
        let block = &job.blocks[usize::from(number)];
        let pieces = &left[..many];
        let parent = self.table.get(job.place);
        let (pc, line, cta) = (parent.pc, parent.line, parent.cta);
        let entry = self.table.vacant();
        (entry.pc, entry.line, entry.cta, entry.warp) = (pc, line, cta, job.warp);
        (entry.parent, entry.result_rows, entry.issued) = (job.place, 0, now);
        (entry.ty, entry.vector, entry.width) = (Ty::U32, 1, block.width as u8);
        (entry.group, entry.order, entry.stage) = (number.into(), job.sent as u64, Stage::First);
        (entry.policy, entry.lane_action) = (Policy::Bypass, LaneAction::Pass);
        (entry.local, entry.local_left, entry.local_word, entry.constant) = (0, 0, 0, 0);
        entry.operation = Operation::Load;
        entry.lanes = LaneMask::MAX >> (WARP_LANES - many);
        entry.open = 1;
        let mut readers: LaneMask = 0;
        let of_source = |piece: &Move| match job.way {
            BulkWay::Store => Some(u64::from(job.targets[block.first_target] + piece.piece.shared)),
            BulkWay::Load | BulkWay::Across => piece.piece.global,
        };
        for (lane, piece) in pieces.iter().enumerate() {
            match of_source(piece) {
                Some(address) => {
                    entry.addresses[lane] = address;
                    readers |= 1 << lane;
                }
                None => {
                    for (n, row) in entry.image.words[..4].iter_mut().enumerate() {
                        row.0[lane] = (block.outside >> (32 * (n % 2))) as u32;
                    }
                }
            }
        }
        job.sent += many;
        job.open += 1;
        job.reading += 1;
        repeat_active(&mut entry.addresses, readers);
        // A pattern speaks of all lanes: those outside of the tensor must keep what they have.
        entry.shape = match readers {
            readers if readers == entry.lanes => {
                coalesce::shape(&entry.addresses, readers, entry.width.into())
            }
            _ => Shape::Any,
        };
        let is_device = job.way == BulkWay::Load;
        (entry.global, entry.shared) = if is_device { (readers, 0) } else { (0, readers) };
        let place = self.table.claim();
        let ready = now + self.address_latency;
        if readers == 0 {
            job.reading -= 1;
            self.put_pieces(job, place, now);
            return;
        }
        self.front += 1;
        if is_device {
            self.enter_device(place, ready);
        } else {
            self.enter_shared(place, ready);
        }
    }

    /// Queues pieces that have been read for the memory that they go to.
    fn put_pieces(&mut self, job: &Job, place: Place, now: Cycle) {
        let entry = self.table.get_mut(place);
        let block = &job.blocks[entry.group as usize];
        let first = entry.order as usize;
        let target = block.first_target + usize::from(entry.local_word);
        entry.stage = Stage::Last;
        entry.open = 1;
        entry.operation = match block.reduce {
            Some((op, ty)) => {
                entry.ty = ty;
                Operation::Atomic { op, returns: true }
            }
            None => Operation::Store,
        };
        for lane in lanes_of(entry.lanes) {
            let piece = job.moves[first + lane].piece;
            entry.addresses[lane] = match job.way {
                BulkWay::Store => piece.global.unwrap_or_default(),
                BulkWay::Load | BulkWay::Across => u64::from(job.targets[target] + piece.shared),
            };
        }
        repeat_active(&mut entry.addresses, entry.lanes);
        entry.shape = coalesce::shape(&entry.addresses, entry.lanes, entry.width.into());
        let is_device = job.way == BulkWay::Store;
        (entry.global, entry.shared) = if is_device { (entry.lanes, 0) } else { (0, entry.lanes) };
        self.front += 1;
        let ready = now + self.address_latency;
        if is_device {
            self.enter_device(place, ready);
        } else {
            self.enter_shared(place, ready);
        }
    }

    /// Queues the next barrier that a copy tells of its bytes.
    fn send_count(&mut self, job: &mut Job, now: Cycle) {
        let Some((barrier, bytes)) = job.barriers.get(job.told).copied() else { return };
        job.told += 1;
        job.open += 1;
        let parent = self.table.get(job.place);
        let (pc, line, cta) = (parent.pc, parent.line, parent.cta);
        let entry = self.table.vacant();
        (entry.pc, entry.line, entry.cta, entry.warp) = (pc, line, cta, job.warp);
        (entry.parent, entry.result_rows, entry.issued) = (job.place, 0, now);
        entry.operation = Operation::Mbarrier(MbarrierOp::Complete);
        (entry.ty, entry.vector, entry.width) = (Ty::B64, 1, 8);
        (entry.policy, entry.lane_action) = (Policy::Cached, LaneAction::Pass);
        (entry.lanes, entry.shared, entry.open, entry.stage) = (1, 1, 1, Stage::Last);
        (entry.global, entry.local, entry.local_left, entry.local_word, entry.constant) = (0, 0, 0, 0, 0);
        entry.addresses = [barrier.into(); WARP_LANES];
        entry.shape = Shape::Uniform;
        (entry.image.words[0], entry.image.words[1]) = (Row::splat(bytes), Row::ZERO);
        let place = self.table.claim();
        self.front += 1;
        self.enter_shared(place, now + self.address_latency);
    }

    /// Handles the completion of a step of a bulk copy's pieces or barrier.
    #[inline(never)]
    pub(super) fn end_piece(&mut self, place: Place, now: Cycle) {
        let entry = self.table.get_mut(place);
        let parent = entry.parent;
        let index = self.bulk.jobs.iter().position(|job| job.place == parent);
        let index = index.expect("a copy outlives its pieces");
        let mut job = std::mem::replace(&mut self.bulk.jobs[index], Job::EMPTY);
        let entry = self.table.get_mut(place);
        // A barrier's count and a prefetch are of one step.
        let is_single = matches!(entry.operation, Operation::Mbarrier(_) | Operation::Prefetch(_));
        let goes_on = if is_single {
            false
        } else if entry.stage == Stage::First {
            job.reading -= 1;
            true
        } else {
            // The same bytes go to the next CTA.
            entry.local_word += 1;
            usize::from(entry.local_word) < job.blocks[entry.group as usize].targets
        };
        if goes_on {
            self.put_pieces(&job, place, now);
        } else {
            job.open -= 1;
            self.table.get_mut(place).parent = super::entry::NO_PARENT;
            self.table.release(place);
        }
        let (place, warp) = (job.place, job.warp);
        self.bulk.jobs[index] = job;
        self.bulk.look_again(warp);
        self.end_bulk_of(place, now);
    }

    /// Completes a bulk copy when nothing of it is left.
    fn end_bulk_of(&mut self, place: Place, now: Cycle) {
        let Some(index) = self.bulk.jobs.iter().position(|job| job.place == place) else { return };
        if !self.bulk.jobs[index].is_performed() {
            return;
        }
        let job = self.bulk.jobs.remove(index);
        self.bulk.look_again(job.warp);
        self.bulk.spare.push(job.emptied());
        self.statistics.finished += 1;
        self.statistics.latency_cycles += now.since(self.table.get(place).issued);
        self.done
            .push(now + self.writeback_latency, place)
            .expect("there is room for every instruction in flight");
    }

    /// Makes the warp wait for its bulk stores: until at most `pending` groups have something left to do, or with `reads`
    /// something left to read.
    pub fn wait_for_bulk(&mut self, warp: u8, pending: u32, reads: bool) {
        self.bulk.wait(warp, pending, reads);
    }
}

impl Job {
    /// Stands in for a copy while it is worked on.
    const EMPTY: Job = Job {
        place: Place::MAX,
        warp: 0,
        way: BulkWay::Load,
        blocks: Vec::new(),
        moves: Vec::new(),
        wishes: Vec::new(),
        targets: Vec::new(),
        barriers: Vec::new(),
        sent: 0,
        told: 0,
        reading: 0,
        open: 0,
        group: 0,
    };

    /// A copy that has not begun, with this one's vectors.
    fn emptied(self) -> Job {
        let Job { mut blocks, mut moves, mut wishes, mut targets, mut barriers, .. } = self;
        blocks.clear();
        moves.clear();
        wishes.clear();
        targets.clear();
        barriers.clear();
        Job { blocks, moves, wishes, targets, barriers, ..Job::EMPTY }
    }
}

/// Gives inactive lanes the address of an active one.
fn repeat_active(addresses: &mut [u64; WARP_LANES], lanes: LaneMask) {
    if lanes == 0 {
        return;
    }
    let active = addresses[lanes.trailing_zeros() as usize];
    for (lane, address) in addresses.iter_mut().enumerate() {
        if lanes >> lane & 1 == 0 {
            *address = active;
        }
    }
}
