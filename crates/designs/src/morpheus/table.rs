//! The extended LLC query logic (4.1.3): requests, and the warp status table that hands them to warps.

use std::collections::VecDeque;

use strata_engine::Cycle;
use strata_memory::window::{self, RESULT_WORD, operation};
use strata_memory::{Body, ByteMask, Line, LineAddress, Packet, Tray};

use super::atomics::Asked;
use super::predictor::Predictor;
use super::shadow::Shadow;

/// A request to the extended LLC, until its block is where it belongs.
#[derive(Debug)]
pub struct Job {
    /// The request; `None` once it is answered and only an insertion is left.
    pub request: Option<Packet>,
    /// Its line in the slice.
    pub line: LineAddress,
    /// Row of its set.
    pub row: u32,
    pub step: Step,
    /// The block, when the controller has it; of a write, its bytes.
    pub data: Option<Tray>,
    /// Bytes that a write changes.
    pub written: ByteMask,
    /// Bytes of it that a host copy changed while the warp had it.
    pub poked: ByteMask,
    /// Entries of an atomic that have not been performed.
    pub left: u32,
    /// Whether its operation has a line of the data buffers.
    pub is_buffered: bool,
    /// Predicted a hit, and the set has not answered yet.
    pub is_open: bool,
}

impl Job {
    /// Whether it is an atomic that was performed with an earlier one.
    pub fn is_performed(&self) -> bool {
        let is_atomic = |request: &Packet| matches!(request.body, Body::Atomic(_));
        self.left == 0 && self.request.as_ref().is_some_and(is_atomic)
    }

    /// Serves a later request to the same block, when what is in the write data buffer can: reads from a whole block, writes to
    /// what its warp does not have yet. Whether it did.
    pub fn merge(&mut self, later: &mut Packet) -> bool {
        let (None, Some(data)) = (&self.request, &mut self.data) else { return false };
        match (self.step, &mut later.body) {
            (Step::Ready(Op::Insert { .. }), Body::Read(tray)) => tray.0 = data.0,
            (Step::Served(Op::Insert { .. }), Body::Read(tray)) if self.is_buffered => tray.0 = data.0,
            (Step::Ready(Op::Insert { .. }), Body::Write(bytes)) => {
                data.merge(later.bytes, bytes);
                self.step = Step::Ready(Op::Insert { is_dirty: true });
            }
            (Step::Gathering, Body::Read(tray)) if (later.bytes & !self.written).is_empty() => {
                tray.0 = data.0
            }
            (Step::Gathering, Body::Write(bytes)) => {
                data.merge(later.bytes, bytes);
                self.written |= later.bytes;
            }
            (Step::Ready(Op::Write), Body::Write(bytes)) => {
                data.merge(later.bytes, bytes);
                self.written |= later.bytes;
                if self.written == ByteMask::ALL {
                    self.step = Step::Ready(Op::Insert { is_dirty: true });
                }
            }
            _ => return false,
        }
        true
    }
}

/// How far a request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// An earlier request to its block is not done.
    Behind,
    /// Bytes of its block wait for the rest.
    Gathering,
    /// Its block is on its way from DRAM.
    Fetching,
    /// It waits for its warp.
    Ready(Op),
    /// Its warp has it.
    Served(Op),
}

/// What a warp is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Read,
    Write,
    Insert {
        is_dirty: bool,
    },
    Atomic,
    /// Reads the block of an atomic that the kernel does not have,
    FetchAtomic,
    /// and writes back what the controller made of it.
    StoreAtomic,
    /// Writes the bytes that a host copy changed.
    Patch,
}

impl Op {
    /// Whether it takes an entry of the read data buffer; otherwise, of the write data buffer.
    pub fn reads(self) -> bool {
        matches!(self, Op::Read | Op::FetchAtomic)
    }
}

/// A row of the warp status table, with what else a controller has for each set.
#[derive(Debug)]
pub struct Row {
    /// Requests to the set that are not done, oldest first.
    pub jobs: VecDeque<u32>,
    /// The request that the warp has: the row is busy.
    pub served: Option<u32>,
    /// Since when.
    pub since: Cycle,
    /// Whether the warp has loaded the row since.
    pub is_loaded: bool,
    /// The warp's load of the row, withheld until there is a request.
    pub load: Option<Packet>,
    /// Its load of the payload, withheld until there is one that it does not have.
    pub payload_load: Option<Packet>,
    /// Whether the request has a payload that the warp does not have.
    pub has_payload: bool,
    /// The row's lines, as the warp sees them.
    pub status: Line,
    pub payload: Line,
    pub second: Line,
    pub kinds: Line,
    /// The atomics that the warp has: requests, and the entries of each.
    pub atomics: Vec<(u32, u32)>,
    /// Whether the row is in the list of those that may have an operation to hand over.
    pub is_listed: bool,
    /// Among how many different blocks used last all blocks of the set are.
    pub depth: u32,
    pub predictor: Predictor,
    pub shadow: Shadow,
    /// The block of an operation that the warp loaded past the LLC last.
    pub fetched: (LineAddress, Line),
    /// Whether the set is in the L1D, which alone knows what it holds.
    pub is_in_l1: bool,
}

/// No line.
pub const NO_LINE: LineAddress = LineAddress(u64::MAX);

impl Row {
    /// The row of an empty set of so many blocks.
    pub fn new(ways: u32, predictor: Predictor, shadow: Shadow) -> Row {
        Row {
            jobs: VecDeque::new(),
            served: None,
            since: Cycle::ZERO,
            is_loaded: false,
            load: None,
            payload_load: None,
            has_payload: false,
            status: Line::ZERO,
            payload: Line::ZERO,
            second: Line::ZERO,
            kinds: Line::ZERO,
            atomics: Vec::new(),
            is_listed: false,
            depth: ways,
            predictor,
            shadow,
            fetched: (NO_LINE, Line::ZERO),
            is_in_l1: false,
        }
    }

    /// The row of a set in the L1D.
    pub fn of_l1(predictor: Predictor) -> Row {
        Row { is_in_l1: true, ..Row::new(0, predictor, Shadow::unknown()) }
    }

    /// Writes an operation on a block into the status line.
    fn ask(&mut self, operation: u32, block: LineAddress) {
        let status = window::status(operation, block.0 as u32);
        self.has_payload = operation != operation::READ;
        fill(&mut self.status, |_| status);
    }

    /// Asks for a block.
    pub fn ask_read(&mut self, block: LineAddress) {
        self.ask(operation::READ, block);
    }

    /// Hands over bytes of a block.
    pub fn ask_write(&mut self, block: LineAddress, bytes: ByteMask, data: &Line) {
        self.ask(operation::WRITE, block);
        self.payload.0 = data.0;
        self.second.0 = std::array::from_fn(|byte| if bytes.0 >> byte & 1 == 1 { 0xff } else { 0 });
    }

    /// Hands over a block.
    pub fn ask_insert(&mut self, block: LineAddress, is_dirty: bool, data: &Line) {
        self.ask(if is_dirty { operation::INSERT_DIRTY } else { operation::INSERT }, block);
        self.payload.0 = data.0;
    }

    /// Hands over atomics.
    pub fn ask_atomic(&mut self, block: LineAddress, asked: &Asked) {
        self.ask(operation::ATOMIC, block);
        (self.payload.0, self.second.0) = (asked.operands.0, asked.second.0);
        fill(&mut self.kinds, |word| asked.kind | (asked.words >> word & 1) << 31);
    }

    /// A line of the row.
    pub fn line(&self, within: u64) -> &Line {
        match within {
            0 => &self.status,
            1 => &self.payload,
            2 => &self.second,
            _ => &self.kinds,
        }
    }

    /// The result in a line that the warp stored.
    pub fn result_of(data: &Line) -> u32 {
        let bytes = &data.0[4 * RESULT_WORD..4 * RESULT_WORD + 4];
        u32::from_le_bytes(bytes.try_into().expect("four bytes"))
    }
}

/// Writes all words of a line.
fn fill(line: &mut Line, word: impl Fn(usize) -> u32) {
    for (at, bytes) in line.0.chunks_exact_mut(4).enumerate() {
        bytes.copy_from_slice(&word(at).to_le_bytes());
    }
}
