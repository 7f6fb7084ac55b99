//! Algorithms that the expected results of several workloads share. They know nothing of kernels or PTX.

pub(crate) mod diffusion;
pub(crate) mod linear_algebra;

use crate::check::Near;

/// What a later stage starts from: an intermediate result as the device has it, whose rounding errors, once
/// accepted, are an input like any other. Where the device's value is wrong, the right one stands in, so that
/// nothing that follows from it passes.
pub(crate) fn accepted(found: &[f32], expected: &[Near]) -> Vec<f32> {
    let accept = |(&found, near): (&f32, &Near)| {
        let right = (f64::from(found) - near.value).abs() <= near.bound;
        if right { found } else { near.value as f32 }
    };
    found.iter().zip(expected).map(accept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_value_is_not_passed_on() {
        let near = |value| Near { value, bound: 0.25 };
        let found = accepted(&[1.25, 1.5, f32::NAN], &[near(1.0), near(1.0), near(3.0)]);
        assert_eq!(found, [1.25, 1.0, 3.0]);
    }
}
