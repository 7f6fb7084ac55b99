//! Black-Scholes option prices: arithmetic with intrinsics between streaming reads and writes.

mod expected;

use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "blackscholes",
    suite: "CUDA SDK",
    papers: &["hi-end"],
    description: "Call and put prices of European options, two per thread: three coalesced 8-byte reads, a hundred \
                  arithmetic instructions without a loop, two coalesced 8-byte writes.",
    kernels: &[kernel("blackscholes", "BlackScholesGPU")],
    differences: &[
        "four launches over the same options at paper size instead of 512",
        "options are random in the SDK's ranges, from another generator",
    ],
    inputs: &[
        input(Size::Test, "20,000 options", || Box::new(BlackScholes { options: 20_000, launches: 1 })),
        input(Size::Small, "800,000 options", || Box::new(BlackScholes { options: 800_000, launches: 1 })),
        input(Size::Paper, "4 launches over 4,000,000 options", || {
            Box::new(BlackScholes { options: 4_000_000, launches: 4 })
        }),
        suite_input(
            "4,000,000 options",
            "CUDA samples, BlackScholes.cu: OPT_N, NUM_ITERATIONS",
            Piece::Launches("the first of 512 launches"),
            || Box::new(BlackScholes { options: 4_000_000, launches: 1 }),
        ),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// The SDK's riskless rate and volatility, per year.
const RATE: f32 = 0.02;
const VOLATILITY: f32 = 0.30;
/// The SDK's block.
const BLOCK: u32 = 128;

#[derive(Debug)]
struct BlackScholes {
    options: usize,
    launches: usize,
}

/// Options, a vector per property.
struct Options {
    stock: Vec<f32>,
    strike: Vec<f32>,
    years: Vec<f32>,
}

impl BlackScholes {
    /// Prices of 5 to 30 and 1 to 100, and 0.25 to 10 years: the SDK's ranges.
    fn options(&self) -> Options {
        let mut random = Random::new(0xb5);
        let mut between = |low: f32, high: f32| -> Vec<f32> {
            (0..self.options).map(|_| low + (high - low) * random.unit()).collect()
        };
        Options { stock: between(5.0, 30.0), strike: between(1.0, 100.0), years: between(0.25, 10.0) }
    }
}

impl Body for BlackScholes {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let options = self.options();
        let d_stock = host.buffer("stock", &options.stock)?;
        let d_strike = host.buffer("strike", &options.strike)?;
        let d_years = host.buffer("years", &options.years)?;
        let d_call = host.zeros::<f32>("call", self.options)?;
        let d_put = host.zeros::<f32>("put", self.options)?;

        let grid = [ctas(self.options / 2, BLOCK), 1, 1];
        let args = args![d_call, d_put, d_stock, d_strike, d_years, RATE, VOLATILITY, int(self.options)];
        for _ in 0..self.launches {
            host.launch("blackscholes", grid, [BLOCK, 1, 1], args)?;
        }

        let (call, put) = options.expected(RATE, VOLATILITY);
        host.near::<f32>("call", d_call, call)?;
        host.near::<f32>("put", d_put, put)?;
        Ok(())
    }
}
