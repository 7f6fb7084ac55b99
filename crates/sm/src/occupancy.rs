//! How many CTAs of a kernel fit into an SM, and what stands in the way of one more.

use std::fmt;

/// What an SM has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Warp slots.
    pub warps: u32,
    /// CTA slots.
    pub ctas: u32,
    /// 32-bit registers.
    pub registers: u32,
    /// Registers are given to a warp in multiples of this.
    pub register_unit: u32,
    /// Bytes of shared memory.
    pub shared_bytes: u32,
    /// Shared memory is given to a CTA in multiples of this.
    pub shared_unit_bytes: u32,
    /// Named barriers.
    pub barriers: u32,
}

/// What a CTA of a kernel needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Warps.
    pub warps: u32,
    /// Registers a thread.
    pub registers: u32,
    /// Bytes of shared memory, static and dynamic.
    pub shared_bytes: u32,
    /// Named barriers.
    pub barriers: u32,
}

/// The resource that runs out first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Limiter {
    Warps,
    Ctas,
    Registers,
    SharedMemory,
    Barriers,
}

impl fmt::Display for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limiter::Warps => "warps",
            Limiter::Ctas => "CTAs",
            Limiter::Registers => "registers",
            Limiter::SharedMemory => "shared memory",
            Limiter::Barriers => "barriers",
        })
    }
}

/// How a kernel fills an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// CTAs that are resident together; 0 when one alone does not fit.
    pub ctas: u32,
    /// What one more CTA would lack.
    pub limiter: Limiter,
    /// Register rows (32 lanes) given to a warp.
    pub rows_per_warp: u32,
    /// Bytes of shared memory given to a CTA.
    pub shared_per_cta: u32,
}

/// Computes the occupancy. When several resources run out together, the first in the order of [`Limiter`]
/// is named.
pub fn occupancy(limits: &Limits, demand: &Demand) -> Occupancy {
    let registers_per_warp = (demand.registers * 32).next_multiple_of(limits.register_unit);
    let shared_per_cta =
        demand.shared_bytes.checked_next_multiple_of(limits.shared_unit_bytes).unwrap_or(u32::MAX);
    // Registers are given to whole warps, so first count the warps that they allow.
    let warps_by_registers = limits.registers.checked_div(registers_per_warp).unwrap_or(u32::MAX);
    let warps = demand.warps.max(1);
    let candidates = [
        (limits.warps / warps, Limiter::Warps),
        (limits.ctas, Limiter::Ctas),
        (warps_by_registers / warps, Limiter::Registers),
        (limits.shared_bytes.checked_div(shared_per_cta).unwrap_or(u32::MAX), Limiter::SharedMemory),
        (limits.barriers.checked_div(demand.barriers).unwrap_or(u32::MAX), Limiter::Barriers),
    ];
    let (ctas, limiter) =
        candidates.into_iter().min_by_key(|(ctas, _)| *ctas).expect("there are several candidates");
    Occupancy { ctas, limiter, rows_per_warp: registers_per_warp / 32, shared_per_cta }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compute capability 2.0 (CUDA C Programming Guide 8.0, Table 14, and the occupancy calculator's
    /// allocation units for it).
    const SM_20: Limits = Limits {
        warps: 48,
        ctas: 8,
        registers: 32768,
        register_unit: 64,
        shared_bytes: 49152,
        shared_unit_bytes: 128,
        barriers: 128,
    };

    #[test]
    fn known_occupancies_of_compute_capability_2_0() {
        use Limiter::*;
        let table = [
            // threads, registers, shared bytes -> CTAs, limiter
            (256, 20, 0, 6, Warps), // 20 * 32 = 640 registers a warp: 51 warps, 6 CTAs; warps 6
            (256, 21, 0, 5, Registers), // 672 -> 704: 46 warps, 5 CTAs
            (256, 63, 0, 2, Registers), // 2016 -> 2048: 16 warps
            (192, 16, 0, 8, Warps), // 6 warps: 8 CTAs fill all 48
            (64, 16, 0, 8, Ctas),   // 2 warps: 24 by warps, 8 CTA slots
            (1024, 32, 0, 1, Warps), // 32 warps: one CTA by warps and by registers
            (1024, 33, 0, 0, Registers), // 1056 -> 1088: 30 warps, fewer than one CTA
            (128, 10, 12288, 4, SharedMemory), // 48 KiB / 12 KiB
            (128, 10, 12289, 3, SharedMemory), // rounded up to 12416
            (128, 10, 49153, 0, SharedMemory), // more than there is
            (33, 10, 0, 8, Ctas),   // a partly filled warp counts whole
        ];
        for (threads, registers, shared_bytes, ctas, limiter) in table {
            let demand = Demand { warps: u32::div_ceil(threads, 32), registers, shared_bytes, barriers: 1 };
            let found = occupancy(&SM_20, &demand);
            assert_eq!((found.ctas, found.limiter), (ctas, limiter), "{threads} {registers} {shared_bytes}");
        }
    }

    #[test]
    fn a_ctas_barriers_count() {
        let limits = Limits { barriers: 16, ..SM_20 };
        let demand = Demand { warps: 1, registers: 8, shared_bytes: 0, barriers: 5 };
        assert_eq!(occupancy(&limits, &demand).limiter, Limiter::Barriers);
        assert_eq!(occupancy(&limits, &demand).ctas, 3);
    }

    #[test]
    fn what_is_given_is_rounded_up() {
        let demand = Demand { warps: 1, registers: 21, shared_bytes: 100, barriers: 0 };
        let found = occupancy(&SM_20, &demand);
        assert_eq!((found.rows_per_warp, found.shared_per_cta), (22, 128));
    }
}
