//! Nearest centroids, in integers.

use super::points::Points;

/// The number of the nearest centroid of each point, the lowest of equals. Centroids are in eighths.
///
/// The kernel's f32 arithmetic is exact: differences have 9 bits, their squares 18, and sums of 34 of them less
/// than 24.
pub(super) fn nearest(points: &Points, centroids: &[i32]) -> Vec<i32> {
    let distance = |point: &[u8], centroid: &[i32]| -> i32 {
        point.iter().zip(centroid).map(|(&value, &eighths)| (8 * i32::from(value) - eighths).pow(2)).sum()
    };
    let nearest = |point: &[u8]| {
        let distances = centroids.chunks_exact(points.features).map(|centroid| distance(point, centroid));
        distances
            .enumerate()
            .min_by_key(|&(number, distance)| (distance, number))
            .map_or(-1, |(n, _)| n as i32)
    };
    points.rows().map(nearest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_and_of_equals_the_first() {
        let points = Points { features: 2, values: vec![0, 0, 10, 10, 5, 5, 6, 5] };
        assert_eq!(nearest(&points, &[0, 0, 80, 80]), [0, 1, 0, 1]);
    }
}
