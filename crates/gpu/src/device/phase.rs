//! Which kernels can run on CPU cores.

use strata_ptx::isa::Op;
use strata_ptx::program::Kernel;

/// A CPU core runs one thread at a time and has registers, its L1D and nothing else.
///
/// # Errors
/// What the kernel needs that a CPU core does not have, with its line.
pub(super) fn check_phase(kernel: &Kernel) -> Result<(), String> {
    if kernel.shared_bytes > 0 {
        return Err(format!("it has {} bytes of shared memory, a CPU core has none", kernel.shared_bytes));
    }
    let foreign =
        kernel.code.iter().find_map(|instruction| Some((instruction.line, foreign(instruction.op)?)));
    match foreign {
        Some((line, what)) => {
            let (text, line) = kernel.source(line);
            let text = text.map(|text| format!(" of {text}")).unwrap_or_default();
            Err(format!("line {line}{text}: a CPU core has no {what}"))
        }
        None => Ok(()),
    }
}

/// What an operation needs that a CPU core does not have.
fn foreign(op: Op) -> Option<&'static str> {
    match op {
        Op::Texture(_) | Op::TextureQuery(_) => Some("textures"),
        Op::SurfaceLoad(_) | Op::SurfaceStore(_) | Op::SurfaceReduce { .. } => Some("surfaces"),
        Op::Mma(_) | Op::LoadMatrix(_) | Op::StoreMatrix(_) | Op::TransposeMatrix | Op::DescribedRow(_) => {
            Some("warp to multiply matrices")
        }
        Op::CopyAsync(_)
        | Op::CopyArrive { .. }
        | Op::CopyCommit
        | Op::CopyWait { .. }
        | Op::Bulk(_)
        | Op::BulkCommit
        | Op::BulkWait { .. } => Some("asynchronous copies"),
        Op::ClusterArrive | Op::ClusterWait => Some("clusters"),
        Op::Mbarrier(_) => Some("shared memory for an mbarrier"),
        _ => None,
    }
}
