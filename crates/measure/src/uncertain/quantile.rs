//! Between what numbers lie.

/// The quantile of some numbers at a place from 0 to 1, between the two next to it where it falls between; `None` of no numbers.
#[must_use]
pub fn quantile(numbers: &[f64], place: f64) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = place * sorted.len().checked_sub(1)? as f64;
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    Some(below + (above - below) * at.fract())
}

/// Lower end, middle and upper end of some numbers: nine tenths lie between the ends; `None` of no numbers.
#[must_use]
pub fn spread(numbers: &[f64]) -> Option<[f64; 3]> {
    Some([quantile(numbers, 0.05)?, quantile(numbers, 0.5)?, quantile(numbers, 0.95)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_textbook() {
        let numbers: Vec<f64> = (0..=100).rev().map(f64::from).collect();
        assert_eq!(spread(&numbers), Some([5.0, 50.0, 95.0]));
        assert_eq!(quantile(&[1.0, 2.0], 0.5), Some(1.5));
        assert_eq!(spread(&[3.0]), Some([3.0; 3]));
        assert_eq!(spread(&[]), None);
    }
}
