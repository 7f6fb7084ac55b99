//! The lines of the cache in one set-associative SRAM array.

use strata_engine::seed::Stream;
use strata_memory::LINE_BYTES;
use strata_memory::Touch;
use strata_memory::cache::{FrameId, Frames, Home, Store};
use strata_memory::insertion::InsertionPolicy;
use strata_memory::policy::Chosen;
use strata_memory::tags::{Geometry, Sets};

/// The shape of the cache, and which lines take a way when.
#[derive(Clone)]
pub(super) struct Shape {
    pub geometry: Geometry,
    /// Whether a line that is fetched takes a way when its fetch is done.
    pub on_fill: bool,
    pub insertion: Option<Chosen<dyn InsertionPolicy>>,
    /// Lines that are fetched at a time.
    pub mshrs: usize,
}

/// The sets of the cache. Beside them there may be a frame for each MSHR, for lines that take a way later, or none.
pub(super) struct SramStore {
    shape: Shape,
    stream: Stream,
    pub sets: Sets,
}

impl SramStore {
    /// Makes the frames of a cache.
    pub fn new(shape: Shape, stream: Stream) -> SramStore {
        let buffers = if shape.on_fill { shape.mshrs } else { 0 };
        let sets = Sets::with_buffers(shape.geometry.clone(), buffers, stream.clone());
        let sets = match &shape.insertion {
            Some(policy) => sets.guarded(&**policy, shape.mshrs, stream.clone()),
            None => sets,
        };
        SramStore { shape, stream, sets }
    }

    /// Empties the cache and gives it a capacity of `bytes`, a multiple of a way in all sets. Its ways change and its sets
    /// stay: the set of a line, and the circuits that find it, are those of any capacity.
    pub fn resize(&mut self, bytes: u64) {
        let ways = bytes as usize / (self.shape.geometry.sets * LINE_BYTES);
        if ways != self.shape.geometry.ways {
            let mut shape = self.shape.clone();
            shape.geometry.ways = ways;
            *self = SramStore::new(shape, self.stream.clone());
        }
    }

    /// Whether the line that a request misses is fetched into a frame outside the sets.
    #[inline]
    pub fn is_fetched_outside(&self, touch: impl FnOnce() -> Touch) -> bool {
        self.sets.has_buffers() && (self.shape.on_fill || !self.sets.keeps(&touch()))
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
        self.sets.invalidate(frame);
    }

    #[inline]
    fn home(&mut self, frame: FrameId) -> Home {
        if !self.sets.is_buffer(frame) {
            return Home::Here;
        }
        let brought = *self.sets.brought(frame);
        if !self.shape.on_fill || !self.sets.keeps(&brought) {
            return Home::Leaves;
        }
        self.sets.victim(brought.line).map_or(Home::Full, Home::Moves)
    }

    fn move_home(&mut self, from: FrameId, to: FrameId) {
        self.sets.move_from_buffer(from, to);
    }

    fn leave(&mut self, frame: FrameId) {
        self.sets.pass(frame);
    }
}
