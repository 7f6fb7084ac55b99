//! Random numbers: one named stream for each component, the same on every host.

/// A stream of random numbers (SplitMix64: Steele, Lea and Flood, OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct Stream {
    state: u64,
}

impl Stream {
    /// The stream of component `name` under `seed`. Different names give unrelated streams.
    pub fn new(seed: u64, name: &str) -> Stream {
        let mut hash = crate::hash::Fnv::default();
        hash.write(name.as_bytes());
        let mut stream = Stream { state: seed ^ hash.finish() };
        stream.next();
        stream
    }

    /// Returns the next 64 random bits.
    #[allow(clippy::should_implement_trait)]
    #[inline]
    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A random number below `bound`, by multiplication; 0 if `bound` is 0. The bias is below 2^-32 for small
    /// bounds.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_the_same_on_every_machine() {
        let mut stream = Stream::new(1, "l1d");
        let mut again = Stream::new(1, "l1d");
        let mut other = Stream::new(1, "l2");
        let first = [stream.next(), stream.next()];
        assert_eq!(first, [again.next(), again.next()]);
        assert_ne!(first, [other.next(), other.next()]);
        assert!((0..1000).all(|_| stream.below(7) < 7));
    }
}
