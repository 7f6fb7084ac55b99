//! The undisturbed flow around the body.

/// Its variables, and what it carries across a unit of area in each direction.
#[derive(Debug)]
pub(super) struct FarField {
    /// Density, momenta, energy.
    pub(super) variables: [f32; 5],
    /// The flux of momentum component `e` in direction `d` at `[e][d]`.
    pub(super) momentum_flux: [[f32; 3]; 3],
    pub(super) energy_flux: [f32; 3],
}

impl FarField {
    /// Mach 1.2 along x, with density 1.4 and pressure 1, so that the speed of sound is 1.
    pub(super) fn supersonic() -> Self {
        const DENSITY: f32 = 1.4;
        const SPEED: f32 = 1.2;
        const PRESSURE: f32 = 1.0;
        let momentum = DENSITY * SPEED;
        let energy = DENSITY * 0.5 * SPEED * SPEED + PRESSURE / 0.4;
        Self {
            variables: [DENSITY, momentum, 0.0, 0.0, energy],
            momentum_flux: [
                [SPEED * momentum + PRESSURE, 0.0, 0.0],
                [0.0, PRESSURE, 0.0],
                [0.0, 0.0, PRESSURE],
            ],
            energy_flux: [SPEED * (energy + PRESSURE), 0.0, 0.0],
        }
    }
}
