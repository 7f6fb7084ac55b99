//! Frames: places for lines, with what is known of the line in each.

use strata_engine::typed_id;

use crate::address::LineAddress;
use crate::bits::Set;
use crate::line::{ByteMask, Line};
use crate::mshr::MshrId;

typed_id! {
    /// A frame, which holds one line.
    FrameId, u32
}

/// No line has this number: addresses have 64 bits, line numbers 57.
pub(crate) const NO_LINE: u64 = u64::MAX;

/// The frames of a cache: for each the line in it, which of its bytes are valid and which dirty, the bytes, and the MSHR whose fill
/// it waits for.
///
/// A frame that waits for a fill is *pinned*: it carries the name of its MSHR, stays assigned to its line and is no victim.
#[derive(Clone, Debug)]
pub struct Frames {
    /// Line numbers side by side, so that a probe of a set is one short vectorised scan.
    pub(crate) lines: Vec<u64>,
    valid: Vec<ByteMask>,
    dirty: Vec<ByteMask>,
    pinned: Vec<Option<MshrId>>,
    data: Vec<Line>,
    /// The frames without a line, those that are pinned, and those with dirty bytes: what is asked of many at once.
    pub(crate) empty: Set,
    pub(crate) waiting: Set,
    written: Set,
}

impl Frames {
    /// Makes `count` empty frames.
    pub fn new(count: usize) -> Frames {
        let mut empty = Set::new(count);
        (0..count).for_each(|frame| empty.insert(frame));
        Frames {
            lines: vec![NO_LINE; count],
            valid: bytemuck::zeroed_vec(count),
            dirty: bytemuck::zeroed_vec(count),
            pinned: vec![None; count],
            data: Line::zeros(count),
            empty,
            waiting: Set::new(count),
            written: Set::new(count),
        }
    }

    /// Number of frames.
    #[inline]
    pub fn count(&self) -> usize {
        self.lines.len()
    }

    /// Adds empty frames behind the others until there are `count`.
    pub fn grow(&mut self, count: usize) {
        let before = self.count();
        self.lines.resize(count, NO_LINE);
        self.valid.resize(count, ByteMask::NONE);
        self.dirty.resize(count, ByteMask::NONE);
        self.pinned.resize(count, None);
        self.data.resize(count, Line::ZERO);
        for set in [&mut self.empty, &mut self.waiting, &mut self.written] {
            set.grow(count);
        }
        (before..count).for_each(|frame| self.empty.insert(frame));
    }

    /// The line in a frame; `None` if the frame is empty.
    #[inline]
    pub fn line(&self, frame: FrameId) -> Option<LineAddress> {
        let line = self.lines[frame.index()];
        (line != NO_LINE).then_some(LineAddress(line))
    }

    /// The valid bytes of the frame's line.
    #[inline]
    pub fn valid(&self, frame: FrameId) -> ByteMask {
        self.valid[frame.index()]
    }

    /// The dirty bytes of the frame's line: those newer than in the level below.
    #[inline]
    pub fn dirty(&self, frame: FrameId) -> ByteMask {
        self.dirty[frame.index()]
    }

    /// The bytes of the frame's line.
    #[inline]
    pub fn data(&self, frame: FrameId) -> &Line {
        &self.data[frame.index()]
    }

    /// The bytes of the frame's line, mutable.
    #[inline]
    pub fn data_mut(&mut self, frame: FrameId) -> &mut Line {
        &mut self.data[frame.index()]
    }

    /// Assigns the frame to a line, with no byte valid. Its previous contents are lost.
    #[inline]
    pub fn assign(&mut self, frame: FrameId, line: LineAddress) {
        debug_assert!(self.pinned[frame.index()].is_none(), "a pinned frame is not given away");
        self.lines[frame.index()] = line.0;
        self.empty.remove(frame.index());
        self.valid[frame.index()] = ByteMask::NONE;
        self.clean(frame);
    }

    /// Moves a line, its bytes and what is known of them to another frame, whose contents are lost; the first is empty then.
    pub fn shift(&mut self, from: FrameId, to: FrameId) {
        let line = self.line(from).expect("a line that moves was there");
        let (valid, dirty) = (self.valid(from), self.dirty(from));
        self.invalidate(from);
        self.assign(to, line);
        self.add_valid(to, valid);
        self.add_dirty(to, dirty);
        self.data[to.index()].0 = self.data[from.index()].0;
    }

    /// Marks bytes valid that arrived from the level below.
    #[inline]
    pub fn add_valid(&mut self, frame: FrameId, bytes: ByteMask) {
        self.valid[frame.index()] |= bytes;
    }

    /// Marks bytes valid and dirty that were written here.
    #[inline]
    pub fn add_dirty(&mut self, frame: FrameId, bytes: ByteMask) {
        self.valid[frame.index()] |= bytes;
        self.dirty[frame.index()] |= bytes;
        if !bytes.is_empty() {
            self.written.insert(frame.index());
        }
    }

    /// Marks all bytes clean after a write-back.
    #[inline]
    pub fn clean(&mut self, frame: FrameId) {
        self.dirty[frame.index()] = ByteMask::NONE;
        self.written.remove(frame.index());
    }

    /// Takes in bytes that come from the level below. Bytes that are valid already are as new or newer: stores went into them.
    #[inline]
    pub fn fill(&mut self, frame: FrameId, bytes: ByteMask, from: &Line) {
        let missing = bytes & !self.valid(frame);
        self.data_mut(frame).merge(missing, from);
        self.add_valid(frame, missing);
    }

    /// Drops all bytes of the frame's line. A pinned frame remains assigned to its line.
    #[inline]
    pub fn invalidate(&mut self, frame: FrameId) {
        self.valid[frame.index()] = ByteMask::NONE;
        self.clean(frame);
        if self.pinned[frame.index()].is_none() {
            self.lines[frame.index()] = NO_LINE;
            self.empty.insert(frame.index());
        }
    }

    /// Drops all lines.
    ///
    /// # Panics
    /// Panics if a frame is pinned or dirty, since its bytes would be lost.
    pub fn invalidate_all(&mut self) {
        assert!(self.written.is_empty(), "dirty bytes are written back before a drop");
        assert!(self.waiting.is_empty(), "no fill is under way when a cache is dropped");
        for frame in 0..self.lines.len() {
            if self.lines[frame] != NO_LINE {
                (self.lines[frame], self.valid[frame]) = (NO_LINE, ByteMask::NONE);
                self.empty.insert(frame);
            }
        }
    }

    /// The MSHR whose fill the frame waits for.
    #[inline]
    pub fn pinned(&self, frame: FrameId) -> Option<MshrId> {
        self.pinned[frame.index()]
    }

    /// Pins the frame until the fill of an MSHR.
    #[inline]
    pub fn pin(&mut self, frame: FrameId, mshr: MshrId) {
        debug_assert!(self.pinned[frame.index()].is_none(), "a frame waits for one MSHR");
        self.pinned[frame.index()] = Some(mshr);
        self.waiting.insert(frame.index());
    }

    /// Unpins the frame when its MSHR is done.
    #[inline]
    pub fn unpin(&mut self, frame: FrameId) {
        debug_assert!(self.pinned[frame.index()].is_some(), "a frame is unpinned once");
        self.pinned[frame.index()] = None;
        self.waiting.remove(frame.index());
    }

    /// The first frame with dirty bytes at or after `from`.
    pub fn next_dirty(&self, from: FrameId) -> Option<FrameId> {
        self.written.next(from.index()).map(FrameId::from)
    }
}
