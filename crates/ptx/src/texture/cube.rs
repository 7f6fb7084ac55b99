//! The faces of a cube, and the coordinates on them of a direction.

/// Face and coordinates on it of a direction (CUDA C++ Programming Guide, "Cubemap Textures"). Of equal magnitudes the last in
/// x, y, z is the major one, as on a GPU.
pub(super) fn face(direction: [u32; 3]) -> (u32, [u32; 2]) {
    let [x, y, z] = direction.map(f32::from_bits);
    let face = if z.abs() >= x.abs() && z.abs() >= y.abs() {
        4 + u32::from(!z.is_sign_positive())
    } else if y.abs() >= x.abs() {
        2 + u32::from(!y.is_sign_positive())
    } else {
        u32::from(!x.is_sign_positive())
    };
    let (major, sides) = onto(face, [x, y, z]);
    (face, sides.map(|side| ((side / major + 1.0) / 2.0).to_bits()))
}

/// A vector as a face has it: along its axis, and along its sides.
fn onto(face: u32, [x, y, z]: [f32; 3]) -> (f32, [f32; 2]) {
    match face {
        0 => (x, [-z, -y]),
        1 => (-x, [z, -y]),
        2 => (y, [x, z]),
        3 => (-y, [x, -z]),
        4 => (z, [x, -y]),
        _ => (-z, [-x, -y]),
    }
}

/// The derivative of the coordinates on the face of a direction, which has a derivative itself.
pub(super) fn face_derivative(direction: [u32; 3], derivative: [f32; 3]) -> [f64; 2] {
    let (face, _) = face(direction);
    let (major, sides) = onto(face, direction.map(f32::from_bits));
    let (d_major, d_sides) = onto(face, derivative);
    let (major, d_major) = (f64::from(major), f64::from(d_major));
    std::array::from_fn(|n| {
        (f64::from(d_sides[n]) * major - f64::from(sides[n]) * d_major) / (2.0 * major * major)
    })
}
