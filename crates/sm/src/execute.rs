//! Execution units: compute values at dispatch and write them back after the latency of their class.

use std::ops::Range;

use strata_engine::{Cycle, Wheel};
use strata_ptx::exec::{OperandFamily, Operands, Routine, routine};
use strata_ptx::isa::{Class, Dst, Instruction, Pc, PredReg, Reg, Src};
use strata_ptx::lanes::{LaneMask, Row, WARP_LANES};

use crate::collector::PREDICATES;
use crate::config::{SmConfig, UnitKind};
use crate::lsu::Finished;
use crate::target::{Target, unit_parts};
use crate::token::Token;
use crate::values_beside::row_of_predicate;

/// Largest number of rows that an instruction writes.
const RESULT_ROWS: usize = 8;

/// Results on their way to the register file.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Warp slot of the instruction.
    pub warp: u8,
    /// Index of the instruction in the kernel's code.
    pub pc: Pc,
    count: u8,
    /// Number of rows that the register file has accepted.
    written: u8,
    registers: [(Reg, LaneMask); RESULT_ROWS],
    rows: [Row; RESULT_ROWS],
    predicates: [(PredReg, LaneMask, LaneMask); 2],
    predicate_count: u8,
}

impl Outcome {
    const EMPTY: Outcome = Outcome {
        warp: 0,
        pc: 0,
        count: 0,
        written: 0,
        registers: [(Reg(0), 0); RESULT_ROWS],
        rows: [Row::ZERO; RESULT_ROWS],
        predicates: [(PredReg(0), 0, 0); 2],
        predicate_count: 0,
    };

    /// Resets the outcome for an instruction, with no results.
    #[inline]
    pub fn begin(&mut self, warp: u8, pc: Pc) {
        (self.warp, self.pc) = (warp, pc);
        (self.count, self.written, self.predicate_count) = (0, 0, 0);
    }

    /// Adds a row to be written in the given lanes.
    #[inline]
    pub fn push(&mut self, register: Reg, lanes: LaneMask, row: &Row) {
        let place = self.count as usize;
        self.registers[place] = (register, lanes);
        self.rows[place] = *row;
        self.count += 1;
    }

    /// The next row to offer to the register file; `None` when all have been accepted.
    #[inline]
    pub fn next_row(&self) -> Option<(Reg, LaneMask, &Row)> {
        (self.written < self.count).then(|| {
            let place = self.written as usize;
            let (register, lanes) = self.registers[place];
            (register, lanes, &self.rows[place])
        })
    }

    /// Records that the register file has accepted the row that [`Outcome::next_row`] returned.
    #[inline]
    pub fn took_row(&mut self) {
        self.written += 1;
    }

    /// How many accesses the register file has accepted.
    pub fn accepted(&self) -> usize {
        self.written.into()
    }

    /// All rows to be written.
    pub fn rows(&self) -> impl Iterator<Item = (Reg, LaneMask, &Row)> {
        let registers = self.registers[..self.count.into()].iter();
        registers.zip(&self.rows).map(|((register, lanes), row)| (*register, *lanes, row))
    }

    /// The lanes and the row that are written to a register, or as a row to a predicate; `None` if none are.
    pub fn value(&self, of: Dst) -> Option<(LaneMask, Row)> {
        match of {
            Dst::Reg(register) => {
                let (_, lanes, row) = self.rows().find(|(written, _, _)| *written == register)?;
                Some((lanes, *row))
            }
            Dst::Pred(register) => {
                let predicates = &self.predicates[..self.predicate_count.into()];
                let (_, lanes, value) = predicates.iter().find(|(written, _, _)| *written == register)?;
                Some((*lanes, row_of_predicate(*value)))
            }
            Dst::None => None,
        }
    }

    /// Adds a predicate to be written in the given lanes.
    #[inline]
    pub fn push_predicate(&mut self, register: PredReg, lanes: LaneMask, value: LaneMask) {
        self.predicates[self.predicate_count as usize] = (register, lanes, value);
        self.predicate_count += 1;
    }

    /// Writes the predicate results into a warp's predicates.
    #[inline]
    pub fn write_predicates(&self, predicates: &mut [LaneMask; PREDICATES]) {
        for (register, lanes, value) in &self.predicates[..self.predicate_count as usize] {
            let predicate = &mut predicates[register.0 as usize];
            *predicate = (*predicate & !lanes) | (value & lanes);
        }
    }
}

/// The operands of an instruction: collected rows, constants and predicates as of issue, and a place for its results.
/// Memory instructions have no such place: their results come from the load/store unit.
pub struct View<'a> {
    /// The instruction whose operands these are.
    pub instruction: &'a Instruction,
    /// Collected rows, in the order of the instruction's `reads`.
    pub rows: &'a [Row],
    /// The launch's constant rows.
    pub constants: &'a [Row],
    /// The warp's predicates at issue.
    pub predicates: &'a [LaneMask; PREDICATES],
    /// Receives the results; `None` for memory instructions.
    pub outcome: Option<&'a mut Outcome>,
}

/// The kind of operands that a [`View`] is.
#[derive(Debug)]
pub struct Views;

impl OperandFamily for Views {
    type Of<'a> = View<'a>;
}

impl View<'_> {
    #[inline]
    fn outcome(&mut self) -> &mut Outcome {
        self.outcome.as_deref_mut().expect("only computations write through their operands")
    }
}

/// A source operand, from the collected rows or the constants.
///
/// # Panics
/// When the source is not a row; the decoder never produces such an instruction.
#[inline(always)]
pub fn source_row<'a>(
    instruction: &Instruction,
    rows: &'a [Row],
    constants: &'a [Row],
    slot: usize,
    half: usize,
) -> &'a Row {
    match instruction.src[slot] {
        Src::Reg(_) => &rows[instruction.row_of[slot] as usize + half],
        Src::Const(row) => &constants[row as usize + half],
        other => panic!("line {}: source {slot} is {other:?}, not a row", instruction.line),
    }
}

impl Operands for View<'_> {
    // An operation asks for each of its operands once, and there are many operations: by itself the compiler calls these.
    #[inline(always)]
    fn source(&self, slot: usize, half: usize) -> &Row {
        source_row(self.instruction, self.rows, self.constants, slot, half)
    }

    // The collector put it behind the rows that were known at issue.
    #[inline(always)]
    fn element(&self, slot: usize, _index: usize) -> &Row {
        &self.rows[usize::from(self.instruction.row_of[slot])]
    }

    #[inline(always)]
    fn write(&mut self, slot: usize, half: usize, lanes: LaneMask, value: &Row) {
        match self.instruction.dst[slot] {
            Dst::Reg(register) => self.outcome().push(Reg(register.0 + half as u8), lanes, value),
            Dst::None => {}
            Dst::Pred(_) => panic!("line {}: destination {slot} is a predicate", self.instruction.line),
        }
    }

    #[inline]
    fn predicate(&self, register: PredReg) -> LaneMask {
        self.predicates[register.0 as usize]
    }

    #[inline]
    fn write_predicate(&mut self, register: PredReg, lanes: LaneMask, value: LaneMask) {
        self.outcome().push_predicate(register, lanes, value);
    }
}

/// Unit, latency and issue interval of an instruction class.
#[derive(Clone, Copy, Debug)]
pub struct ClassTiming {
    /// Kind of unit that executes the class.
    pub unit: UnitKind,
    latency: u32,
    interval: u32,
    /// Whether a warp issues nothing else until the result is there.
    is_subroutine: bool,
}

/// The execution units and the instructions in flight in them.
#[derive(Debug)]
pub struct Units {
    /// Timing by class. Memory instructions are listed under the load/store unit, which has its own timing.
    timing: [ClassTiming; Class::COUNT],
    /// By code index, for the kernel that runs: what computes the instruction once its operands have been collected.
    routines: Vec<Routine<Views>>,
    /// The cycle in which each unit can accept its next instruction.
    free_at: Vec<Cycle>,
    /// By target: the first of its units among them, and the first behind.
    places: [(u8, u8); Target::COUNT],
    /// Those that were ever needed together.
    outcomes: Vec<Outcome>,
    unused: Vec<u16>,
    /// Instructions in the units or on their way to the register file, at most `most`.
    under_way: u16,
    most: u16,
    wheel: Wheel<Token>,
    due: Vec<Token>,
    /// Those that are due and wait for the register file, in the order in which they came.
    writing: Vec<Token>,
}

impl Units {
    /// Builds idle units. There may be outcomes for every unit's pipeline to be full twice over; when a slow
    /// register file exhausts them, units wait.
    pub fn new(config: &SmConfig) -> Self {
        let memory = ClassTiming { unit: UnitKind::Ldst, latency: 1, interval: 1, is_subroutine: false };
        let mut timing = [memory; Class::COUNT];
        let mut depth = [0; UnitKind::COUNT];
        for (class, _, given) in config.timing.iter() {
            let latency = *given.latency_cycles + *config.pipeline_latency_cycles;
            let interval = *given.interval_cycles;
            let is_subroutine = given.is_subroutine();
            timing[class as usize] = ClassTiming { unit: given.unit, latency, interval, is_subroutine };
            let kind = given.unit as usize;
            depth[kind] = depth[kind].max(latency.div_ceil(interval) + 1);
        }
        let count: u32 =
            UnitKind::ALL.iter().map(|kind| depth[*kind as usize] * config.units.of(*kind)).sum();
        let count = (2 * count).clamp(16, u32::from(u16::MAX)) as u16;
        let mut places = [(0, 0); Target::COUNT];
        let mut units = 0;
        for kind in UnitKind::ALL {
            let parts = unit_parts(config, kind);
            for part in 0..parts {
                let first = units;
                units += (config.units.of(kind) / parts) as u8;
                places[Target::unit(kind).in_sub_core(part as usize).index()] = (first, units);
            }
        }
        Units {
            timing,
            routines: Vec::new(),
            free_at: vec![Cycle::ZERO; units.into()],
            places,
            outcomes: Vec::new(),
            unused: Vec::new(),
            under_way: 0,
            most: count,
            wheel: Wheel::new(4),
            due: Vec::with_capacity(16),
            writing: Vec::with_capacity(count as usize),
        }
    }

    /// Takes the instructions of a kernel.
    pub fn prepare(&mut self, code: &[Instruction]) {
        self.routines.clear();
        self.routines.extend(code.iter().map(routine::<Views>));
    }

    /// What computes the instruction at `pc`.
    #[inline]
    pub fn routine(&self, pc: Pc) -> Routine<Views> {
        self.routines[pc as usize]
    }

    /// Whether a warp issues nothing else until a result of this class is there.
    pub fn is_subroutine(&self, class: Class) -> bool {
        self.timing[class as usize].is_subroutine
    }

    /// Cycles from the dispatch of a class to its result.
    pub fn latency(&self, class: Class) -> u64 {
        self.timing[class as usize].latency.into()
    }

    /// Kind of unit that executes a class.
    #[inline]
    pub fn kind_of(&self, class: Class) -> UnitKind {
        self.timing[class as usize].unit
    }

    /// The units of a target.
    #[inline(always)]
    fn units(&self, target: Target) -> Range<usize> {
        let (first, end) = self.places[target.index()];
        first.into()..end.into()
    }

    /// Index of a unit of this target that can accept an instruction now; `None` when all are busy or no outcome is
    /// free.
    #[inline]
    pub fn available(&self, target: Target, now: Cycle) -> Option<usize> {
        if !self.has_place() {
            return None;
        }
        self.units(target).find(|unit| self.free_at[*unit] <= now)
    }

    /// Earliest cycle in which a unit of this target can accept an instruction.
    pub fn next_available(&self, target: Target, now: Cycle) -> Cycle {
        self.free_at[self.units(target)].iter().copied().min().unwrap_or(Cycle::NEVER).max(now)
    }

    /// Dispatches an instruction of a class to a unit. Returns the outcome for the caller to compute into.
    #[inline(always)]
    pub fn dispatch(&mut self, class: Class, unit: usize, now: Cycle) -> &mut Outcome {
        let place = self.place();
        self.dispatch_executed(class, unit, Token::of_outcome(place), now);
        &mut self.outcomes[place as usize]
    }

    /// Dispatches an instruction of a class, which has been executed, to a unit.
    #[inline(always)]
    pub fn dispatch_executed(&mut self, class: Class, unit: usize, token: Token, now: Cycle) {
        let ClassTiming { latency, interval, .. } = self.timing[class as usize];
        self.free_at[unit] = now + u64::from(interval);
        self.under_way += 1;
        self.wheel.set(now, now + u64::from(latency), token);
    }

    /// Whether one more instruction may be under way.
    #[inline]
    pub fn has_place(&self) -> bool {
        self.under_way < self.most
    }

    /// Takes a free outcome.
    #[inline]
    fn place(&mut self) -> u16 {
        self.unused.pop().unwrap_or_else(|| {
            self.outcomes.push(Outcome::EMPTY);
            (self.outcomes.len() - 1) as u16
        })
    }

    /// Queues a finished memory instruction's rows for the register file.
    ///
    /// Ask [`Units::has_place`] first.
    #[inline(always)]
    pub fn finish_memory(&mut self, instruction: &Instruction, finished: Finished<'_>) {
        let place = self.place();
        let outcome = &mut self.outcomes[place as usize];
        outcome.begin(finished.warp, finished.pc);
        if !finished.rows.is_empty() {
            let each = finished.rows.chunks(instruction.result_rows.into());
            for (destination, rows) in instruction.dst.iter().zip(each) {
                match *destination {
                    Dst::Reg(register) => {
                        for (half, row) in rows.iter().enumerate() {
                            outcome.push(Reg(register.0 + half as u8), finished.lanes, row);
                        }
                    }
                    Dst::Pred(register) => {
                        let holds =
                            (0..WARP_LANES).fold(0, |mask, lane| mask | (rows[0].0[lane] & 1) << lane);
                        outcome.push_predicate(register, finished.lanes, holds);
                    }
                    // An element's destination may be the bit bucket.
                    Dst::None => {}
                }
            }
        }
        self.under_way += 1;
        self.writing.push(Token::of_outcome(place));
    }

    /// Queues what is due at `now` for the register file. Returns how many wait for it.
    #[inline(always)]
    pub fn advance(&mut self, now: Cycle) -> usize {
        let waits = !self.writing.is_empty();
        self.wheel.take(now, if waits { &mut self.due } else { &mut self.writing });
        if waits {
            self.writing.extend(&self.due);
        }
        self.writing.len()
    }

    /// The `index`th in the queue for the register file.
    #[inline]
    pub fn writing(&self, index: usize) -> Token {
        self.writing[index]
    }

    /// The outcome at a place.
    #[inline]
    pub fn outcome(&mut self, place: u16) -> &mut Outcome {
        &mut self.outcomes[usize::from(place)]
    }

    /// Frees an outcome: it has been written.
    #[inline]
    pub fn free(&mut self, place: u16) {
        self.unused.push(place);
    }

    /// Puts one that is refused at a place of the queue before its own: those between have been written.
    #[inline]
    pub fn keep(&mut self, token: Token, place: usize) {
        self.writing[place] = token;
    }

    /// Ends the queue after the first `kept`: all others have been written.
    #[inline]
    pub fn end_writing(&mut self, kept: usize) {
        self.under_way -= (self.writing.len() - kept) as u16;
        self.writing.truncate(kept);
    }

    /// Earliest cycle from `now` on in which a write-back is due.
    pub fn next_event(&self, now: Cycle) -> Cycle {
        if !self.writing.is_empty() {
            return now;
        }
        // The wheel reports cycles strictly after the one given; nothing is ever due at cycle 0.
        self.wheel.next(Cycle(now.0.saturating_sub(1)))
    }

    /// Whether no instruction is in flight in any unit.
    pub fn is_idle(&self) -> bool {
        self.wheel.is_empty() && self.writing.is_empty()
    }
}
