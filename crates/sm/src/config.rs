//! What a machine file says of an SM. Every number carries its source.

use serde::{Deserialize, Serialize};
use strata_engine::Cited;
use strata_memory::doors::RegisterFileSite;
use strata_ptx::isa::{Class, MAX_ROWS};
use strata_warp::WARP_LANES;

use crate::occupancy::Limits;

/// An SM without its register file, caches and load/store unit, which have configurations of their own.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmConfig {
    /// Warps that can be resident, at most 64.
    pub warp_slots: Cited<u32>,
    /// CTAs that can be resident, at most 32.
    pub cta_slots: Cited<u32>,
    /// 32-bit registers.
    pub registers: Cited<u32>,
    /// Most 32-bit registers of a thread: a kernel that needs more spills to local memory.
    pub registers_per_thread: Cited<u32>,
    /// Registers are given to a warp in multiples of this, a multiple of 32.
    pub register_unit: Cited<u32>,
    /// Bytes of shared memory that CTAs can have.
    pub shared_bytes: Cited<u32>,
    /// Shared memory is given to a CTA in multiples of this many bytes.
    pub shared_unit_bytes: Cited<u32>,
    /// Named barriers of the SM, shared by its CTAs; a CTA uses 16 at most.
    pub barriers: Cited<u32>,
    /// Warp schedulers; warp w belongs to scheduler w modulo their number.
    pub schedulers: Cited<u32>,
    /// How a scheduler picks.
    pub scheduling: Cited<Scheduling>,
    /// Instructions that a warp's instruction buffer holds, which is also what one fetch brings at most.
    pub instruction_buffer: Cited<u32>,
    /// Operand collectors.
    pub collectors: Vec<CollectorPool>,
    /// Execution units of each kind.
    pub units: UnitCounts,
    /// Cycles that every computation takes besides those of its unit, in the registers between the pipeline's stages: from
    /// the collector into the unit, and from the unit to the register file.
    pub pipeline_latency_cycles: Cited<u32>,
    /// Unit, latency and issue interval of each class of instructions.
    pub timing: Timings,
}

/// How a scheduler picks among its ready warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Scheduling {
    /// Loose round robin: the next ready warp after the one that issued last.
    LooseRoundRobin,
    /// Greedy then oldest: the same warp as long as it is ready, else the one that started first.
    GreedyThenOldest,
    /// Two-level: round robin over an active set; warps that wait for memory leave it.
    TwoLevel {
        /// Warps of the active set of one scheduler.
        active: u32,
    },
}

/// A kind of execution unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum UnitKind {
    Sp,
    Int,
    Dp,
    Sfu,
    /// Matrix products.
    Tensor,
    /// The load/store unit.
    Ldst,
}

impl UnitKind {
    /// Number of kinds.
    pub const COUNT: usize = 6;
    /// All kinds in order.
    pub const ALL: [UnitKind; UnitKind::COUNT] =
        [UnitKind::Sp, UnitKind::Int, UnitKind::Dp, UnitKind::Sfu, UnitKind::Tensor, UnitKind::Ldst];
    /// The kinds that compute.
    pub const COMPUTING: [UnitKind; UnitKind::COUNT - 1] =
        [UnitKind::Sp, UnitKind::Int, UnitKind::Dp, UnitKind::Sfu, UnitKind::Tensor];
}

/// Operand collectors that serve certain kinds of units.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CollectorPool {
    /// Collector units.
    pub count: Cited<u32>,
    /// For which units; a kind is served by exactly one pool.
    pub serves: Vec<UnitKind>,
}

/// Units of each kind; there is one load/store unit.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct UnitCounts {
    pub sp: Cited<u32>,
    pub int: Cited<u32>,
    pub dp: Cited<u32>,
    pub sfu: Cited<u32>,
    pub tensor: Cited<u32>,
}

impl UnitCounts {
    /// Units of a kind.
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

/// Timing of one class of instructions.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// The unit that performs it.
    pub unit: UnitKind,
    /// Cycles in the unit, at least 1: from dispatch to write-back, less `pipeline_latency_cycles`.
    pub latency_cycles: Cited<u32>,
    /// Cycles until the unit takes the next instruction, at least 1.
    pub interval_cycles: Cited<u32>,
}

macro_rules! timings {
    ($($field:ident: $class:ident,)*) => {
        /// Timing of each class that an execution unit performs.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        #[allow(missing_docs)]
        pub struct Timings {
            $( pub $field: Timing, )*
        }

        impl Timings {
            /// Classes and their timing.
            pub fn iter(&self) -> impl Iterator<Item = (Class, &'static str, &Timing)> {
                [$( (Class::$class, stringify!($field), &self.$field), )*].into_iter()
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
}

impl SmConfig {
    /// What a register file of this SM must hold and serve. `seed` is that of its random streams.
    pub fn register_file_site(&self, seed: u64) -> RegisterFileSite {
        let collectors: usize = self.collectors.iter().map(|pool| *pool.count as usize).sum();
        RegisterFileSite { rows: *self.registers as usize / WARP_LANES, tickets: collectors * MAX_ROWS, seed }
    }

    /// Resources that CTAs compete for.
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

    /// Checks what the types cannot say; the error names the field.
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
        within("register_unit", *self.register_unit, 32, 1 << 16)?;
        if !self.register_unit.is_multiple_of(32) {
            return Err(format!("sm.register_unit = {}: expected a multiple of 32", *self.register_unit));
        }
        within("shared_bytes", *self.shared_bytes, 0, 1 << 20)?;
        within("shared_unit_bytes", *self.shared_unit_bytes, 1, 1 << 20)?;
        within("schedulers", *self.schedulers, 1, 8)?;
        within("instruction_buffer", *self.instruction_buffer, 1, 16)?;
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
