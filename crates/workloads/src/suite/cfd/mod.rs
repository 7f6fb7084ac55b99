//! Rodinia's CFD solver (euler3d): the Euler equations on an unstructured mesh of tetrahedra.

mod expected;
mod far_field;
mod mesh;

use self::far_field::FarField;
use self::mesh::Mesh;
use super::prelude::*;
use crate::Comparison;

pub(super) const WORKLOAD: Workload = Workload {
    name: "cfd",
    suite: "Rodinia",
    papers: &["fuse", "morpheus"],
    description: "Supersonic flow around a body, a thread per tetrahedron: rows per variable are read coalesced for the \
                  element itself and gathered for its four neighbours, with a branch per kind of face, then updated.",
    kernels: &[
        kernel("cfd_initialize", "cuda_initialize_variables"),
        kernel("cfd_step_factor", "cuda_compute_step_factor"),
        kernel("cfd_flux", "cuda_compute_flux"),
        kernel("cfd_time_step", "cuda_time_step"),
    ],
    differences: &[
        "the mesh is made of distorted cubes, six tetrahedra each, around a block left out, not fvcorr.domn.097K's",
        "elements are numbered by bins of 64 cubes, as a renumbered mesh is",
        "a few iterations instead of 2000",
        "the copy of the variables before each iteration goes through the host",
        "the elements that pad the mesh to a multiple of the block repeat the last one whole, with its normals",
    ],
    inputs: &[
        input(Size::Test, "594 elements, 1 iteration", || {
            Box::new(Cfd { cubes: [5, 5, 4], body: [1, 1, 1], iterations: 1 })
        }),
        input(Size::Small, "10,320 elements, 4 iterations", || {
            Box::new(Cfd { cubes: [12, 12, 12], body: [2, 2, 2], iterations: 4 })
        }),
        input(Size::Paper, "96,750 elements (fvcorr.domn.097K: 97,046), 8 iterations", || {
            Box::new(Cfd { cubes: [26, 25, 25], body: [5, 5, 5], iterations: 8 })
        }),
        suite_input(
            "96,750 elements (fvcorr.domn.097K: 97,046)",
            "Rodinia 3.1, cuda/cfd/run: euler3d data/cfd/fvcorr.domn.097K",
            Piece::Launches("the first 3 of 2,000 iterations: 24 launches"),
            || Box::new(Cfd { cubes: [26, 25, 25], body: [5, 5, 5], iterations: 3 }),
        ),
        input(Size::Morpheus, "27,360 elements, 3 iterations", || {
            Box::new(Cfd { cubes: [17, 17, 16], body: [4, 4, 4], iterations: 3 })
        }),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

const BLOCK: u32 = 192;
const VARIABLES: usize = 5;
const FACES: usize = 4;
const STAGES: usize = 3;
/// What a face can have behind it instead of an element, as the kernel knows it.
const WALL: i32 = -1;
const FAR_FIELD: i32 = -2;

#[derive(Debug)]
struct Cfd {
    /// The domain, in cubes.
    cubes: [usize; 3],
    /// The block left out of its middle.
    body: [usize; 3],
    iterations: usize,
}

impl Body for Cfd {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let far = FarField::supersonic();
        let mesh = Mesh::around_body(self.cubes, self.body, BLOCK as usize);
        let elements = mesh.elements();
        let (grid, block) = ([ctas(elements, BLOCK), 1, 1], [BLOCK, 1, 1]);

        host.variable("far_variables", &far.variables)?;
        host.variable("far_momentum_flux", far.momentum_flux.as_flattened())?;
        host.variable("far_energy_flux", &far.energy_flux)?;
        let d_sizes = host.buffer("sizes", &mesh.sizes)?;
        let d_neighbours = host.buffer("neighbours", &mesh.neighbours)?;
        let d_normals = host.buffer("normals", &mesh.normals)?;
        let d_variables = host.zeros::<f32>("variables", VARIABLES * elements)?;
        let d_old = host.zeros::<f32>("old_variables", VARIABLES * elements)?;
        let d_fluxes = host.zeros::<f32>("fluxes", VARIABLES * elements)?;
        let d_factors = host.zeros::<f32>("step_factors", elements)?;
        for buffer in [d_variables, d_old, d_fluxes] {
            host.launch("cfd_initialize", grid, block, args![int(elements), buffer])?;
        }

        let mut variables: Vec<f32> = far.variables.iter().flat_map(|&value| vec![value; elements]).collect();
        for iteration in 1..=self.iterations {
            let old = variables.clone();
            host.write(d_old, &old)?;
            host.launch(
                "cfd_step_factor",
                grid,
                block,
                args![int(elements), d_variables, d_sizes, d_factors],
            )?;
            for stage in 0..STAGES {
                let args = args![int(elements), d_neighbours, d_normals, d_variables, d_fluxes];
                host.launch("cfd_flux", grid, block, args)?;
                let args = args![stage as i32, int(elements), d_old, d_variables, d_factors, d_fluxes];
                host.launch("cfd_time_step", grid, block, args)?;

                // Over many stages bounds grow beyond use, so each is checked from where the device began it. The
                // first that goes wrong is compared, else the last.
                let expected = expected::stage(&mesh, &far, &old, &variables, stage);
                variables = host.read(d_variables, VARIABLES * elements)?;
                let right = Comparison::near("variables", &variables, &expected.variables).passed();
                if !right || (iteration, stage + 1) == (self.iterations, STAGES) {
                    host.near::<f32>("step_factors", d_factors, expected.step_factors)?;
                    host.near::<f32>("fluxes", d_fluxes, expected.fluxes)?;
                    host.near::<f32>("variables", d_variables, expected.variables)?;
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
