//! The SM section of a machine file. Every number carries its source.

use serde::{Deserialize, Serialize};
use strata_engine::Cited;
use strata_memory::bits::members;
use strata_memory::doors::RegisterFileSite;
use strata_ptx::isa::{Class, MAX_ROWS};
use strata_warp::WARP_LANES;

use crate::occupancy::Limits;
pub use crate::unified::UnifiedStorage;

/// Rows of an operand collector, a power of two: the upper bits of a row's ticket are the number of its collector.
pub const COLLECTOR_ROWS: usize = MAX_ROWS.next_power_of_two();

/// Parameters of an SM, except its register file, caches and load/store unit, which have their own configurations.
/// Latencies are in core cycles.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmConfig {
    /// Largest number of resident warps, 1 to 64.
    pub warp_slots: Cited<u32>,
    /// Largest number of resident CTAs, 1 to 32.
    pub cta_slots: Cited<u32>,
    /// Number of 32-bit registers in the register file, 32 to 2^20.
    pub registers: Cited<u32>,
    /// Largest number of 32-bit registers per thread, 8 to 255. A kernel that needs more spills to local memory.
    pub registers_per_thread: Cited<u32>,
    /// Most registers that the loads of a basic block may hold before the first use of any, 0 to 32: how far the
    /// compiler moves loads ahead. With 0 instructions keep the order of PTX.
    pub load_window: Cited<u32>,
    /// How registers of PTX get physical ones. `spread`: those that are not live together share, spread over a few more than
    /// the fewest that do where that costs no warp. `tight`: they share the fewest. `separate`: each has one of its own, as
    /// long as `registers_per_thread` allows; a kernel with more is compiled as with `spread`.
    pub register_allocation: Cited<RegisterAllocation>,
    /// Whether instructions can read and write a register whose number they compute (`mov.indirect`, docs/ptx.md); false when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub indirect_mov: Option<Cited<bool>>,
    /// Allocation granularity of a warp's registers: a multiple of 32, up to 65,536.
    pub register_unit: Cited<u32>,
    /// Shared memory available to CTAs in bytes, up to 1 MiB.
    pub shared_bytes: Cited<u32>,
    /// Storage that shared memory shares with the L1D, if the L1D can be resized; without it each has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unified: Option<UnifiedStorage>,
    /// Allocation granularity of a CTA's shared memory in bytes.
    pub shared_unit_bytes: Cited<u32>,
    /// Named barriers of the SM, shared by its CTAs; a CTA uses at most 16.
    pub barriers: Cited<u32>,
    /// Number of warp schedulers, 1 to 8. Warp w belongs to scheduler w modulo this number.
    pub schedulers: Cited<u32>,
    /// Policy by which a scheduler picks among its ready warps.
    pub scheduling: Cited<Scheduling>,
    /// Capacity of a warp's instruction buffer in instructions, 1 to 16; also the most that one fetch delivers.
    pub instruction_buffer: Cited<u32>,
    /// Warps whose instructions are fetched in a cycle, at most as many as the instruction cache takes; 1 without it.
    pub fetches_per_cycle: Option<Cited<u32>>,
    /// Pools of operand collectors, at most 64 collectors in total.
    pub collectors: Vec<CollectorPool>,
    /// Number of execution units of each kind.
    pub units: UnitCounts,
    /// Cycles that every computation spends in the registers between pipeline stages, 0 to 100, in addition to its
    /// unit's latency: from the collector to the unit, and from the unit to the register file.
    pub pipeline_latency_cycles: Cited<u32>,
    /// Unit, latency and issue interval of each instruction class.
    pub timing: Timings,
}

/// Policy by which a scheduler picks among its ready warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Scheduling {
    /// Loose round robin: pick the next ready warp after the one that issued last.
    LooseRoundRobin,
    /// Greedy then oldest: keep issuing from one warp while it is ready, then pick the ready warp that started first.
    GreedyThenOldest,
    /// Round robin that keeps issuing from one warp until it issues a memory instruction or is not ready.
    SwitchOnMemory,
    /// Two-level: round robin over an active set; warps leave the set while they wait for memory.
    TwoLevel {
        /// Size of one scheduler's active set in warps, 1 to 64.
        active: u32,
    },
}

/// A kind of execution unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnitKind {
    /// Single-precision unit: f32 and, without a separate integer unit, integer arithmetic.
    Sp,
    /// Integer unit: integer arithmetic and logic.
    Int,
    /// Double-precision unit: f64 arithmetic.
    Dp,
    /// Special function unit: approximate functions.
    Sfu,
    /// Tensor unit: matrix products.
    Tensor,
    /// Load/store unit: memory instructions.
    Ldst,
}

impl UnitKind {
    /// Number of unit kinds.
    pub const COUNT: usize = 6;
    /// Every kind, in declaration order.
    pub const ALL: [UnitKind; UnitKind::COUNT] =
        [UnitKind::Sp, UnitKind::Int, UnitKind::Dp, UnitKind::Sfu, UnitKind::Tensor, UnitKind::Ldst];
    /// Mask of the kinds that compute: every kind except the load/store unit.
    pub const COMPUTING: u8 = (1 << UnitKind::Ldst as u8) - 1;

    /// The kinds of a mask with one bit per kind, in declaration order.
    #[inline]
    pub fn of_mask(mask: u8) -> impl Iterator<Item = UnitKind> {
        members(u64::from(mask)).map(|kind| UnitKind::ALL[kind])
    }
}

/// A pool of operand collectors that serves some kinds of units.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CollectorPool {
    /// Number of collectors in the pool, 1 to 64.
    pub count: Cited<u32>,
    /// Unit kinds that the pool serves. Exactly one pool serves each kind in use.
    pub serves: Vec<UnitKind>,
}

/// Number of execution units of each kind, at most 16. An SM has exactly one load/store unit.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitCounts {
    /// Number of single-precision units.
    pub sp: Cited<u32>,
    /// Number of integer units; 0 if the SP units execute integers.
    pub int: Cited<u32>,
    /// Number of double-precision units.
    pub dp: Cited<u32>,
    /// Number of special function units.
    pub sfu: Cited<u32>,
    /// Number of tensor units.
    pub tensor: Cited<u32>,
}

impl UnitCounts {
    /// Number of units of a kind; 1 for the load/store unit.
    pub fn of(&self, kind: UnitKind) -> u32 {
        match kind {
            UnitKind::Sp => *self.sp,
            UnitKind::Int => *self.int,
            UnitKind::Dp => *self.dp,
            UnitKind::Sfu => *self.sfu,
            UnitKind::Tensor => *self.tensor,
            UnitKind::Ldst => 1,
        }
    }
}

/// Timing of one instruction class.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// Kind of unit that executes the class; any but the load/store unit.
    pub unit: UnitKind,
    /// Cycles in the unit, 1 to 1000: from dispatch to write-back, excluding `pipeline_latency_cycles`.
    pub latency_cycles: Cited<u32>,
    /// Cycles before the unit accepts its next instruction, 1 to 1000.
    pub interval_cycles: Cited<u32>,
}

macro_rules! timings {
    ($($field:ident: $class:ident,)*; $($own:ident: $own_class:ident = $other:ident,)*) => {
        /// Timing of each instruction class that an execution unit performs.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        #[allow(missing_docs)]
        pub struct Timings {
            $( pub $field: Timing, )*
            $(
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $own: Option<Timing>,
            )*
        }

        impl Timings {
            /// Iterates over the classes with their field name and timing.
            pub fn iter(&self) -> impl Iterator<Item = (Class, &'static str, &Timing)> {
                [
                    $( (Class::$class, stringify!($field), &self.$field), )*
                    $( (Class::$own_class, stringify!($own), self.$own.as_ref().unwrap_or(&self.$other)), )*
                ]
                .into_iter()
            }
        }
    };
}

timings! {
    int_add: IntAdd,
    int_min_max: IntMinMax,
    int_mul: IntMul,
    int_mad: IntMad,
    int_div: IntDiv,
    f32_add: F32Add,
    f32_min_max: F32MinMax,
    f32_mul: F32Mul,
    f32_fma: F32Fma,
    f32_div: F32Div,
    f64_add: F64Add,
    f64_min_max: F64MinMax,
    f64_mul: F64Mul,
    f64_fma: F64Fma,
    f64_div: F64Div,
    sfu: Sfu,
    convert: Convert,
    warp: Warp,
    matrix_half: MatrixHalf,
    matrix_half_deep: MatrixHalfDeep,
    matrix_tf32: MatrixTf32,
    matrix_tf32_deep: MatrixTf32Deep,
    matrix_int: MatrixInt,
    matrix_int_deep: MatrixIntDeep,
    matrix_f64: MatrixF64,
    ;
    // Where a machine does not tell: as shuffles.
    vote: Vote = warp,
}

/// How registers of PTX get physical ones ([`SmConfig::register_allocation`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RegisterAllocation {
    /// Registers that are not live together share, and are spread.
    Spread,
    /// Registers that are not live together share the fewest.
    Tight,
    /// Each register has one of its own.
    Separate,
}

impl From<RegisterAllocation> for strata_ptx::back::RegisterAllocation {
    fn from(allocation: RegisterAllocation) -> Self {
        match allocation {
            RegisterAllocation::Spread => Self::Spread,
            RegisterAllocation::Tight => Self::Tight,
            RegisterAllocation::Separate => Self::Separate,
        }
    }
}

impl SmConfig {
    /// Warps whose instructions are fetched in a cycle.
    pub fn fetches(&self) -> u32 {
        self.fetches_per_cycle.as_deref().map_or(1, |fetches| *fetches)
    }

    /// Requirements on this SM's register file: its number of rows and of read tickets. `seed` seeds its random
    /// streams.
    pub fn register_file_site(&self, seed: u64) -> RegisterFileSite {
        let collectors: usize = self.collectors.iter().map(|pool| *pool.count as usize).sum();
        RegisterFileSite {
            rows: *self.registers as usize / WARP_LANES,
            warps: *self.warp_slots,
            registers_per_thread: *self.registers_per_thread,
            tickets: collectors * COLLECTOR_ROWS,
            seed,
        }
    }

    /// Resources that limit how many CTAs can be resident.
    pub fn limits(&self) -> Limits {
        Limits {
            warps: *self.warp_slots,
            ctas: *self.cta_slots,
            registers: *self.registers,
            register_unit: *self.register_unit,
            shared_bytes: *self.shared_bytes,
            shared_unit_bytes: *self.shared_unit_bytes,
            barriers: *self.barriers,
        }
    }

    /// Checks ranges and dependencies that the types cannot express.
    ///
    /// # Errors
    /// Returns a sentence that names the first bad field, its value and the accepted values.
    pub fn check(&self) -> Result<(), String> {
        let within = |name: &str, value: u32, low: u32, high: u32| {
            if (low..=high).contains(&value) {
                Ok(())
            } else {
                Err(format!("sm.{name} = {value}: expected {low} to {high}"))
            }
        };
        within("warp_slots", *self.warp_slots, 1, 64)?;
        within("cta_slots", *self.cta_slots, 1, 32)?;
        within("registers", *self.registers, 32, 1 << 20)?;
        within("registers_per_thread", *self.registers_per_thread, 8, 255)?;
        within("load_window", *self.load_window, 0, 32)?;
        within("register_unit", *self.register_unit, 32, 1 << 16)?;
        if !self.register_unit.is_multiple_of(32) {
            return Err(format!("sm.register_unit = {}: expected a multiple of 32", *self.register_unit));
        }
        within("shared_bytes", *self.shared_bytes, 0, 1 << 20)?;
        within("shared_unit_bytes", *self.shared_unit_bytes, 1, 1 << 20)?;
        if let Some(unified) = &self.unified {
            unified.check(*self.shared_bytes)?;
        }
        within("schedulers", *self.schedulers, 1, 8)?;
        within("instruction_buffer", *self.instruction_buffer, 1, 16)?;
        within("fetches_per_cycle", self.fetches(), 1, 16)?;
        within("pipeline_latency_cycles", *self.pipeline_latency_cycles, 0, 100)?;
        if let Scheduling::TwoLevel { active } = *self.scheduling {
            within("scheduling.two_level.active", active, 1, 64)?;
        }
        let mut served = [0; UnitKind::COUNT];
        for pool in &self.collectors {
            within("collectors.count", *pool.count, 1, 64)?;
            for kind in &pool.serves {
                served[*kind as usize] += 1;
            }
        }
        within("collectors: units together", self.collectors.iter().map(|pool| *pool.count).sum(), 1, 64)?;
        for kind in UnitKind::ALL {
            let used = kind == UnitKind::Ldst || self.timing.iter().any(|(_, _, timing)| timing.unit == kind);
            if served[kind as usize] > 1 || (used && served[kind as usize] == 0) {
                return Err(format!(
                    "sm.collectors: {kind:?} is served by {} pools, expected exactly one",
                    served[kind as usize]
                ));
            }
            within("units", self.units.of(kind), u32::from(used), 16)?;
        }
        for (_, name, timing) in self.timing.iter() {
            within(&format!("timing.{name}.latency_cycles"), *timing.latency_cycles, 1, 1000)?;
            within(&format!("timing.{name}.interval_cycles"), *timing.interval_cycles, 1, 1000)?;
            if timing.unit == UnitKind::Ldst {
                return Err(format!(
                    "sm.timing.{name}.unit: the load/store unit performs memory instructions only"
                ));
            }
        }
        Ok(())
    }
}
