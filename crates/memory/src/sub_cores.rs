//! How what an SM has is divided among its sub-cores.

/// In how many parts `count` units, collectors or banks are: one for each sub-core, or a single one for all where they are fewer
/// than the sub-cores.
///
/// # Errors
/// Returns what was expected of `count` if the sub-cores cannot have equal shares.
pub fn parts(count: u32, sub_cores: u32) -> Result<u32, String> {
    if count < sub_cores {
        return Ok(1);
    }
    if count.is_multiple_of(sub_cores) {
        return Ok(sub_cores);
    }
    Err(format!("fewer than sm.schedulers ({sub_cores}) or a multiple of it, since sm.sub_cores is set"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shares_or_one_for_all() {
        assert_eq!([1, 3, 4, 8, 12].map(|count| parts(count, 4).unwrap()), [1, 1, 4, 4, 4]);
        assert_eq!([1, 5].map(|count| parts(count, 1).unwrap()), [1, 1]);
        assert!(parts(6, 4).unwrap_err().contains("fewer than sm.schedulers (4) or a multiple"));
    }
}
