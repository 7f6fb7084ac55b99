//! The array of the Stash paper's microbenchmarks (section 5.4.1), as the host side sees it: structs of which kernels and CPU
//! cores use one field. `cuda/elements.cuh` has their CUDA C.

use crate::host::{Host, args};
use crate::random::Random;
use crate::{DeviceError, DevicePtr};

/// Words of a struct: 32 bytes. The field is the first.
pub(crate) const WORDS: usize = 8;
/// Elements of a line of memory: what a CPU thread takes at a time.
const TURN: usize = 4;
/// Threads of the CPU: one for each of the paper's 15 cores.
pub(crate) const CPU_THREADS: u32 = 15;

/// An array whose fields the CPU cores have written.
#[derive(Debug)]
pub(crate) struct Elements {
    name: &'static str,
    /// All words, the fields as the CPU cores write them.
    words: Vec<u32>,
    ptr: DevicePtr,
}

impl Elements {
    /// Allocates `count` elements, random in all fields, and lets the CPU cores write the first field of each.
    pub(crate) fn begin(host: &mut Host<'_>, name: &'static str, count: usize) -> Result<Self, DeviceError> {
        let mut random = Random::new(0x57a5 + count as u64);
        let mut words: Vec<u32> = (0..count * WORDS).map(|_| random.bits() as u32).collect();
        let ptr = host.buffer(name, &words)?;
        host.on_cpu("cpu_write", CPU_THREADS, args![ptr, count as u32])?;
        for (i, element) in (0..).zip(words.chunks_exact_mut(WORDS)) {
            element[0] = first_value(i);
        }
        Ok(Self { name, words, ptr })
    }

    /// Where they lie.
    pub(crate) fn ptr(&self) -> DevicePtr {
        self.ptr
    }

    /// Lets the CPU cores read the fields, and compares what they read and all words with what is expected: `field` gives
    /// the field of an element from its number and its first value.
    pub(crate) fn end(
        mut self,
        host: &mut Host<'_>,
        hashes_name: &str,
        field: impl Fn(u32, u32) -> u32,
    ) -> Result<(), DeviceError> {
        let count = self.words.len() / WORDS;
        let hashes = host.zeros::<u32>(hashes_name, CPU_THREADS as usize)?;
        host.on_cpu("cpu_read", CPU_THREADS, args![self.ptr, count as u32, hashes])?;
        for (i, element) in (0..).zip(self.words.chunks_exact_mut(WORDS)) {
            element[0] = field(i, element[0]);
        }
        host.exact(hashes_name, hashes, &hashes_of(&self.words))?;
        host.exact(self.name, self.ptr, &self.words)?;
        Ok(())
    }
}

/// What the CPU cores write into element `i`.
fn first_value(i: u32) -> u32 {
    i.wrapping_mul(0x9e37_79b9)
}

/// A hash for each CPU thread over the fields of its elements, in their order. Threads take [`TURN`] elements in turn.
fn hashes_of(words: &[u32]) -> Vec<u32> {
    let mut hashes = vec![0_u32; CPU_THREADS as usize];
    for (turn, elements) in words.chunks(TURN * WORDS).enumerate() {
        let hash = &mut hashes[turn % CPU_THREADS as usize];
        for field in elements.iter().step_by(WORDS) {
            *hash = hash.wrapping_mul(31).wrapping_add(*field);
        }
    }
    hashes
}

/// What kernels make of a field, `times` times over.
pub(crate) fn computed(value: u32, times: usize) -> u32 {
    (0..times).fold(value, |value, _| value.wrapping_mul(3).wrapping_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_updates_by_hand() {
        assert_eq!(computed(2, 0), 2);
        assert_eq!(computed(2, 3), 67); // 7, 22, 67
    }

    /// 62 fields for 15 threads: 4 each, and the last two for the first thread.
    #[test]
    fn turns_by_hand() {
        let mut words = vec![7; 62 * WORDS];
        for (i, word) in (0..).zip(words.iter_mut().step_by(WORDS)) {
            *word = i;
        }
        let hashes = hashes_of(&words);
        let hash = |fields: &[u32]| fields.iter().fold(0, |hash, field| 31 * hash + field);
        assert_eq!(hashes.len(), 15);
        assert_eq!(hashes[0], hash(&[0, 1, 2, 3, 60, 61]));
        assert_eq!(hashes[14], hash(&[56, 57, 58, 59]));
    }
}
