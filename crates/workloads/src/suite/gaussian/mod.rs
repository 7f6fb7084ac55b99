//! Rodinia's Gaussian elimination: for each column one launch for the multipliers and one for the rows below.

mod expected;

use self::expected::Eliminated;
use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "gaussian",
    suite: "Rodinia",
    papers: &["fuse"],
    description: "Forward elimination of a dense system: CTAs of 4 x 4 threads whose lanes step through rows, \
                  so that a warp's accesses lie a row apart; the pivot row is read by all.",
    kernels: &[kernel("gaussian_fan1", "Fan1"), kernel("gaussian_fan2", "Fan2")],
    differences: &[
        "the matrix is random in [-1, 1) with a dominant diagonal, so that errors stay bounded without \
         pivoting; Rodinia's is 10 exp(-|i - j| / 100)",
        "the right-hand side is random, not all ones",
        "back substitution, which Rodinia does on the host, is left out",
        "kernels take only the arguments that they use",
    ],
    inputs: &[
        input(Size::Test, "30 x 30", || Box::new(Gaussian { n: 30, steps: Part::All })),
        input(Size::Small, "128 x 128", || Box::new(Gaussian { n: 128, steps: Part::All })),
        input(Size::Paper, "384 x 384 (Rodinia: 208 and 1024)", || {
            Box::new(Gaussian { n: 384, steps: Part::All })
        }),
        suite_input(
            "1024 x 1024",
            "Rodinia 3.1, data/gaussian/matrix1024.txt, the largest of its matrices",
            "the first 8 of 1,023 steps: 16 launches",
            || Box::new(Gaussian { n: 1024, steps: Part::First(8) }),
        ),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// Rodinia's block for the multipliers.
const FAN1_BLOCK: u32 = 512;
/// The side of Rodinia's block for the rows.
const FAN2_SIDE: u32 = 4;

#[derive(Debug)]
struct Gaussian {
    n: usize,
    /// The columns that are cleared, of the n - 1.
    steps: Part,
}

impl Gaussian {
    /// A matrix in which every diagonal element exceeds the rest of its row and of its column, and a right-hand
    /// side.
    fn inputs(&self) -> (Vec<f32>, Vec<f32>) {
        let n = self.n;
        let mut random = Random::new(0x6a);
        let mut a = random.signed_vec(n * n);
        for i in 0..n {
            a[i * n + i] = n as f32;
        }
        (a, random.signed_vec(n))
    }
}

impl Body for Gaussian {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let n = self.n;
        let steps = self.steps.of(n - 1);
        let (a, b) = self.inputs();
        let d_multipliers = host.zeros::<f32>("multipliers", n * n)?;
        let d_a = host.buffer("a", &a)?;
        let d_b = host.buffer("b", &b)?;

        let side = ctas(n, FAN2_SIDE);
        for step in 0..steps {
            let args = args![d_multipliers, d_a, int(n), int(step)];
            host.launch("gaussian_fan1", [ctas(n, FAN1_BLOCK), 1, 1], [FAN1_BLOCK, 1, 1], args)?;
            let args = args![d_multipliers, d_a, d_b, int(n), int(step)];
            host.launch("gaussian_fan2", [side, side, 1], [FAN2_SIDE, FAN2_SIDE, 1], args)?;
        }

        let Eliminated { multipliers, a, b } = Eliminated::new(n, steps, &a, &b);
        host.near::<f32>("multipliers", d_multipliers, multipliers)?;
        host.near::<f32>("a", d_a, a)?;
        host.near::<f32>("b", d_b, b)?;
        Ok(())
    }
}
