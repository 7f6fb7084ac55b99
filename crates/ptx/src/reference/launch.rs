//! A launch: its shape and arguments, what follows from them, and what is wrong with it.

use super::steps::Step;
use crate::isa::Pc;
use crate::lanes::{Row, WARP_LANES};
use crate::program::Kernel;

/// Most threads of a CTA (PTX ISA, every target).
pub const MAX_THREADS: u32 = 1024;

/// Bytes of shared and local memory of one CTA, and of all that are resident: what a host can spare.
pub(super) const MAX_CTA_BYTES: u64 = 1 << 30;

/// The shape and arguments of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// CTAs in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a CTA in x, y, z.
    pub block: [u32; 3],
    /// CTAs of a cluster in x, y, z, if the launch says so.
    pub cluster: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory a CTA.
    pub dynamic_shared: u32,
    /// The parameter block, laid out as [`Kernel::params`] says.
    pub params: Vec<u8>,
}

/// Place of the n-th CTA of a grid whose clusters follow each other, x fastest, and so do the CTAs of each.
pub fn cluster_order(grid: [u32; 3], cluster: [u32; 3], number: u64) -> [u32; 3] {
    let side = cluster.map(u64::from);
    let clusters: [u64; 3] = std::array::from_fn(|axis| u64::from(grid[axis]) / side[axis].max(1));
    let size = side.iter().product::<u64>().max(1);
    let (outer, inner) = (number / size, number % size);
    let place = |number: u64, [x, y, _]: [u64; 3]| {
        let (x, y) = (x.max(1), y.max(1));
        [number % x, number / x % y, number / x / y]
    };
    let (outer, inner) = (place(outer, clusters), place(inner, side));
    std::array::from_fn(|axis| (outer[axis] * side[axis] + inner[axis]) as u32)
}

/// What is wrong with clusters of a launch.
///
/// # Errors
/// A sentence.
pub fn check_cluster(
    bounds: &crate::ir::LaunchBounds,
    grid: [u32; 3],
    cluster: Option<[u32; 3]>,
) -> Result<(), String> {
    if let (Some(required), Some(given)) = (bounds.cluster, cluster)
        && required != given
    {
        return Err(format!("clusters of {given:?} CTAs, the kernel requires {required:?}"));
    }
    let Some(shape) = bounds.cluster.or(cluster) else {
        if bounds.explicit_cluster {
            return Err("no clusters, the kernel requires the launch to name some (.explicitcluster)".into());
        }
        return Ok(());
    };
    let size = shape.iter().fold(1u32, |size, side| size.saturating_mul(*side));
    let most = bounds.max_cluster.unwrap_or(MAX_CLUSTER).min(MAX_CLUSTER);
    if !(1..=most).contains(&size) {
        return Err(format!("clusters of {shape:?} CTAs, expected 1 to {most} in each"));
    }
    if (0..3).any(|axis| !grid[axis].is_multiple_of(shape[axis])) {
        return Err(format!("a grid of {grid:?} CTAs does not consist of clusters of {shape:?}"));
    }
    Ok(())
}

/// Most CTAs of a cluster (CUDA C++ Programming Guide, "Thread Block Clusters": 8 are portable, 16 with an attribute).
pub const MAX_CLUSTER: u32 = 16;

/// A launch, prepared.
pub(super) struct Launch<'a> {
    pub kernel: &'a Kernel,
    pub config: LaunchConfig,
    pub constants: Vec<Row>,
    /// The instructions of the kernel, prepared.
    pub steps: Vec<Step>,
    pub threads: u32,
    pub shared_bytes: u32,
}

impl<'a> Launch<'a> {
    /// A launch of a kernel; `variables[n]` is the device address of the module's variable n.
    pub fn new(kernel: &'a Kernel, config: LaunchConfig, variables: &[u64]) -> Launch<'a> {
        let constants = kernel.constant_rows(&config.params, variables);
        let static_shared = if config.dynamic_shared > 0 {
            kernel.shared_bytes.next_multiple_of(16)
        } else {
            kernel.shared_bytes
        };
        let threads = config.block.iter().fold(1u32, |product, side| product.saturating_mul(*side));
        let shared_bytes = static_shared.saturating_add(config.dynamic_shared);
        Launch { kernel, config, constants, steps: Step::all(&kernel.code), threads, shared_bytes }
    }

    /// Line of an instruction; that of the last one for the end.
    pub fn line(&self, pc: Pc) -> u32 {
        let code = &self.kernel.code;
        let line = code.get(pc as usize).or(code.last()).map_or(0, |instruction| instruction.line);
        self.kernel.source(line).1
    }

    /// A CTA's number, x first.
    pub fn number(&self, [x, y, z]: [u32; 3]) -> u64 {
        let [nx, ny, _] = self.config.grid.map(u64::from);
        (u64::from(z) * ny + u64::from(y)) * nx + u64::from(x)
    }

    /// The shape of clusters, if the kernel or the launch says so.
    pub fn cluster(&self) -> Option<[u32; 3]> {
        self.kernel.launch_bounds.cluster.or(self.config.cluster)
    }

    /// Place of the n-th CTA, clusters one after the other.
    pub fn ctaid(&self, number: u64) -> [u32; 3] {
        cluster_order(self.config.grid, self.cluster().unwrap_or([1; 3]), number)
    }

    /// Index of a thread by its number in the CTA.
    pub fn thread(&self, number: u32) -> [u32; 3] {
        let [x, y, _] = self.config.block;
        [number % x, number / x % y, number / x / y]
    }

    /// Bytes of shared and local memory of a CTA.
    pub fn cta_bytes(&self) -> u64 {
        let threads = u64::from(self.threads).next_multiple_of(WARP_LANES as u64);
        u64::from(self.shared_bytes) + threads * u64::from(self.kernel.local_bytes)
    }

    /// Finds what cannot run.
    pub fn check(&self) -> Result<(), String> {
        let Launch { kernel, config, threads, .. } = self;
        if config.grid.contains(&0) || config.block.contains(&0) {
            return Err(format!("an empty launch: grid {:?}, block {:?}", config.grid, config.block));
        }
        check_cluster(&kernel.launch_bounds, config.grid, config.cluster)?;
        if *threads > MAX_THREADS {
            return Err(format!("{threads} threads a CTA; at most {MAX_THREADS} are possible"));
        }
        let bounds = &kernel.launch_bounds;
        if bounds.max_threads.is_some_and(|most| *threads > most) {
            return Err(format!(
                "{threads} threads a CTA; .maxntid allows {}",
                bounds.max_threads.unwrap_or(0)
            ));
        }
        if let Some(required) = bounds.required
            && required != config.block
        {
            return Err(format!("block {:?}; .reqntid demands {required:?}", config.block));
        }
        if self.cta_bytes() > MAX_CTA_BYTES {
            return Err(format!(
                "{} bytes of shared and local memory a CTA; at most {MAX_CTA_BYTES} are possible",
                self.cta_bytes()
            ));
        }
        let ctas = config.grid.iter().fold(1_u64, |product, side| product.saturating_mul(u64::from(*side)));
        let all = self.cta_bytes().saturating_mul(ctas);
        if kernel.cooperative && all > MAX_CTA_BYTES {
            return Err(format!(
                "{all} bytes of shared and local memory of a cooperative launch; at most {MAX_CTA_BYTES} are possible"
            ));
        }
        if config.params.len() < kernel.param_bytes as usize {
            return Err(format!(
                "{} bytes of parameters; the kernel takes {}",
                config.params.len(),
                kernel.param_bytes
            ));
        }
        Ok(())
    }
}
