//! y + launches a x, in f64.

use super::{A, Saxpy};
use crate::suite::prelude::*;

impl Saxpy {
    /// y + launches a x; each launch adds one product to the element's sum.
    pub(super) fn expected(&self, x: &[f32], y: &[f32]) -> Vec<Near> {
        let bound = gamma(2 * self.launches);
        let scale = self.launches as f64 * f64::from(A);
        let element = |(&x, &y): (&f32, &f32)| {
            let (x, y) = (f64::from(x), f64::from(y));
            Near { value: y + scale * x, bound: bound * (y.abs() + scale * x.abs()) }
        };
        x.iter().zip(y).map(element).collect()
    }
}
