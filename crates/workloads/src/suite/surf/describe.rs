//! Directions and descriptors of interest points.

use std::f32::consts::PI;

use super::expected::{Point, Sums};
use crate::suite::prelude::*;

/// A gradient near a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gradient {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) angle: Bounded,
}

/// A point's descriptor before and after its length is made one.
#[derive(Debug)]
pub(super) struct Descriptor {
    pub(super) numbers: Vec<Near>,
    /// The squares of the parts' lengths.
    pub(super) lengths: Vec<Near>,
}

/// A Gaussian of standard deviation 2.5 at whole distances from 0 to 6 in both directions: e^-(i^2 + j^2) / 12.5,
/// as powers of e^-0.08, over 2 pi 2.5^2.
pub(super) fn weights() -> Vec<f32> {
    const STEP: f64 = 0.923_116_346_386_635_8;
    const AREA: f64 = 39.269_908_169_872_42;
    let power = |n: usize| (0..n).fold(1.0, |product, _| product * STEP);
    (0..49_usize).map(|at| (power((at / 7).pow(2) + (at % 7).pow(2)) / AREA) as f32).collect()
}

/// The samples of the disc around a point, in units of its scale: column, row.
pub(super) fn disc() -> impl Iterator<Item = (i32, i32)> {
    (-6..=6).flat_map(|i| (-6..=6).map(move |j| (i, j))).filter(|(i, j)| i * i + j * j < 36)
}

/// Each sample of the 13 x 13 around a point: its place among those of the disc, or -1.
pub(super) fn slots() -> Vec<i32> {
    let mut slots = vec![-1; 169];
    disc().zip(0..).for_each(|((i, j), slot)| slots[((i + 6) * 13 + j + 6) as usize] = slot);
    slots
}

/// Where the samples of the 16 regions begin: four by four, five apart, around the point.
pub(super) fn regions() -> [Vec<i32>; 2] {
    let corner = |at: i32| -12 + 5 * at;
    [(0..16).map(|region| corner(region / 4)).collect(), (0..16).map(|region| corner(region % 4)).collect()]
}

impl Sums {
    fn haar(&self, row: i32, column: i32, size: i32) -> [f32; 2] {
        let half = size / 2;
        let (top, left) = (row - half, column - half);
        let x = self.sum(top, column, size, half) - self.sum(top, left, size, half);
        let y = self.sum(row, left, half, size) - self.sum(top, left, half, size);
        [x as f32, y as f32]
    }

    /// The weighted gradients of the disc around a point.
    pub(super) fn gradients(&self, point: Point) -> Vec<Gradient> {
        let weights = weights();
        let s = point.scale.round() as i32;
        let (r, c) = (point.y.round() as i32, point.x.round() as i32);
        let gradient = |(i, j): (i32, i32)| {
            let weight = weights[(7 * i.abs() + j.abs()) as usize];
            let [x, y] = self.haar(r + j * s, c + i * s, 4 * s).map(|d| weight * d);
            Gradient { x, y, angle: angle(x, y) }
        };
        disc().map(gradient).collect()
    }

    /// The descriptor of a point that looks into `direction`.
    pub(super) fn descriptor(&self, point: Point, direction: [f32; 2]) -> Descriptor {
        let [xs, ys] = regions();
        let parts: Vec<[Bounded; 4]> =
            (0..16).map(|region| self.part(point, direction, region, [xs[region], ys[region]])).collect();
        let squares = |part: &[Bounded; 4]| part.iter().map(|&n| n * n).sum::<Bounded>();
        let lengths: Vec<Bounded> = parts.iter().map(squares).collect();
        let total = halves(lengths.clone(), 8, |a, b| a + b);
        let factor = Bounded::exact(1.0) / total.sqrt();
        Descriptor {
            numbers: parts.iter().flatten().map(|&n| (n * factor).near()).collect(),
            lengths: lengths.into_iter().map(Bounded::near).collect(),
        }
    }

    /// Four numbers of a descriptor: sums over the 81 samples of a region.
    fn part(&self, point: Point, [co, si]: [f32; 2], region: usize, [i, j]: [i32; 2]) -> [Bounded; 4] {
        let scale = point.scale;
        // The pixel at a place of the turned grid. Floats round at each step as the kernel spells it out.
        let pixel = |along: i32, across: i32| {
            let x = -across as f32 * scale * si + along as f32 * scale * co;
            let y = across as f32 * scale * co + along as f32 * scale * si;
            [(point.x.round() + x).round() as i32, (point.y.round() + y).round() as i32]
        };
        let [middle_x, middle_y] = pixel(i + 5, j + 5);
        let sigma = Bounded::exact(2.5) * Bounded::from(scale);
        let (bounded_co, bounded_si) = (Bounded::from(co), Bounded::from(si));
        let samples = (0..81).map(|t| {
            let [x, y] = pixel(i + t / 9, j + t % 9);
            let weight = gaussian(f64::from(middle_x - x), f64::from(middle_y - y), sigma);
            let [dx, dy] = self.haar(y, x, 2 * scale.round() as i32).map(Bounded::from);
            let across = weight * (dy * bounded_co - dx * bounded_si);
            let along = weight * (dx * bounded_co + dy * bounded_si);
            [across, along, across.abs(), along.abs()]
        });
        let mut sums: Vec<[Bounded; 4]> = samples.collect();
        let plus = |a: [Bounded; 4], b: [Bounded; 4]| [0, 1, 2, 3].map(|n| a[n] + b[n]);
        for t in 0..17 {
            sums[t] = plus(sums[t], sums[t + 64]);
        }
        let sum = halves(sums, 32, plus);
        let place = |at: usize| at as f64 - 1.5;
        let weight = gaussian(place(region / 4), place(region % 4), Bounded::exact(1.5));
        sum.map(|n| weight * n)
    }
}

/// Adds the second half to the first until one is left.
fn halves<T: Copy>(mut values: Vec<T>, mut half: usize, plus: impl Fn(T, T) -> T) -> T {
    while half > 0 {
        for at in 0..half {
            values[at] = plus(values[at], values[at + half]);
        }
        half /= 2;
    }
    values[0]
}

fn gaussian(x: f64, y: f64, sigma: Bounded) -> Bounded {
    let square = Bounded::exact(x * x + y * y);
    let two = Bounded::exact(2.0);
    let top = Bounded::exact(1.0) / (two * Bounded::from(PI) * sigma * sigma);
    top * (-square / (two * sigma * sigma)).exp()
}

/// The angle of a vector from the x axis, from 0 to 2 pi. CUDA's atanf is right to 2 ulp (CUDA C++ Programming Guide).
fn angle(x: f32, y: f32) -> Bounded {
    if x == 0.0 && y == 0.0 {
        return Bounded::ZERO;
    }
    let atan = |y: f32, x: f32| {
        if x == 0.0 {
            return Bounded::exact(std::f64::consts::FRAC_PI_2).rounded(4.0);
        }
        (Bounded::from(y) / Bounded::from(x)).map(f64::atan, 1.0, 2.0)
    };
    let pi = Bounded::from(PI);
    match (x >= 0.0, y >= 0.0) {
        (true, true) => atan(y, x),
        (true, false) => pi.scaled(2.0) - atan(-y, x),
        (false, true) => pi - atan(-y, x),
        (false, false) => pi + atan(y, x),
    }
}

/// The direction in which most of the gradients point, whose angles the device has found and are right.
pub(super) fn direction(gradients: &[Gradient], angles: impl Iterator<Item = f32> + Clone) -> [f32; 2] {
    let square = |[x, y]: [f32; 2]| x * x + y * y;
    let window = |at: usize| {
        let from = 0.15 * at as f32;
        let to = from + PI / 3.0;
        let mut sum = [0.0_f32; 2];
        for (gradient, angle) in gradients.iter().zip(angles.clone()) {
            let inside = if to > 2.0 * PI {
                (angle > 0.0 && angle < from - 5.0 * PI / 3.0) || (angle > from && angle < 2.0 * PI)
            } else {
                angle > from && angle < to
            };
            if inside {
                sum = [sum[0] + gradient.x, sum[1] + gradient.y];
            }
        }
        sum
    };
    let mut sums: Vec<[f32; 2]> = (0..42).map(window).collect();
    // Of sums of the same length the first in the first half stays, as in the kernel's tree.
    sums.resize(64, [0.0; 2]);
    let longest = halves(sums, 32, |a, b| if square(a) < square(b) { b } else { a });
    let length = square(longest).sqrt();
    if length > 0.0 { longest.map(|d| d / length) } else { [1.0, 0.0] }
}

#[cfg(test)]
mod tests {
    use super::super::DISC_SAMPLES;
    use super::super::image::Image;
    use super::*;

    #[test]
    fn the_disc_and_its_weights() {
        assert_eq!(disc().count(), DISC_SAMPLES);
        let slots = slots();
        assert_eq!((slots[0], slots[84], slots[168]), (-1, 54, -1));
        assert!((weights()[0] - 0.025_464_79).abs() < 1e-8 && (weights()[48] - 0.000_080_27).abs() < 1e-7);
    }

    #[test]
    fn a_slope_points_uphill() {
        let pixels = (0..40 * 40).map(|at| (at % 40 * 4) as u8).collect();
        let sums = Sums::new(&Image { width: 40, height: 40, pixels });
        let point = Point { x: 20.0, y: 20.0, scale: 1.0, laplacian: 0 };
        let gradients = sums.gradients(point);
        let angles = gradients.iter().map(|gradient| gradient.angle.value() as f32 + 1e-6);
        assert_eq!(direction(&gradients, angles), [1.0, 0.0]);
        let descriptor = sums.descriptor(point, [1.0, 0.0]);
        // Every gradient lies along the direction: sums across are zero, and sums along equal those without signs.
        for part in descriptor.numbers.chunks_exact(4) {
            assert!(part[0].value == 0.0 && part[2].value == 0.0 && part[1] == part[3]);
        }
        assert!(descriptor.numbers.iter().all(|n| n.bound < 3e-6), "the bounds are of use");
        let length: f64 = descriptor.numbers.iter().map(|n| n.value * n.value).sum();
        assert!((length - 1.0).abs() < 1e-9);
    }
}
