//! Special registers by name.

use crate::isa::{Axis, Special, Ty};

/// What the name of a special register stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// A register that is read when the instruction runs.
    Register(Special),
    /// One that is always the same where no graph runs.
    Fixed(Ty, u64),
    /// One that is not modelled.
    Refused,
}

impl From<Special> for Named {
    fn from(special: Special) -> Self {
        Named::Register(special)
    }
}

/// The special register of a name such as `%tid` and a component such as `x`.
pub(super) fn special(name: &str, component: Option<&str>) -> Option<Named> {
    let axis = match component {
        Some("x") => Some(Axis::X),
        Some("y") => Some(Axis::Y),
        Some("z") => Some(Axis::Z),
        // The fourth component reads as zero (PTX ISA, "%tid").
        Some("w") => return is_vector(name).then_some(Named::Fixed(Ty::U32, 0)),
        Some(_) => return None,
        None => None,
    };
    if let Some(axis) = axis {
        return Some(match name {
            "%tid" => Special::Tid(axis).into(),
            "%ntid" => Special::Ntid(axis).into(),
            "%ctaid" => Special::Ctaid(axis).into(),
            "%nctaid" => Special::Nctaid(axis).into(),
            "%clusterid" => Special::ClusterId(axis).into(),
            "%nclusterid" => Special::NClusterId(axis).into(),
            "%cluster_ctaid" => Special::ClusterCtaid(axis).into(),
            "%cluster_nctaid" => Special::ClusterNctaid(axis).into(),
            _ => return None,
        });
    }
    Some(Named::Register(match name {
        "%laneid" => Special::LaneId,
        "%warpid" => Special::WarpId,
        "%nwarpid" => Special::NWarpId,
        "%smid" => Special::SmId,
        "%nsmid" => Special::NSmId,
        "%gridid" => Special::GridId,
        "%lanemask_eq" => Special::LanemaskEq,
        "%lanemask_le" => Special::LanemaskLe,
        "%lanemask_lt" => Special::LanemaskLt,
        "%lanemask_ge" => Special::LanemaskGe,
        "%lanemask_gt" => Special::LanemaskGt,
        "%clock" => Special::Clock,
        "%clock_hi" => Special::ClockHi,
        "%clock64" => Special::Clock64,
        "%globaltimer" => Special::GlobalTimer,
        "%globaltimer_lo" => Special::GlobalTimerLo,
        "%globaltimer_hi" => Special::GlobalTimerHi,
        "%dynamic_smem_size" => Special::DynamicSmemSize,
        "%total_smem_size" => Special::TotalSmemSize,
        "%aggr_smem_size" => Special::AggrSmemSize,
        "%cluster_ctarank" => Special::ClusterCtarank,
        "%cluster_nctarank" => Special::ClusterNctarank,
        "%is_explicit_cluster" => Special::IsExplicitCluster,
        "%current_graph_exec" => return Some(Named::Fixed(Ty::U64, 0)),
        _ => match numbered(name, "%envreg", 32) {
            Some(index) => Special::EnvReg(index),
            None => return is_refused(name).then_some(Named::Refused),
        },
    }))
}

/// The number behind a prefix, when it is below `count` and written as PTX does.
fn numbered(name: &str, prefix: &str, count: u8) -> Option<u8> {
    let number = name.strip_prefix(prefix)?;
    let index: u8 = number.parse().ok().filter(|index| *index < count)?;
    (index.to_string() == number).then_some(index)
}

/// Whether it is a special register of PTX 9 that is not modelled: performance counters, and where shared memory that the
/// system keeps for itself lies.
fn is_refused(name: &str) -> bool {
    let counter = name.strip_suffix("_64").unwrap_or(name);
    let reserved = name.strip_prefix("%reserved_smem_offset_");
    numbered(counter, "%pm", 8).is_some()
        || reserved.is_some_and(|which| ["begin", "end", "cap", "0", "1"].contains(&which))
}

/// The type of a special register.
pub(super) fn type_of(special: Special) -> Ty {
    match special {
        Special::IsExplicitCluster => Ty::Pred,
        _ if special.is_wide() => Ty::U64,
        _ => Ty::U32,
    }
}

/// Whether a special register has components.
pub(super) fn is_vector(name: &str) -> bool {
    const VECTORS: [&str; 8] = [
        "%tid",
        "%ntid",
        "%ctaid",
        "%nctaid",
        "%clusterid",
        "%nclusterid",
        "%cluster_ctaid",
        "%cluster_nctaid",
    ];
    VECTORS.contains(&name)
}
