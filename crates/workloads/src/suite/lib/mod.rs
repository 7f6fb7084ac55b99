//! ISPASS 2009's LIB: Monte Carlo paths of a LIBOR market model, with and without derivatives.

mod expected;

use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "lib",
    suite: "ISPASS",
    papers: &["hi-end", "morpheus"],
    description: "Values of swaptions along paths of forward rates, a thread per path: chains of divisions and \
                  exponentials on arrays in local memory, 13 KiB per thread with derivatives, and parameters from \
                  constant memory.",
    kernels: &[
        kernel("libor_value", "Pathcalc_Portfolio_KernelGPU2"),
        kernel("libor_derivative", "Pathcalc_Portfolio_KernelGPU"),
    ],
    differences: &[
        "every path has a shock of its own, random in [-0.1, 0.4) and read from memory, the same in all of its \
         steps; the original has 0.3 for all paths",
        "derivatives by rates use the rates before the derivatives replace them; the original reads some after",
        "values with and without derivatives go to a buffer each",
        "maturities scale with the number of rates",
        "f32 throughout, as on GPUs without f64",
    ],
    inputs: &[
        input(Size::Test, "150 paths of 16 rates, 8 steps", || {
            Box::new(Lib { rates: 16, steps: 8, paths: 150, ctas: 3 })
        }),
        input(Size::Small, "500 paths of 80 rates, 40 steps", || {
            Box::new(Lib { rates: 80, steps: 40, paths: 500, ctas: 8 })
        }),
        input(Size::Paper, "4,096 paths of 80 rates, 40 steps", || {
            Box::new(Lib { rates: 80, steps: 40, paths: 4096, ctas: 64 })
        }),
        suite_input(
            "4,096 paths of 80 rates, 40 steps",
            "ispass2009-benchmarks, LIB/libor.cu: NN, NMAT, NPATH",
            Piece::All,
            || Box::new(Lib { rates: 80, steps: 40, paths: 4096, ctas: 64 }),
        ),
        input(Size::Morpheus, "1,088 paths of 40 rates, 20 steps", || {
            Box::new(Lib { rates: 40, steps: 20, paths: 1088, ctas: 17 })
        }),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

const BLOCK: u32 = 64;
/// Years.
const PERIOD: f32 = 0.25;
/// Volatility of every rate.
const SIGMA: f32 = 0.2;
/// Maturities of the swaptions with 40 rates beyond the last step, and at what rate each swaps.
const MATURITIES: [i32; 15] = [4, 4, 4, 8, 8, 8, 20, 20, 20, 28, 28, 28, 40, 40, 40];
const SWAP_RATES: [f32; 15] =
    [0.045, 0.05, 0.055, 0.045, 0.05, 0.055, 0.045, 0.05, 0.055, 0.045, 0.05, 0.055, 0.045, 0.05, 0.055];

#[derive(Debug)]
struct Lib {
    /// At most the kernel's MOST_RATES.
    rates: usize,
    /// At most the kernel's MOST_STEPS, as are the rates beyond.
    steps: usize,
    paths: usize,
    ctas: u32,
}

impl Lib {
    fn maturities(&self) -> [i32; 15] {
        MATURITIES.map(|maturity| (maturity * int(self.rates - self.steps) / 40).max(1))
    }
}

impl Body for Lib {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let mut random = Random::new(0x11b);
        let shocks: Vec<f32> = (0..self.paths).map(|_| 0.15 + 0.25 * random.signed()).collect();
        host.variable("rates", &[int(self.rates)])?;
        host.variable("steps", &[int(self.steps)])?;
        host.variable("swaptions", &[int(SWAP_RATES.len())])?;
        host.variable("period", &[PERIOD])?;
        host.variable("maturities", &self.maturities())?;
        host.variable("swap_rates", &SWAP_RATES)?;
        host.variable("volatility", &vec![SIGMA; self.rates])?;
        let d_shocks = host.buffer("shocks", &shocks)?;
        let values = host.zeros::<f32>("values", self.paths)?;
        let values_again = host.zeros::<f32>("values_again", self.paths)?;
        let derivatives = host.zeros::<f32>("derivatives", self.paths)?;

        let (grid, block, paths) = ([self.ctas, 1, 1], [BLOCK, 1, 1], int(self.paths));
        host.launch("libor_value", grid, block, args![paths, d_shocks, values])?;
        host.launch("libor_derivative", grid, block, args![paths, d_shocks, values_again, derivatives])?;

        let expected = self.expected(&shocks);
        let value = || expected.iter().map(|path| path.value.near()).collect();
        host.near::<f32>("values", values, value())?;
        host.near::<f32>("values_again", values_again, value())?;
        let derivative = expected.iter().map(|path| path.derivative.near()).collect();
        host.near::<f32>("derivatives", derivatives, derivative)?;
        Ok(())
    }
}
