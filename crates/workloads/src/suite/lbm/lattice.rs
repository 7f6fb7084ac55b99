//! The lattice: its shape, its walls, its initial populations.

use crate::random::Random;

/// Directions in which populations move, the first of them at rest: x, y, z.
pub(super) const DIRECTIONS: [[i32; 3]; 19] = [
    [0, 0, 0],
    [0, 1, 0],
    [0, -1, 0],
    [1, 0, 0],
    [-1, 0, 0],
    [0, 0, 1],
    [0, 0, -1],
    [1, 1, 0],
    [-1, 1, 0],
    [1, -1, 0],
    [-1, -1, 0],
    [0, 1, 1],
    [0, 1, -1],
    [0, -1, 1],
    [0, -1, -1],
    [1, 0, 1],
    [1, 0, -1],
    [-1, 0, 1],
    [-1, 0, -1],
];

/// Cells at the end of each row that are none, and planes before and behind the lattice, as Parboil pads.
const PADDING_X: usize = 8;
const PADDING_Z: usize = 4;

/// What a cell is: a wall, or fluid that a lid drags along; 0 is any other fluid.
pub(super) const OBSTACLE: i32 = 1;
pub(super) const LID: i32 = 2;

/// A lattice of `x` by `y` by `z` cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lattice {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) z: usize,
}

impl Lattice {
    /// From a cell to its northern neighbour.
    pub(super) fn row(&self) -> usize {
        self.x + PADDING_X
    }

    /// From a cell to the one above it.
    pub(super) fn plane(&self) -> usize {
        self.row() * self.y
    }

    /// Cells with padding.
    pub(super) fn cells(&self) -> usize {
        self.plane() * (self.z + PADDING_Z)
    }

    /// The places of the cells that are none of the padding, each with its x, y, z.
    pub(super) fn places(self) -> impl Iterator<Item = (usize, [usize; 3])> {
        let Self { x, y, z } = self;
        let all = (0..z).flat_map(move |k| (0..y).flat_map(move |j| (0..x).map(move |i| [i, j, k])));
        all.map(move |at| (at[0] + at[1] * self.row() + (at[2] + PADDING_Z / 2) * self.plane(), at))
    }

    /// A closed box, whose lid and bottom drag the fluid at them along.
    pub(super) fn flags(&self) -> Vec<i32> {
        let &Self { x, y, z } = self;
        let mut flags = vec![0; self.cells()];
        for (place, [i, j, k]) in self.places() {
            let wall = i == 0 || i == x - 1 || j == 0 || j == y - 1 || k == 0 || k == z - 1;
            let inner = i > 1 && i < x - 2 && j > 1 && j < y - 2;
            if wall {
                flags[place] = OBSTACLE;
            } else if inner && (k == 1 || k == z - 2) {
                flags[place] = LID;
            }
        }
        flags
    }

    /// Fluid at rest, each population up to a sixteenth off its equilibrium: direction by direction.
    pub(super) fn populations(&self, seed: u64) -> Vec<f32> {
        let mut random = Random::new(seed);
        let mut populations = Vec::with_capacity(DIRECTIONS.len() * self.cells());
        for direction in 0..DIRECTIONS.len() {
            let weight = weight(direction);
            populations.extend((0..self.cells()).map(|_| weight * (1.0 + random.signed() * 0.0625)));
        }
        populations
    }
}

/// The share of a direction in fluid at rest.
pub(super) fn weight(direction: usize) -> f32 {
    match direction {
        0 => 1.0 / 3.0,
        1..7 => 1.0 / 18.0,
        _ => 1.0 / 36.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parboils_lattice_is_padded_as_there() {
        let lattice = Lattice { x: 120, y: 120, z: 150 };
        assert_eq!((lattice.row(), lattice.plane(), lattice.cells()), (128, 128 * 120, 128 * 120 * 154));
    }

    #[test]
    fn a_box_has_walls_all_around_and_two_lids() {
        let lattice = Lattice { x: 6, y: 7, z: 8 };
        let flags = lattice.flags();
        let count = |flag: i32| flags.iter().filter(|&&found| found == flag).count();
        assert_eq!(count(OBSTACLE), 6 * 7 * 8 - 4 * 5 * 6);
        assert_eq!(count(LID), 2 * 2 * 3);
    }
}
