//! Hot paths, each alone: what both benchmarks measure.
//!
//! A [`Path`] is in its steady state when it is handed out, with caches warm and buffers allocated, and
//! repeats one operation. Parts are those of the GTX 480-like machine.

mod accesses;
mod computation;
mod memory;
mod run;

pub use accesses::{load_coalesced, load_scattered};
pub use computation::{f32_fma, i32_mad, i64_add, reference_gemm, setp};
pub use memory::{dram_read, l1d_hit, l1d_miss, l2_hit, network_packet};
pub use run::{atax, gather, gemm};

/// An operation that can be repeated.
pub struct Path(Box<dyn FnMut()>);

impl Path {
    fn new(operation: impl FnMut() + 'static) -> Path {
        Path(Box::new(operation))
    }

    /// A path that has run for a while: whatever grows has grown.
    fn warm(mut self) -> Path {
        self.repeat(1000);
        self
    }

    /// Does it `times` times.
    pub fn repeat(&mut self, times: u32) {
        for _ in 0..times {
            (self.0)();
        }
    }
}

fn machine() -> strata_gpu::machine::Machine {
    strata_gpu::machine::Machine::load("gtx480", &[]).expect("a built-in machine can be built")
}
