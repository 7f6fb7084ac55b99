//! The sum, word by word.

pub(super) fn expected(data: &[u32]) -> u32 {
    data.iter().fold(0, |sum: u32, &word| sum.wrapping_add(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_wraps() {
        assert_eq!(expected(&[u32::MAX, 3, 4]), 6);
    }
}
