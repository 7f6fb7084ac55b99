//! Gravitation between all pairs of bodies, a tile of bodies in shared memory at a time.

mod expected;

use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "nbody",
    suite: "CUDA SDK",
    papers: &[],
    description: "Bodies under mutual gravitation, a thread per body: CTAs load a tile of bodies between two \
                  barriers, all threads read the same one at a time (16-byte broadcasts from shared memory), and \
                  arithmetic dominates.",
    kernels: &[kernel("nbody", "integrateBodies")],
    differences: &[
        "the inner loop is unrolled 32 times, not 128",
        "one device computes all bodies",
        "bodies fill a ball evenly, with masses that differ and sum to about 1",
        "2 steps at paper size instead of 10",
    ],
    inputs: &[
        input(Size::Test, "192 bodies, 2 steps", || Box::new(NBody { count: 192, block: 64, steps: 2 })),
        input(Size::Small, "2048 bodies, 1 step", || Box::new(NBody { count: 2048, block: 256, steps: 1 })),
        input(Size::Paper, "8192 bodies, 2 steps", || Box::new(NBody { count: 8192, block: 256, steps: 2 })),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// Length of a time step, and what is left of a velocity after it: the SDK's first demonstration.
const STEP: f32 = 0.016;
const DAMPING: f32 = 1.0;
/// The softening length is a tenth of the ball's radius.
const SOFTENING_SQUARED: f32 = 0.01;

#[derive(Debug)]
struct NBody {
    count: usize,
    block: u32,
    steps: usize,
}

/// Positions with masses, and velocities: x, y, z, w of each body.
struct Bodies<T> {
    positions: Vec<[T; 4]>,
    velocities: Vec<[T; 4]>,
}

impl NBody {
    fn bodies(&self) -> Bodies<f32> {
        let mut random = Random::new(0x4b0d);
        let share = 1.0 / self.count as f32;
        let mut positions = Vec::with_capacity(self.count);
        while positions.len() < self.count {
            let [x, y, z] = [random.signed(), random.signed(), random.signed()];
            if x * x + y * y + z * z < 1.0 {
                positions.push([x, y, z, (0.5 + random.unit()) * share]);
            }
        }
        let mut slow = || 0.1 * random.signed();
        let velocities = (0..self.count).map(|_| [slow(), slow(), slow(), 1.0]).collect();
        Bodies { positions, velocities }
    }
}

impl Body for NBody {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let &Self { count, block, steps } = self;
        let bodies = self.bodies();
        host.variable("softening_squared", &[SOFTENING_SQUARED])?;
        let mut source = host.buffer("bodies_0", bodies.positions.as_flattened())?;
        let mut target = host.zeros::<f32>("bodies_1", 4 * count)?;
        let d_velocities = host.buffer("velocities", bodies.velocities.as_flattened())?;

        let bytes = 16 * block;
        for _ in 0..steps {
            let args = args![target, source, d_velocities, int(count) as u32, STEP, DAMPING];
            host.launch_with_shared("nbody", [ctas(count, block), 1, 1], [block, 1, 1], bytes, args)?;
            std::mem::swap(&mut source, &mut target);
        }

        let expected = bodies.expected(steps);
        let near = |bodies: &[[Bounded; 4]]| bodies.as_flattened().iter().map(|value| value.near()).collect();
        host.near::<f32>("bodies", source, near(&expected.positions))?;
        host.near::<f32>("velocities", d_velocities, near(&expected.velocities))?;
        Ok(())
    }
}
