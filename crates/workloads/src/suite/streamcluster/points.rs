//! Random points around a few places.

use crate::random::Random;

const PLACES: usize = 16;

/// Points, a row of coordinates each.
#[derive(Debug)]
pub(super) struct Points {
    pub(super) dimensions: usize,
    pub(super) coordinates: Vec<u8>,
}

impl Points {
    /// Coordinates differ from those of a point's place by at most 31, small differences being more frequent.
    pub(super) fn random(count: usize, dimensions: usize) -> Self {
        let mut random = Random::new(0x5c);
        let places: Vec<u64> = (0..PLACES * dimensions).map(|_| 32 + random.below(192)).collect();
        let mut coordinates = Vec::with_capacity(count * dimensions);
        for _ in 0..count {
            let place = random.below(PLACES as u64) as usize;
            for &middle in &places[place * dimensions..][..dimensions] {
                coordinates.push((middle + random.below(32) - random.below(32)) as u8);
            }
        }
        Self { dimensions, coordinates }
    }

    pub(super) fn len(&self) -> usize {
        self.coordinates.len() / self.dimensions
    }

    /// A row per dimension.
    pub(super) fn by_dimension(&self) -> Vec<f32> {
        let column =
            |d: usize| self.coordinates.iter().skip(d).step_by(self.dimensions).map(|&c| f32::from(c));
        (0..self.dimensions).flat_map(column).collect()
    }

    /// The squared distance: at most 253 x 253 in each of 256 dimensions, which an f32 holds exactly.
    pub(super) fn squared_distance(&self, a: usize, b: usize) -> i32 {
        let point = |number: usize| &self.coordinates[number * self.dimensions..][..self.dimensions];
        point(a).iter().zip(point(b)).map(|(&a, &b)| (i32::from(a) - i32::from(b)).pow(2)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_by_hand() {
        let points = Points { dimensions: 2, coordinates: vec![1, 2, 4, 6] };
        assert_eq!((points.len(), points.squared_distance(0, 1)), (2, 25));
        assert_eq!(points.by_dimension(), [1.0, 4.0, 2.0, 6.0]);
    }
}
