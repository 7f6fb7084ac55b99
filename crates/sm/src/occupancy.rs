//! Occupancy: how many CTAs of a kernel fit on an SM, and which resource limits them.

use std::fmt;

/// Resources of an SM that CTAs compete for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Number of warp slots.
    pub warps: u32,
    /// Number of CTA slots.
    pub ctas: u32,
    /// Number of 32-bit registers.
    pub registers: u32,
    /// Allocation granularity of a warp's registers, in 32-bit registers.
    pub register_unit: u32,
    /// Size of shared memory in bytes.
    pub shared_bytes: u32,
    /// Allocation granularity of a CTA's shared memory, in bytes.
    pub shared_unit_bytes: u32,
    /// Number of named barriers.
    pub barriers: u32,
}

/// Resources that one CTA of a kernel needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Number of warps per CTA.
    pub warps: u32,
    /// 32-bit registers per thread.
    pub registers: u32,
    /// Register rows that the CTA's warps have fewer than all together.
    pub rows_spared: u32,
    /// Static plus dynamic shared memory in bytes.
    pub shared_bytes: u32,
    /// Named barriers per CTA.
    pub barriers: u32,
}

/// The resource that limits occupancy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limiter {
    /// Too few warp slots ([`Limits::warps`]).
    Warps,
    /// Too few CTA slots ([`Limits::ctas`]).
    Ctas,
    /// Too few registers ([`Limits::registers`]).
    Registers,
    /// Too little shared memory ([`Limits::shared_bytes`]).
    SharedMemory,
    /// Too few named barriers ([`Limits::barriers`]).
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

/// How many CTAs of a kernel an SM holds, and what each receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Number of CTAs resident at once; 0 when not even one fits.
    pub ctas: u32,
    /// The resource that one more CTA would lack.
    pub limiter: Limiter,
    /// Register rows (32 lanes of 32 bits) allocated per warp.
    pub rows_per_warp: u32,
    /// Shared memory allocated per CTA, in bytes.
    pub shared_per_cta: u32,
    /// What shared memory takes of storage that it shares with the L1D, in bytes; `None` if it shares none.
    pub carve_out: Option<u32>,
    /// Register file that no CTA takes, in bytes.
    pub unused_register_bytes: u64,
}

/// Computes the occupancy. When several resources run out together, the limiter is the first of them in the order of
/// [`Limiter`]. Registers and shared memory are rounded up to their allocation units, as in CUDA's occupancy
/// calculator.
pub fn occupancy(limits: &Limits, demand: &Demand) -> Occupancy {
    let registers_per_warp = (demand.registers * 32).next_multiple_of(limits.register_unit);
    let shared_per_cta =
        demand.shared_bytes.checked_next_multiple_of(limits.shared_unit_bytes).unwrap_or(u32::MAX);
    let warps = demand.warps.max(1);
    // Registers are allocated to whole warps.
    let registers_per_cta = warps * registers_per_warp - 32 * demand.rows_spared;
    let candidates = [
        (limits.warps / warps, Limiter::Warps),
        (limits.ctas, Limiter::Ctas),
        (limits.registers.checked_div(registers_per_cta).unwrap_or(u32::MAX), Limiter::Registers),
        (limits.shared_bytes.checked_div(shared_per_cta).unwrap_or(u32::MAX), Limiter::SharedMemory),
        (limits.barriers.checked_div(demand.barriers).unwrap_or(u32::MAX), Limiter::Barriers),
    ];
    let (ctas, limiter) =
        candidates.into_iter().min_by_key(|(ctas, _)| *ctas).expect("there are several candidates");
    let used = u64::from(ctas) * u64::from(registers_per_cta);
    Occupancy {
        ctas,
        limiter,
        rows_per_warp: registers_per_warp / 32,
        shared_per_cta,
        carve_out: None,
        unused_register_bytes: 4 * u64::from(limits.registers).saturating_sub(used),
    }
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
            let demand = Demand {
                warps: u32::div_ceil(threads, 32),
                registers,
                rows_spared: 0,
                shared_bytes,
                barriers: 1,
            };
            let found = occupancy(&SM_20, &demand);
            assert_eq!((found.ctas, found.limiter), (ctas, limiter), "{threads} {registers} {shared_bytes}");
        }
    }

    #[test]
    fn a_ctas_barriers_count() {
        let limits = Limits { barriers: 16, ..SM_20 };
        let demand = Demand { warps: 1, registers: 8, rows_spared: 0, shared_bytes: 0, barriers: 5 };
        assert_eq!(occupancy(&limits, &demand).limiter, Limiter::Barriers);
        assert_eq!(occupancy(&limits, &demand).ctas, 3);
    }

    #[test]
    fn what_is_given_is_rounded_up() {
        let demand = Demand { warps: 1, registers: 21, rows_spared: 0, shared_bytes: 100, barriers: 0 };
        let found = occupancy(&SM_20, &demand);
        assert_eq!((found.rows_per_warp, found.shared_per_cta), (22, 128));
    }
}
