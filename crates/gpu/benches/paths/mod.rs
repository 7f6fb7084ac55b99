//! Hot paths, measured separately by both benchmarks.
//!
//! A [`Path`] repeats one operation and starts in its steady state, with warm caches and allocated buffers.
//! Its parts are those of the GTX 480-like machine.

mod accesses;
mod computation;
mod memory;
mod run;

pub use accesses::{load_coalesced, load_scattered};
pub use computation::{f32_fma, i32_mad, i64_add, reference_gemm, setp};
pub use memory::{dram_read, l1d_hit, l1d_miss, l2_hit, network_packet};
pub use run::{atax, gather, gemm};

/// A repeatable operation.
pub struct Path(Box<dyn FnMut()>);

impl Path {
    fn new(operation: impl FnMut() + 'static) -> Path {
        Path(Box::new(operation))
    }

    /// Runs the path until its buffers have reached their final size.
    fn warm(mut self) -> Path {
        self.repeat(1000);
        self
    }

    /// Performs the operation `times` times.
    pub fn repeat(&mut self, times: u32) {
        for _ in 0..times {
            (self.0)();
        }
    }
}

fn machine() -> strata_gpu::machine::Machine {
    strata_gpu::machine::Machine::load("gtx480", &[]).expect("a built-in machine can be built")
}
