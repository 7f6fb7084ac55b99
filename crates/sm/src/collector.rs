//! Operand collectors: hold issued instructions until their register operands arrive.

use strata_engine::Cycle;
use strata_memory::bits::members;
use strata_memory::doors::{Arrival, CollectorPort, RegisterFile, Ticket};
use strata_memory::register_banks::Footprint;
use strata_memory::sub_cores::parts;
use strata_ptx::exec::picked_element;
use strata_ptx::isa::{Instruction, Op, Pc, Reg, RegSet, Src};
use strata_ptx::lanes::{LaneMask, Row};

use crate::config::{COLLECTOR_ROWS, SmConfig, UnitKind};
use crate::slots::{MOST_SLOTS, Slots};
use crate::target::{Target, Targets};
use crate::values_beside::ValuesBeside;

/// Largest number of predicate registers per thread.
pub const PREDICATES: usize = 32;

/// An array of registers of which an instruction reads one, and that it cannot name before its index has arrived: the
/// collector's second read (Morpheus, MICRO 2022, Fig. 10).
#[derive(Clone, Copy, Debug, Default)]
struct SecondRead {
    first: u8,
    registers: u8,
    /// Where the row goes among the collector's.
    place: u8,
}

/// An instruction in a collector.
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
pub struct Collected {
    /// Warp slot that issued the instruction.
    pub warp: u8,
    /// Index of the instruction in the kernel's code.
    pub pc: Pc,
    /// Lanes that execute the instruction, with the guard applied.
    pub lanes: LaneMask,
    /// Where the instruction goes next.
    target: Target,
    /// Number of operand rows that have not arrived.
    missing: u8,
}

/// What an instruction reads after the number of one of so many registers.
///
/// # Panics
/// When it has no array or no register with the number: the decoder never builds such an instruction.
fn second_read(instruction: &Instruction, registers: u8) -> SecondRead {
    let (Src::Reg(_), Src::Reg(first)) = (instruction.src[0], instruction.src[1]) else {
        panic!("line {}: an array and a number are registers", instruction.line);
    };
    SecondRead { first: first.0, registers, place: instruction.row_of[1] }
}

/// Most pools that serve anything: a part's number is that of its pool, and so many times that of its place in it.
const POOLS: usize = UnitKind::COUNT.next_power_of_two();

/// All operand collectors of an SM. Each pool is a contiguous range of them, and so is each part of a pool: what a sub-core
/// has of it.
#[derive(Debug)]
pub struct Collectors {
    units: Slots<Collected>,
    /// The predicates of each one's warp at issue; set only if its instruction reads any.
    predicates: Slots<[LaneMask; PREDICATES]>,
    /// Mask of all collectors.
    all: u64,
    rows: Vec<Row>,
    /// Per target of a sub-core: mask of the collectors from which it is reached.
    places: [u64; Target::COUNT],
    /// Per collector: number of its part of a pool.
    part_of: Slots<u8>,
    /// Per part: mask of the warps whose instructions it takes.
    warps_of: Slots<u64>,
    /// Mask of free collectors.
    free: u64,
    /// Mask of parts without a free collector.
    full: u64,
    /// Collectors whose operands have all arrived.
    ready: u64,
    /// Per warp: mask of its collectors whose operands have not all arrived.
    collecting: Slots<u64>,
    /// Collectors that will read a register picked by what arrives.
    picking: u64,
    /// Which register, for each of them.
    seconds: Slots<SecondRead>,
    /// Those of them whose pick has just arrived.
    picked: Vec<u8>,
    /// Per target: mask of its occupied collectors.
    bound: [u64; Target::COUNT],
    /// The targets of ready collectors.
    targets: Targets,
    arrived: Vec<Arrival>,
    /// Per collector: issue sequence number of its instruction.
    sequences: Slots<u64>,
    sequence: u64,
}

impl Collectors {
    /// Builds the collectors of a machine file that has been checked, all free. Control instructions use the pool of the SP units.
    pub fn new(config: &SmConfig) -> Self {
        let sub_cores = config.sub_cores() as usize;
        let mut places = [0; Target::COUNT];
        let (mut part_of, mut warps_of) = (Slots::new(|| 0), Slots::new(|| 0));
        let serving = || config.collectors.iter().filter(|pool| !pool.serves.is_empty());
        let control = serving().position(|pool| pool.serves.contains(&UnitKind::Sp)).unwrap_or(0);
        let mut count = 0;
        for (number, pool) in serving().enumerate() {
            let units = pool.serves.iter().map(|kind| Target::unit(*kind));
            let served = units.chain((number == control).then_some(Target::CONTROL));
            let parts = parts(*pool.count, sub_cores as u32).expect("the machine file has been checked");
            let each = *pool.count / parts;
            for sub_core in 0..sub_cores {
                let in_pool = sub_core % parts as usize;
                let collectors = u64::MAX >> (64 - each) << (count + each * in_pool as u32);
                let part = number + POOLS * in_pool;
                members(collectors).for_each(|collector| part_of[collector] = part as u8);
                warps_of[part] |=
                    (sub_core..MOST_SLOTS).step_by(sub_cores).fold(0, |warps, warp| warps | 1 << warp);
                served.clone().for_each(|target| places[target.in_sub_core(sub_core).index()] = collectors);
            }
            count += *pool.count;
        }
        let empty = Collected { warp: 0, pc: 0, lanes: 0, target: Target::CONTROL, missing: 0 };
        Collectors {
            units: Slots::new(|| empty),
            predicates: Slots::new(|| [0; PREDICATES]),
            all: u64::MAX >> (64 - count),
            full: 0,
            rows: Row::zeros(count as usize * COLLECTOR_ROWS),
            free: u64::MAX >> (64 - count),
            places,
            part_of,
            warps_of,
            ready: 0,
            collecting: Slots::new(|| 0),
            picking: 0,
            seconds: Slots::new(SecondRead::default),
            picked: Vec::with_capacity(count as usize),
            bound: [0; Target::COUNT],
            targets: 0,
            arrived: Vec::with_capacity(count as usize * COLLECTOR_ROWS),
            sequences: Slots::new(|| 0),
            sequence: 0,
        }
    }

    /// Rows of all collectors together.
    pub fn tickets(&self) -> usize {
        self.rows.len()
    }

    /// Whether every collector is free.
    pub fn is_empty(&self) -> bool {
        self.free == self.all
    }

    /// Number of the pool that serves a target.
    pub fn pool_of(&self, target: Target) -> usize {
        usize::from(self.part_of[self.places[target.index()].trailing_zeros() as usize]) % POOLS
    }

    /// Mask of the parts of pools that have no free collector.
    #[inline]
    pub fn full(&self) -> u64 {
        self.full
    }

    /// The same parts: of each the number of its pool, and the mask of the warps for which it is there.
    #[inline]
    pub fn full_parts(&self) -> impl Iterator<Item = (usize, u64)> {
        members(self.full).map(|part| (part % POOLS, self.warps_of[part]))
    }

    /// Takes a free collector for the instruction that issues, which names the target as its sub-core does
    /// ([`SubCores::local`](crate::target::SubCores::local)). Returns its index.
    ///
    /// # Panics
    /// When none is free: ask [`Collectors::full`] first.
    #[inline(always)]
    pub fn take(&mut self, local: Target) -> usize {
        let free = self.free & self.places[local.index()];
        assert!(free != 0, "an instruction issues to a free collector");
        let index = free.trailing_zeros() as usize;
        let bit = 1 << index;
        self.free &= !bit;
        if free == bit {
            self.full |= 1 << self.part_of[index];
        }
        self.sequence += 1;
        self.sequences[index] = self.sequence;
        index
    }

    /// Puts an instruction into the collector that was taken for it. `missing` rows of it will arrive.
    #[inline(always)]
    pub fn enter(
        &mut self,
        index: usize,
        target: Target,
        (warp, pc, lanes): (u8, Pc, LaneMask),
        missing: u8,
    ) {
        let bit = 1 << index;
        self.bound[target.index()] |= bit;
        let unit = &mut self.units[index];
        (unit.warp, unit.pc, unit.lanes) = (warp, pc, lanes);
        (unit.target, unit.missing) = (target, missing);
        if missing == 0 {
            self.ready |= bit;
            self.targets |= 1 << target.index();
        } else {
            self.collecting[usize::from(warp)] |= bit;
        }
    }

    /// Requests the operand rows of an instruction that has entered, and keeps its predicates.
    #[inline(always)]
    pub fn request(
        &mut self,
        index: usize,
        instruction: &Instruction,
        footprint: &Footprint,
        predicates: &[LaneMask; PREDICATES],
        registers: &mut (impl RegisterFile + ?Sized),
        now: Cycle,
    ) {
        if instruction.pred_reads != 0 {
            self.predicates[index] = *predicates;
        }
        let reads = instruction.reads.as_slice();
        if reads.is_empty() {
            return;
        }
        if let Op::MovFromArray { registers } = instruction.op {
            self.picking |= 1 << index;
            self.seconds[index] = second_read(instruction, registers);
        }
        let (warp, base) = (self.units[index].warp, index * COLLECTOR_ROWS);
        let Some(banks) = registers.banks() else {
            return registers.request(warp, reads, Ticket(base as u16), &mut self.rows, now);
        };
        let values = banks.rows(warp);
        for (to, register) in self.rows[base..].iter_mut().zip(reads) {
            *to = values[usize::from(register.0)];
        }
        banks.request_read(warp, reads, footprint, Ticket(index as u16));
    }

    /// Like [`Collectors::request`], where values lie beside the register file: the rows are there at once, and the register
    /// file takes the time to read `numbers`.
    #[inline(never)]
    pub fn request_beside(
        &mut self,
        (index, instruction, numbers): (usize, &Instruction, &[Reg]),
        predicates: &[LaneMask; PREDICATES],
        (beside, registers): (&mut ValuesBeside, &mut (impl RegisterFile + ?Sized)),
        now: Cycle,
    ) {
        if instruction.pred_reads != 0 {
            self.predicates[index] = *predicates;
        }
        let (warp, base) = (self.units[index].warp, index * COLLECTOR_ROWS);
        beside.read(warp, instruction.reads.as_slice(), &mut self.rows[base..base + COLLECTOR_ROWS]);
        beside.request(registers, (warp, numbers, Ticket(base as u16)), now);
    }

    /// Like [`Collectors::collect`], where values lie beside the register file.
    #[inline(never)]
    pub fn collect_beside(
        &mut self,
        (beside, registers): (&mut ValuesBeside, &mut (impl RegisterFile + ?Sized)),
        complete: &mut u64,
        now: Cycle,
    ) {
        let mut arrived = std::mem::take(&mut self.arrived);
        registers.tick(beside.port(&mut arrived), now);
        for Arrival { ticket, rows } in arrived.drain(..) {
            self.arrive(usize::from(ticket.0) / COLLECTOR_ROWS, rows, complete);
        }
        self.arrived = arrived;
    }

    /// Advances the register file by one cycle and collects the rows it delivers; for a number that has arrived, the
    /// register is requested. Adds to `complete` every warp with an instruction whose last row has just arrived.
    #[inline(always)]
    pub fn collect(&mut self, registers: &mut (impl RegisterFile + ?Sized), complete: &mut u64, now: Cycle) {
        if let Some(banks) = registers.banks() {
            banks.serve(now, |arrival| self.arrive(usize::from(arrival.ticket.0), arrival.rows, complete));
        } else {
            let mut arrived = std::mem::take(&mut self.arrived);
            registers.tick(CollectorPort { rows: &mut self.rows, arrived: &mut arrived }, now);
            for Arrival { ticket, rows } in arrived.drain(..) {
                self.arrive(usize::from(ticket.0) / COLLECTOR_ROWS, rows, complete);
            }
            self.arrived = arrived;
        }
        if !self.picked.is_empty() {
            self.request_picked(registers, now);
        }
    }

    /// Takes rows of a collector's instruction that have arrived.
    #[inline(always)]
    fn arrive(&mut self, index: usize, rows: u8, complete: &mut u64) {
        let (unit, bit) = (&mut self.units[index], 1 << index);
        unit.missing -= rows;
        if unit.missing != 0 {
            return;
        }
        if self.picking & bit != 0 {
            return self.picked.push(index as u8);
        }
        self.ready |= bit;
        self.collecting[usize::from(unit.warp)] &= !bit;
        self.targets |= 1 << unit.target.index();
        *complete |= 1 << unit.warp;
    }

    /// Requests the registers that have been picked.
    #[inline(never)]
    fn request_picked(&mut self, registers: &mut (impl RegisterFile + ?Sized), now: Cycle) {
        for index in self.picked.drain(..).map(usize::from) {
            self.picking &= !(1 << index);
            let (unit, second) = (&mut self.units[index], &self.seconds[index]);
            unit.missing = 1;
            let base = index * COLLECTOR_ROWS;
            let element = picked_element(&self.rows[base], second.registers, unit.lanes) as u8;
            let (register, place) = (Reg(second.first + element), base + usize::from(second.place));
            match registers.banks() {
                Some(banks) => {
                    self.rows[place] = banks.peek(unit.warp, register);
                    banks.request_each(unit.warp, &[register], Ticket(index as u16));
                }
                None => registers.request(unit.warp, &[register], Ticket(place as u16), &mut self.rows, now),
            }
        }
    }

    /// Whether one of the warp's collected instructions has yet to read one of these registers. Collectors finish in any
    /// order, so writing it early would be a write-after-read hazard. Predicates are read at issue and have none.
    #[inline(always)]
    pub fn still_reads(&self, warp: usize, registers: &RegSet, code: &[Instruction]) -> bool {
        let collecting = self.collecting[warp];
        collecting != 0 && self.reads_any(collecting, registers, code)
    }

    #[inline(never)]
    fn reads_any(&self, collectors: u64, registers: &RegSet, code: &[Instruction]) -> bool {
        members(collectors).any(|index| code[self.units[index].pc as usize].read_set.intersects(registers))
    }

    /// Mask of collectors whose instructions have all their operands.
    pub fn ready(&self) -> u64 {
        self.ready
    }

    /// Whether any instruction has all its operands.
    #[inline]
    pub fn any_ready(&self) -> bool {
        self.ready != 0
    }

    /// The index and target of the instruction that has all its operands, if it is the only one.
    #[inline(always)]
    pub fn only_ready(&self) -> Option<(usize, Target)> {
        let index = self.ready.trailing_zeros() as usize;
        self.ready.is_power_of_two().then(|| (index, self.units[index].target))
    }

    /// The targets for which some instruction has all its operands.
    #[inline]
    pub fn ready_targets(&self) -> Targets {
        self.targets
    }

    /// Index of the collector with the oldest instruction for the target that has all its operands.
    #[inline]
    pub fn oldest_ready(&self, target: Target) -> Option<usize> {
        self.oldest(self.ready & self.bound[target.index()])
    }

    /// Like [`Collectors::oldest_ready`], but keeps each warp in order: skips an instruction while an older one of
    /// the same warp and target is still collecting. Memory instructions need this.
    #[inline]
    pub fn oldest_ready_in_order(&self, target: Target) -> Option<usize> {
        let bound = self.bound[target.index()];
        let mut candidates = self.ready & bound;
        while let Some(index) = self.oldest(candidates) {
            let mut others = bound & !self.ready;
            let unit = &self.units[index];
            let mut in_order = true;
            while others != 0 {
                let other = others.trailing_zeros() as usize;
                others &= others - 1;
                in_order &=
                    self.units[other].warp != unit.warp || self.sequences[other] > self.sequences[index];
            }
            if in_order {
                return Some(index);
            }
            candidates &= !(1 << index);
        }
        None
    }

    #[inline]
    fn oldest(&self, mut candidates: u64) -> Option<usize> {
        if candidates & candidates.wrapping_sub(1) == 0 {
            return (candidates != 0).then(|| candidates.trailing_zeros() as usize);
        }
        let mut best = None;
        let mut sequence = u64::MAX;
        while candidates != 0 {
            let index = candidates.trailing_zeros() as usize;
            candidates &= candidates - 1;
            if self.sequences[index] < sequence {
                (best, sequence) = (Some(index), self.sequences[index]);
            }
        }
        best
    }

    /// The instruction in a collector.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Collected {
        self.units[index]
    }

    /// The operand rows of an instruction in a collector, in the order of its `reads`, and its warp's predicates at issue.
    #[inline(always)]
    pub fn operands(&self, index: usize) -> (&[Row], &[LaneMask; PREDICATES]) {
        (&self.rows[index * COLLECTOR_ROWS..][..COLLECTOR_ROWS], &self.predicates[index])
    }

    /// Frees a collector whose instruction has been dispatched.
    #[inline]
    pub fn remove(&mut self, index: usize) {
        let bit = 1 << index;
        let target = self.units[index].target.index();
        self.free |= bit;
        if self.full != 0 {
            self.full &= !(1 << self.part_of[index]);
        }
        self.ready &= !bit;
        self.bound[target] &= !bit;
        if self.ready & self.bound[target] == 0 {
            self.targets &= !(1 << target);
        }
    }

    /// Code indices of the warp's instructions in collectors, for the deadlock report.
    pub fn of_warp(&self, warp: u8) -> impl Iterator<Item = Pc> {
        let used = self.all & !self.free;
        members(used)
            .map(|index| &self.units[index])
            .filter(move |unit| unit.warp == warp)
            .map(|unit| unit.pc)
    }
}
