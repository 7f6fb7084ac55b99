//! Sets: where a set-associative cache puts a line, and which it evicts for it.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::seed::Stream;
use strata_engine::statistics::{Group, Statistics};

use crate::address::LineAddress;
use crate::cache::{FrameId, Frames, Store};
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

/// The frames of a set-associative cache: frame n is way n % ways of set n / ways.
pub struct Sets {
    sets: usize,
    ways: usize,
    index: SetIndex,
    /// Binary logarithm of the sets when they are a power of two.
    bits: u32,
    frames: Frames,
    victims: Victims,
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

    /// The frame that holds the line or waits for its fill.
    #[inline]
    pub fn find(&self, line: LineAddress) -> Option<FrameId> {
        let first = self.set_of(line) * self.ways;
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
        let set = self.set_of(line);
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
        self.unpinned(self.set_of(line) * self.ways) != 0
    }

    /// Assigns the frame to the line of a request, with no byte valid. Its previous contents are lost.
    #[inline]
    pub fn install(&mut self, frame: FrameId, touch: &Touch) {
        debug_assert_eq!(self.set_of(touch.line), frame.index() / self.ways, "a line goes into its own set");
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::ByteMask;
    use crate::mshr::MshrId;
    use crate::replacement;

    fn touch(line: u64) -> Touch {
        Touch { line: LineAddress(line), ..Touch::default() }
    }

    fn array(sets: usize, ways: usize, index: SetIndex) -> Sets {
        let geometry = Geometry { sets, ways, index, replacement: replacement::lru() };
        Sets::new(geometry, Stream::new(1, "tags"))
    }

    #[test]
    fn sets_of_lines() {
        for (index, sets, line, expected) in [
            (SetIndex::Modulo, 48, 100, 4),
            (SetIndex::Bits, 32, 100, 4),
            (SetIndex::Xor, 32, 100, 7),
            (SetIndex::Xor, 1, 100, 0),
            (SetIndex::Bits, 1, 100, 0),
            // Modulo x^2 + x + 1: x^2 is x + 1, and x^3 is 1.
            (SetIndex::Ipoly, 4, 3, 3),
            (SetIndex::Ipoly, 4, 4, 3),
            (SetIndex::Ipoly, 4, 8, 1),
            (SetIndex::Ipoly, 4, 12, 2),
            (SetIndex::Ipoly, 1, 12, 0),
            // Bits of the address one at a time: those of the index, each of the hash, those that do not count.
            (SetIndex::Fermi, 32, 0x0080 >> 7, 0b00001),
            (SetIndex::Fermi, 32, 0x0800 >> 7, 0b10000),
            (SetIndex::Fermi, 32, 0x1000 >> 7, 0),
            (SetIndex::Fermi, 64, 0x1000 >> 7, 0b100000),
            (SetIndex::Fermi, 64, 0x2000 >> 7, 0b00001),
            (SetIndex::Fermi, 32, 0x4000 >> 7, 0b00010),
            (SetIndex::Fermi, 32, 0x8000 >> 7, 0b00100),
            (SetIndex::Fermi, 32, 0x10000 >> 7, 0),
            (SetIndex::Fermi, 32, 0x20000 >> 7, 0b01000),
            (SetIndex::Fermi, 32, 0x40000 >> 7, 0),
            (SetIndex::Fermi, 64, 0x80000 >> 7, 0b10000),
            (SetIndex::Fermi, 64, 0x100000 >> 7, 0),
            (SetIndex::Fermi, 64, 0xaff80 >> 7, 0b100000),
            (SetIndex::Fermi, 128, 0x3000 >> 7, 0b1100001),
            (SetIndex::Fermi, 8, 0x2880 >> 7, 0),
        ] {
            assert_eq!(array(sets, 2, index).set_of(LineAddress(line)), expected, "{index:?} {sets} {line}");
        }
    }

    #[test]
    fn a_pinned_frame_is_never_a_victim() {
        let mut tags = array(4, 2, SetIndex::Bits);
        for line in [0, 4] {
            let frame = tags.victim(LineAddress(line)).unwrap();
            tags.install(frame, &touch(line));
        }
        let first = tags.find(LineAddress(0)).unwrap();
        assert_eq!(tags.victim(LineAddress(8)), Some(first), "the least recently used");
        tags.frames_mut().pin(first, MshrId(3));
        let second = tags.find(LineAddress(4)).unwrap();
        assert_eq!(tags.victim(LineAddress(8)), Some(second));
        tags.frames_mut().pin(second, MshrId(4));
        assert_eq!(tags.victim(LineAddress(8)), None);
        tags.frames_mut().unpin(first);
        assert_eq!(tags.victim(LineAddress(8)), Some(first));
    }

    #[test]
    fn dirty_frames_are_found_without_a_walk_over_sets() {
        let mut tags = array(64, 4, SetIndex::Bits);
        for line in [3, 70, 63] {
            let frame = tags.victim(LineAddress(line)).unwrap();
            tags.install(frame, &touch(line));
            tags.frames_mut().add_dirty(frame, ByteMask::range(4, 4));
        }
        let mut found = Vec::new();
        let mut from = FrameId(0);
        while let Some(frame) = tags.frames().next_dirty(from) {
            found.push(tags.frames().line(frame).unwrap().0);
            tags.frames_mut().clean(frame);
            from = frame;
        }
        assert_eq!(found, [3, 70, 63], "sets 3, 6 and 63");
        tags.frames_mut().invalidate_all();
        assert_eq!(tags.find(LineAddress(3)), None);
    }

    #[test]
    fn faults_of_a_geometry_are_named() {
        let good = Geometry {
            sets: 4,
            ways: 4,
            index: SetIndex::Bits,
            replacement: Chosen::named("tree-plru").unwrap(),
        };
        assert_eq!(good.check(), Ok(()));
        assert!(Geometry { sets: 6, ..good.clone() }.check().is_err());
        assert!(Geometry { sets: 0, ..good.clone() }.check().is_err());
        assert!(Geometry { ways: 3, ..good.clone() }.check().is_err());
        assert!(Geometry { ways: 65, ..good.clone() }.check().is_err());
    }
}
