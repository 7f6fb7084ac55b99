//! From virtual registers to a kernel that a machine can issue.
//!
//! [`compile`] is the whole back end: it checks operands ([`body`]), saves registers around calls that recurse
//! ([`frames`]), splits reused registers ([`webs`]), simplifies ([`simplify`]), allocates physical registers
//! ([`allocate`]) and decodes ([`decode`]). [`verify`] checks the
//! result of an allocation independently.

pub mod allocate;
pub mod bits;
pub mod body;
pub mod cfg;
pub mod color;
pub mod common;
pub mod constant;
pub mod decode;
pub mod dominance;
pub mod frames;
pub mod fuse;
pub mod interference;
pub mod liveness;
pub mod narrow;
pub mod offsets;
pub mod schedule;
pub mod simplify;
pub mod spill;
pub mod verify;
pub mod webs;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use crate::ir::{Constant, Function, LaunchBounds, VSrc};
use crate::isa::Op;
use crate::program::{DEFAULT_STACK_BYTES, Kernel};
use allocate::Allocation;
use body::Body;

/// Why a kernel could not be compiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackError {
    /// An instruction's operands do not fit its operation.
    #[error("line {line}: kernel {kernel}: {what}")]
    #[allow(missing_docs)]
    Malformed { kernel: String, line: u32, what: String },
    /// More values must be in registers at once than a thread can have.
    #[error("more than {most} {what} are needed at once")]
    #[allow(missing_docs)]
    TooManyLive { what: &'static str, most: usize },
    /// An instruction reads more registers than an operand collector holds.
    #[error("line {line}: an instruction reads {rows} registers; at most 12 are supported")]
    #[allow(missing_docs)]
    TooManyRows { line: u32, rows: usize },
    /// A kernel is so long and branches so much that its analysis would not end.
    #[error("a kernel of {instructions} instructions in {blocks} blocks is too large to compile")]
    #[allow(missing_docs)]
    TooLarge { instructions: usize, blocks: usize },
    /// The constants of a kernel do not fit their table.
    #[error("a kernel uses more than 65,535 constant words")]
    TooManyConstants,
}

/// Most instructions or registers of a kernel times its blocks: so many bits has a set of values for every block.
/// ASSUMED: half a gigabyte, far above what compilers emit.
const MAX_SET_BITS: usize = 1 << 32;

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
}

impl Default for Options {
    /// What every NVIDIA GPU since compute capability 5.0 has (CUDA C++ Programming Guide, technical
    /// specifications per compute capability): 255 registers a thread in units of eight, 65,536 an SM of 2,048
    /// threads; seven predicates. Reserved
    /// are three since 7.0: the stack pointer R1, and two that ptxas 12.9 reports beyond the highest register
    /// its code names.
    fn default() -> Self {
        Options {
            max_registers: 255,
            max_predicates: 7,
            reserved_registers: 3,
            sm_threads: 2048,
            register_unit: 8,
            sm_registers: 65_536,
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
    /// Registers that count besides those of the code.
    reserved: u32,
}

/// Rows beyond the fewest that the code is spread over where that costs no warp. ASSUMED: ptxas spreads too (it
/// gives saxpy 10 registers where 7 do), how far is not published; four brings the counts closest
/// (docs/registers.md).
const SPREAD: u32 = 4;

impl Limits {
    /// The registers that `rows` cost: whole units, and no fewer than every warp can have.
    fn charged(&self, rows: u32) -> u32 {
        (rows + self.reserved).next_multiple_of(self.unit).max(self.free)
    }

    /// How many rows to spread over when `rows` suffice: some more, but no warp fewer.
    fn roomy(&self, rows: usize) -> usize {
        let costless = self.charged(rows as u32);
        (rows as u32 + SPREAD).min(costless - self.reserved).max(rows as u32) as usize
    }
}

impl Options {
    fn limits(&self, bounds: LaunchBounds) -> Limits {
        let required =
            bounds.required.map(|ntid| ntid.iter().fold(1, |threads: u32, n| threads.saturating_mul(*n)));
        let threads = required.or(bounds.max_threads).unwrap_or(0);
        // Whole warps are resident, and registers are handed out in units.
        let resident =
            threads.div_ceil(32).saturating_mul(32).saturating_mul(bounds.min_ctas.unwrap_or(1).max(1));
        let share = self.sm_registers.checked_div(resident).map_or(u32::MAX, |share| {
            let unit = self.register_unit.max(1);
            (share / unit * unit).max(unit)
        });
        let registers = self.max_registers.min(share).min(bounds.max_registers.unwrap_or(u32::MAX));
        let registers = registers.saturating_sub(self.reserved_registers).max(1);
        Limits {
            registers,
            predicates: self.max_predicates,
            unit: self.register_unit.max(1),
            free: self.sm_registers / self.sm_threads.max(1),
            reserved: self.reserved_registers,
        }
    }
}

/// Compiles one kernel.
///
/// # Errors
/// When an instruction's operands do not fit its operation, or the kernel exceeds what an instruction
/// can name.
pub fn compile(function: &Function, options: &Options) -> Result<Kernel, BackError> {
    let allocation = lower(function, options)?;
    let decoded = decode::decode(&allocation)?;
    let stack_bytes = if function.stack.is_some() { DEFAULT_STACK_BYTES } else { 0 };
    let param_bytes = function.params.iter().map(|param| param.offset + param.bytes).max().unwrap_or(0);
    Ok(Kernel {
        name: function.name.clone(),
        barriers: barriers(&allocation.body),
        code: decoded.code,
        constants: decoded.constants,
        branch_tables: decoded.branch_tables,
        addresses: function.addresses.clone(),
        params: function.params.clone(),
        param_bytes,
        registers: allocation.registers + options.reserved_registers,
        predicates: allocation.predicates,
        shared_bytes: function.shared_bytes,
        local_bytes: local_bytes(function, &allocation, stack_bytes),
        spill_bytes: allocation.slots.bytes(),
        stack_bytes,
        launch_bounds: function.launch_bounds,
        formats: function.formats.clone(),
        assertions: function.assertions.clone(),
        sources: function.sources.clone(),
    })
}

/// Everything up to decoding.
pub fn lower(function: &Function, options: &Options) -> Result<Allocation, BackError> {
    let mut body = Body::new(function)?;
    if let Some(stack) = &function.stack {
        frames::save_across_calls(&mut body, stack);
    }
    simplify::tidy_flow(&mut body);
    let cfg = cfg::Cfg::new(&body);
    let (instructions, blocks) = (body.code.len(), cfg.blocks.len());
    if instructions.max(body.registers.len()).saturating_mul(blocks) > MAX_SET_BITS {
        return Err(BackError::TooLarge { instructions, blocks });
    }
    webs::split(&mut body, &cfg);
    simplify::simplify(&mut body);
    let limits = options.limits(function.launch_bounds);
    let mut allocation = schedule_and_allocate(body, limits, function.local_bytes)?;
    if cfg!(debug_assertions) {
        verify::verify(&allocation).expect("each use reads the value that it should");
    }
    decode::drop_idle_moves(&mut allocation);
    simplify::tidy_flow(&mut allocation.body);
    Ok(allocation)
}

/// Orders and allocates so that as many loads overlap as registers allow without costing a warp: an order is
/// given up for one with fewer rows in flight only when that spills less or lets more warps be
/// resident.
fn schedule_and_allocate(body: Body, limits: Limits, local_bytes: u32) -> Result<Allocation, BackError> {
    let cfg = cfg::Cfg::new(&body);
    let mut best: Option<Allocation> = None;
    for window in schedule::WINDOWS {
        let mut ordered = body.clone();
        schedule::schedule(&mut ordered, &cfg, window);
        let allocation = allocate::allocate(ordered, limits, local_bytes)?;
        let cost = |allocation: &Allocation| (allocation.slots.bytes(), limits.charged(allocation.registers));
        let free = cost(&allocation) == (0, limits.charged(0));
        if best.as_ref().is_none_or(|best| cost(&allocation) < cost(best)) {
            best = Some(allocation);
        }
        if free {
            break;
        }
    }
    Ok(best.expect("at least one order is tried"))
}

/// Local memory of a thread: what the text declares, spills, and the stack at the end.
fn local_bytes(function: &Function, allocation: &Allocation, stack_bytes: u32) -> u32 {
    let fixed = if allocation.slots.bytes() == 0 {
        function.local_bytes.next_multiple_of(4)
    } else {
        allocation.slots.end()
    };
    if stack_bytes == 0 { fixed } else { fixed.next_multiple_of(8) + stack_bytes }
}

/// The highest barrier named, plus one; all 16 when one is computed.
fn barriers(body: &Body) -> u32 {
    let named = body.code.iter().filter(|inst| matches!(inst.op, Op::Barrier(_)));
    let highest = named.map(|inst| match inst.src.first() {
        Some(VSrc::Const(Constant::Bits(barrier))) => (*barrier as u32).saturating_add(1).min(16),
        _ => 16,
    });
    highest.max().unwrap_or(0)
}
