//! One stage of the scheme, element by element, with the bound of its f32 arithmetic.

use super::far_field::FarField;
use super::mesh::Mesh;
use super::{FACES, FAR_FIELD, STAGES, VARIABLES, WALL};
use crate::suite::prelude::*;

const RATIO_OF_HEATS: f32 = 1.4;
const SMOOTHING: f32 = 0.2;

/// What the device holds after a stage.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) step_factors: Vec<Near>,
    pub(super) fluxes: Vec<Near>,
    pub(super) variables: Vec<Near>,
}

/// An element's variables and what follows from them.
#[derive(Debug)]
struct Flow {
    /// Density, momenta, energy.
    variables: [Bounded; VARIABLES],
    pressure: Bounded,
    /// The speed of the flow, and that of sound.
    speed: Bounded,
    sound: Bounded,
    /// The flux of each variable in each direction.
    flux: [[Bounded; 3]; VARIABLES],
}

impl Flow {
    fn of(variables: [f32; VARIABLES]) -> Self {
        let [density, mx, my, mz, energy] = variables.map(Bounded::from);
        let momentum = [mx, my, mz];
        let velocity = momentum.map(|m| m / density);
        let square = velocity[0] * velocity[0] + velocity[1] * velocity[1] + velocity[2] * velocity[2];
        let pressure = Bounded::from(RATIO_OF_HEATS - 1.0) * (energy - density.scaled(0.5) * square);
        let sound = (Bounded::from(RATIO_OF_HEATS) * pressure / density).sqrt();
        let mut flux = [momentum; VARIABLES];
        for d in 0..3 {
            for e in 0..3 {
                // The kernel multiplies the velocity of the lower direction by the momentum of the higher.
                let carried = velocity[d.min(e)] * momentum[d.max(e)];
                flux[1 + e][d] = if d == e { carried + pressure } else { carried };
            }
            flux[4][d] = velocity[d] * (energy + pressure);
        }
        Self { variables: [density, mx, my, mz, energy], pressure, speed: square.sqrt(), sound, flux }
    }
}

/// The stage that begins with `variables`; `old` were those at the beginning of the iteration.
pub(super) fn stage(mesh: &Mesh, far: &FarField, old: &[f32], variables: &[f32], stage: usize) -> Stage {
    let elements = mesh.elements();
    let flow =
        |values: &[f32], i: usize| Flow::of([0, 1, 2, 3, 4].map(|variable| values[variable * elements + i]));
    let flows: Vec<Flow> = (0..elements).map(|i| flow(variables, i)).collect();
    let far_flux = {
        let [x, y, z] = [1, 2, 3].map(|direction| far.variables[direction]);
        let [e0, e1, e2] = far.momentum_flux;
        [[x, y, z], e0, e1, e2, far.energy_flux].map(|row| row.map(Bounded::from))
    };

    let nothing = Near { value: 0.0, bound: 0.0 };
    let mut result = Stage {
        step_factors: Vec::with_capacity(elements),
        fluxes: vec![nothing; VARIABLES * elements],
        variables: vec![nothing; VARIABLES * elements],
    };
    for i in 0..elements {
        let begun = flow(old, i);
        let size = Bounded::from(mesh.sizes[i]).sqrt();
        let factor = Bounded::exact(0.5) / (size * (begun.speed + begun.sound));
        result.step_factors.push(factor.near());
        let factor = factor / Bounded::exact((STAGES + 1 - stage) as f64);

        let inflow = inflow(mesh, &flows, &far_flux, i);
        for (variable, inflow) in inflow.into_iter().enumerate() {
            let at = variable * elements + i;
            result.fluxes[at] = inflow.near();
            result.variables[at] = (Bounded::from(old[at]) + factor * inflow).near();
        }
    }
    result
}

/// What flows into element `i` through its faces, added up in the order of the kernel.
fn inflow(
    mesh: &Mesh,
    flows: &[Flow],
    far_flux: &[[Bounded; 3]; VARIABLES],
    i: usize,
) -> [Bounded; VARIABLES] {
    let own = &flows[i];
    let mut sum = [Bounded::ZERO; VARIABLES];
    for face in 0..FACES {
        let normal = mesh.normal(i, face).map(Bounded::from);
        let across = |sum: &mut [Bounded; VARIABLES], other: &[[Bounded; 3]; VARIABLES]| {
            for (d, length) in normal.iter().enumerate() {
                for ((sum, other), own) in sum.iter_mut().zip(other).zip(&own.flux) {
                    *sum += length.scaled(0.5) * (other[d] + own[d]);
                }
            }
        };
        match mesh.neighbours[face * mesh.elements() + i] {
            FAR_FIELD => across(&mut sum, far_flux),
            WALL => (0..3).for_each(|e| sum[1 + e] += normal[e] * own.pressure),
            neighbour => {
                let other = &flows[usize::try_from(neighbour).expect("not a boundary")];
                let [x, y, z] = normal;
                let area = (x * x + y * y + z * z).sqrt();
                let speeds = own.speed + other.speed + own.sound + other.sound;
                let viscosity = -(area * Bounded::from(SMOOTHING)).scaled(0.5) * speeds;
                for (sum, (own, other)) in sum.iter_mut().zip(own.variables.into_iter().zip(other.variables))
                {
                    *sum += viscosity * (own - other);
                }
                across(&mut sum, &other.flux);
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn undisturbed(mesh: &Mesh, far: &FarField) -> Vec<f32> {
        far.variables.iter().flat_map(|&value| vec![value; mesh.elements()]).collect()
    }

    #[test]
    fn an_undisturbed_flow_without_a_body_stays() {
        let (mesh, far) = (Mesh::around_body([3, 3, 3], [0, 0, 0], 1), FarField::supersonic());
        let start = undisturbed(&mesh, &far);
        let stage = stage(&mesh, &far, &start, &start, 0);
        let close =
            |near: &Near, value: f32| (near.value - f64::from(value)).abs() < 1e-5 && near.bound < 1e-5;
        assert!(stage.fluxes.iter().all(|near| close(near, 0.0)));
        assert!(stage.variables.iter().zip(&start).all(|(near, &value)| close(near, value)));
        // 0.5 / (sqrt(size) (1.2 + 1))
        let first = stage.step_factors[0].value * f64::from(mesh.sizes[0]).sqrt();
        assert!((first - 0.5 / 2.2).abs() < 1e-6);
    }

    /// Only pressure acts through a wall: mass does not pass.
    #[test]
    fn a_wall_takes_mass_that_nothing_replaces() {
        let (mesh, far) = (Mesh::around_body([3, 3, 3], [1, 1, 1], 1), FarField::supersonic());
        let start = undisturbed(&mesh, &far);
        let stage = stage(&mesh, &far, &start, &start, 0);
        for i in 0..mesh.elements() {
            let walls = (0..4).filter(|face| mesh.neighbours[face * mesh.elements() + i] == WALL);
            let through: f64 = walls.map(|face| f64::from(mesh.normal(i, face)[0]) * 1.4 * 1.2).sum();
            assert!((stage.fluxes[i].value + through).abs() < 1e-6);
        }
    }
}
