//! Samples of a radial MRI acquisition.

use super::{Grid, Sample};
use crate::random::Random;

/// `count` samples along straight lines through the middle of k-space, line after line: the denser the nearer
/// to the middle. A sample is at the corner of its cell, as Parboil's reader leaves it, and those that would
/// be more than `capacity` in a cell are left out.
pub(super) fn radial(grid: &Grid, count: usize, capacity: usize) -> Vec<Sample> {
    let mut random = Random::new(0x362);
    let mut found = vec![0_usize; grid.cells()];
    let mut samples = Vec::with_capacity(count);
    // Half a cell apart along the longest side; the middle one lies at the origin.
    let steps = *grid.size.iter().max().expect("three sides") as i32;
    while samples.len() < count {
        let direction = direction(&mut random);
        for step in -steps..=steps {
            let radius = f64::from(step) / f64::from(steps);
            let signal = 1.0 / (1.0 + 8.0 * radius.abs());
            let mut part = || (f64::from(random.signed()) * signal) as f32;
            let (real, imaginary) = (part(), part());
            let cell = [0, 1, 2].map(|axis| {
                let half = (grid.size[axis] - 1) as f64 / 2.0;
                (half + half * radius * direction[axis]) as usize
            });
            let index = grid.index(cell);
            if found[index] < capacity && samples.len() < count {
                found[index] += 1;
                // The volume that a sample stands for grows with the square of the radius.
                samples.push(Sample { real, imaginary, cell, compensation: (radius * radius) as f32 });
            }
        }
    }
    samples
}

/// A direction in space, all equally likely.
fn direction(random: &mut Random) -> [f64; 3] {
    loop {
        let vector = [(); 3].map(|()| f64::from(random.signed()));
        let squared: f64 = vector.iter().map(|x| x * x).sum();
        if (0.01..=1.0).contains(&squared) {
            return vector.map(|x| x / squared.sqrt());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_dense_in_the_middle_and_fit_their_cells() {
        let grid = Grid { size: [16, 16, 32] };
        let samples = radial(&grid, 5_000, 20);
        let mut found = vec![0; grid.cells()];
        samples.iter().for_each(|sample| found[grid.index(sample.cell)] += 1);
        assert_eq!(found.iter().sum::<usize>(), 5_000);
        assert_eq!(found.iter().max(), Some(&20));
        assert_eq!(found[grid.index([7, 7, 15])], 20);
        assert_eq!(found[0], 0);
    }
}
