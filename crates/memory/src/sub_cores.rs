//! How what an SM has is divided among its sub-cores.

use std::fmt;

/// A number that sub-cores cannot have equal shares of; as text, what was expected instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unequal {
    /// Sub-cores of the SM.
    pub sub_cores: u32,
}

impl fmt::Display for Unequal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unequal { sub_cores } = self;
        write!(f, "fewer than sm.schedulers ({sub_cores}) or a multiple of it, since sm.sub_cores is set")
    }
}

/// In how many parts `count` units, collectors or banks are: one for each sub-core, or a single one for all where they are fewer
/// than the sub-cores.
///
/// # Errors
/// Says what was expected of `count` if the sub-cores cannot have equal shares.
pub fn parts(count: u32, sub_cores: u32) -> Result<u32, Unequal> {
    if count < sub_cores {
        return Ok(1);
    }
    if count.is_multiple_of(sub_cores) {
        return Ok(sub_cores);
    }
    Err(Unequal { sub_cores })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shares_or_one_for_all() {
        assert_eq!([1, 3, 4, 8, 12].map(|count| parts(count, 4).unwrap()), [1, 1, 4, 4, 4]);
        assert_eq!([1, 5].map(|count| parts(count, 1).unwrap()), [1, 1]);
        assert!(parts(6, 4).unwrap_err().to_string().contains("fewer than sm.schedulers (4) or a multiple"));
    }
}
