//! How many registers a kernel may have, and what they cost.

use crate::ir::LaunchBounds;

/// What the back end may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Most 32-bit registers a thread, like `ptxas --maxrregcount`; what the text says (`.maxnreg`,
    /// `.maxntid` with `.minnctapersm`) can only lower it.
    pub max_registers: u32,
    /// Most predicate registers a thread.
    pub max_predicates: u32,
    /// Of those, registers that hold no value of the program but count for occupancy.
    pub reserved_registers: u32,
    /// Threads an SM can hold.
    pub sm_threads: u32,
    /// Registers are handed out in units of so many a thread.
    pub register_unit: u32,
    /// 32-bit registers of an SM, which `.maxntid` and `.minnctapersm` share out.
    pub sm_registers: u32,
    /// Most registers that the loads of a basic block may hold before the first use of any, when they are moved ahead
    /// of what needs them; with 0 the order of the text stays, and so do its loops.
    pub load_window: u32,
    /// How registers of the text get physical ones.
    pub allocation: RegisterAllocation,
    /// Whether the machine can read and write a register whose number is computed (`mov.indirect`).
    pub indirect_mov: bool,
    /// Whether lanes of a warp that wait for each other take turns ([`crate::simt`]).
    pub independent_threads: bool,
    /// Whether the machine loads parameters where the text does; else they are operands of the instructions that use them.
    pub loads_parameters: bool,
    /// Which registers operands access.
    pub accesses: AccessRules,
}

/// What registers operands access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessRules {
    /// What a value of more than 32 bits accesses.
    pub wide: WideAccesses,
    /// Whether a predicate that is written, or read as an operand, is an access too.
    pub predicates: bool,
}

/// What a value of more than 32 bits accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WideAccesses {
    /// Each of its rows.
    #[default]
    Rows,
    /// Its first row: once.
    Once,
    /// One register, as a value of 32 bits does: registers are numbered by values, with as few numbers as keep values that
    /// are live together apart.
    OneNumber,
}

impl AccessRules {
    /// Whether they are those of a machine that accesses every row of its operands, and predicates elsewhere.
    pub fn are_rows(self) -> bool {
        self == AccessRules::default()
    }
}

/// How registers of the text get physical ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterAllocation {
    /// Those that are not live together share, spread over a few more than the fewest that do where that costs no
    /// warp.
    Spread,
    /// Those that are not live together share the fewest that do.
    Tight,
    /// Each has one of its own if all together fit; a kernel with more is compiled with [`RegisterAllocation::Spread`].
    Separate,
}

impl Default for Options {
    /// What every NVIDIA GPU since compute capability 5.0 has (CUDA C++ Programming Guide, technical
    /// specifications per compute capability): 255 registers a thread in units of eight, 65,536 an SM of 2,048
    /// threads; seven predicates. Reserved are three since 7.0: the stack pointer R1, and two that ptxas 12.9 reports
    /// beyond the highest register its code names.
    fn default() -> Self {
        Options {
            max_registers: 255,
            max_predicates: 7,
            reserved_registers: 3,
            sm_threads: 2048,
            register_unit: 8,
            sm_registers: 65_536,
            load_window: 32,
            allocation: RegisterAllocation::Spread,
            indirect_mov: false,
            independent_threads: false,
            loads_parameters: false,
            accesses: AccessRules::default(),
        }
    }
}

/// Most registers and predicates of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// 32-bit registers.
    pub registers: u32,
    /// Predicates.
    pub predicates: u32,
    /// Registers that are handed out together.
    unit: u32,
    /// Registers that a thread may have while the SM still holds as many warps as it can.
    free: u32,
    /// Registers that a thread may have while the SM still holds a CTA of [`GREATEST_CTA`] threads.
    for_greatest_cta: u32,
    /// Registers that count besides those of the code.
    reserved: u32,
    /// How registers get places.
    pub(super) allocation: RegisterAllocation,
    /// What wide values access.
    pub(super) wide: WideAccesses,
}

/// Rows beyond the fewest that the code is spread over where that costs no warp. ASSUMED: ptxas spreads too (it
/// gives saxpy 10 registers where 7 do), how far is not published; four brings the counts closest
/// (docs/registers.md).
const SPREAD: u32 = 4;

/// Most threads of a CTA (CUDA C++ Programming Guide, technical specifications per compute capability, since 2.0). A kernel that
/// cannot fill an SM has no more registers in ptxas's code than let one run: 64 of 65,536 (docs/loads.md).
const GREATEST_CTA: u32 = 1024;

impl Limits {
    /// The registers that `rows` cost: whole units, and no fewer than every warp can have.
    pub(super) fn charged(&self, rows: u32) -> u32 {
        (rows + self.reserved).next_multiple_of(self.unit).max(self.free)
    }

    /// The most rows that cost no more than so many do.
    pub(super) fn costless(&self, rows: usize) -> usize {
        (self.charged(rows as u32) - self.reserved).min(self.registers) as usize
    }

    /// The most rows that loads may have on the way in a kernel that needs so many in any order.
    pub(super) fn roomiest(&self, rows: usize) -> usize {
        let charged = self.charged(rows as u32);
        let most = if charged > self.free { charged.max(self.for_greatest_cta) } else { charged };
        (most - self.reserved).min(self.registers) as usize
    }

    /// How many rows to spread over when `rows` suffice: some more, but no warp fewer; `None` if not to spread.
    pub(super) fn roomy(&self, rows: usize) -> Option<usize> {
        if self.allocation == RegisterAllocation::Tight {
            return None;
        }
        let costless = self.charged(rows as u32);
        Some((rows as u32 + SPREAD).min(costless - self.reserved).max(rows as u32) as usize)
    }
}

impl Options {
    pub(super) fn limits(&self, bounds: LaunchBounds) -> Limits {
        let required =
            bounds.required.map(|ntid| ntid.iter().fold(1, |threads: u32, n| threads.saturating_mul(*n)));
        let threads = required.or(bounds.max_threads).unwrap_or(0);
        let unit = self.register_unit.max(1);
        let whole_units = |registers: u32| registers / unit * unit;
        // Whole warps are resident, and registers are handed out in units.
        let resident =
            threads.div_ceil(32).saturating_mul(32).saturating_mul(bounds.min_ctas.unwrap_or(1).max(1));
        let share = self.sm_registers.checked_div(resident);
        let share = share.map_or(u32::MAX, |share| whole_units(share).max(unit));
        let registers = self.max_registers.min(share).min(bounds.max_registers.unwrap_or(u32::MAX));
        let registers = registers.saturating_sub(self.reserved_registers).max(1);
        Limits {
            registers,
            predicates: self.max_predicates,
            unit,
            free: whole_units(self.sm_registers / self.sm_threads.max(1)),
            for_greatest_cta: whole_units(self.sm_registers / GREATEST_CTA),
            reserved: self.reserved_registers,
            allocation: self.allocation,
            wide: self.accesses.wide,
        }
    }
}
