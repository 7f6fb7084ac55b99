//! The flow, step by step over all cells.

use super::OMEGA;
use super::lattice::{DIRECTIONS, LID, Lattice, OBSTACLE, weight};
use crate::suite::prelude::*;

/// The populations after `steps` steps from `initial`, direction by direction.
///
/// One relative error is kept for all of them, the largest that a step gave any: populations stay near their
/// direction's weight, so that no error is small beside another.
pub(super) fn expected(lattice: Lattice, flags: &[i32], initial: &[f32], steps: usize) -> Vec<Near> {
    let mut now: Vec<f64> = initial.iter().map(|&f| f64::from(f)).collect();
    let mut next = now.clone();
    let mut relative_error = 0.0;
    for _ in 0..steps {
        relative_error = step(lattice, flags, &now, &mut next, relative_error);
        std::mem::swap(&mut now, &mut next);
    }
    drop(next);
    now.into_iter().map(|value| Near { value, bound: relative_error * value.abs() }).collect()
}

/// One step; gives the relative error of its results.
fn step(lattice: Lattice, flags: &[i32], now: &[f64], next: &mut [f64], relative_error: f64) -> f64 {
    let cells = lattice.cells();
    let offset = DIRECTIONS.map(|[x, y, z]| {
        x as isize + y as isize * lattice.row() as isize + z as isize * lattice.plane() as isize
    });
    let mut largest = relative_error;
    for (place, _) in lattice.places() {
        let here: [f64; 19] = std::array::from_fn(|d| now[d * cells + place]);
        let target = |d: usize| (d * cells + place).checked_add_signed(offset[d]).expect("padded");
        if flags[place] & OBSTACLE != 0 {
            for d in 0..19 {
                next[target(d)] = here[back(d)];
            }
            continue;
        }
        let here = here.map(|f| Bounded::new(f, relative_error * f.abs()));
        for (d, f) in collide(&here, flags[place] & LID != 0).into_iter().enumerate() {
            largest = largest.max(f.error() / f.value().abs());
            next[target(d)] = f.value();
        }
    }
    largest
}

/// The direction opposite to another.
fn back(direction: usize) -> usize {
    let opposite = DIRECTIONS[direction].map(|c| -c);
    DIRECTIONS.iter().position(|&other| other == opposite).expect("directions are symmetric")
}

/// What leaves a cell of fluid: the single-relaxation-time rule.
fn collide(here: &[Bounded; 19], lid: bool) -> [Bounded; 19] {
    let density: Bounded = here.iter().copied().sum();
    // Sums of what moves forth, less what moves back, in the order of the directions.
    let velocity = if lid {
        [0.005_f32, 0.002, 0.0].map(Bounded::from)
    } else {
        std::array::from_fn(|axis| combine(DIRECTIONS.map(|c| c[axis]), here) / density)
    };
    let [ux, uy, uz] = velocity;
    let [three, three_halves, nine_halves] = [3.0, 1.5, 4.5].map(Bounded::exact);
    let energy = three_halves * (ux * ux + uy * uy + uz * uz) - Bounded::exact(1.0);
    let [omega, rest] = [OMEGA, 1.0 - OMEGA].map(Bounded::from);
    std::array::from_fn(|d| {
        let speed = combine(DIRECTIONS[d], &velocity);
        let equilibrium = speed * (nine_halves * speed + three) - energy;
        rest * here[d] + Bounded::from(weight(d)) * (omega * density) * equilibrium
    })
}

/// The values with these signs, added in turn; those with a zero are left out.
fn combine<const N: usize>(signs: [i32; N], values: &[Bounded; N]) -> Bounded {
    signs.iter().zip(values).filter(|(sign, _)| **sign != 0).map(|(&sign, &v)| v.scaled(sign.into())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fluid_at_rest_stays() {
        let rest = std::array::from_fn(|d| Bounded::from(weight(d)));
        let after = collide(&rest, false);
        for d in 0..19 {
            assert!((after[d].value() - rest[d].value()).abs() < 1e-7);
            assert!(after[d].error() < 1e-5 * after[d].value());
        }
    }

    /// Mass is conserved, and the fluid takes on omega times the lid's velocity.
    #[test]
    fn a_lid_drags_fluid_along() {
        let after = collide(&std::array::from_fn(|d| Bounded::from(weight(d))), true);
        let sum = |factor: fn([i32; 3]) -> i32| -> f64 {
            (0..19).map(|d| f64::from(factor(DIRECTIONS[d])) * after[d].value()).sum()
        };
        assert!((sum(|_| 1) - 1.0).abs() < 1e-6);
        assert!((sum(|[x, _, _]| x) - 1.95 * 0.005).abs() < 1e-6);
        assert!((sum(|[_, y, _]| y) - 1.95 * 0.002).abs() < 1e-6);
        assert!(sum(|[_, _, z]| z).abs() < 1e-6);
    }

    /// What is in a wall comes back into the fluid, and what leaves a cell arrives beside it.
    #[test]
    fn populations_move_and_are_reflected() {
        let lattice = Lattice { x: 9, y: 9, z: 9 };
        let place = |at: [usize; 3]| lattice.places().find(|(_, found)| *found == at).unwrap().0;
        let mut initial: Vec<f32> = (0..19).flat_map(|d| vec![weight(d); lattice.cells()]).collect();
        let (east, west) = (3 * lattice.cells(), 4 * lattice.cells());
        initial[east + place([8, 4, 4])] += 0.01;
        initial[east + place([4, 4, 4])] += 0.01;
        let after = expected(lattice, &lattice.flags(), &initial, 1);
        let found = |at: usize| after[at].value - 1.0 / 18.0;
        assert!((found(west + place([7, 4, 4])) - 0.01).abs() < 1e-7);
        // Relaxed: by omega towards the equilibrium of fluid that is heavier and moves east.
        let moved = found(east + place([5, 4, 4]));
        assert!((moved - 0.01 * (1.0 - 1.95 + 1.95 * (1.0 + 3.0) / 18.0)).abs() < 1e-4, "{moved}");
        assert!(found(east + place([6, 4, 4])).abs() < 1e-7);
    }
}
