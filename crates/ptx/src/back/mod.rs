//! From virtual registers to a kernel that a machine can issue.
//!
//! [`compile`] is the whole back end: it checks operands ([`body`]), saves registers around calls that recurse
//! ([`frames`]), splits reused registers ([`webs`]), simplifies ([`simplify`]), allocates physical registers
//! ([`allocate`]) and decodes ([`decode`]). [`verify`] checks the
//! result of an allocation independently.

pub mod accesses;
pub mod alignment;
pub mod allocate;
pub mod arrays;
pub mod bits;
pub mod body;
pub mod cfg;
pub mod color;
pub mod common;
pub mod constant;
mod costs;
pub mod crowd;
pub mod decode;
pub mod dominance;
mod error;
mod facts;
pub mod frames;
pub mod fuse;
pub mod interference;
mod limits;
pub mod live_set;
pub mod liveness;
pub mod memory_order;
pub mod narrow;
pub mod occurrences;
pub mod offsets;
pub mod parameters;
pub mod schedule;
pub mod separate;
pub mod signs;
pub mod simplify;
pub mod spill;
pub mod undefined;
pub mod unroll;
pub mod vectors;
pub mod verify;
pub mod waits;
pub mod webs;

#[cfg(test)]
mod accesses_tests;
#[cfg(test)]
mod loop_tests;
#[cfg(test)]
mod oracle_tests;
#[cfg(test)]
mod random_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use accesses::Accesses;
pub use error::BackError;
pub use limits::{AccessRules, Limits, Options, RegisterAllocation, WideAccesses};

use crate::ir::{Constant, Function, VSrc};
use crate::isa::Op;
use crate::program::{DEFAULT_STACK_BYTES, Kernel};
use accesses::Numbers;
use allocate::Allocation;
use body::Body;

/// Compiles one kernel.
///
/// # Errors
/// When an instruction's operands do not fit its operation, or the kernel exceeds what an instruction
/// can name.
pub fn compile(function: &Function, options: &Options) -> Result<Kernel, BackError> {
    let undefined = undefined::find(function, &Body::new(function)?);
    let (allocation, numbers) = lower_with_numbers(function, options)?;
    let decoded = decode::decode(&allocation, options)?;
    let stack_bytes = if function.stack.is_some() { DEFAULT_STACK_BYTES } else { 0 };
    let param_bytes = function.params.iter().map(|param| param.offset + param.bytes).max().unwrap_or(0);
    Ok(Kernel {
        name: function.name.clone(),
        barriers: barriers(&allocation.body),
        code: decoded.code,
        constants: decoded.constants,
        branch_tables: decoded.branch_tables,
        accesses: decoded.accesses,
        addresses: function.addresses.clone(),
        params: function.params.clone(),
        param_bytes,
        registers: allocation.registers.max(numbers) + options.reserved_registers,
        reuses_registers: allocation.reuses,
        predicates: allocation.predicates,
        shared_bytes: function.shared_bytes,
        local_bytes: local_bytes(function, &allocation, stack_bytes),
        spill_bytes: allocation.slots.bytes(),
        stack_bytes,
        launch_bounds: function.launch_bounds,
        formats: function.formats.clone(),
        assertions: function.assertions.clone(),
        sources: function.sources.clone(),
        undefined,
        cooperative: false,
    })
}

/// Everything up to decoding, and how many registers the code accesses. Where predicates take numbers of registers, so many
/// rows fewer may be used as bring both within the limit.
fn lower_with_numbers(function: &Function, options: &Options) -> Result<(Allocation, u32), BackError> {
    let limit = options.limits(function.launch_bounds).registers;
    let mut options = *options;
    loop {
        let allocation = lower(function, &options)?;
        let numbers = Numbers::new(&allocation, options.accesses).count();
        let beyond = numbers.saturating_sub(limit);
        if beyond == 0 || options.max_registers <= options.reserved_registers + beyond {
            return Ok((allocation, numbers));
        }
        options.max_registers = options.max_registers.min(limit + options.reserved_registers) - beyond;
    }
}

/// Everything up to decoding.
pub fn lower(function: &Function, options: &Options) -> Result<Allocation, BackError> {
    let mut body = Body::new(function)?;
    arrays::check_machine(&body, options.indirect_mov)?;
    if options.loads_parameters {
        parameters::load(&mut body);
    }
    if let Some(stack) = &function.stack {
        frames::save_across_calls(&mut body, stack)?;
    }
    simplify::tidy_flow(&mut body);
    let cfg = cfg::Cfg::new(&body);
    webs::split(&mut body, &cfg)?;
    if options.load_window > 0 {
        simplify::settle(&mut body);
        unroll::unroll(&mut body, &function.rolled)?;
        let cfg = cfg::Cfg::new(&body);
        webs::split(&mut body, &cfg)?;
    }
    simplify::simplify(&mut body);
    arrays::settle_numbers(&mut body);
    let limits = options.limits(function.launch_bounds);
    let mut allocation = schedule_and_allocate(&body, limits, options.load_window, function.local_bytes)?;
    if cfg!(debug_assertions) {
        verify::verify(&allocation).expect("each use reads the value that it should");
    }
    decode::drop_idle_moves(&mut allocation);
    simplify::tidy_flow(&mut allocation.body);
    Ok(allocation)
}

/// Orders and allocates so that as many loads overlap as registers allow: those with which an SM is full or, of a kernel that
/// needs more in any order, those with which it holds a CTA of the greatest size ([`Limits::roomiest`]). Colouring may need
/// more rows than are live together: then fewer may be. For a crowded kernel the first order will do.
fn schedule_and_allocate(
    body: &Body,
    limits: Limits,
    load_window: u32,
    local_bytes: u32,
) -> Result<Allocation, BackError> {
    let cfg = cfg::Cfg::new(body);
    let liveness = liveness::Liveness::new(body, &cfg)?;
    let window = load_window as usize;
    let ordered = |live| schedule::schedule(body, &cfg, &liveness, schedule::Bounds { window, live });
    let most = limits.roomiest(ordered(limits.costless(0)).live);
    let fewer = if window == 0 { &[0][..] } else { &[0, 1, 2, 4, most] };
    let mut best: Option<Allocation> = None;
    for fewer in fewer {
        let ordered = ordered(most.saturating_sub(*fewer));
        let allocation = allocate::allocate(ordered.body, limits, local_bytes)?;
        let crowded = allocation.crowded;
        let cost = |allocation: &Allocation| (allocation.slots.bytes(), limits.charged(allocation.registers));
        let free = cost(&allocation) <= (0, limits.charged(most as u32));
        if best.as_ref().is_none_or(|best| cost(&allocation) < cost(best)) {
            best = Some(allocation);
        }
        if free || crowded {
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
