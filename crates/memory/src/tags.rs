//! Sets: where a set-associative cache puts a line, and which it evicts for it.

#[cfg(test)]
mod tests;

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::seed::Stream;
use strata_engine::statistics::{Group, Statistics};

use crate::address::LineAddress;
use crate::cache::{Cache, FrameId, Frames, NO_LINE, Store};
use crate::insertion::InsertionPolicy;
use crate::parameters::ParameterError;
use crate::policy::Chosen;
use crate::replacement::{ReplacementPolicy, Shape, Victims};
use crate::touch::Touch;

/// How the set of a line is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SetIndex {
    /// The line number modulo the number of sets, which can be any number.
    Modulo,
    /// The low bits of the line number. The number of sets must be a power of two.
    Bits,
    /// The line number folded into the index bits by XOR. The number of sets must be a power of two.
    Xor,
    /// The remainder of a division of polynomials (Rau, ISCA 1991). The number of sets must be a power of two.
    Ipoly,
    /// The hash that Nugteren et al. measured in a Fermi L1D of lines of 128 bytes ("A Detailed GPU Cache Model Based on
    /// Reuse Distance Theory", HPCA 2014): the address's bits 7 to 11, by XOR with bits 13, 14, 15, 17 and 19; with 64 sets
    /// bit 12 above them. ASSUMED for other powers of two: further bits above that one, or as many of the low ones.
    Fermi,
}

impl SetIndex {
    /// The set of a line among `sets` sets; `bits` is the binary logarithm of `sets` if that is a power of
    /// two.
    #[inline]
    pub fn set_of(self, line: LineAddress, sets: usize, bits: u32) -> usize {
        let mask = sets as u64 - 1;
        (match self {
            SetIndex::Modulo => line.0 % sets as u64,
            SetIndex::Bits => line.0 & mask,
            SetIndex::Xor if bits == 0 => 0,
            SetIndex::Xor => {
                let (mut left, mut folded) = (line.0, 0);
                while left != 0 {
                    folded ^= left;
                    left >>= bits;
                }
                folded & mask
            }
            SetIndex::Ipoly => crate::ipoly::remainder(line.0, bits),
            SetIndex::Fermi => fermi(line.0) & mask,
        }) as usize
    }
}

/// Bit n of a line number is bit n + 7 of the address.
#[inline]
fn fermi(line: u64) -> u64 {
    line ^ (line >> 6 & 0b111 | line >> 7 & 0b1000 | line >> 8 & 0b1_0000)
}

/// Largest number of lines in a cache. ASSUMED: 128 MiB, as much as the whole L2 of the largest GPUs.
pub const MAX_FRAMES: usize = 1 << 20;

/// The shape and policies of the sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Number of sets in the array.
    pub sets: usize,
    /// Ways per set, 1 to 64.
    pub ways: usize,
    /// How the set of a line is computed from its number.
    pub index: SetIndex,
    /// Which way of a full set is evicted.
    pub replacement: Chosen<dyn ReplacementPolicy>,
}

impl Geometry {
    /// Checks that the array can be built.
    ///
    /// # Errors
    /// Names the first wrong field.
    pub fn check(&self) -> Result<(), ParameterError> {
        let Geometry { sets, ways, index, ref replacement } = *self;
        let (field, message) = if sets == 0 || sets > 1 << 24 {
            ("sets", format!("must be 1 to 2^24, found {sets}"))
        } else if !(1..=64).contains(&ways) {
            ("ways", format!("must be 1 to 64, found {ways}"))
        } else if sets * ways > MAX_FRAMES {
            ("sets", format!("must be at most {MAX_FRAMES} lines in all, found {sets} sets of {ways} ways"))
        } else if index != SetIndex::Modulo && !sets.is_power_of_two() {
            ("sets", format!("an index of bits needs a power of two, found {sets}"))
        } else if let Err(need) = replacement.check(ways) {
            ("ways", need)
        } else {
            return Ok(());
        };
        Err(ParameterError::new(field, message))
    }
}

/// The line that was looked for last, if it has no way, and its set: who waits asks for it again, and who misses for a victim.
#[derive(Clone, Copy)]
struct Absent {
    line: u64,
    set: usize,
}

impl Absent {
    const NONE: Absent = Absent { line: NO_LINE, set: 0 };
}

/// The frames of a set-associative cache: frame n is way n % ways of set n / ways.
pub struct Sets {
    sets: usize,
    ways: usize,
    index: SetIndex,
    /// Binary logarithm of the sets when they are a power of two.
    bits: u32,
    frames: Frames,
    victims: Victims,
    absent: Absent,
    /// By extra frame: the request that brought its line.
    brought: Vec<Touch>,
    /// The extra frames without a line.
    free: Vec<FrameId>,
}

impl Sets {
    /// Makes an empty array. Random replacement draws from `stream`.
    ///
    /// # Panics
    /// Panics if [`Geometry::check`] finds a fault.
    pub fn new(geometry: Geometry, stream: Stream) -> Sets {
        Sets::with_buffers(geometry, 0, stream)
    }

    /// Makes an empty array with `buffers` extra frames outside the sets, for lines that have no way, or none yet. Their numbers follow
    /// those of the ways. Probes do not find them and replacement does not choose them.
    ///
    /// # Panics
    /// Panics if [`Geometry::check`] finds a fault.
    pub fn with_buffers(geometry: Geometry, buffers: usize, stream: Stream) -> Sets {
        geometry.check().expect("a geometry is checked before it is built");
        let Geometry { sets, ways, index, replacement } = geometry;
        let mut array = Sets {
            sets,
            ways,
            index,
            bits: if sets.is_power_of_two() { sets.trailing_zeros() } else { 0 },
            frames: Frames::new(sets * ways),
            victims: Victims::new(&replacement, Shape { sets, ways, stream }),
            absent: Absent::NONE,
            brought: Vec::new(),
            free: Vec::new(),
        };
        array.add_buffers(buffers);
        array
    }

    /// Has a policy decide which lines take a way. With `buffers` extra frames, if the array has none, for those that take none.
    #[must_use]
    pub fn guarded(mut self, policy: &dyn InsertionPolicy, buffers: usize, stream: Stream) -> Sets {
        let shape = Shape { sets: self.sets, ways: self.ways, stream };
        let Some(insertion) = policy.build(&shape) else { return self };
        if self.brought.is_empty() {
            self.add_buffers(buffers);
        }
        Sets { victims: self.victims.guarded(insertion), ..self }
    }

    fn add_buffers(&mut self, buffers: usize) {
        let frames = self.sets * self.ways;
        self.frames.grow(frames + buffers);
        self.brought = vec![Touch::default(); buffers];
        self.free = (frames..frames + buffers).rev().map(FrameId::from).collect();
    }

    /// The set that a line belongs to.
    #[inline]
    pub fn set_of(&self, line: LineAddress) -> usize {
        self.index.set_of(line, self.sets, self.bits)
    }

    /// The set that a line belongs to, which is known of the line that was looked for last.
    #[inline]
    fn known_set_of(&self, line: LineAddress) -> usize {
        if self.absent.line == line.0 { self.absent.set } else { self.set_of(line) }
    }

    /// The frame that holds the line or waits for its fill.
    #[inline]
    pub fn find(&self, line: LineAddress) -> Option<FrameId> {
        self.find_in(self.set_of(line), line)
    }

    /// As [`Sets::find`], for a request: one that misses may be asked for again before any line has come.
    #[inline]
    pub fn look_for(&mut self, line: LineAddress) -> Option<FrameId> {
        if self.absent.line == line.0 {
            return None;
        }
        let set = self.set_of(line);
        let found = self.find_in(set, line);
        if found.is_none() {
            self.absent = Absent { line: line.0, set };
        }
        found
    }

    #[inline]
    fn find_in(&self, set: usize, line: LineAddress) -> Option<FrameId> {
        let first = set * self.ways;
        let (fours, rest) = self.frames.lines[first..first + self.ways].as_chunks::<4>();
        for (n, four) in fours.iter().enumerate() {
            if let Some(way) = four.iter().position(|tag| *tag == line.0) {
                return Some(FrameId((first + 4 * n + way) as u32));
            }
        }
        let way = rest.iter().position(|tag| *tag == line.0)?;
        Some(FrameId((first + 4 * fours.len() + way) as u32))
    }

    /// The frames of the set that a line belongs to.
    #[inline]
    pub fn frames_for(&self, line: LineAddress) -> Range<usize> {
        let first = self.set_of(line) * self.ways;
        first..first + self.ways
    }

    /// A frame of the line's set that can take it: an empty one if there is one, otherwise the replacement
    /// victim. `None` if every way is pinned.
    #[inline]
    pub fn victim(&mut self, line: LineAddress) -> Option<FrameId> {
        let set = self.known_set_of(line);
        let first = set * self.ways;
        let empty = self.frames.empty.range(first, self.ways);
        if empty != 0 {
            return Some(FrameId(first as u32 + empty.trailing_zeros()));
        }
        let eligible = self.unpinned(first);
        (eligible != 0).then(|| FrameId((first + self.victims.victim(set, eligible)) as u32))
    }

    /// The ways that are not pinned of the set whose first frame is `first`, as a mask.
    #[inline]
    fn unpinned(&self, first: usize) -> u64 {
        !self.frames.waiting.range(first, self.ways) & u64::MAX >> (64 - self.ways)
    }

    /// Whether [`Sets::victim`] would find a frame.
    #[inline]
    pub fn has_victim(&self, line: LineAddress) -> bool {
        self.unpinned(self.known_set_of(line) * self.ways) != 0
    }

    /// Assigns the frame to the line of a request, with no byte valid. Its previous contents are lost.
    #[inline]
    pub fn install(&mut self, frame: FrameId, touch: &Touch) {
        debug_assert_eq!(self.set_of(touch.line), frame.index() / self.ways, "a line goes into its own set");
        self.absent = Absent::NONE;
        self.frames.assign(frame, touch.line);
        self.victims.filled(frame.index(), touch);
    }

    /// Whether there are extra frames outside the sets.
    #[inline]
    pub fn has_buffers(&self) -> bool {
        !self.brought.is_empty()
    }

    /// Whether the frame is one of the extra frames outside the sets.
    #[inline]
    pub fn is_buffer(&self, frame: FrameId) -> bool {
        frame.index() >= self.sets * self.ways
    }

    /// Whether the line of a request that misses takes a way.
    #[inline]
    pub fn keeps(&self, touch: &Touch) -> bool {
        self.victims.keeps(touch)
    }

    /// Assigns a free extra frame to the line of a request, with no byte valid.
    ///
    /// # Panics
    /// Panics if none is free.
    pub fn buffer(&mut self, touch: &Touch) -> FrameId {
        let frame = self.free.pop().expect("there is an extra frame for each line that is fetched");
        self.frames.assign(frame, touch.line);
        self.brought[frame.index() - self.sets * self.ways] = *touch;
        frame
    }

    /// The request that brought the line of an extra frame.
    pub fn brought(&self, buffer: FrameId) -> &Touch {
        &self.brought[buffer.index() - self.sets * self.ways]
    }

    /// Moves a line from an extra frame to a frame of its set, whose previous contents are lost.
    pub fn move_from_buffer(&mut self, buffer: FrameId, frame: FrameId) {
        self.absent = Absent::NONE;
        self.frames.shift(buffer, frame);
        let touch = *self.brought(buffer);
        self.victims.filled(frame.index(), &touch);
        self.free.push(buffer);
    }

    /// Drops the line of an extra frame, which has been fetched and takes no way.
    pub fn pass(&mut self, buffer: FrameId) {
        let touch = *self.brought(buffer);
        self.victims.passed(self.set_of(touch.line), &touch);
        self.invalidate(buffer);
    }

    /// The counters of the insertion policy as the group `name`, if there is one.
    pub fn insertion(&self, name: &'static str) -> Option<Group> {
        self.victims.insertion().map(|statistics| Group { name, ..statistics.report() })
    }

    /// Notes a use of the frame, for replacement.
    #[inline]
    pub fn used(&mut self, frame: FrameId, touch: &Touch) {
        self.victims.used(frame.index(), touch);
    }

    /// As [`Sets::used`], of the frame of the last use, if none was filled since.
    #[inline]
    pub fn used_again(&mut self, frame: FrameId, touch: impl FnOnce() -> Touch) {
        self.victims.used_again(frame.index(), touch);
    }
}

impl Store for Sets {
    #[inline]
    fn frames(&self) -> &Frames {
        &self.frames
    }

    #[inline]
    fn frames_mut(&mut self) -> &mut Frames {
        &mut self.frames
    }

    #[inline]
    fn invalidate(&mut self, frame: FrameId) {
        self.frames.invalidate(frame);
        if self.is_buffer(frame) && self.frames.pinned(frame).is_none() {
            self.free.push(frame);
        }
    }
}

/// Caches whose lines are in sets, or in extra frames while they are fetched.
impl<W, X: Copy + Default> Cache<W, Sets, X> {
    /// The frame of a line that is here, or whose fill it waits for.
    #[inline]
    pub fn find(&self, line: LineAddress) -> Option<FrameId> {
        self.store.find(line).or_else(|| self.find_outside(line))
    }

    /// As [`Cache::find`], for a request ([`Sets::look_for`]).
    #[inline]
    pub fn look_for(&mut self, line: LineAddress) -> Option<FrameId> {
        self.store.look_for(line).or_else(|| self.find_outside(line))
    }

    /// The extra frame of a line that is fetched.
    #[inline]
    fn find_outside(&self, line: LineAddress) -> Option<FrameId> {
        let mshr = if self.store.has_buffers() { self.mshrs.find(line) } else { None };
        mshr.map(|mshr| self.mshrs.state(mshr).frame)
    }
}
