//! Special registers by name.

use crate::isa::{Axis, Special, Ty};

/// The special register of a name such as `%tid` and a component such as `x`.
pub(super) fn special(name: &str, component: Option<&str>) -> Option<Special> {
    let axis = match component {
        Some("x") => Some(Axis::X),
        Some("y") => Some(Axis::Y),
        Some("z") => Some(Axis::Z),
        Some(_) => return None,
        None => None,
    };
    if let Some(axis) = axis {
        return Some(match name {
            "%tid" => Special::Tid(axis),
            "%ntid" => Special::Ntid(axis),
            "%ctaid" => Special::Ctaid(axis),
            "%nctaid" => Special::Nctaid(axis),
            _ => return None,
        });
    }
    Some(match name {
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
        _ => {
            let number = name.strip_prefix("%envreg")?;
            let index: u8 = number.parse().ok().filter(|index| *index < 32)?;
            (index.to_string() == number).then_some(Special::EnvReg(index))?
        }
    })
}

/// The type of a special register.
pub(super) fn type_of(special: Special) -> Ty {
    if special.is_wide() { Ty::U64 } else { Ty::U32 }
}

/// Whether a special register has components.
pub(super) fn is_vector(name: &str) -> bool {
    matches!(name, "%tid" | "%ntid" | "%ctaid" | "%nctaid")
}
