//! What comes out of a MapReduce, and what the expected results of several need.

use super::{Groups, MapReduce, Pairs, directory};
use crate::host::Host;
use crate::{DeviceError, Element};

impl MapReduce<'_> {
    /// Compares pairs, bit for bit; keys and values must lie without gaps.
    pub(crate) fn check<K: Element>(
        &self,
        host: &mut Host<'_>,
        pairs: Pairs,
        keys: &[K],
        values: &[i32],
    ) -> Result<(), DeviceError> {
        host.exact(&self.name("keys"), pairs.keys, keys)?;
        host.exact(&self.name("values"), pairs.values, values)?;
        host.exact(&self.name("directory"), pairs.directory, &directory(pairs.count, pairs.shape))?;
        Ok(())
    }

    /// Compares groups: their pairs, and where each begins.
    pub(crate) fn check_groups<K: Element>(
        &self,
        host: &mut Host<'_>,
        groups: Groups,
        keys: &[K],
        values: &[i32],
        firsts: &[i32],
    ) -> Result<(), DeviceError> {
        self.check(host, groups.pairs, keys, values)?;
        let ends = firsts[1..].iter().copied().chain([groups.pairs.count as i32]);
        let ranges: Vec<i32> = firsts.iter().zip(ends).flat_map(|(&first, end)| [first, end]).collect();
        host.exact(&self.name("ranges"), groups.ranges, &ranges)?;
        Ok(())
    }
}

/// Where runs of equal keys begin.
pub(crate) fn firsts<K: PartialEq>(keys: &[K]) -> Vec<i32> {
    (0..keys.len()).filter(|&at| at == 0 || keys[at] != keys[at - 1]).map(|at| at as i32).collect()
}

/// The hash of a text, as Mars computes it.
pub(crate) fn hash_text(text: &[u8]) -> i32 {
    let start = u32::try_from(text.len()).expect("texts are short");
    text.iter().fold(start, |hash, &c| (hash << 4) ^ (hash >> 28) ^ u32::from(c)) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_begin_where_keys_change() {
        assert_eq!(firsts(&["a", "a", "b", "a"]), [0, 2, 3]);
    }

    #[test]
    fn a_hash_by_hand() {
        assert_eq!(hash_text(b"ab"), ((2 << 4 ^ 0x61) << 4) ^ 0x62);
    }
}
