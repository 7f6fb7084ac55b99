//! The steps over the whole grid, with a bound for each point.

use super::{C0, C1, Stencil};
use crate::suite::prelude::*;

impl Stencil {
    /// All steps. The surface keeps its values.
    pub(super) fn expected(&self, start: &[f32]) -> Vec<Near> {
        let &Self { nx, ny, nz, iterations } = self;
        let (c0, c1) = (Bounded::from(C0), Bounded::from(C1));
        let layer = nx * ny;
        let mut now: Vec<Bounded> = start.iter().copied().map(Bounded::from).collect();
        let mut next = now.clone();
        for _ in 0..iterations {
            for z in 1..nz - 1 {
                for y in 1..ny - 1 {
                    for x in 1..nx - 1 {
                        let at = z * layer + y * nx + x;
                        let vertical = now[at + layer] + now[at - layer];
                        let sum = vertical + now[at + nx] + now[at - nx] + now[at + 1] + now[at - 1];
                        next[at] = sum * c1 - now[at] * c0;
                    }
                }
            }
            std::mem::swap(&mut now, &mut next);
        }
        now.into_iter().map(Bounded::near).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_inner_point_by_hand() {
        let stencil = Stencil { nx: 3, ny: 3, nz: 3, iterations: 1 };
        let mut start = [100.0; 27];
        for (at, value) in [(4, 1.0), (10, 2.0), (12, 3.0), (14, 4.0), (16, 5.0), (22, 21.0), (13, 6.0)] {
            start[at] = value;
        }
        let found = stencil.expected(&start);
        // 36 / 36 - 6 / 6, but for the rounding of the weights.
        assert!(found[13].value.abs() < 1e-5, "{:?}", found[13]);
        assert!(found[13].bound < 1e-5, "{:?}", found[13]);
        assert!(found.iter().enumerate().all(|(at, near)| at == 13 || near.value == f64::from(start[at])));
    }
}
