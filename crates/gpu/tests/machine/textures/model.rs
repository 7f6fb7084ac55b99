//! What a fetch should give, written down from the CUDA C++ Programming Guide, "Texture Fetching": texels in a plain array,
//! addressing by folding the numbers of texels, filtering with weights of 8 bits. Where the guide leaves it open, a GPU's ways:
//! how products of weights are rounded, nothing beyond the edge for integer coordinates, and ties between the faces of a cube.

use strata_ptx::isa::Geometry;
use strata_ptx::texture::{Addressing, Filter};

/// A texture as a plain array of numbers.
#[derive(Clone)]
pub struct Plain {
    pub geometry: Geometry,
    /// Texels along x, y and z or layers.
    pub sides: [i64; 3],
    /// Four numbers a texel, x fastest.
    pub texels: Vec<[f64; 4]>,
    pub addressing: Addressing,
    pub filter: Filter,
    pub normalized: bool,
}

/// The numbers of two neighbours and the weight of the second.
type Neighbours = (i64, i64, f64);

impl Plain {
    fn texel(&self, [x, y, z]: [Option<i64>; 3]) -> [f64; 4] {
        let (Some(x), Some(y), Some(z)) = (x, y, z) else { return [0.0; 4] };
        self.texels[((z * self.sides[1] + y) * self.sides[0] + x) as usize]
    }

    /// The texel that a number stands for; none on the border.
    fn fold(&self, number: i64, size: i64, integer: bool) -> Option<i64> {
        let repeats = self.normalized && !self.geometry.is_cube();
        match self.addressing {
            _ if integer => (0..size).contains(&number).then_some(number),
            Addressing::Wrap if repeats => Some(((number % size) + size) % size),
            Addressing::Border if !self.geometry.is_cube() => {
                (number >= 0 && number < size).then_some(number)
            }
            _ => Some(number.max(0).min(size - 1)),
        }
    }

    fn neighbours(&self, coordinate: f32, size: i64) -> Neighbours {
        let x = f64::from(coordinate) * if self.normalized { size as f64 } else { 1.0 };
        let mirrored = self.normalized && self.addressing == Addressing::Mirror && !self.geometry.is_cube();
        let x = if mirrored { (size as f64 - x.rem_euclid(2.0 * size as f64)).abs() } else { x };
        let x = if mirrored { size as f64 - x } else { x };
        match self.filter {
            Filter::Point => (x.floor() as i64, x.floor() as i64, 0.0),
            Filter::Linear => {
                let below = (x - 0.5).floor();
                let weight = ((x - 0.5 - below) * 256.0).round() / 256.0;
                // A weight that was rounded up to one belongs to the next pair.
                let (below, weight) = if weight == 1.0 { (below + 1.0, 0.0) } else { (below, weight) };
                (below as i64, below as i64 + 1, weight)
            }
        }
    }

    /// What a fetch at integer coordinates gives.
    pub fn at_integers(&self, layer: Option<u32>, at: [i32; 3]) -> [f64; 4] {
        let axes = self.geometry.axes();
        let [x, y, z] = [0, 1, 2].map(|axis| match axis {
            _ if axis < axes => self.fold(at[axis].into(), self.sides[axis], true),
            2 => Some(i64::from(layer.unwrap_or(0))).filter(|layer| *layer < self.sides[2]),
            _ => Some(0),
        });
        self.texel([x, y, z])
    }

    /// What a fetch at floating-point coordinates gives.
    pub fn at(&self, layer: Option<u32>, at: [f32; 3]) -> [f64; 4] {
        let (layer, at) = if self.geometry.is_cube() {
            let (face, s, t) = face(at);
            let cubes = self.sides[2] / 6;
            (6 * i64::from(layer.unwrap_or(0)).min(cubes - 1) + face, [s, t, 0.0])
        } else {
            (i64::from(layer.unwrap_or(0)).min(self.sides[2] - 1), at)
        };
        let axes = self.geometry.axes();
        let of = |axis: usize| match axis < axes {
            true => self.neighbours(at[axis], self.sides[axis]),
            false => (0, 0, 0.0),
        };
        let (x, y, z) = (of(0), of(1), of(2));
        let fold = |axis: usize, number: i64| match axis < axes {
            true => self.fold(number, self.sides[axis], false),
            false if axis == 2 => Some(layer),
            false => Some(0),
        };
        let nearest = |weight: f64| (256.0 * weight + 0.5).floor() / 256.0;
        let mut sum = [0.0; 4];
        let mut add = |weight: f64, [x, y, z]: [i64; 3]| {
            let texel = self.texel([fold(0, x), fold(1, y), fold(2, z)]);
            sum.iter_mut().zip(texel).for_each(|(sum, channel)| *sum += weight * channel);
        };
        for (z, of_plane) in [(z.0, 1.0 - z.2), (z.1, z.2)] {
            let right = nearest(of_plane * x.2);
            let left = of_plane - right;
            let (right_below, left_above) = (nearest(right * y.2), nearest(left * (1.0 - y.2)));
            add(left_above, [x.0, y.0, z]);
            add(left - left_above, [x.0, y.1, z]);
            add(right - right_below, [x.1, y.0, z]);
            add(right_below, [x.1, y.1, z]);
        }
        sum
    }

    /// One component of the four texels around a place, from the lower left counter-clockwise.
    pub fn gathered(&self, at: [f32; 2], component: usize) -> [f64; 4] {
        let linear = Plain { filter: Filter::Linear, ..self.clone() };
        let ((x0, x1, _), (y0, y1, _)) =
            (linear.neighbours(at[0], self.sides[0]), linear.neighbours(at[1], self.sides[1]));
        [(x0, y1), (x1, y1), (x1, y0), (x0, y0)].map(|(x, y)| {
            let place = [self.fold(x, self.sides[0], false), self.fold(y, self.sides[1], false), Some(0)];
            self.texel(place)[component]
        })
    }
}

/// Face and coordinates on it, from the guide's table of cube maps; of several faces the last axis'.
fn face([x, y, z]: [f32; 3]) -> (i64, f32, f32) {
    let major = x.abs().max(y.abs()).max(z.abs());
    let table = [
        (x == major, -z, -y),
        (x == -major, z, -y),
        (y == major, x, z),
        (y == -major, x, -z),
        (z == major, x, -y),
        (z == -major, -x, -y),
    ];
    let place = table.iter().rposition(|(hit, ..)| *hit).expect("one is the major axis");
    let (_, s, t) = table[place];
    (place as i64, (s / major + 1.0) / 2.0, (t / major + 1.0) / 2.0)
}
