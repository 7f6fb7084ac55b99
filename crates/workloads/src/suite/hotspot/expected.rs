//! The stencil over the whole chip, step by step, in f64.

use super::{AMBIENT, Constants, HOTTEST, Hotspot};
use crate::check::F32_ROUNDOFF;
use crate::suite::prelude::*;

impl Hotspot {
    /// All steps over the whole chip, without tiles.
    ///
    /// A step's result is a combination of five temperatures with weights that are positive and sum to at most
    /// one, so errors add up and do not grow. One step itself rounds about a dozen times, on terms none of which
    /// exceeds 4 k T with k = dt/cap x conductance < 1/4, plus T: 32 roundings of the highest temperature cover it.
    pub(super) fn expected(&self, temperature: &[f32], power: &[f32]) -> Vec<Near> {
        let &Self { rows, columns, steps } = self;
        let Constants { dt_over_cap, rx_inverse, ry_inverse, rz_inverse } = self.constants();
        let [k, rx, ry, rz, ambient] =
            [dt_over_cap, rx_inverse, ry_inverse, rz_inverse, AMBIENT].map(f64::from);
        assert!(k * (2.0 * rx + 2.0 * ry + rz) <= 1.0, "the time step is too long for cells this small");

        let mut now: Vec<f64> = temperature.iter().map(|&t| f64::from(t)).collect();
        let mut next = now.clone();
        for _ in 0..steps {
            for row in 0..rows {
                for column in 0..columns {
                    let at = row * columns + column;
                    let t = now[at];
                    let north = if row > 0 { now[at - columns] } else { t };
                    let south = if row + 1 < rows { now[at + columns] } else { t };
                    let west = if column > 0 { now[at - 1] } else { t };
                    let east = if column + 1 < columns { now[at + 1] } else { t };
                    let flow = (north - t + (south - t)) * ry + (west - t + (east - t)) * rx;
                    next[at] = t + k * (f64::from(power[at]) + flow + (ambient - t) * rz);
                }
            }
            std::mem::swap(&mut now, &mut next);
        }
        let bound = 32.0 * steps as f64 * F32_ROUNDOFF * HOTTEST;
        now.into_iter().map(|value| Near { value, bound }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chip_at_ambient_temperature_without_power_stays() {
        let hotspot = Hotspot { rows: 3, columns: 4, steps: 5 };
        let found = hotspot.expected(&[AMBIENT; 12], &[0.0; 12]);
        assert!(found.iter().all(|near| near.value == f64::from(AMBIENT)));
    }

    #[test]
    fn heat_flows_to_neighbours_and_is_kept_but_for_the_surface() {
        let hotspot = Hotspot { rows: 512, columns: 512, steps: 1 };
        let mut temperature = vec![AMBIENT; 512 * 512];
        let middle = 256 * 512 + 256;
        temperature[middle] = AMBIENT + 16.0;
        let found = hotspot.expected(&temperature, &vec![0.0; 512 * 512]);
        let above = |at: usize| found[at].value - f64::from(AMBIENT);
        let neighbours = [middle - 512, middle - 1, middle + 1, middle + 512].map(above);
        assert!(neighbours.iter().all(|&t| (0.1..4.0).contains(&t)), "{neighbours:?}");
        let total = above(middle) + neighbours.iter().sum::<f64>();
        assert!((15.9..16.0).contains(&total), "{total} of 16 left");
    }
}
