//! The memory request sampler: follows the blocks of a few warps (IV-B, Fig. 11a).

use strata_memory::LineAddress;

use super::history::Signature;

/// The parameters of a sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::fuse) struct SamplerShape {
    pub sets: usize,
    pub ways: usize,
    /// Bits of a line number that it keeps.
    pub tag_bits: u32,
}

/// "V", "U", "Tag" and "Signature" of Fig. 11a; "RP" is the place in the set.
#[derive(Clone, Copy, Debug)]
struct Entry {
    tag: u64,
    signature: Signature,
    used: bool,
}

/// What a request found in the sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::fuse) enum Sampled {
    /// The block, brought by this signature.
    Hit(Signature),
    /// Not the block, which took the place of another one, brought by this signature and never used.
    Unused(Signature),
    /// Not the block, and the one that it replaced, if any, taught nothing.
    Missed,
}

/// Sets of sampled requests, the most recently used first.
#[derive(Clone, Debug)]
pub(in crate::fuse) struct Sampler {
    shape: SamplerShape,
    sets: Vec<Vec<Entry>>,
}

impl Sampler {
    pub fn new(shape: SamplerShape) -> Sampler {
        let sets = (0..shape.sets).map(|_| Vec::with_capacity(shape.ways)).collect();
        Sampler { shape, sets }
    }

    /// Processes a request of the warp that a set of the sampler follows.
    pub fn see(&mut self, set: usize, line: LineAddress, signature: Signature) -> Sampled {
        let tag = line.0 & ((1 << self.shape.tag_bits) - 1);
        let entries = &mut self.sets[set];
        if let Some(at) = entries.iter().position(|entry| entry.tag == tag) {
            let entry = &mut entries[at];
            entry.used = true;
            let signature = entry.signature;
            entries[..=at].rotate_right(1);
            return Sampled::Hit(signature);
        }
        let left = if entries.len() == self.shape.ways { entries.pop() } else { None };
        entries.insert(0, Entry { tag, signature, used: false });
        match left {
            Some(Entry { used: false, signature, .. }) => Sampled::Unused(signature),
            _ => Sampled::Missed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_and_unused_evictions_are_reported_with_the_first_signature() {
        let mut sampler = Sampler::new(SamplerShape { sets: 2, ways: 2, tag_bits: 15 });
        let (a, b, c) = (Signature(1), Signature(2), Signature(3));
        let line = LineAddress;
        assert_eq!(sampler.see(0, line(10), a), Sampled::Missed);
        assert_eq!(sampler.see(0, line(11), b), Sampled::Missed);
        assert_eq!(sampler.see(0, line(10), c), Sampled::Hit(a), "brought by the first");
        assert_eq!(sampler.see(1, line(10), c), Sampled::Missed, "another warp's set");
        assert_eq!(sampler.see(0, line(12), c), Sampled::Unused(b), "11 was used longest ago");
        assert_eq!(sampler.see(0, line(13), c), Sampled::Missed, "10 was used");
        assert_eq!(sampler.see(0, line(12 + (1 << 15)), a), Sampled::Hit(c), "fifteen bits of the line");
    }
}
