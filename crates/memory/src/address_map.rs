//! Maps device addresses to slices and channels, and back.

use crate::address::{LINE_BYTES, LineAddress};
use crate::interleave::InterleaveHash;
use crate::node::NodeId;
use crate::parameters::ParameterError;
use crate::slice_map::SliceMap;
use crate::window;

/// The slice that holds a line, and the line's number in that slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Home {
    /// LLC slice, counted from 0.
    pub slice: u16,
    /// Number of the line within its slice. The numbers have no gaps, so indexing sets by them uses all sets.
    pub line: LineAddress,
}

/// The map from device lines to LLC slices and their DRAM channels, and back.
///
/// Chunks of `interleave` bytes are dealt out to the slices in turn. Slice s belongs to channel s modulo the
/// number of channels, so neighbouring chunks lie in different channels, as in other simulators. The number
/// of channels need not be a power of two. Within a channel, chunks alternate between its slices. In the
/// published patterns of GTX 480 and QV100 this is the lowest bank bit, so the slices of a channel never
/// share a bank; the slices of the RTX 3070 alternate by lines, which a chunk of 256 bytes cannot express.
/// With a [hash](InterleaveHash) a chunk lies in another slice of its round, at the same place there.
/// The map agrees with [`SliceMap`], which is all that a requester needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressMap {
    slices: SliceMap,
    divide: Divisor,
    slice_count: u64,
    channels: u16,
    /// Binary logarithm of the number of lines in a chunk.
    shift: u32,
}

impl AddressMap {
    /// Makes a map for `channels` channels with `slices_per_channel` slices each; `first_slice` is the
    /// network node of the first slice.
    ///
    /// # Errors
    /// Fails if a count is zero, if there are too many slices, or if the chunk size is not a power of two of
    /// at least one line.
    pub fn new(
        channels: u16,
        slices_per_channel: u16,
        interleave_bytes: u32,
        first_slice: NodeId,
    ) -> Result<AddressMap, ParameterError> {
        let count = channels.checked_mul(slices_per_channel).filter(|count| (1..=4096).contains(count));
        let Some(count) = count else {
            let found = format!("found {channels} of {slices_per_channel} slices, expected 1 to 4096 slices");
            return Err(ParameterError::new("channels", found));
        };
        let Some(slices) = SliceMap::new(count, interleave_bytes, first_slice) else {
            let found = format!("found {interleave_bytes}, expected a power of two from {LINE_BYTES} on");
            return Err(ParameterError::new("interleave_bytes", found));
        };
        let shift = (interleave_bytes / LINE_BYTES as u32).trailing_zeros();
        Ok(AddressMap { slices, divide: Divisor::new(count), slice_count: u64::from(count), channels, shift })
    }

    /// The map with a hash of the chunks.
    ///
    /// # Errors
    /// Says why there is no such hash for this number of slices.
    pub fn with_hash(self, hash: &InterleaveHash) -> Result<AddressMap, ParameterError> {
        Ok(AddressMap { slices: self.slices.with_hash(hash)?, ..self })
    }

    /// The home of a device line.
    #[inline]
    pub fn home(&self, line: LineAddress) -> Home {
        if window::holds(line) {
            return self.home_of_row(line);
        }
        let chunk = line.0 >> self.shift;
        let (local, slice) = self.divide.divide(chunk);
        let within = line.0 & (self.chunk_lines() - 1);
        let slice = match self.slices.hash() {
            Some(hash) => slice ^ hash.of(local),
            None => slice,
        };
        Home { slice: slice as u16, line: LineAddress(local << self.shift | within) }
    }

    /// The home of a line of the window, whose rows are dealt out to the slices in turn.
    #[cold]
    fn home_of_row(&self, line: LineAddress) -> Home {
        let (row, within) = window::row_of(line);
        let (row, slice) = self.divide.divide(row);
        Home { slice: slice as u16, line: window::line_of(row, within) }
    }

    /// The device line at a home: the inverse of [`AddressMap::home`].
    #[inline]
    pub fn device_line(&self, home: Home) -> LineAddress {
        if window::holds(home.line) {
            let (row, within) = window::row_of(home.line);
            return window::line_of(row * self.slice_count + u64::from(home.slice), within);
        }
        let local = home.line.0 >> self.shift;
        let slice = match self.slices.hash() {
            Some(hash) => u64::from(home.slice) ^ hash.of(local),
            None => u64::from(home.slice),
        };
        let chunk = local * self.slice_count + slice;
        LineAddress(chunk << self.shift | home.line.0 & (self.chunk_lines() - 1))
    }

    /// The network node that owns a line.
    #[inline]
    pub fn node_of(&self, line: LineAddress) -> NodeId {
        self.slices.node_of(line)
    }

    /// The part of the map that requesters need.
    pub fn slice_map(&self) -> SliceMap {
        self.slices
    }

    /// The slices of a channel, in the order in which its chunks are dealt out to them.
    pub fn slices_of(&self, channel: u16) -> impl Iterator<Item = u16> {
        (channel..self.slices.slices()).step_by(usize::from(self.channels))
    }

    /// The channel of a slice, and the slice's position among those of the channel.
    #[inline]
    pub fn channel_of(&self, slice: u16) -> (u16, usize) {
        (slice % self.channels, usize::from(slice / self.channels))
    }

    /// Number of DRAM channels.
    pub fn channels(&self) -> u16 {
        self.channels
    }

    /// Number of lines in a chunk.
    #[inline]
    pub fn chunk_lines(&self) -> u64 {
        1 << self.shift
    }

    /// Lines that each slice must hold to back all device addresses below `bytes`.
    pub fn lines_per_slice(&self, bytes: u64) -> u64 {
        let chunks = bytes.div_ceil((LINE_BYTES as u64) << self.shift);
        chunks.div_ceil(self.slice_count) << self.shift
    }
}

/// Divides by a fixed number, using a multiplication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Divisor {
    divisor: u64,
    /// ceil(2^64 / divisor), 0 standing for 2^64.
    reciprocal: u64,
}

impl Divisor {
    fn new(divisor: u16) -> Divisor {
        let divisor = u64::from(divisor);
        Divisor { divisor, reciprocal: (u64::MAX / divisor).wrapping_add(1) }
    }

    /// Returns quotient and remainder.
    #[inline]
    fn divide(self, number: u64) -> (u64, u64) {
        // The reciprocal is at most (divisor - 1) / divisor too large, so the quotient is exact while
        // number * divisor < 2^64: with at most 4096 slices, for 52-bit chunk numbers.
        debug_assert!(number < 1 << 52, "device addresses have at most 59 bits");
        if self.divisor == 1 {
            return (number, 0);
        }
        let quotient = ((u128::from(number) * u128::from(self.reciprocal)) >> 64) as u64;
        (quotient, number - quotient * self.divisor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strata_engine::seed::Stream;

    #[test]
    fn every_line_has_a_home_of_its_own() {
        let mut random = Stream::new(1, "address map");
        for (channels, slices) in [(6, 2), (1, 1), (32, 2), (16, 2), (8, 1), (5, 3), (3, 7), (4096, 1)] {
            let map = AddressMap::new(channels, slices, 256, NodeId(15)).unwrap();
            let near_and_far = (0..20_000).chain((0..20_000).map(|_| random.next() >> 24));
            for line in near_and_far.map(LineAddress) {
                let home = map.home(line);
                assert_eq!(map.device_line(home), line);
                assert_eq!(u64::from(home.slice), (line.0 / 2) % u64::from(channels * slices));
                assert_eq!(map.node_of(line), NodeId(15 + home.slice));
            }
        }
    }

    fn hashes() -> [InterleaveHash; 2] {
        // Bits 8 to 12 of an address select one of 32 slices.
        let bits = vec![vec![13, 18], vec![14, 19, 23], vec![15], vec![16, 63], vec![17, 22]];
        [InterleaveHash::Ipoly, InterleaveHash::Xor { bits }]
    }

    #[test]
    fn hashed_lines_have_homes_of_their_own_in_the_same_round() {
        let mut random = Stream::new(2, "hashed address map");
        let plain = AddressMap::new(16, 2, 256, NodeId(15)).unwrap();
        assert_eq!(plain.with_hash(&InterleaveHash::None).unwrap(), plain);
        for hash in hashes() {
            let map = plain.with_hash(&hash).unwrap();
            let near_and_far = (0..20_000).chain((0..20_000).map(|_| random.next() >> 24));
            for line in near_and_far.map(LineAddress) {
                let home = map.home(line);
                assert_eq!(home.line, plain.home(line).line, "{hash:?}");
                assert_eq!(map.device_line(home), line, "{hash:?}");
                assert_eq!(map.node_of(line), NodeId(15 + home.slice), "{hash:?}");
            }
            for round in (0..2000).map(|_| random.next() >> 30) {
                let mut slices: Vec<u16> =
                    (0..32).map(|chunk| map.home(LineAddress((round * 32 + chunk) * 2)).slice).collect();
                slices.sort_unstable();
                assert_eq!(
                    slices,
                    (0..32).collect::<Vec<_>>(),
                    "{hash:?}: each slice has a chunk of round {round}"
                );
            }
        }
    }

    #[test]
    fn ipoly_spreads_every_power_of_two_over_all_slices() {
        for (channels, slices) in [(2, 1), (16, 2), (64, 4)] {
            let plain = AddressMap::new(channels, slices, 256, NodeId(0)).unwrap();
            let map = plain.with_hash(&InterleaveHash::Ipoly).unwrap();
            let count = u64::from(channels * slices);
            let met = |map: &AddressMap, stride: u32| {
                let homes = (0..count).map(|chunk| map.home(LineAddress((chunk << stride) * 2)).slice);
                homes.collect::<std::collections::HashSet<_>>().len() as u64
            };
            for stride in 0..30 {
                assert_eq!(met(&map, stride), count, "{count} slices, chunks 2^{stride} apart");
            }
            assert_eq!(met(&plain, 12), 1, "without a hash, a stride meets one slice");
        }
    }

    #[test]
    fn slices_of_an_even_number_are_hashed_in_groups() {
        // Groups of 16 and 32 slices: the largest powers of two that divide 80 and 96.
        for (channels, group) in [(40, 16), (48, 32)] {
            let count = 2 * u64::from(channels);
            let plain = AddressMap::new(channels, 2, 256, NodeId(0)).unwrap();
            let map = plain.with_hash(&InterleaveHash::Ipoly).unwrap();
            let mut random = Stream::new(3, "slices in groups");
            for line in (0..20_000).map(|_| LineAddress(random.next() >> 28)) {
                let home = map.home(line);
                assert_eq!(home.slice / group, plain.home(line).slice / group);
                assert_eq!((map.device_line(home), map.node_of(line)), (line, NodeId(home.slice)));
            }
            // Chunks 2^12 apart: 4096 modulo 80 is 16, so without a hash they meet 5 of 80 slices, and 3 of 96.
            let met = |map: &AddressMap| {
                let homes = (0..8 * count).map(|chunk| map.home(LineAddress((chunk << 12) * 2)).slice);
                homes.collect::<std::collections::HashSet<_>>().len() as u64
            };
            assert_eq!((met(&plain), met(&map)), (count / u64::from(group), count));
        }
    }

    #[test]
    fn a_xor_takes_the_bits_that_are_given() {
        let [_, xor] = hashes();
        let map = AddressMap::new(16, 2, 256, NodeId(0)).unwrap().with_hash(&xor).unwrap();
        for (bit, slice) in [(13, 1), (18, 1), (14, 2), (19, 2), (23, 2), (15, 4), (16, 8), (17, 16), (20, 0)]
        {
            assert_eq!(map.home(LineAddress(1 << (bit - 7))).slice, slice, "bit {bit}");
        }
        assert_eq!(map.home(LineAddress((1 << 13 | 1 << 18 | 1 << 17 | 1 << 8) >> 7)).slice, 16 + 1);
    }

    #[test]
    fn rows_of_the_window_stay_whole() {
        let hashed =
            AddressMap::new(16, 2, 256, NodeId(15)).unwrap().with_hash(&InterleaveHash::Ipoly).unwrap();
        for (channels, slices) in [(6, 2), (1, 1), (10, 4), (5, 3), (16, 2)] {
            let map = if channels == 16 {
                hashed
            } else {
                AddressMap::new(channels, slices, 256, NodeId(15)).unwrap()
            };
            for row in 0..1000 {
                let homes: Vec<Home> =
                    (0..window::ROW_LINES).map(|within| map.home(window::line_of(row, within))).collect();
                let count = u64::from(channels * slices);
                for (within, home) in homes.iter().enumerate() {
                    assert_eq!(u64::from(home.slice), row % count);
                    assert_eq!(home.line, window::line_of(row / count, within as u64));
                    let line = window::line_of(row, within as u64);
                    assert_eq!((map.device_line(*home), map.node_of(line)), (line, NodeId(15 + home.slice)));
                }
            }
        }
    }

    #[test]
    fn a_slice_owns_its_lines_without_gaps() {
        let map = AddressMap::new(6, 2, 256, NodeId(15)).unwrap();
        let bytes = 12 * 256 * 10;
        let mut seen = [0; 12];
        for line in (0..bytes / 128).map(LineAddress) {
            let home = map.home(line);
            assert_eq!(home.line.0, seen[usize::from(home.slice)]);
            seen[usize::from(home.slice)] += 1;
        }
        assert_eq!(seen, [20; 12]);
        assert_eq!(map.lines_per_slice(bytes), 20);
        assert_eq!(map.lines_per_slice(bytes + 1), 22);
    }

    #[test]
    fn neighbouring_chunks_lie_in_different_channels() {
        let map = AddressMap::new(6, 2, 256, NodeId(15)).unwrap();
        for chunk in 0..24 {
            let slice = map.home(LineAddress(2 * chunk)).slice;
            assert_eq!(map.channel_of(slice), ((chunk % 6) as u16, (chunk / 6 % 2) as usize));
        }
        assert_eq!(map.slices_of(4).collect::<Vec<_>>(), [4, 10]);
    }

    #[test]
    fn what_cannot_be_hashed_is_refused() {
        let lists =
            |lists: &[&[u32]]| InterleaveHash::Xor { bits: lists.iter().map(|list| list.to_vec()).collect() };
        for (slices, hash, message) in [
            (
                15,
                InterleaveHash::Ipoly,
                "found 15 slices, expected an even number whose largest power of two is at most 256",
            ),
            (
                512,
                InterleaveHash::Ipoly,
                "found 512 slices, expected an even number whose largest power of two is at most 256",
            ),
            (4, lists(&[&[10]]), "found 1 lists of bits, expected 2, one for each bit of 4 slices"),
            (4, lists(&[&[10], &[9]]), "found bit 9, expected 10 to 63"),
            (4, lists(&[&[10], &[64]]), "found bit 64, expected 10 to 63"),
            (4, lists(&[&[], &[12, 12]]), "found bit 12 twice for a bit of the slice, expected once"),
        ] {
            let map = AddressMap::new(slices, 1, 256, NodeId(0)).unwrap();
            let error = map.with_hash(&hash).unwrap_err();
            assert_eq!((error.field, error.message.as_str()), ("interleave_hash", message));
        }
    }

    #[test]
    fn what_cannot_be_mapped_is_refused() {
        for (channels, slices, interleave, field) in
            [(0, 2, 256, "channels"), (300, 300, 256, "channels"), (6, 2, 64, "interleave_bytes")]
        {
            assert_eq!(AddressMap::new(channels, slices, interleave, NodeId(0)).unwrap_err().field, field);
        }
    }
}
