//! The contract of register files, and its harness.
//!
//! Random instructions of many warps read and write registers as an SM does: an instruction takes a
//! collector, requests its rows, computes for a while once all have arrived, and then offers each of its
//! results until it is accepted. A scoreboard prevents the conflicts that the door excludes. The oracle is a
//! flat array of rows; lanes not written since [`RegisterFile::prepare`] are undefined and never compared.
//!
//! The harness checks that as many rows of each request arrive as were asked for, and that once they are all there, each
//! is as it was when the read was requested; that only the requested rows of the collectors change; that a write takes effect with the call that accepts it,
//! and a refused one does not; that inactive lanes keep their values; that `peek` is right at any time; that
//! instructions make progress; that `next_event` is never too late (`skip`); that nothing waits at the end;
//! and that the laws of the statistics hold. Warps with nothing in flight end now and then (`release`), and
//! others take their rows. It repeats all this after every `prepare`.

mod instruction;

use strata_engine::Cycle;
use strata_engine::hash::Fnv;
use strata_engine::seed::Stream;
use strata_memory::WarpRows;
use strata_memory::doors::{Arrival, CollectorPort, RegisterFile, RegisterFileSite, Ticket};
use strata_warp::{Reg, Row};

use super::{Outcome, PATIENCE, lawful, with_skips};
use instruction::{Hazard, Instruction, Stage, Value, random_row};

/// Makes a register file for a site.
pub type Make<'a> = dyn FnMut(RegisterFileSite) -> Box<dyn RegisterFile> + 'a;

/// Number of instructions that can be issued in a cycle.
const ISSUE_WIDTH: usize = 2;

/// The workload of a check.
#[derive(Clone, Copy, Debug)]
pub struct Contract {
    /// Seed of all random choices.
    pub seed: u64,
    /// Number of warp slots.
    pub warps: u8,
    /// Most rows per warp, 8 to 256; each launch uses between half of them and all.
    pub rows_per_warp: u32,
    /// Number of operand collectors.
    pub collectors: u16,
    /// Number of rows per collector.
    pub operands: u16,
    /// Number of launches; each begins with a call of `prepare`.
    pub launches: u32,
    /// Number of instructions per launch.
    pub instructions: u32,
    /// Longest random time from the last operand to the first result, in cycles.
    pub delay: u64,
    /// Percent of cycles in which instructions are issued.
    pub willing: u64,
    /// Percent of instructions with only some lanes active.
    pub partial: u64,
    /// A warp ends in one of so many cycles, if nothing of it is in flight.
    pub lives: u64,
    /// Percent of written rows whose lanes are alike: equal, or within a byte or two of each other.
    pub alike: u64,
    /// Whether only the cycles that `next_event` names are ticked.
    pub skip: bool,
}

impl Contract {
    /// Few registers and many instructions, so that rows are read and written again and again.
    pub fn dense(seed: u64) -> Contract {
        Contract {
            seed,
            warps: 6,
            rows_per_warp: 16,
            collectors: 8,
            operands: 12,
            launches: 4,
            instructions: 1500,
            delay: 12,
            willing: 90,
            partial: 40,
            lives: 50,
            alike: 60,
            skip: false,
        }
    }

    /// The registers of an SM, with pauses in which everything comes to rest.
    pub fn wide(seed: u64) -> Contract {
        Contract { warps: 32, rows_per_warp: 64, willing: 8, delay: 60, ..Contract::dense(seed) }
    }
}

/// Runs the harness once.
///
/// # Errors
/// Describes the first violation of the contract in a sentence.
pub fn check(contract: &Contract, make: &mut Make<'_>) -> Result<Outcome, String> {
    Bench::new(*contract, make).run()
}

/// Runs the harness twice, once ticking every cycle and once skipping idle cycles, and compares the outcomes.
///
/// # Errors
/// Describes the first violation of the contract in a sentence.
pub fn check_with_skips(contract: &Contract, make: &mut Make<'_>) -> Result<Outcome, String> {
    with_skips(|skip| check(&Contract { skip, ..*contract }, make))
}

struct Bench {
    contract: Contract,
    file: Box<dyn RegisterFile>,
    stream: Stream,
    layout: WarpRows,
    oracle: Vec<Value>,
    hazards: Vec<Hazard>,
    /// The collectors' rows, and the values that they must keep while nothing is requested.
    rows: Vec<Row>,
    kept: Vec<Row>,
    /// The value that each open ticket must return.
    open: Vec<Option<Value>>,
    free: Vec<bool>,
    arrived: Vec<Arrival>,
    /// The next instruction of each warp, held until it may issue.
    held: Vec<Option<Instruction>>,
    under_way: Vec<Instruction>,
    left: u32,
    now: Cycle,
    moved: Cycle,
    hash: Fnv,
}

impl Bench {
    fn new(contract: Contract, make: &mut Make<'_>) -> Bench {
        let tickets = usize::from(contract.collectors * contract.operands);
        let rows = usize::from(contract.warps) * contract.rows_per_warp as usize;
        let mut stream = Stream::new(contract.seed, "register file contract");
        let collectors: Vec<Row> = (0..tickets).map(|_| random_row(&mut stream)).collect();
        Bench {
            contract,
            file: make(RegisterFileSite {
                rows,
                warps: u32::from(contract.warps),
                sub_cores: 1,
                registers_per_thread: contract.rows_per_warp,
                tickets,
                seed: contract.seed,
            }),
            stream,
            layout: WarpRows::even(0),
            oracle: vec![Value::UNDEFINED; rows],
            hazards: vec![Hazard::default(); rows],
            kept: collectors.clone(),
            rows: collectors,
            open: vec![None; tickets],
            free: vec![true; usize::from(contract.collectors)],
            arrived: Vec::with_capacity(tickets),
            held: (0..contract.warps).map(|_| None).collect(),
            under_way: Vec::new(),
            left: 0,
            now: Cycle::ZERO,
            moved: Cycle::ZERO,
            hash: Fnv::default(),
        }
    }

    fn run(mut self) -> Result<Outcome, String> {
        for launch in 0..self.contract.launches {
            let most = self.contract.rows_per_warp;
            // Half, full, between them, and not all alike: a warp's rows lie elsewhere in each launch, and need more room later.
            self.layout = match launch % 4 {
                0 => WarpRows::even(most / 2),
                1 => WarpRows::even(most),
                2 => WarpRows::even(most / 2 + self.stream.below(u64::from(most / 2)) as u32),
                _ => {
                    let rows = [(); 3].map(|()| most / 2 + self.stream.below(u64::from(most / 2)) as u32);
                    WarpRows::of(|warp| rows[warp % 3])
                }
            };
            self.file.prepare(&self.layout);
            self.oracle.fill(Value::UNDEFINED);
            self.left = self.contract.instructions;
            while !self.is_idle() || self.file.next_event(self.now) != Cycle::NEVER {
                self.cycle().map_err(|fault| format!("launch {launch}, cycle {}: {fault}", self.now))?;
                self.now = self.now.next();
            }
            self.look_at_rest().map_err(|fault| format!("after launch {launch}: {fault}"))?;
        }
        let groups = self.file.statistics();
        lawful(&groups)?;
        Ok(Outcome { cycles: self.now.0, hash: self.hash.finish(), statistics: vec![groups] })
    }

    fn is_idle(&self) -> bool {
        self.left == 0 && self.under_way.is_empty() && self.held.iter().all(Option::is_none)
    }

    fn look_at_rest(&self) -> Result<(), String> {
        let waits = self.waits();
        if !waits.is_empty() {
            return Err(format!("nothing is under way, but it waits: {waits}"));
        }
        (0..self.contract.warps).try_for_each(|warp| {
            (0..self.layout.count(warp)).try_for_each(|row| self.peek(warp, Reg(row as u8)))
        })
    }

    fn waits(&self) -> String {
        let mut report = Vec::new();
        self.file.waits(&mut report);
        report.join("; ")
    }

    fn place(&self, warp: u8, register: Reg) -> usize {
        self.layout.first(warp) as usize + usize::from(register.0)
    }

    fn peek(&self, warp: u8, register: Reg) -> Result<(), String> {
        let expected = &self.oracle[self.place(warp, register)];
        expected.same(&self.file.peek(warp, register), || {
            format!("peek of register {} of warp {warp}", register.0)
        })
    }

    /// The order of an SM's stages: write-back, dispatch, operands, issue.
    fn cycle(&mut self) -> Result<(), String> {
        let issues = self.stream.below(100) < self.contract.willing;
        let warps: [u8; ISSUE_WIDTH] =
            std::array::from_fn(|_| self.stream.below(u64::from(self.contract.warps)) as u8);
        let peeked = Reg(self.stream.below(u64::from(self.layout.count(warps[0]))) as u8);
        self.end_a_warp(warps[1]);
        self.write_back()?;
        self.dispatch();
        self.collect()?;
        if issues {
            warps.into_iter().for_each(|warp| self.issue(warp));
        }
        self.peek(warps[0], peeked)?;
        if self.now.since(self.moved) > PATIENCE {
            let (open, waits) = (self.open.iter().flatten().count(), self.waits());
            return Err(format!("nothing moves any more; {open} tickets are open; {waits}"));
        }
        Ok(())
    }

    /// Now and then ends a warp that has nothing in flight; its rows are undefined from then on.
    fn end_a_warp(&mut self, warp: u8) {
        let ends = self.stream.below(self.contract.lives) == 0;
        if ends && self.under_way.iter().all(|instruction| instruction.warp != warp) {
            self.file.release(warp);
            let rows = self.layout.rows(warp);
            self.oracle[rows.start as usize..rows.end as usize].fill(Value::UNDEFINED);
        }
    }

    /// Offers every result that is there, an instruction's in order.
    fn write_back(&mut self) -> Result<(), String> {
        for index in 0..self.under_way.len() {
            while let Instruction { warp, lanes, stage: Stage::Writing(taken), ref writes, .. } =
                self.under_way[index]
                && let Some(&(register, row)) = writes.get(taken)
            {
                if !self.file.offer_write(warp, register, lanes, &row, self.now) {
                    self.peek(warp, register)
                        .map_err(|fault| format!("a write was refused, then {fault}"))?;
                    break;
                }
                self.moved = self.now;
                self.hash.write(&self.now.0.to_le_bytes());
                self.hash.write(&[warp, register.0]);
                let place = self.place(warp, register);
                self.oracle[place].row.merge(lanes, &row);
                self.oracle[place].known |= lanes;
                self.peek(warp, register).map_err(|fault| format!("a write was taken, then {fault}"))?;
                self.under_way[index].stage = Stage::Writing(taken + 1);
            }
        }
        let (layout, hazards) = (&self.layout, &mut self.hazards);
        self.under_way.retain(|instruction| {
            let done =
                matches!(instruction.stage, Stage::Writing(taken) if taken == instruction.writes.len());
            for (register, _) in instruction.writes.iter().filter(|_| done) {
                hazards[layout.first(instruction.warp) as usize + usize::from(register.0)].written = false;
            }
            !done
        });
        Ok(())
    }

    fn dispatch(&mut self) {
        for instruction in &mut self.under_way {
            match instruction.stage {
                Stage::Collecting { collector, missing: 0 } => {
                    self.free[collector] = true;
                    instruction.stage = Stage::Computing(self.now + instruction.delay);
                }
                Stage::Computing(until) if until <= self.now => instruction.stage = Stage::Writing(0),
                _ => {}
            }
        }
    }

    /// Ticks the register file and checks what arrived.
    fn collect(&mut self) -> Result<(), String> {
        let now = self.now;
        let due = self.file.next_event(now) <= now;
        if due || !self.contract.skip {
            self.file.tick(CollectorPort { rows: &mut self.rows, arrived: &mut self.arrived }, now);
        }
        if !due && !self.arrived.is_empty() {
            return Err("a row arrived before the next event".to_owned());
        }
        for arrival in std::mem::take(&mut self.arrived) {
            self.arrive(arrival)?;
        }
        for (ticket, (row, kept)) in self.rows.iter().zip(&self.kept).enumerate() {
            if self.open[ticket].is_none() && row != kept {
                return Err(format!("the row of ticket {ticket} changed, though it is not open"));
            }
        }
        Ok(())
    }

    fn arrive(&mut self, Arrival { ticket, rows }: Arrival) -> Result<(), String> {
        let (place, count) = (usize::from(ticket.0), usize::from(rows));
        let operands = usize::from(self.contract.operands);
        let of_collector = |instruction: &&mut Instruction| matches!(instruction.stage, Stage::Collecting { collector, .. } if collector == place / operands);
        let request = self.under_way.iter_mut().find(of_collector);
        let is_open = |instruction: &&mut Instruction| {
            (instruction.arrived..instruction.asked).contains(&(place % operands))
        };
        let Some(instruction) = request.filter(is_open) else {
            return Err(format!("ticket {place} arrived, but is not open"));
        };
        let Stage::Collecting { missing, .. } = &mut instruction.stage else { unreachable!("it collects") };
        let Some(left) = missing.checked_sub(count).filter(|_| count > 0) else {
            return Err(format!("{count} rows of ticket {place} arrived, expected 1 to {missing}"));
        };
        *missing = left;
        self.moved = self.now;
        self.hash.write(&self.now.0.to_le_bytes());
        self.hash.write(&ticket.0.to_le_bytes());
        self.hash.write(&[rows]);
        if left > 0 {
            return Ok(());
        }
        let first = place / operands * operands;
        let rows_before = self.layout.first(instruction.warp) as usize;
        for n in instruction.arrived..instruction.asked {
            let ticket = first + n;
            let expected = self.open[ticket].take().expect("the tickets of a request close together");
            expected.same(&self.rows[ticket], || format!("the row of ticket {ticket}"))?;
            self.kept[ticket] = self.rows[ticket];
            self.hazards[rows_before + usize::from(instruction.reads[n].0)].reads -= 1;
        }
        instruction.arrived = instruction.asked;
        if instruction.asked < instruction.reads.len() {
            // What arrived says which register is read last.
            let picked = instruction.reads[instruction.asked];
            let ticket = first + instruction.asked;
            *missing = 1;
            instruction.asked += 1;
            self.open[ticket] = Some(self.oracle[rows_before + usize::from(picked.0)]);
            self.file.request(instruction.warp, &[picked], Ticket(ticket as u16), &mut self.rows, self.now);
        }
        Ok(())
    }

    /// Issues the warp's next instruction if the scoreboard lets it and a collector is free.
    fn issue(&mut self, warp: u8) {
        let slot = usize::from(warp);
        if self.held[slot].is_none() && self.left > 0 {
            self.left -= 1;
            let shape = (self.layout.count(warp), self.contract.operands);
            self.held[slot] = Some(Instruction::random(&mut self.stream, warp, shape, &self.contract));
        }
        let Some(mut instruction) = self.held[slot].take() else { return };
        let hazard = |register: &Reg| self.hazards[self.place(warp, *register)];
        let clear = instruction.reads.iter().all(|register| !hazard(register).written)
            && instruction
                .writes
                .iter()
                .all(|(register, _)| !hazard(register).written && hazard(register).reads == 0);
        let Some(collector) = self.free.iter().position(|free| *free).filter(|_| clear) else {
            self.held[slot] = Some(instruction);
            return;
        };
        self.moved = self.now;
        self.free[collector] = false;
        let first = collector * usize::from(self.contract.operands);
        for (n, register) in instruction.reads.iter().enumerate() {
            let place = self.place(warp, *register);
            self.hazards[place].reads += 1;
            if n < instruction.asked {
                self.open[first + n] = Some(self.oracle[place]);
            }
        }
        for (register, _) in &instruction.writes {
            let place = self.place(warp, *register);
            self.hazards[place].written = true;
        }
        if !instruction.reads.is_empty() {
            let asked = &instruction.reads[..instruction.asked];
            self.file.request(warp, asked, Ticket(first as u16), &mut self.rows, self.now);
        }
        instruction.stage = Stage::Collecting { collector, missing: instruction.asked };
        self.under_way.push(instruction);
    }
}

#[cfg(test)]
mod tests;
