//! Responses and interest points, by looking at every sample and its neighbours.

use super::image::Image;
use super::layers::{Layer, Triple};
use super::size::{Surf, THRESHOLD};
use crate::suite::prelude::*;

/// An image whose boxes are summed at once.
#[derive(Debug)]
pub(super) struct Sums {
    width: usize,
    height: usize,
    /// The sum of all pixels above and to the left, with a row and a column of zeros.
    sums: Vec<i32>,
}

/// An interest point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) scale: f32,
    pub(super) laplacian: i32,
}

impl Sums {
    pub(super) fn new(image: &Image) -> Self {
        let (width, height) = (image.width, image.height);
        let mut sums = vec![0; (width + 1) * (height + 1)];
        for (y, row) in image.pixels.chunks_exact(width).enumerate() {
            let mut sum = 0;
            for (x, &pixel) in row.iter().enumerate() {
                sum += i32::from(pixel);
                sums[(y + 1) * (width + 1) + x + 1] = sums[y * (width + 1) + x + 1] + sum;
            }
        }
        Self { width, height, sums }
    }

    /// The integral image: each pixel's sum includes itself.
    pub(super) fn integral(&self) -> Vec<i32> {
        self.sums.chunks_exact(self.width + 1).skip(1).flat_map(|row| &row[1..]).copied().collect()
    }

    /// The sum of the pixels of a box, as far as it lies in the image.
    pub(super) fn sum(&self, row: i32, column: i32, rows: i32, columns: i32) -> i32 {
        let y = |y: i32| y.clamp(0, int(self.height)) as usize * (self.width + 1);
        let x = |x: i32| x.clamp(0, int(self.width)) as usize;
        let (top, bottom, left, right) = (y(row), y(row + rows), x(column), x(column + columns));
        self.sums[bottom + right] - self.sums[bottom + left] - self.sums[top + right] + self.sums[top + left]
    }

    /// The Hessian's determinant around a pixel and whether its trace is not negative. Floats round at each step as
    /// the kernel spells it out.
    fn hessian(&self, r: i32, c: i32, filter: i32) -> (f32, i32) {
        let (third, half) = (filter / 3, filter / 2);
        let wide = 2 * third - 1;
        // A lobe of weight -2 between two of weight 1: the whole less three times its middle.
        let xx = self.sum(r - third + 1, c - half, wide, filter)
            - 3 * self.sum(r - third + 1, c - third / 2, wide, third);
        let yy = self.sum(r - half, c - third + 1, filter, wide)
            - 3 * self.sum(r - third / 2, c - third + 1, third, wide);
        let quadrant = |dy: i32, dx: i32| self.sum(r + dy, c + dx, third, third);
        let xy = quadrant(-third, 1) + quadrant(1, -third) - quadrant(-third, -third) - quadrant(1, 1);
        let scale = 1.0 / (filter * filter) as f32;
        let [xx, yy, xy] = [xx, yy, xy].map(|d| d as f32 * scale);
        (xx * yy - 0.81 * xy * xy, i32::from(xx + yy >= 0.0))
    }
}

impl Surf {
    /// Responses and Laplacians of all layers, one after the other.
    pub(super) fn responses(&self, sums: &Sums) -> (Vec<f32>, Vec<i32>) {
        let sample = |layer: Layer| {
            (0..layer.width * layer.height).map(move |at| {
                let (r, c) = (at / layer.width * layer.step, at % layer.width * layer.step);
                sums.hessian(int(r), int(c), int(layer.filter))
            })
        };
        self.layers().into_iter().flat_map(sample).unzip()
    }

    /// The interest points of all triples, each triple's row by row.
    pub(super) fn points(&self, responses: &[f32], laplacians: &[i32]) -> Vec<Point> {
        let mut points = vec![];
        for triple in self.triples() {
            let view = View { responses, triple };
            let (width, height, border) = (triple.top.width, triple.top.height, triple.border());
            for r in border + 1..height.saturating_sub(border) {
                for c in border + 1..width.saturating_sub(border) {
                    if let Some((x, y, scale)) = view.point(r as i32, c as i32) {
                        let middle = triple.middle;
                        let ratio = middle.width / width;
                        let laplacian = laplacians[middle.start + r * ratio * middle.width + c * ratio];
                        points.push(Point { x, y, scale, laplacian });
                    }
                }
            }
        }
        points
    }
}

/// The responses of three layers, all at the samples of the top one.
struct View<'a> {
    responses: &'a [f32],
    triple: Triple,
}

impl View<'_> {
    /// The response `s` layers above the middle.
    fn at(&self, s: i32, r: i32, c: i32) -> f32 {
        let Triple { bottom, middle, top, .. } = self.triple;
        let layer = [bottom, middle, top][(s + 1) as usize];
        let ratio = layer.width / top.width;
        self.responses[layer.start + r as usize * ratio * layer.width + c as usize * ratio]
    }

    /// Position and scale of the interest point at a sample, if it is one.
    fn point(&self, r: i32, c: i32) -> Option<(f32, f32, f32)> {
        let candidate = self.at(0, r, c);
        let neighbours =
            (-1..=1).flat_map(|s| (-1..=1).flat_map(move |dr| (-1..=1).map(move |dc| (s, dr, dc))));
        let beaten = |(s, dr, dc)| self.at(s, r + dr, c + dc) > candidate;
        if candidate < THRESHOLD || neighbours.into_iter().any(beaten) {
            return None;
        }
        let offset = self.refine(r, c);
        if !offset.iter().all(|o| o.abs() < 0.5) {
            return None;
        }
        let [dx, dy, ds] = offset;
        let Triple { bottom, middle, top, .. } = self.triple;
        let step = top.step as f32;
        let scale = 0.1333 * (middle.filter as f32 + ds * (middle.filter - bottom.filter) as f32);
        Some(((c as f32 + dx) * step, (r as f32 + dy) * step, scale))
    }

    /// The top of the parabola through a sample and its neighbours, by Cramer's rule: offsets in column, row and scale.
    fn refine(&self, r: i32, c: i32) -> [f32; 3] {
        // Neighbours along column, row and scale.
        let near = |[dc, dr, ds]: [i32; 3]| self.at(ds, r + dr, c + dc);
        let unit = |axis: usize, sign: i32| {
            let mut to = [0; 3];
            to[axis] = sign;
            to
        };
        let two = |a: usize, sign_a: i32, b: usize, sign_b: i32| {
            let mut to = [0; 3];
            to[a] = sign_a;
            to[b] = sign_b;
            near(to)
        };
        let twice = 2.0 * near([0; 3]);
        let slope = [0, 1, 2].map(|axis| 0.5 * (near(unit(axis, 1)) - near(unit(axis, -1))));
        let bend = |axis: usize| near(unit(axis, 1)) + near(unit(axis, -1)) - twice;
        let twist = |a: usize, b: usize| {
            0.25 * ((two(a, 1, b, 1) - two(a, -1, b, 1)) - (two(a, 1, b, -1) - two(a, -1, b, -1)))
        };
        let (xy, xs, ys) = (twist(0, 1), twist(0, 2), twist(1, 2));
        let columns = [[bend(0), xy, xs], [xy, bend(1), ys], [xs, ys, bend(2)]];
        let whole = determinant(columns);
        [0, 1, 2].map(|axis| {
            let mut replaced = columns;
            replaced[axis] = slope;
            -determinant(replaced) / whole
        })
    }
}

fn determinant([a, b, c]: [[f32; 3]; 3]) -> f32 {
    let minor = |p: [f32; 3], q: [f32; 3]| p[1] * q[2] - p[2] * q[1];
    let (x, y, z) = (a[0] * minor(b, c), b[0] * minor(a, c), c[0] * minor(a, b));
    x - y + z
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_cut_at_the_edges() {
        let sums = Sums::new(&Image { width: 3, height: 2, pixels: vec![1, 2, 3, 4, 5, 6] });
        assert_eq!(sums.integral(), [1, 3, 6, 5, 12, 21]);
        assert_eq!(sums.sum(0, 1, 2, 1), 7);
        assert_eq!(sums.sum(-5, -5, 6, 7), 3);
        assert_eq!(sums.sum(1, 2, 9, 9), 6);
        assert_eq!(sums.sum(2, 0, 1, 3), 0);
    }

    #[test]
    fn a_flat_image_has_no_points_and_a_blob_has_one() {
        let surf = Surf { width: 64, height: 64, octaves: 1 };
        let find = |pixels: Vec<u8>| {
            let sums = Sums::new(&Image { width: 64, height: 64, pixels });
            let (responses, laplacians) = surf.responses(&sums);
            surf.points(&responses, &laplacians)
        };
        assert_eq!(find(vec![100; 64 * 64]), []);
        let blob = |at: usize| {
            let (dx, dy) = ((at % 64).abs_diff(32), (at / 64).abs_diff(30));
            255 - (255 * (dx * dx + dy * dy) / 25).min(255)
        };
        let points = find((0..64 * 64).map(|at| blob(at) as u8).collect());
        let near = |point: &&Point| (point.x - 32.0).abs() < 0.1 && (point.y - 30.0).abs() < 0.1;
        let &Point { scale, laplacian, .. } = points.iter().find(near).expect("the blob is found");
        assert!((1.5..4.0).contains(&scale), "{scale}");
        assert_eq!(laplacian, 0, "bright on dark");
    }
}
