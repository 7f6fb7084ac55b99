//! The lines of all banks: where each is, which bytes of it are valid and dirty, and the bytes.
//!
//! Frames are numbered across the banks: STT-MRAM, then the registers of the swap buffer, then SRAM. A line
//! is in one frame at any time (III-A: a single copy); the directory refuses a second one.

use strata_engine::Cycle;
use strata_memory::mshr::MshrId;
use strata_memory::tags::FrameId;
use strata_memory::{ByteMask, Line, LineAddress};

use super::bus::Bus;
use super::directory::Directory;
use super::placement::Placement;
use super::sram_bank::SramBank;
use super::statistics::FuseStatistics;
use super::stt_bank::SttBank;
use super::swap_buffer::SwapBuffer;
use crate::chassis::{ArrayUse, Store};

pub(super) const NO_LINE: u64 = u64::MAX;

/// The array that a frame belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bank {
    Sram,
    Stt,
    Swap,
}

/// A line taken out of its frame, on its way to another.
#[derive(Clone, Debug)]
pub(super) struct Moving {
    pub line: LineAddress,
    valid: ByteMask,
    dirty: ByteMask,
    placement: Placement,
    data: Line,
}

/// The banks and the lines in them.
pub(super) struct Lines {
    pub sram: Option<SramBank>,
    pub stt: Option<SttBank>,
    pub swap: SwapBuffer,
    /// Between the controller and the banks, if they share one.
    pub bus: Option<Bus>,
    /// Whether a write to STT-MRAM blocks everything, as it does without a tag queue.
    pub blocking: bool,
    directory: Directory,
    pub(super) lines: Vec<u64>,
    valid: Vec<ByteMask>,
    dirty: Vec<ByteMask>,
    pinned: Vec<Option<MshrId>>,
    placements: Vec<Placement>,
    dirty_frames: Vec<u64>,
    data: Vec<Line>,
    pub statistics: FuseStatistics,
}

impl Lines {
    /// Makes empty banks, whose frames follow one another.
    pub fn new(
        sram: Option<SramBank>,
        stt: Option<SttBank>,
        swap: SwapBuffer,
        bus: Option<Bus>,
        frames: usize,
    ) -> Lines {
        Lines {
            blocking: !swap.has_room(),
            sram,
            stt,
            swap,
            bus,
            directory: Directory::new(frames),
            lines: vec![NO_LINE; frames],
            valid: vec![ByteMask::NONE; frames],
            dirty: vec![ByteMask::NONE; frames],
            pinned: vec![None; frames],
            placements: vec![Placement::default(); frames],
            dirty_frames: vec![0; frames.div_ceil(64)],
            data: Line::zeros(frames),
            statistics: FuseStatistics::default(),
        }
    }

    /// The frame of a line in any bank.
    #[inline]
    pub fn find(&self, line: LineAddress) -> Option<FrameId> {
        self.directory.get(line)
    }

    /// The bank of a frame.
    #[inline]
    pub fn bank(&self, frame: FrameId) -> Bank {
        match &self.stt {
            Some(stt) if stt.places.holds(frame) => Bank::Stt,
            _ if self.swap.holds(frame) => Bank::Swap,
            _ => Bank::Sram,
        }
    }

    /// Whether the line is in STT-MRAM or on its way there.
    #[inline]
    pub fn is_beside_sram(&self, line: LineAddress) -> bool {
        self.find(line)
            .is_some_and(|frame| self.pinned[frame.index()].is_none() && self.bank(frame) != Bank::Sram)
    }

    /// The STT-MRAM bank; the cache must have one.
    #[inline]
    pub fn stt(&mut self) -> &mut SttBank {
        self.stt.as_mut().expect("a line goes to STT-MRAM where there is some")
    }

    /// The frame of SRAM to evict for a line; `None` if all candidates are pinned.
    #[inline]
    pub fn sram_victim(&self, line: LineAddress) -> Option<FrameId> {
        self.sram.as_ref()?.places.victim(line, |frame| self.pinned[frame.index()].is_none())
    }

    /// The frame of STT-MRAM to evict for a line; `None` if all candidates are pinned.
    #[inline]
    pub fn stt_victim(&self, line: LineAddress) -> Option<FrameId> {
        self.stt.as_ref()?.places.victim(line, |frame| self.pinned[frame.index()].is_none())
    }

    /// What the predictor knows about a frame's line.
    #[inline]
    pub fn placement(&self, frame: FrameId) -> &Placement {
        &self.placements[frame.index()]
    }

    /// Assigns an empty frame to a line, with no byte valid.
    #[inline]
    pub fn install(&mut self, frame: FrameId, line: LineAddress, placement: Placement) {
        debug_assert!(self.lines[frame.index()] == NO_LINE, "a frame is empty before a line comes");
        self.lines[frame.index()] = line.0;
        self.placements[frame.index()] = placement;
        self.directory.insert(line, frame);
        match self.bank(frame) {
            Bank::Sram => self.sram.as_mut().expect("the frame's bank").places.filled(frame),
            Bank::Stt => {
                let stt = self.stt();
                stt.places.filled(frame);
                let place = stt.places.place(frame);
                if let Some(approximation) = &mut stt.approximation {
                    let filter = approximation.filter_of(place);
                    approximation.filters.increment(filter, line);
                    self.statistics.cbf_updates += 1;
                }
            }
            Bank::Swap => {}
        }
    }

    /// Empties a frame. Its contents are lost.
    #[inline]
    fn vacate(&mut self, frame: FrameId) {
        let line = LineAddress(self.lines[frame.index()]);
        self.directory.remove(line);
        self.lines[frame.index()] = NO_LINE;
        self.valid[frame.index()] = ByteMask::NONE;
        self.clean(frame);
        match self.bank(frame) {
            Bank::Sram => self.sram.as_mut().expect("the frame's bank").places.emptied(frame),
            Bank::Stt => {
                self.stt().places.emptied(frame);
                self.forget(frame, line);
            }
            Bank::Swap => self.swap.give_back(frame),
        }
    }

    /// Removes a line from the cache. Its bytes have been written back, or nobody needs them.
    #[inline]
    pub fn evict(&mut self, frame: FrameId) {
        debug_assert!(self.dirty[frame.index()].is_empty(), "dirty bytes go below before their line leaves");
        debug_assert!(self.pinned[frame.index()].is_none(), "a pinned line stays");
        self.placements[frame.index()].judge(&mut self.statistics);
        self.vacate(frame);
    }

    /// Takes a line out of its frame to put it into another one; it crosses the bus unless it is already in
    /// the swap buffer.
    #[inline]
    pub fn take(&mut self, frame: FrameId, now: Cycle) -> Moving {
        debug_assert!(self.pinned[frame.index()].is_none(), "a pinned line stays");
        if !self.swap.holds(frame) {
            self.carry(now);
        }
        self.use_array(frame, false, now);
        let moving = Moving {
            line: LineAddress(self.lines[frame.index()]),
            valid: self.valid[frame.index()],
            dirty: self.dirty[frame.index()],
            placement: self.placements[frame.index()],
            data: self.data[frame.index()].clone(),
        };
        self.vacate(frame);
        moving
    }

    /// Puts a line into an empty frame.
    #[inline]
    pub fn put(&mut self, frame: FrameId, moving: &Moving, now: Cycle) {
        self.use_array(frame, true, now);
        self.install(frame, moving.line, moving.placement);
        self.valid[frame.index()] = moving.valid;
        if !moving.dirty.is_empty() {
            self.add_dirty(frame, moving.dirty);
        }
        self.data[frame.index()].0 = moving.data.0;
    }

    /// Notes a use of the line, for replacement.
    #[inline]
    pub fn used(&mut self, frame: FrameId) {
        match self.bank(frame) {
            Bank::Sram => self.sram.as_mut().expect("the frame's bank").places.used(frame),
            Bank::Stt => self.stt().places.used(frame),
            Bank::Swap => {}
        }
    }

    /// Doubles the frames of a bank that grows.
    pub fn grow(&mut self) {
        let sram = self.sram.as_mut().expect("SRAM grows");
        let frames = self.lines.len() + sram.places.frames();
        sram.places.double();
        self.lines.resize(frames, NO_LINE);
        self.valid.resize(frames, ByteMask::NONE);
        self.dirty.resize(frames, ByteMask::NONE);
        self.pinned.resize(frames, None);
        self.placements.resize(frames, Placement::default());
        self.dirty_frames.resize(frames.div_ceil(64), 0);
        self.data.resize(frames, Line::ZERO);
        self.directory.grow(frames);
    }
}

impl Store for Lines {
    #[inline]
    fn line(&self, frame: FrameId) -> Option<LineAddress> {
        let line = self.lines[frame.index()];
        (line != NO_LINE).then_some(LineAddress(line))
    }

    #[inline]
    fn valid(&self, frame: FrameId) -> ByteMask {
        self.valid[frame.index()]
    }

    #[inline]
    fn dirty(&self, frame: FrameId) -> ByteMask {
        self.dirty[frame.index()]
    }

    #[inline]
    fn add_valid(&mut self, frame: FrameId, bytes: ByteMask) {
        self.valid[frame.index()] |= bytes;
    }

    #[inline]
    fn add_dirty(&mut self, frame: FrameId, bytes: ByteMask) {
        self.valid[frame.index()] |= bytes;
        self.dirty[frame.index()] |= bytes;
        if !bytes.is_empty() {
            self.dirty_frames[frame.index() / 64] |= 1 << (frame.index() % 64);
        }
    }

    #[inline]
    fn clean(&mut self, frame: FrameId) {
        self.dirty[frame.index()] = ByteMask::NONE;
        self.dirty_frames[frame.index() / 64] &= !(1 << (frame.index() % 64));
    }

    fn invalidate(&mut self, frame: FrameId) {
        if self.pinned[frame.index()].is_none() {
            self.clean(frame);
            self.evict(frame);
        } else {
            self.valid[frame.index()] = ByteMask::NONE;
            self.clean(frame);
        }
    }

    fn invalidate_all(&mut self) {
        assert!(
            self.dirty_frames.iter().all(|word| *word == 0),
            "dirty bytes are written back before a drop"
        );
        assert!(self.pinned.iter().all(Option::is_none), "no fill is under way when a cache is dropped");
        assert!(self.swap.len() == 0, "the swap buffer is emptied before a drop");
        for (line, placement) in self.lines.iter_mut().zip(&self.placements) {
            if *line != NO_LINE {
                placement.judge(&mut self.statistics);
                *line = NO_LINE;
            }
        }
        self.valid.fill(ByteMask::NONE);
        self.directory.clear();
        if let Some(sram) = &mut self.sram {
            sram.places.reset();
        }
        if let Some(stt) = &mut self.stt {
            stt.places.reset();
            if let Some(approximation) = &mut stt.approximation {
                approximation.filters.clear();
            }
        }
    }

    #[inline]
    fn pinned(&self, frame: FrameId) -> Option<MshrId> {
        self.pinned[frame.index()]
    }

    #[inline]
    fn pin(&mut self, frame: FrameId, mshr: MshrId) {
        debug_assert!(self.pinned[frame.index()].is_none(), "a frame waits for one MSHR");
        self.pinned[frame.index()] = Some(mshr);
    }

    #[inline]
    fn unpin(&mut self, frame: FrameId) {
        debug_assert!(self.pinned[frame.index()].is_some(), "a frame is unpinned once");
        self.pinned[frame.index()] = None;
    }

    fn next_dirty(&self, from: FrameId) -> Option<FrameId> {
        let (start, bit) = (from.index() / 64, from.index() % 64);
        let mut mask = u64::MAX << bit;
        for (word, bits) in self.dirty_frames.iter().enumerate().skip(start) {
            let bits = bits & mask;
            mask = u64::MAX;
            if bits != 0 {
                return Some(FrameId((64 * word + bits.trailing_zeros() as usize) as u32));
            }
        }
        None
    }

    #[inline]
    fn data(&self, frame: FrameId) -> &Line {
        &self.data[frame.index()]
    }

    #[inline]
    fn data_mut(&mut self, frame: FrameId) -> &mut Line {
        &mut self.data[frame.index()]
    }

    #[inline]
    fn free_at(&self, frame: FrameId, use_: ArrayUse) -> Cycle {
        if use_ == ArrayUse::Forward {
            return Cycle::ZERO;
        }
        let bus = self.bus.as_ref().map_or(Cycle::ZERO, Bus::free_at);
        match &self.stt {
            Some(stt) if self.blocking || stt.places.holds(frame) => bus.max(stt.free_at()),
            _ => bus,
        }
    }

    #[inline]
    fn occupy(&mut self, frame: FrameId, use_: ArrayUse, now: Cycle) {
        match use_ {
            ArrayUse::Read => {
                self.carry(now);
                self.use_array(frame, false, now);
            }
            ArrayUse::Write | ArrayUse::Fill => {
                self.carry(now);
                self.placements[frame.index()].written();
                self.use_array(frame, true, now);
            }
            // Served on the fill's way into the array: no time of it, and a read's energy as in every L1D (docs/energy.md).
            ArrayUse::Forward => *self.accesses_of(frame, false) += 1,
        }
    }
}
