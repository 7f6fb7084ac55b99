//! Hashes by division of polynomials over GF(2) (Rau, "Pseudo-Randomly Interleaved Memory", ISCA 1991).
//!
//! A number's bits are the coefficients of a polynomial. Its remainder after division by an irreducible polynomial of degree n
//! has n bits. Of any 2^n numbers that are a power of two apart, no two have the same remainder.

/// Irreducible polynomials of degree 1 to 24, without their highest term.
const TAPS: [u64; 24] = [
    0b1,
    0b11,
    0b11,
    0b11,
    0b101,
    0b11,
    0b11,
    0b1_1101,
    0b1_0001,
    0b1001,
    0b101,
    0b101_0011,
    0b1_1011,
    0b100_0100_0011,
    0b11,
    0b1_0000_0000_1011,
    0b1001,
    0b1000_0001,
    0b10_0111,
    0b1001,
    0b101,
    0b11,
    0b10_0001,
    0b1000_0111,
];

/// The remainder of a number, which has `bits` bits (at most 24). Out of line, so that users without it stay small.
#[inline(never)]
pub fn remainder(number: u64, bits: u32) -> u64 {
    let Some(taps) = (bits as usize).checked_sub(1).and_then(|at| TAPS.get(at)) else { return 0 };
    let mask = (1 << bits) - 1;
    let mut rest = number;
    while rest > mask {
        rest = rest & mask ^ product(rest >> bits, *taps);
    }
    rest
}

/// The product of two polynomials.
#[inline]
fn product(one: u64, other: u64) -> u64 {
    crate::bits::members(other).fold(0, |sum, bit| sum ^ one << bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn degree(polynomial: u64) -> u32 {
        63 - polynomial.leading_zeros()
    }

    /// The remainder after any division, step by step.
    fn divided(mut number: u64, by: u64) -> u64 {
        while number != 0 && degree(number) >= degree(by) {
            number ^= by << (degree(number) - degree(by));
        }
        number
    }

    #[test]
    fn polynomials_are_irreducible() {
        for (taps, degree) in TAPS.iter().zip(1..) {
            let whole = 1 << degree | taps;
            let divisor = (2..1 << (degree / 2 + 1)).find(|divisor| divided(whole, *divisor) == 0);
            assert_eq!(divisor, None, "{whole:#b}");
        }
    }

    #[test]
    fn the_remainder_is_that_of_a_long_division() {
        let mut random = strata_engine::seed::Stream::new(1, "ipoly");
        for bits in 1..=24 {
            let whole = 1 << bits | TAPS[bits as usize - 1];
            for _ in 0..500 {
                let number = random.next() >> random.below(64);
                assert_eq!(remainder(number, bits), divided(number, whole), "{number:#x}, {bits} bits");
            }
        }
        assert_eq!((remainder(u64::MAX, 0), remainder(5, 25)), (0, 0));
    }

    #[test]
    fn numbers_a_power_of_two_apart_have_all_remainders() {
        for bits in 1..=10 {
            for stride in 0..64 - bits {
                let mut seen = vec![false; 1 << bits];
                (0..1 << bits)
                    .for_each(|number: u64| seen[remainder(number << stride, bits) as usize] = true);
                assert!(seen.into_iter().all(|seen| seen), "{bits} bits, stride 2^{stride}");
            }
        }
    }
}
