//! Meshes of tetrahedra.

use super::{FACES, FAR_FIELD, WALL};
use crate::random::Random;

/// A mesh as the kernels read it: rows of one value per element, padded with copies of the last element.
#[derive(Debug)]
pub(super) struct Mesh {
    /// Volumes.
    pub(super) sizes: Vec<f32>,
    /// What is behind each face: row `face`.
    pub(super) neighbours: Vec<i32>,
    /// Inward normals as long as the face is large: component `d` in row `face + FACES * d`.
    pub(super) normals: Vec<f32>,
}

type Place = [usize; 3];

/// The corners of a tetrahedron. Face `f` is the one opposite corner `f`.
type Corners = [Place; 4];

/// Cubes are that long, and their corners are displaced by an eighth of it at most.
const SPACING: f64 = 0.25;
/// Cubes to the side of a bin.
const BIN: usize = 4;

impl Mesh {
    /// A box of cubes without a block in its middle, every cube cut into six tetrahedra (Kuhn's subdivision). What is
    /// outside the box is far away, the block is a body with a wall.
    pub(super) fn around_body(cubes: [usize; 3], body: [usize; 3], multiple: usize) -> Self {
        let mut random = Random::new(0xcfd);
        let corners = numbered(cubes, body);
        let real = corners.len();
        let elements = real.next_multiple_of(multiple);
        let displaced = displaced_corners(cubes, &mut random);
        let position = |[x, y, z]: Place| displaced[(z * (cubes[1] + 1) + y) * (cubes[0] + 1) + x];

        let mut mesh = Self {
            sizes: vec![0.0; elements],
            neighbours: vec![0; FACES * elements],
            normals: vec![0.0; 3 * FACES * elements],
        };
        let behind = neighbours(&corners, cubes);
        for element in 0..elements {
            let source = element.min(real - 1);
            for (face, &behind) in behind[source].iter().enumerate() {
                mesh.neighbours[face * elements + element] = behind;
                let normal = inward_normal(&corners[source], face, &position);
                for (d, length) in normal.into_iter().enumerate() {
                    mesh.normals[(face + FACES * d) * elements + element] = length as f32;
                }
            }
            mesh.sizes[element] = volume(corners[source].map(position)) as f32;
        }
        mesh
    }

    /// The padding included.
    pub(super) fn elements(&self) -> usize {
        self.sizes.len()
    }

    /// The normal of one face of one element.
    pub(super) fn normal(&self, element: usize, face: usize) -> [f32; 3] {
        [0, 1, 2].map(|d| self.normals[(face + FACES * d) * self.elements() + element])
    }
}

/// All tetrahedra, bin by bin, so that neighbours have near numbers: what the original's authors renumber their meshes
/// for (Corrigan et al., "Running unstructured grid-based CFD solvers on modern graphics hardware", section on the
/// numbering scheme).
fn numbered(cubes: [usize; 3], body: [usize; 3]) -> Vec<Corners> {
    const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let in_body = |cube: Place| {
        (0..3).all(|d| (cubes[d] - body[d]) / 2 <= cube[d] && cube[d] < (cubes[d] - body[d]) / 2 + body[d])
    };
    let mut keyed = Vec::new();
    for z in 0..cubes[2] {
        for y in 0..cubes[1] {
            for x in 0..cubes[0] {
                if in_body([x, y, z]) {
                    continue;
                }
                for order in ORDERS {
                    // From corner to corner along the three axes, in one of the six orders.
                    let mut corners = [[x, y, z]; 4];
                    for (step, axis) in order.into_iter().enumerate() {
                        corners[step + 1] = corners[step];
                        corners[step + 1][axis] += 1;
                    }
                    keyed.push(([z / BIN, y / BIN, x / BIN], corners));
                }
            }
        }
    }
    // Inside a bin the order of the sweep above stays.
    keyed.sort_by_key(|(bin, _)| *bin);
    keyed.into_iter().map(|(_, corners)| corners).collect()
}

fn displaced_corners(cubes: [usize; 3], random: &mut Random) -> Vec<[f64; 3]> {
    let mut displaced = Vec::new();
    for z in 0..=cubes[2] {
        for y in 0..=cubes[1] {
            for x in 0..=cubes[0] {
                displaced.push([x, y, z].map(|c| SPACING * (c as f64 + f64::from(random.signed()) / 8.0)));
            }
        }
    }
    displaced
}

/// The face's corners, in the order of their places, which is the same seen from both sides.
fn face(corners: &Corners, opposite: usize) -> [Place; 3] {
    let mut places = [0, 1, 2].map(|n| corners[(opposite + 1 + n) % 4]);
    places.sort_unstable();
    places
}

/// What is behind each face: the element that has the same one, or else a boundary.
fn neighbours(corners: &[Corners], cubes: [usize; 3]) -> Vec<[i32; FACES]> {
    let mut faces: Vec<([Place; 3], usize, usize)> = Vec::with_capacity(FACES * corners.len());
    for (element, corners) in corners.iter().enumerate() {
        faces.extend((0..FACES).map(|number| (face(corners, number), element, number)));
    }
    faces.sort_unstable();
    let outside = |places: &[Place; 3]| {
        (0..3).any(|d| [0, cubes[d]].into_iter().any(|end| places.iter().all(|place| place[d] == end)))
    };
    let mut behind = vec![[0; FACES]; corners.len()];
    for group in faces.chunk_by(|a, b| a.0 == b.0) {
        match *group {
            [(places, element, number)] => {
                behind[element][number] = if outside(&places) { FAR_FIELD } else { WALL };
            }
            [(_, a, face_of_a), (_, b, face_of_b)] => {
                behind[a][face_of_a] = b as i32;
                behind[b][face_of_b] = a as i32;
            }
            _ => panic!("a face belongs to at most two tetrahedra"),
        }
    }
    behind
}

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Exactly opposite for the two elements of a face.
fn inward_normal(corners: &Corners, opposite: usize, position: &impl Fn(Place) -> [f64; 3]) -> [f64; 3] {
    let [a, b, c] = face(corners, opposite).map(position);
    let normal = cross(minus(b, a), minus(c, a)).map(|length| 0.5 * length);
    let inwards = dot(normal, minus(position(corners[opposite]), a)) > 0.0;
    normal.map(|length| if inwards { length } else { -length })
}

fn volume([a, b, c, d]: [[f64; 3]; 4]) -> f64 {
    (dot(cross(minus(b, a), minus(c, a)), minus(d, a)) / 6.0).abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tetrahedra_are_closed_and_fill_the_box() {
        let mesh = Mesh::around_body([5, 4, 4], [0, 0, 0], 1);
        assert_eq!(mesh.elements(), 480);
        for element in 0..480 {
            let total = |d: usize| (0..4).map(|face| mesh.normal(element, face)[d]).sum::<f32>();
            assert!([0, 1, 2].map(total).iter().all(|length| length.abs() < 1e-7));
        }
        // The corners of the box itself are displaced too.
        let volume: f32 = mesh.sizes.iter().sum();
        assert!((volume / (80.0 / 64.0) - 1.0).abs() < 0.05, "{volume}");
        assert!(mesh.sizes.iter().all(|&size| size > 0.0008));
        assert!(mesh.neighbours.iter().all(|&behind| behind != WALL));
    }

    #[test]
    fn neighbours_share_a_face() {
        let mesh = Mesh::around_body([5, 5, 4], [1, 1, 1], 192);
        let count = mesh.elements();
        assert_eq!(count, 768);
        let behind = |element: usize, face: usize| mesh.neighbours[face * count + element];
        let mut walls = 0;
        for element in 0..594 {
            for face in 0..4 {
                walls += usize::from(behind(element, face) == WALL);
                let Ok(other) = usize::try_from(behind(element, face)) else { continue };
                let back = (0..4).find(|&back| behind(other, back) == element as i32).expect("a way back");
                assert_eq!(mesh.normal(element, face), mesh.normal(other, back).map(|length| -length));
            }
        }
        // Two triangles on each side of the one cube left out.
        assert_eq!(walls, 12);
    }
}
