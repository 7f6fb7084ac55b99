//! What stands under every cache: frames with lines, the lines that are fetched, and the requests that wait for them.
//!
//! A request that does not find its bytes waits in its line's MSHR, and every later one to that line behind it. When bytes
//! arrive, the MSHR is *ready*: its cache looks at the oldest request again. MSHRs that are ready take turns.
//!
//! What a cache adds is its look-up, the way to the level below, and what it does with a request whose bytes are here.

mod frames;
mod store;

use strata_engine::Ring;

use crate::address::{LINE_BYTES, LineAddress};
use crate::line::ByteMask;
use crate::mshr::{MshrFile, MshrId};
use crate::tray::{Tray, Trays};

pub(crate) use frames::NO_LINE;
pub use frames::{FrameId, Frames};
pub use store::{ArrayUse, Home, Store};

/// A cache of requests `W` to lines in the store `S`; `X` is what it keeps about a fetch beside what all do.
pub struct Cache<W, S, X = ()> {
    /// The frames and the lines in them.
    pub store: S,
    /// Lines being fetched, each with the requests that wait for it.
    pub mshrs: MshrFile<W, Fetch<X>>,
    /// MSHRs whose oldest request may be able to proceed.
    ready: Ring<MshrId>,
    fetch_trays: Trays,
    write_trays: Trays,
}

/// The state of a line that is being fetched.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fetch<X> {
    /// The frame that waits for it: where the fill goes.
    pub frame: FrameId,
    /// Bytes requested that have not arrived yet.
    pub requested: ByteMask,
    /// Reads without an answer.
    pub in_flight: u8,
    is_ready: bool,
    /// What the cache keeps about it.
    pub rest: X,
}

/// Dirty bytes on their way to the level below.
#[derive(Clone, Debug)]
pub struct WriteBack {
    /// Their line,
    pub line: LineAddress,
    /// which they are,
    pub bytes: ByteMask,
    /// and the bytes; the tray [comes back](Cache::written) when they are below.
    pub tray: Tray,
}

/// The capacities of a cache.
#[derive(Clone, Copy, Debug)]
pub struct Capacity {
    /// Number of lines that can be fetched at a time.
    pub mshr_entries: usize,
    /// Number of requests that one MSHR can hold, the first included.
    pub mshr_merges: u16,
    /// Unit of a fetch in bytes.
    pub sector_bytes: usize,
    /// Number of writes that can be under way to the level below.
    pub writes: usize,
}

impl<W, S: Store, X: Copy + Default> Cache<W, S, X> {
    /// Makes a cache of a store.
    pub fn new(store: S, capacity: Capacity) -> Cache<W, S, X> {
        Cache {
            store,
            mshrs: MshrFile::new(capacity.mshr_entries, capacity.mshr_merges),
            ready: Ring::new(capacity.mshr_entries),
            // The sectors requested of a line are disjoint.
            fetch_trays: Trays::new(capacity.mshr_entries * (LINE_BYTES / capacity.sector_bytes)),
            write_trays: Trays::new(capacity.writes),
        }
    }

    /// The frames.
    #[inline]
    pub fn frames(&self) -> &Frames {
        self.store.frames()
    }

    /// The frames, mutable.
    #[inline]
    pub fn frames_mut(&mut self) -> &mut Frames {
        self.store.frames_mut()
    }

    /// Allocates an MSHR for a line that a frame has been assigned to, and pins the frame. An MSHR must be free.
    #[inline]
    pub fn allocate(&mut self, line: LineAddress, frame: FrameId) -> MshrId {
        let mshr = self.mshrs.allocate(line).expect("a free MSHR was checked");
        *self.mshrs.state_mut(mshr) = Fetch { frame, ..Fetch::default() };
        self.frames_mut().pin(frame, mshr);
        mshr
    }

    /// Allocates an MSHR as [`Cache::allocate`] does, for a request that waits for some bytes, and gives the tray that brings them.
    #[inline]
    pub fn miss(&mut self, line: LineAddress, frame: FrameId, bytes: ByteMask, waiting: W) -> (MshrId, Tray) {
        let fetch = Fetch { frame, requested: bytes, in_flight: 1, ..Fetch::default() };
        let mshr = self.mshrs.begin(line, fetch, waiting);
        self.frames_mut().pin(frame, mshr);
        (mshr, self.fetch_trays.take())
    }

    /// Adds a request to an MSHR, which must have room.
    #[inline]
    pub fn wait(&mut self, mshr: MshrId, request: W) {
        self.mshrs.push(mshr, request).unwrap_or_else(|_| panic!("room in the MSHR was checked"));
    }

    /// Adds a request to an MSHR as [`Cache::wait`] does; if no other waits there, it may be able to proceed.
    #[inline]
    pub fn join(&mut self, mshr: MshrId, request: W) {
        self.wait(mshr, request);
        if self.mshrs.waiting(mshr) == 1 {
            self.make_ready(mshr);
        }
    }

    /// Notes that bytes of an MSHR's line are requested, and gives the tray that brings them.
    #[inline]
    pub fn request(&mut self, mshr: MshrId, bytes: ByteMask) -> Tray {
        let fetch = self.mshrs.state_mut(mshr);
        debug_assert!((fetch.requested & bytes).is_empty(), "no byte is asked for twice");
        fetch.requested |= bytes;
        fetch.in_flight += 1;
        self.fetch_trays.take()
    }

    /// Fills the frame of an MSHR with bytes that were requested, and makes the MSHR ready.
    #[inline]
    pub fn fill(&mut self, mshr: MshrId, bytes: ByteMask, tray: Tray) -> FrameId {
        let fetch = self.mshrs.state_mut(mshr);
        let frame = fetch.frame;
        fetch.requested &= !bytes;
        fetch.in_flight -= 1;
        self.frames_mut().fill(frame, bytes, &tray);
        self.fetch_trays.put(tray);
        self.make_ready(mshr);
        frame
    }

    /// Notes that the oldest request of an MSHR may be able to proceed.
    #[inline]
    pub fn make_ready(&mut self, mshr: MshrId) {
        let fetch = self.mshrs.state_mut(mshr);
        if !fetch.is_ready {
            fetch.is_ready = true;
            self.ready.push(mshr).expect("each MSHR is ready once");
        }
    }

    /// Whether an MSHR is ready.
    #[inline]
    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// The MSHR that has been ready for longest.
    #[inline]
    pub fn first_ready(&self) -> Option<MshrId> {
        self.ready.front().copied()
    }

    /// The first MSHR is ready no more: its oldest request waits for bytes, or it has none.
    #[inline]
    pub fn settle_first(&mut self) {
        if let Some(mshr) = self.ready.pop() {
            self.mshrs.state_mut(mshr).is_ready = false;
        }
    }

    /// Puts the first MSHR behind the others that are ready: what it waits for, those may have to free.
    #[inline]
    pub fn postpone_first(&mut self) {
        if let Some(mshr) = self.ready.pop() {
            self.ready.push(mshr).expect("its place is free");
        }
    }

    /// Frees an MSHR in which no request waits and for which nothing is in flight.
    #[inline]
    pub fn release(&mut self, mshr: MshrId) -> FrameId {
        let frame = self.mshrs.state(mshr).frame;
        self.mshrs.release(mshr);
        self.frames_mut().unpin(frame);
        frame
    }

    /// Whether `writes` more can be under way to the level below.
    #[inline]
    pub fn can_write(&self, writes: usize) -> bool {
        writes <= self.write_trays.left()
    }

    /// A tray for a write, which must be [possible](Cache::can_write).
    #[inline]
    pub fn write_tray(&mut self) -> Tray {
        self.write_trays.take()
    }

    /// Takes the tray of a write back whose bytes are below.
    #[inline]
    pub fn written(&mut self, tray: Tray) {
        self.write_trays.put(tray);
    }

    /// Takes a frame's dirty bytes out, if it has any; the frame keeps them, clean. A write must be
    /// [possible](Cache::can_write).
    #[inline]
    pub fn take_dirty(&mut self, frame: FrameId) -> Option<WriteBack> {
        let bytes = self.frames().dirty(frame);
        if bytes.is_empty() {
            return None;
        }
        let line = self.frames().line(frame).expect("dirty bytes belong to a line");
        let mut tray = self.write_trays.take();
        tray.0 = self.frames().data(frame).0;
        self.frames_mut().clean(frame);
        Some(WriteBack { line, bytes, tray })
    }
}
