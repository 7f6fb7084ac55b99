//! The lines of the cache in one set-associative SRAM array.

use strata_engine::seed::Stream;
use strata_memory::mshr::MshrId;
use strata_memory::tags::{FrameId, Geometry, TagArray};
use strata_memory::{ByteMask, LINE_BYTES, Line, LineAddress};

use super::config::Allocate;
use crate::chassis::{Home, Store};

/// The tags and data of the cache.
pub(super) struct SramStore {
    geometry: Geometry,
    stream: Stream,
    pub tags: TagArray,
    pub data: Vec<Line>,
    /// For allocation on fill: the free frames outside the sets, which hold lines until their fetch is done.
    /// At the start there is one for each MSHR.
    pub buffers: Option<Vec<FrameId>>,
}

impl SramStore {
    /// Makes the frames of a cache: those of its sets and, for allocation on fill, one for each of the
    /// `mshrs`.
    pub fn new(geometry: Geometry, allocate: Allocate, mshrs: usize, stream: Stream) -> SramStore {
        let frames = geometry.sets * geometry.ways;
        let buffers = match allocate {
            Allocate::OnMiss => None,
            Allocate::OnFill => {
                Some((frames..frames + mshrs).rev().map(|frame| FrameId(frame as u32)).collect())
            }
        };
        let count = buffers.as_ref().map_or(0, Vec::len);
        let tags = TagArray::with_buffers(geometry, count, stream.clone());
        SramStore { geometry, stream, tags, data: Line::zeros(frames + count), buffers }
    }

    /// Empties the cache and gives it a capacity of `bytes`, a multiple of a way in all sets. Its ways change and its sets
    /// stay: the set of a line, and the circuits that find it, are those of any capacity.
    pub fn resize(&mut self, bytes: u64) {
        let ways = bytes as usize / (self.geometry.sets * LINE_BYTES);
        if ways == self.geometry.ways {
            return;
        }
        let geometry = Geometry { ways, ..self.geometry };
        let allocate = if self.buffers.is_some() { Allocate::OnFill } else { Allocate::OnMiss };
        let mshrs = self.buffers.as_ref().map_or(0, Vec::len);
        *self = SramStore::new(geometry, allocate, mshrs, self.stream.clone());
    }

    /// The frame outside the sets for a line that is fetched; `None` if the line takes a way on its miss.
    pub fn buffer(&mut self, line: LineAddress) -> Option<FrameId> {
        let frame = self.buffers.as_mut()?.pop().expect("a free MSHR was checked, and each has a frame");
        self.tags.install_in_buffer(frame, line);
        Some(frame)
    }
}

impl Store for SramStore {
    #[inline]
    fn line(&self, frame: FrameId) -> Option<LineAddress> {
        self.tags.line(frame)
    }

    #[inline]
    fn valid(&self, frame: FrameId) -> ByteMask {
        self.tags.valid(frame)
    }

    #[inline]
    fn dirty(&self, frame: FrameId) -> ByteMask {
        self.tags.dirty(frame)
    }

    #[inline]
    fn add_valid(&mut self, frame: FrameId, bytes: ByteMask) {
        self.tags.add_valid(frame, bytes);
    }

    #[inline]
    fn add_dirty(&mut self, frame: FrameId, bytes: ByteMask) {
        self.tags.add_dirty(frame, bytes);
    }

    #[inline]
    fn clean(&mut self, frame: FrameId) {
        self.tags.clean(frame);
    }

    #[inline]
    fn invalidate(&mut self, frame: FrameId) {
        self.tags.invalidate(frame);
        if let Some(buffers) = &mut self.buffers
            && self.tags.is_buffer(frame)
            && self.tags.pinned(frame).is_none()
        {
            buffers.push(frame);
        }
    }

    fn invalidate_all(&mut self) {
        self.tags.invalidate_all();
    }

    #[inline]
    fn pinned(&self, frame: FrameId) -> Option<MshrId> {
        self.tags.pinned(frame)
    }

    #[inline]
    fn pin(&mut self, frame: FrameId, mshr: MshrId) {
        self.tags.pin(frame, mshr);
    }

    #[inline]
    fn unpin(&mut self, frame: FrameId) {
        self.tags.unpin(frame);
    }

    fn next_dirty(&self, from: FrameId) -> Option<FrameId> {
        self.tags.next_dirty(from)
    }

    #[inline]
    fn home(&mut self, frame: FrameId) -> Home {
        if self.buffers.is_none() || !self.tags.is_buffer(frame) {
            return Home::Here;
        }
        let line = self.tags.line(frame).expect("a frame that waited has a line");
        self.tags.victim(line).map_or(Home::Full, Home::Moves)
    }

    fn move_home(&mut self, from: FrameId, to: FrameId) {
        self.tags.move_from_buffer(from, to);
        self.data[to.index()].0 = self.data[from.index()].0;
        self.buffers.as_mut().expect("it came from there").push(from);
    }

    #[inline]
    fn data(&self, frame: FrameId) -> &Line {
        &self.data[frame.index()]
    }

    #[inline]
    fn data_mut(&mut self, frame: FrameId) -> &mut Line {
        &mut self.data[frame.index()]
    }
}
