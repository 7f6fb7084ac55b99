//! The lines of the cache in one set-associative SRAM array.

use strata_engine::seed::Stream;
use strata_memory::cache::{FrameId, Frames, Home, Store};
use strata_memory::tags::{Geometry, Sets};
use strata_memory::{LINE_BYTES, Touch};

use super::config::Allocate;

/// The sets of the cache.
pub(super) struct SramStore {
    geometry: Geometry,
    stream: Stream,
    pub sets: Sets,
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
        let sets = Sets::with_buffers(geometry.clone(), count, stream.clone());
        SramStore { geometry, stream, sets, buffers }
    }

    /// Empties the cache and gives it a capacity of `bytes`, a multiple of a way in all sets. Its ways change and its sets
    /// stay: the set of a line, and the circuits that find it, are those of any capacity.
    pub fn resize(&mut self, bytes: u64) {
        let ways = bytes as usize / (self.geometry.sets * LINE_BYTES);
        if ways == self.geometry.ways {
            return;
        }
        let geometry = Geometry { ways, ..self.geometry.clone() };
        let allocate = if self.buffers.is_some() { Allocate::OnFill } else { Allocate::OnMiss };
        let mshrs = self.buffers.as_ref().map_or(0, Vec::len);
        *self = SramStore::new(geometry, allocate, mshrs, self.stream.clone());
    }

    /// The frame outside the sets for a line that is fetched; `None` if the line takes a way on its miss.
    pub fn buffer(&mut self, touch: &Touch) -> Option<FrameId> {
        let frame = self.buffers.as_mut()?.pop().expect("a free MSHR was checked, and each has a frame");
        self.sets.install_in_buffer(frame, touch);
        Some(frame)
    }
}

impl Store for SramStore {
    #[inline]
    fn frames(&self) -> &Frames {
        self.sets.frames()
    }

    #[inline]
    fn frames_mut(&mut self) -> &mut Frames {
        self.sets.frames_mut()
    }

    #[inline]
    fn invalidate(&mut self, frame: FrameId) {
        self.frames_mut().invalidate(frame);
        let is_free = self.frames().pinned(frame).is_none();
        if let Some(buffers) = &mut self.buffers
            && self.sets.is_buffer(frame)
            && is_free
        {
            buffers.push(frame);
        }
    }

    #[inline]
    fn home(&mut self, frame: FrameId) -> Home {
        if self.buffers.is_none() || !self.sets.is_buffer(frame) {
            return Home::Here;
        }
        let line = self.frames().line(frame).expect("a frame that waited has a line");
        self.sets.victim(line).map_or(Home::Full, Home::Moves)
    }

    fn move_home(&mut self, from: FrameId, to: FrameId) {
        self.sets.move_from_buffer(from, to);
        self.buffers.as_mut().expect("it came from there").push(from);
    }
}
