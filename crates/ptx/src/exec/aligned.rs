//! Sums of products as a GPU's tensor cores make them of f16, bf16 and tf32.
//!
//! The ISA leaves the rounding of such sums open. Compute capability 9.0 lines all products and the first addend up with the
//! largest of them, by the sum of the factors' exponents; drops what lies more than 25 bits below that; adds the rest exactly; and
//! drops what an f32 has no room for. An H200 and an H100 gave these bits for every product that was tried (`tests/hardware_matrices.txt`).

/// Most products of a sum.
const MOST: usize = 64;
/// Bits that are kept below the largest addend's highest one.
const KEPT: i32 = 25;
/// Below every exponent of a product.
const NONE: i32 = i32::MIN;

/// The exponent of a number that is a normal f64: any f32 but zero.
#[inline(always)]
fn exponent(x: f64) -> i32 {
    (x.to_bits() >> 52 & 0x7ff) as i32 - 1023
}

/// 2^n for an n that a normal f64 has.
#[inline(always)]
fn power_of_two(n: i32) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

/// The nearest f32 towards zero; infinity beyond all of them.
#[inline(always)]
fn truncated(x: f64) -> f32 {
    let nearest = x as f32;
    let is_above = f64::from(nearest).abs() > x.abs() && x.abs() < power_of_two(128);
    f32::from_bits(nearest.to_bits() - u32::from(is_above))
}

/// `first` and the products of pairs, at most 64. Factors have 11 bits of precision at most, so that products are exact here.
#[inline(always)]
pub(super) fn sum(first: f32, pairs: impl Iterator<Item = (f32, f32)>) -> f32 {
    let first = f64::from(first);
    let mut terms = [0.0; MOST + 1];
    terms[0] = first;
    let mut count = 1;
    let mut highest = if first == 0.0 { NONE } else { exponent(first) };
    let mut plain = first;
    for ((a, b), term) in pairs.zip(&mut terms[1..]) {
        let (a, b) = (f64::from(a), f64::from(b));
        *term = a * b;
        plain += *term;
        count += 1;
        if *term != 0.0 {
            highest = highest.max(exponent(a) + exponent(b));
        }
    }
    // Sums of finite products are finite in f64.
    if !plain.is_finite() {
        return plain as f32;
    }
    if highest == NONE {
        return 0.0;
    }
    let scale = power_of_two(KEPT - highest);
    let total: f64 = terms[..count].iter().map(|term| (term * scale).trunc()).sum();
    truncated(total / scale)
}

#[cfg(test)]
mod tests {
    use super::sum;

    fn of(first: f32, pairs: &[(f32, f32)]) -> f32 {
        sum(first, pairs.iter().copied())
    }

    #[test]
    fn exact_sums_are_exact() {
        assert_eq!(of(1.5, &[(2.0, 3.0), (-4.0, 0.25)]), 6.5);
        assert_eq!(of(0.0, &[(3.0, 0.0)]).to_bits(), 0);
        assert_eq!(of(-1.0, &[(1.0, 1.0)]).to_bits(), 0);
    }

    #[test]
    fn what_lies_25_bits_below_the_largest_is_dropped_before_the_sum() {
        let tiny = 2f32.powi(-26);
        assert_eq!(of(1.0, &[(tiny, 1.0); 64]), 1.0);
        // A bit higher it counts, and adds up to what the result shows.
        assert_eq!(of(1.0, &[(2.0 * tiny, 1.0); 64]), 1.0 + 2f32.powi(-19));
        // Towards zero, of either sign.
        assert_eq!(of(1.0, &[(-3.0 * tiny, 1.0)]), 1.0 - 2f32.powi(-24));
        assert_eq!(of(-1.0, &[(3.0 * tiny, 1.0)]), -(1.0 - 2f32.powi(-24)));
    }

    #[test]
    fn factors_line_up_by_their_exponents() {
        // 1.5 * 1.5 is 2.25, and lines up as if it were below 2.
        let below = 2f32.powi(-25);
        assert_eq!(of(-2.25, &[(1.5, 1.5), (below, 1.0)]), 0.0);
        assert_eq!(of(-1.0, &[(1.0, 1.0), (below, 1.0)]), below);
    }

    #[test]
    fn the_result_is_cut_to_an_f32() {
        let ulp = 2f32.powi(-23);
        assert_eq!(of(1.0, &[(0.75 * ulp, 1.0)]), 1.0);
        assert_eq!(of(f32::MAX, &[(2f32.powi(103), 1.0)]), f32::MAX);
        assert_eq!(of(f32::MAX, &[(2f32.powi(64), 2f32.powi(63))]), f32::INFINITY);
        assert!(of(f32::INFINITY, &[(1.0, f32::NEG_INFINITY)]).is_nan());
        assert_eq!(of(f32::INFINITY, &[(1.0, 1.0)]), f32::INFINITY);
        assert_eq!(of(f32::from_bits(1), &[(0.0, 1.0)]).to_bits(), 1);
    }
}
