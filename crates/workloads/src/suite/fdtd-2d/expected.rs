//! The fields step by step, with the bound on every cell's rounding errors.

use super::Fields;
use crate::suite::prelude::*;

impl Fields<Vec<f32>> {
    /// The fields as an input, without errors.
    pub(super) fn bounded(&self) -> Fields<Vec<Bounded>> {
        let bounded = |field: &[f32]| field.iter().map(|&value| Bounded::from(value)).collect();
        Fields { ex: bounded(&self.ex), ey: bounded(&self.ey), hz: bounded(&self.hz) }
    }
}

impl Fields<Vec<Bounded>> {
    /// A time step of fields whose rows are `ny` long, ex's one longer.
    pub(super) fn step(&mut self, ny: usize, source: f32) {
        let Self { ex, ey, hz } = self;
        let cells = hz.len();
        let weight = Bounded::from(0.7_f32);
        ey[..ny].fill(Bounded::from(source));
        for at in ny..cells {
            ey[at] = ey[at] - (hz[at] - hz[at - ny]).scaled(0.5);
        }
        // The cell's left edge in ex.
        let left = |at: usize| at / ny * (ny + 1) + at % ny;
        for at in (0..cells).filter(|at| at % ny > 0) {
            ex[left(at)] = ex[left(at)] - (hz[at] - hz[at - 1]).scaled(0.5);
        }
        for at in 0..cells {
            let curl = ex[left(at) + 1] - ex[left(at)] + ey[at + ny] - ey[at];
            hz[at] = hz[at] - weight * curl;
        }
    }

    /// Goes on from the device's fields: their rounding errors, once accepted, are an input like any other. Without
    /// that the bound would grow by a factor of 4.6 in every step.
    pub(super) fn accept(&mut self, device: &Fields<Vec<f32>>) {
        accept(&mut self.ex, &device.ex);
        accept(&mut self.ey, &device.ey);
        accept(&mut self.hz, &device.hz);
    }

    /// The intervals for a comparison.
    pub(super) fn near(self) -> Fields<Vec<Near>> {
        let near = |field: Vec<Bounded>| field.into_iter().map(Bounded::near).collect();
        Fields { ex: near(self.ex), ey: near(self.ey), hz: near(self.hz) }
    }
}

/// A value that is too far off makes the bound no number, here and in all that follows from it: nothing is near
/// enough to that.
fn accept(field: &mut [Bounded], device: &[f32]) {
    for (value, &device) in field.iter_mut().zip(device) {
        let near = (f64::from(device) - value.value()).abs() <= value.error();
        *value = if near { Bounded::from(device) } else { Bounded::new(value.value(), f64::NAN) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(field: &[Near]) -> Vec<f64> {
        field.iter().map(|near| near.value).collect()
    }

    #[test]
    fn one_step_by_hand() {
        let start = Fields { ex: vec![0.0; 6], ey: vec![1.0; 6], hz: vec![2.0, 4.0, 8.0, 16.0] };
        let mut fields = start.bounded();
        fields.step(2, 5.0);
        let found = fields.near();
        assert_eq!(values(&found.ey), [5.0, 5.0, 1.0 - 3.0, 1.0 - 6.0, 1.0, 1.0]);
        assert_eq!(values(&found.ex), [0.0, -1.0, 0.0, 0.0, -4.0, 0.0]);
        let curls = [-1.0 - 7.0, 1.0 - 10.0, -4.0 + 3.0, 4.0 + 6.0];
        let weight = f64::from(0.7_f32);
        let hz: Vec<f64> =
            [2.0, 4.0, 8.0, 16.0].iter().zip(curls).map(|(hz, curl)| hz - weight * curl).collect();
        assert_eq!(values(&found.hz), hz);
    }

    #[test]
    fn what_was_wrong_once_stays_wrong() {
        let mut field = [Bounded::new(1.0, 0.1), Bounded::new(2.0, 0.1)];
        accept(&mut field, &[1.0625, 2.25]);
        assert_eq!(field[0], Bounded::exact(1.0625));
        assert!(field[1].error().is_nan() && (field[1] - field[0]).error().is_nan());
    }
}
