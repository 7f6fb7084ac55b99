//! Instructions that decide where the thread goes on, and when.

use strata_engine::Cycle;
use strata_ptx::exec::print::Argument;
use strata_ptx::exec::{Operands, predicate_source, write_predicate};
use strata_ptx::isa::{Barrier, Instruction, MAX_PRINTED, Op, Src};
use strata_ptx::lanes::{ALL_LANES, Row, WARP_LANES};
use strata_sm::launch::{FaultKind, Launch};
use strata_sm::print::Print;

use crate::core::{Core, UNSUPPORTED};
use crate::operands::LANE;
use crate::state::State;

/// Barriers of a CTA (PTX ISA, `bar`: 0 to 15).
const BARRIERS: u32 = 16;

impl Core {
    /// Performs a control instruction; `takes` says that its guard holds.
    pub(crate) fn control(&mut self, launch: &Launch, instruction: &Instruction, takes: bool, now: Cycle) {
        let lanes = if takes { LANE } else { 0 };
        let next = self.stack.pc() + 1;
        match instruction.op {
            Op::Branch { .. } => {
                self.stack.branch(lanes, instruction.target, next, instruction.reconverge);
            }
            _ if !takes => self.stack.advance(),
            Op::BranchIndexed { table } | Op::Return { table } => {
                self.branch_indexed(launch, instruction, table);
            }
            Op::Call { table, .. } => self.call(launch, instruction, table),
            Op::Exit => self.end_thread(launch),
            Op::Trap => self.fail(launch, instruction.line, FaultKind::Trap),
            Op::AssertFail { assertion } => {
                let line = self.registers.operands(instruction, &launch.constants).word(0);
                let what = launch.kernel.assertions[assertion as usize].describe(line);
                self.fail(launch, instruction.line, FaultKind::Assertion { what });
            }
            Op::Barrier(form) => self.barrier(launch, instruction, form),
            Op::WarpSync => self.stack.advance(),
            Op::Fence { scope, .. } => {
                self.stack.advance();
                self.lsu.fence(0, scope, now);
                self.state = State::Fence;
            }
            Op::Print { format, from } => {
                self.stack.advance();
                self.print(launch, instruction, (format, from));
            }
            Op::Nanosleep => {
                self.stack.advance();
                let nanoseconds = self.registers.operands(instruction, &launch.constants).word(0);
                let cycles = (u64::from(nanoseconds) * self.clock_mhz).div_ceil(1000);
                self.state = State::Asleep { until: now + cycles.max(1) };
            }
            _ => self.fail(launch, instruction.line, UNSUPPORTED),
        }
    }

    fn branch_indexed(&mut self, launch: &Launch, instruction: &Instruction, table: u32) {
        let index = self.registers.operands(instruction, &launch.constants).word(0);
        let Some(target) = launch.kernel.branch_tables[table as usize].get(index as usize) else {
            let what = "a branch to an index beyond its table";
            return self.fail(launch, instruction.line, FaultKind::Unsupported { what });
        };
        let targets = [*target; WARP_LANES];
        match instruction.op {
            Op::Return { .. } => self.stack.ret(&targets),
            _ => self.stack.branch_indexed(&targets, instruction.reconverge),
        }
    }

    fn call(&mut self, launch: &Launch, instruction: &Instruction, table: u32) {
        let kernel = &launch.kernel;
        let function = if instruction.src[0] == Src::None {
            kernel.branch_tables[table as usize][0]
        } else {
            let address = self.registers.operands(instruction, &launch.constants).wide(0);
            let Some(function) = kernel.function_at(table, address) else {
                return self.fail(launch, instruction.line, FaultKind::BadCall { address });
            };
            function
        };
        self.stack.call(&[function; WARP_LANES], instruction.reconverge);
    }

    /// A barrier of a CTA of one thread opens at once.
    fn barrier(&mut self, launch: &Launch, instruction: &Instruction, form: Barrier) {
        let mut operands = self.registers.operands(instruction, &launch.constants);
        let (number, threads) = (operands.word(0), operands.word(1));
        if number >= BARRIERS || !threads.is_multiple_of(32) {
            let what = "a barrier beyond 15, or for a number of threads that is not a multiple of 32";
            return self.fail(launch, instruction.line, FaultKind::Unsupported { what });
        }
        if threads > 32 && form != Barrier::Arrive {
            let what = "a barrier for more than the one warp that a thread on a CPU core is";
            return self.fail(launch, instruction.line, FaultKind::Unsupported { what });
        }
        let aye = |operands: &_| predicate_source(instruction, operands, 2) & LANE != 0;
        match form {
            Barrier::Sync | Barrier::Arrive => {}
            Barrier::RedPopc => {
                let count = u32::from(aye(&operands));
                operands.write(0, 0, LANE, &Row::splat(count));
            }
            Barrier::RedAnd | Barrier::RedOr => {
                let value = if aye(&operands) { ALL_LANES } else { 0 };
                write_predicate(instruction, &mut operands, 0, LANE, value);
            }
        }
        self.stack.advance();
    }

    /// Keeps the arguments of a print; those behind the first few come with further instructions.
    fn print(&mut self, launch: &Launch, instruction: &Instruction, (format, from): (u32, u8)) {
        let operands = self.registers.operands(instruction, &launch.constants);
        let types = &launch.kernel.formats[format as usize].arguments[usize::from(from)..];
        let argument = |(slot, wide): (usize, bool)| {
            let bits = if wide { operands.wide(slot) } else { operands.word(slot).into() };
            Argument { bits, wide }
        };
        let wide = types.iter().map(|ty| ty.rows() == 2).take(MAX_PRINTED);
        let arguments: Vec<Argument> = wide.enumerate().map(argument).collect();
        match self.prints.last_mut().filter(|_| from > 0) {
            Some(begun) => begun.arguments.extend(arguments),
            None => self.prints.push(Print { cta: self.thread, warp: 0, lane: 0, format, arguments }),
        }
    }
}
