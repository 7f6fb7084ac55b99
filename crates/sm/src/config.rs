//! The SM section of a machine file. Every number carries its source.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::Cited;
use strata_memory::doors::RegisterFileSite;
use strata_memory::policy::Chosen;
use strata_memory::sub_cores::parts;
use strata_ptx::isa::{Class, MAX_ROWS};
use strata_warp::WARP_LANES;

pub use crate::barrier_unit::BarrierTiming;
use crate::occupancy::Limits;
use crate::scheduler::SchedulingPolicy;
pub use crate::unified::UnifiedStorage;

/// Rows of an operand collector, a power of two: the upper bits of a row's ticket are the number of its collector.
pub const COLLECTOR_ROWS: usize = MAX_ROWS.next_power_of_two();

/// Parameters of an SM, except its register file, caches and load/store unit, which have their own configurations.
/// Latencies are in core cycles.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SmConfig {
    /// Warps that can be resident at a time.
    #[schemars(range(min = 1, max = 64), extend("unit" = "warps"))]
    pub warp_slots: Cited<u32>,
    /// CTAs that can be resident at a time.
    #[schemars(range(min = 1, max = 32), extend("unit" = "CTAs"))]
    pub cta_slots: Cited<u32>,
    /// 32-bit registers in the register file, which resident warps share.
    #[schemars(range(min = 32, max = 1 << 20), extend("unit" = "registers"))]
    pub registers: Cited<u32>,
    /// Most 32-bit registers of a thread. A kernel that needs more spills to local memory.
    #[schemars(range(min = 8, max = 255), extend("unit" = "registers"))]
    pub registers_per_thread: Cited<u32>,
    /// Most registers that the loads of a basic block may hold before the first use of any: how far the
    /// compiler moves loads ahead. With 0 instructions keep the order of PTX, and loops their form.
    #[schemars(range(min = 0, max = 32), extend("unit" = "registers"))]
    pub load_window: Cited<u32>,
    /// How registers of PTX get physical ones. `spread`: those that are not live together share, spread over a few more than
    /// the fewest that do where that costs no warp. `tight`: they share the fewest. `separate`: each has one of its own, as
    /// long as `registers_per_thread` allows; a kernel with more is compiled as with `spread`.
    pub register_allocation: Cited<RegisterAllocation>,
    /// Whether instructions can read and write a register whose number they compute (`mov.indirect`, docs/ptx.md); false when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub indirect_mov: Option<Cited<bool>>,
    /// Whether lanes of a warp that wait for each other take turns, as since Volta ("independent thread scheduling"); false when
    /// absent: then lanes on one side of a branch wait until those on the other come to where both meet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub independent_threads: Option<Cited<bool>>,
    /// Allocation granularity of a warp's registers: a multiple of 32.
    #[schemars(range(min = 32, max = 1 << 16), extend("unit" = "registers"))]
    pub register_unit: Cited<u32>,
    /// Shared memory that resident CTAs share, in bytes.
    #[schemars(range(min = 0, max = 1 << 20), extend("unit" = "B"))]
    pub shared_bytes: Cited<u32>,
    /// Storage that shared memory shares with the L1D, if the L1D can be resized; without it each has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unified: Option<UnifiedStorage>,
    /// Allocation granularity of a CTA's shared memory in bytes.
    #[schemars(range(min = 1, max = 1 << 20), extend("unit" = "B"))]
    pub shared_unit_bytes: Cited<u32>,
    /// Named barriers of the SM, shared by its CTAs; a CTA uses at most 16.
    #[schemars(range(min = 0), extend("unit" = "barriers"))]
    pub barriers: Cited<u32>,
    /// How long barriers take; no time when absent: warps go on in the cycle after the last one's arrival.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub barrier_timing: Option<BarrierTiming>,
    /// Warp schedulers, each of which issues for its own warps. Warp w belongs to scheduler w modulo this number.
    #[schemars(range(min = 1, max = 8), extend("unit" = "schedulers"))]
    pub schedulers: Cited<u32>,
    /// Whether the SM consists of sub-cores, one for each scheduler, as since Volta; false when absent. Warp w belongs to sub-core w
    /// modulo their number. Each has an equal share of the units of each kind, of the collectors of each pool and of the
    /// banks of an `sram` register file, and uses no others. What is fewer than the sub-cores serves them all, as do the load/store
    /// unit and register files of other designs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sub_cores: Option<Cited<bool>>,
    /// Policy by which a scheduler picks among its ready warps.
    pub scheduling: Cited<Scheduling>,
    /// Capacity of a warp's instruction buffer in instructions; also the most that one fetch delivers.
    #[schemars(range(min = 1, max = 16), extend("unit" = "instructions"))]
    pub instruction_buffer: Cited<u32>,
    /// Size of an instruction in memory, which decides how many a line of the instruction cache holds: 8, the size of Fermi's,
    /// when absent. PTX has no binary form of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 4, max = 32), extend("unit" = "B"))]
    pub instruction_bytes: Option<Cited<u32>>,
    /// Warps whose instructions are fetched in a cycle, at most as many as the instruction cache takes; 1 without it.
    #[schemars(range(min = 1, max = 16), extend("unit" = "warps"))]
    pub fetches_per_cycle: Option<Cited<u32>>,
    /// Pools of operand collectors, at most 64 collectors in total.
    pub collectors: Vec<CollectorPool>,
    /// Number of execution units of each kind.
    pub units: UnitCounts,
    /// Cycles that every computation spends in the registers between pipeline stages, in addition to its
    /// unit's latency: from the collector to the unit, and from the unit to the register file.
    #[schemars(range(min = 0, max = 100), extend("unit" = "cycles"))]
    pub pipeline_latency_cycles: Cited<u32>,
    /// Unit, latency and issue interval of each instruction class.
    pub timing: Timings,
}

/// The warp scheduler that a machine file has chosen.
pub type Scheduling = Chosen<dyn SchedulingPolicy>;

/// A kind of execution unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
}

/// A pool of operand collectors that serves some kinds of units.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CollectorPool {
    /// Number of collectors in the pool, 1 to 64. With `sm.sub_cores` each sub-core has an equal share.
    pub count: Cited<u32>,
    /// Unit kinds that the pool serves. Exactly one pool serves each kind in use.
    pub serves: Vec<UnitKind>,
}

/// Number of execution units of each kind in the SM, at most 16. An SM has exactly one load/store unit.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnitCounts {
    /// Units for f32 and, without integer units, for integer arithmetic.
    #[schemars(range(min = 0, max = 16), extend("unit" = "units"))]
    pub sp: Cited<u32>,
    /// Units for integer arithmetic and logic; 0 if the SP units execute integers.
    #[schemars(range(min = 0, max = 16), extend("unit" = "units"))]
    pub int: Cited<u32>,
    /// Units for f64 arithmetic.
    #[schemars(range(min = 0, max = 16), extend("unit" = "units"))]
    pub dp: Cited<u32>,
    /// Units for approximate functions and what `timing` gives them besides.
    #[schemars(range(min = 0, max = 16), extend("unit" = "units"))]
    pub sfu: Cited<u32>,
    /// Units for matrix products.
    #[schemars(range(min = 0, max = 16), extend("unit" = "units"))]
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
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("alike" = true))]
pub struct Timing {
    /// Kind of unit that executes the class.
    #[schemars(extend("only" = ["sp", "int", "dp", "sfu", "tensor"]))]
    pub unit: UnitKind,
    /// Cycles in the unit: from dispatch to write-back, excluding `pipeline_latency_cycles`.
    #[schemars(range(min = 1, max = 1000), extend("unit" = "cycles"))]
    pub latency_cycles: Cited<u32>,
    /// Cycles before the unit accepts its next instruction.
    #[schemars(range(min = 1, max = 1000), extend("unit" = "cycles"))]
    pub interval_cycles: Cited<u32>,
    /// Whether the GPU makes a subroutine of it: the warp issues nothing else until its result is there. False when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subroutine: Option<Cited<bool>>,
}

impl Timing {
    /// Whether the GPU makes a subroutine of it.
    pub fn is_subroutine(&self) -> bool {
        self.subroutine.as_deref().is_some_and(|is| *is)
    }
}

macro_rules! timings {
    (
        $($(#[$doc:meta])* $field:ident: $class:ident,)*;
        $($(#[$own_doc:meta])* $own:ident: $own_class:ident = $other:ident,)*
    ) => {
        /// Timing of each instruction class that an execution unit performs.
        #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct Timings {
            $( $(#[$doc])* pub $field: Timing, )*
            $(
                $(#[$own_doc])*
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
    /// Integer additions, logic, shifts, comparisons, selections and moves.
    int_add: IntAdd,
    /// Integer minima, maxima and absolute values.
    int_min_max: IntMinMax,
    /// Integer products.
    int_mul: IntMul,
    /// Integer multiply-adds.
    int_mad: IntMad,
    /// Integer divisions and remainders.
    int_div: IntDiv,
    /// Sums, comparisons and selections of f32.
    f32_add: F32Add,
    /// Minima and maxima of f32.
    f32_min_max: F32MinMax,
    /// Products of f32.
    f32_mul: F32Mul,
    /// Fused multiply-adds of f32.
    f32_fma: F32Fma,
    /// Divisions of f32.
    f32_div: F32Div,
    /// Sums, comparisons and selections of f64.
    f64_add: F64Add,
    /// Minima and maxima of f64.
    f64_min_max: F64MinMax,
    /// Products of f64.
    f64_mul: F64Mul,
    /// Fused multiply-adds of f64.
    f64_fma: F64Fma,
    /// Divisions of f64.
    f64_div: F64Div,
    /// Approximate functions: reciprocals, roots, sines, exponentials, logarithms.
    sfu: Sfu,
    /// Conversions between types.
    convert: Convert,
    /// Shuffles, matches and reductions across a warp.
    warp: Warp,
    /// Matrix products of f16, bf16 or 8-bit floating-point numbers, with 128 bits in a row of A (k 8 of f16).
    matrix_half: MatrixHalf,
    /// Matrix products of f16, bf16 or 8-bit floating-point numbers, with 256 bits in a row of A (k 16 of f16).
    matrix_half_deep: MatrixHalfDeep,
    /// Matrix products of tf32, with 128 bits in a row of A (k 4).
    matrix_tf32: MatrixTf32,
    /// Matrix products of tf32, with 256 bits in a row of A (k 8).
    matrix_tf32_deep: MatrixTf32Deep,
    /// Matrix products of integers and bits, with 128 bits in a row of A (k 16 of s8).
    matrix_int: MatrixInt,
    /// Matrix products of integers and bits, with 256 bits in a row of A (k 32 of s8).
    matrix_int_deep: MatrixIntDeep,
    /// Matrix products of f64, 8 by 8 with k 4.
    matrix_f64: MatrixF64,
    ;
    /// Sums of f16 and bf16; timed as those of f32 where a machine does not tell.
    f16_add: F16Add = f32_add,
    /// Products of f16 and bf16; timed as those of f32 where a machine does not tell.
    f16_mul: F16Mul = f32_mul,
    /// Fused multiply-adds of f16 and bf16; timed as those of f32 where a machine does not tell.
    f16_fma: F16Fma = f32_fma,
    /// Reciprocals of f32, correctly rounded; timed as divisions where a machine does not tell.
    f32_rcp: F32Rcp = f32_div,
    /// Square roots of f32, correctly rounded; timed as divisions where a machine does not tell.
    f32_sqrt: F32Sqrt = f32_div,
    /// Reciprocals of f64; timed as divisions where a machine does not tell.
    f64_rcp: F64Rcp = f64_div,
    /// Square roots of f64; timed as divisions where a machine does not tell.
    f64_sqrt: F64Sqrt = f64_div,
    /// Votes across a warp; timed as shuffles where a machine does not tell.
    vote: Vote = warp,
}

/// How registers of PTX get physical ones ([`SmConfig::register_allocation`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

    /// Sub-cores of the SM; 1 if its warps share everything.
    pub fn sub_cores(&self) -> u32 {
        match self.sub_cores.as_deref() {
            Some(true) => *self.schedulers,
            Some(false) | None => 1,
        }
    }

    /// Size of an instruction in memory, in bytes.
    pub fn instruction_bytes(&self) -> u32 {
        self.instruction_bytes.as_deref().map_or(8, |bytes| *bytes)
    }

    /// Requirements on this SM's register file: its number of rows and of read tickets. `seed` seeds its random
    /// streams.
    pub fn register_file_site(&self, seed: u64) -> RegisterFileSite {
        let collectors: usize = self.collectors.iter().map(|pool| *pool.count as usize).sum();
        RegisterFileSite {
            rows: *self.registers as usize / WARP_LANES,
            warps: *self.warp_slots,
            sub_cores: self.sub_cores(),
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
        if let Some(timing) = &self.barrier_timing {
            timing.check()?;
        }
        within("schedulers", *self.schedulers, 1, 8)?;
        within("instruction_buffer", *self.instruction_buffer, 1, 16)?;
        within("instruction_bytes", self.instruction_bytes(), 4, 32)?;
        if !self.instruction_bytes().is_power_of_two() {
            return Err(format!(
                "sm.instruction_bytes = {}: expected a power of two",
                self.instruction_bytes()
            ));
        }
        within("fetches_per_cycle", self.fetches(), 1, 16)?;
        within("pipeline_latency_cycles", *self.pipeline_latency_cycles, 0, 100)?;
        let name = self.scheduling.name();
        self.scheduling.check().map_err(|error| format!("sm.scheduling: {name}: {error}"))?;
        let sub_cores = self.sub_cores();
        let shares = |name: &str, count: u32| match parts(count, sub_cores) {
            Ok(_) => Ok(()),
            Err(expected) => Err(format!("sm.{name} = {count}: expected {expected}")),
        };
        let mut served = [0; UnitKind::COUNT];
        for pool in &self.collectors {
            within("collectors.count", *pool.count, 1, 64)?;
            shares("collectors.count", *pool.count)?;
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
            shares(&format!("units.{kind:?}").to_lowercase(), self.units.of(kind))?;
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
