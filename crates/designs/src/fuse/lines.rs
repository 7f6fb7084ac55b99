//! The lines of all banks: where each is, which bytes of it are valid and dirty, and the bytes.
//!
//! Frames are numbered across the banks: STT-MRAM, then the registers of the swap buffer, then SRAM. A line
//! is in one frame at any time (III-A: a single copy); the directory refuses a second one.

use strata_engine::Cycle;
use strata_memory::cache::{FrameId, Frames};
use strata_memory::{ByteMask, Line, LineAddress};

use super::bus::Bus;
use super::directory::Directory;
use super::placement::Placement;
use super::sram_bank::SramBank;
use super::statistics::FuseStatistics;
use super::stt_bank::SttBank;
use super::swap_buffer::SwapBuffer;
use crate::chassis::{ArrayUse, Store};

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
    pub(super) frames: Frames,
    placements: Vec<Placement>,
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
            frames: Frames::new(frames),
            placements: vec![Placement::default(); frames],
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
            .is_some_and(|frame| self.frames.pinned(frame).is_none() && self.bank(frame) != Bank::Sram)
    }

    /// The STT-MRAM bank; the cache must have one.
    #[inline]
    pub fn stt(&mut self) -> &mut SttBank {
        self.stt.as_mut().expect("a line goes to STT-MRAM where there is some")
    }

    /// The frame of SRAM to evict for a line; `None` if all candidates are pinned.
    #[inline]
    pub fn sram_victim(&self, line: LineAddress) -> Option<FrameId> {
        self.sram.as_ref()?.places.victim(line, |frame| self.frames.pinned(frame).is_none())
    }

    /// The frame of STT-MRAM to evict for a line; `None` if all candidates are pinned.
    #[inline]
    pub fn stt_victim(&self, line: LineAddress) -> Option<FrameId> {
        self.stt.as_ref()?.places.victim(line, |frame| self.frames.pinned(frame).is_none())
    }

    /// What the predictor knows about a frame's line.
    #[inline]
    pub fn placement(&self, frame: FrameId) -> &Placement {
        &self.placements[frame.index()]
    }

    /// Assigns an empty frame to a line, with no byte valid.
    #[inline]
    pub fn install(&mut self, frame: FrameId, line: LineAddress, placement: Placement) {
        debug_assert!(self.frames.line(frame).is_none(), "a frame is empty before a line comes");
        self.frames.assign(frame, line);
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
        let line = self.frames.line(frame).expect("only a line leaves its frame");
        self.directory.remove(line);
        self.frames.invalidate(frame);
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
        debug_assert!(self.frames.dirty(frame).is_empty(), "dirty bytes go below before their line leaves");
        debug_assert!(self.frames.pinned(frame).is_none(), "a pinned line stays");
        self.placements[frame.index()].judge(&mut self.statistics);
        self.vacate(frame);
    }

    /// Takes a line out of its frame to put it into another one; it crosses the bus unless it is already in
    /// the swap buffer.
    #[inline]
    pub fn take(&mut self, frame: FrameId, now: Cycle) -> Moving {
        debug_assert!(self.frames.pinned(frame).is_none(), "a pinned line stays");
        if !self.swap.holds(frame) {
            self.carry(now);
        }
        self.use_array(frame, false, now);
        let moving = Moving {
            line: self.frames.line(frame).expect("a line that moves was there"),
            valid: self.frames.valid(frame),
            dirty: self.frames.dirty(frame),
            placement: self.placements[frame.index()],
            data: self.frames.data(frame).clone(),
        };
        self.vacate(frame);
        moving
    }

    /// Puts a line into an empty frame.
    #[inline]
    pub fn put(&mut self, frame: FrameId, moving: &Moving, now: Cycle) {
        self.use_array(frame, true, now);
        self.install(frame, moving.line, moving.placement);
        self.frames.add_valid(frame, moving.valid);
        self.frames.add_dirty(frame, moving.dirty);
        self.frames.data_mut(frame).0 = moving.data.0;
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
        let frames = self.frames.count() + sram.places.frames();
        sram.places.double();
        self.frames.grow(frames);
        self.placements.resize(frames, Placement::default());
        self.directory.grow(frames);
    }
}

impl Store for Lines {
    #[inline]
    fn frames(&self) -> &Frames {
        &self.frames
    }

    #[inline]
    fn frames_mut(&mut self) -> &mut Frames {
        &mut self.frames
    }

    fn invalidate(&mut self, frame: FrameId) {
        if self.frames.pinned(frame).is_none() {
            self.frames.clean(frame);
            self.evict(frame);
        } else {
            self.frames.invalidate(frame);
        }
    }

    fn invalidate_all(&mut self) {
        assert!(self.swap.len() == 0, "the swap buffer is emptied before a drop");
        for frame in (0..self.frames.count()).map(FrameId::from) {
            if self.frames.line(frame).is_some() {
                self.placements[frame.index()].judge(&mut self.statistics);
            }
        }
        self.frames.invalidate_all();
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
