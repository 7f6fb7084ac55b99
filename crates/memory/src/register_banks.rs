//! The banks of a register file: single-ported, each serves one access per cycle, writes first.

use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cycle, DelayLine};
use strata_warp::{ALL_LANES, LaneMask, Reg, Row};

use crate::warp_rows::{MOST_WARPS, WarpRows};

/// Identifies an operand row being read: a collector and a row of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticket(pub u16);

/// Rows of one request that have arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// The ticket of any row of the request.
    pub ticket: Ticket,
    /// How many more of the request's rows have arrived.
    pub rows: u8,
}

impl Arrival {
    /// The arrival of a single row.
    #[inline]
    pub const fn of(ticket: Ticket) -> Arrival {
        Arrival { ticket, rows: 1 }
    }
}

strata_engine::statistics! {
    /// Counters of a register file.
    pub struct RegisterFileStatistics: "register_file" {
        /// Rows read from the banks.
        reads: "rows" [energy],
        /// Rows written into the banks.
        writes: "rows" [energy],
        /// Writes of only some lanes of a row.
        partial_writes: "rows",
        /// Cycles that reads waited because their bank served another access, summed over reads.
        read_conflicts: "row-cycles",
        /// Writes refused for a cycle because their bank had already been written in it.
        write_conflicts: "refusals",
    }
    laws {
        "partial_writes <= writes": |s| s.partial_writes <= s.writes,
    }
}

/// Most banks.
const MOST_BANKS: usize = 64;

/// Sums of a register's name and a turn.
const SUMS: usize = 512;

/// Rows of one request that wait for their banks, one in each.
#[derive(Clone, Copy, Debug, Default)]
struct Read {
    /// One bit per bank that has yet to grant its row.
    banks: u64,
    /// What arrives once all have.
    arrival: Arrival,
}

/// Rows that an instruction reads or writes, as the banks see them in warp slot 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// How many rows.
    pub rows: u8,
    /// Whether only the registers themselves tell their banks: some bank has three rows or more, or the number of a warp's banks
    /// does not divide 64.
    is_irregular: bool,
    /// One bit per bank with a row,
    banks: u64,
    /// and per bank with a second one; both repeated up to 64 bits.
    again: u64,
}

/// A write of rows whose values are in place.
#[derive(Clone, Copy, Debug)]
pub struct WriteInPlace {
    /// How many of them have been accepted.
    pub done: u8,
    /// Whether only some lanes of each row are written.
    pub is_partial: bool,
}

/// What a warp slot has of the rows and of the banks.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    /// One bit per bank in which its rows lie.
    all: u64,
    /// The first of them.
    first: u8,
    /// Where its register 0 lies among them, before the modulo.
    turn: u8,
    /// The row of its register 0.
    row: u32,
}

/// Banks of registers. Register r of warp w lies in bank `(r + w) % banks`, so that the same register of neighbouring warps does
/// not collide (Lindholm et al., US patent 7,834,881; other simulators use the same rule). Where sub-cores have banks of their own,
/// the rule holds within each, of its warps in order ([`RegisterBanks::divided`]).
///
/// A row's bytes go to its collector with the request: only when they arrive there is a matter of banks. A bank grants
/// its reads in the order of the requests, so one list of requests stands for the queues of all banks.
pub struct RegisterBanks {
    rows: Vec<Row>,
    /// Banks that a warp's rows lie in.
    banks: u32,
    /// By warp slot.
    shares: [Share; MOST_WARPS],
    /// By register and turn, added up: the bank among those of the warp.
    bank_of: [u8; SUMS],
    /// What waits for banks, oldest first.
    reads: Vec<Read>,
    /// Rows that wait, over all banks.
    waiting: u32,
    /// One bit per bank: it was written in cycle `written_at`.
    written: u64,
    written_at: Cycle,
    /// Operands on their way from a bank to their collectors; unused if the latency is one cycle.
    under_way: DelayLine<Arrival>,
    extra_latency: u64,
    statistics: RegisterFileStatistics,
}

impl RegisterBanks {
    /// Makes `rows` rows of undefined values in 1 to 64 banks, for `tickets` open tickets. An operand takes `read_latency` cycles
    /// from its bank's grant on.
    pub fn new(banks: u32, read_latency: u32, rows: usize, tickets: usize) -> Self {
        RegisterBanks {
            rows: Row::zeros(rows),
            banks,
            shares: [Share::default(); MOST_WARPS],
            bank_of: [0; SUMS],
            reads: Vec::with_capacity(tickets),
            waiting: 0,
            written: 0,
            written_at: Cycle::NEVER,
            under_way: DelayLine::new(tickets),
            extra_latency: u64::from(read_latency) - 1,
            statistics: RegisterFileStatistics::default(),
        }
        .divided(1)
    }

    /// Gives each of `parts` sub-cores its share of the banks, whose number is a multiple of theirs. Warp w belongs to sub-core
    /// w modulo their number.
    #[must_use]
    pub fn divided(mut self, parts: u32) -> Self {
        let banks = self.banks / parts;
        self.shares = std::array::from_fn(|warp| {
            let first = warp as u32 % parts * banks;
            Share {
                all: u64::MAX >> (64 - banks) << first,
                first: first as u8,
                turn: (warp as u32 / parts) as u8,
                row: 0,
            }
        });
        self.bank_of = std::array::from_fn(|sum| (sum as u32 % banks) as u8);
        self.banks = banks;
        self
    }

    /// Lays out the rows.
    pub fn prepare(&mut self, rows: &WarpRows) {
        for (warp, share) in self.shares.iter_mut().enumerate() {
            share.row = rows.first(warp as u8);
        }
    }

    #[inline(always)]
    fn share(&self, warp: u8) -> &Share {
        &self.shares[usize::from(warp) % MOST_WARPS]
    }

    #[inline]
    fn place(&self, warp: u8, register: Reg) -> (u32, usize) {
        let Share { first, turn, row, .. } = *self.share(warp);
        let row = row + u32::from(register.0);
        let bank = first + self.bank_of[usize::from(register.0) + usize::from(turn)];
        (row, usize::from(bank) % MOST_BANKS)
    }

    /// A register's value.
    pub fn peek(&self, warp: u8, register: Reg) -> Row {
        self.rows[self.place(warp, register).0 as usize]
    }

    /// The rows of a warp, by register.
    #[inline(always)]
    pub fn rows(&mut self, warp: u8) -> &mut [Row] {
        let first = self.share(warp).row;
        &mut self.rows[first as usize..]
    }

    /// What the banks make of a set of registers.
    pub fn footprint(&self, registers: &[Reg]) -> Footprint {
        let mut footprint = Footprint { rows: registers.len() as u8, ..Footprint::default() };
        for register in registers {
            let bank = 1 << self.place(0, *register).1;
            footprint.is_irregular |= footprint.again & bank != 0;
            footprint.again |= footprint.banks & bank;
            footprint.banks |= bank;
        }
        footprint.is_irregular |= 64 % self.banks != 0;
        if !footprint.is_irregular {
            let repeated =
                |mask: u64| (0..64).step_by(self.banks as usize).fold(0, |all, at| all | mask << at);
            (footprint.banks, footprint.again) = (repeated(footprint.banks), repeated(footprint.again));
        }
        footprint
    }

    /// The banks of a regular footprint in a warp slot.
    #[inline(always)]
    fn turned(&self, repeated: u64, warp: u8) -> u64 {
        let Share { all, turn, .. } = *self.share(warp);
        repeated.rotate_left(turn.into()) & all
    }

    /// The banks that have been written in this cycle.
    #[inline(always)]
    fn written(&mut self, now: Cycle) -> &mut u64 {
        if self.written_at != now {
            self.written_at = now;
            self.written = 0;
        }
        &mut self.written
    }

    /// Adds a read of one row in each of the banks in a mask. There is room for every collector's rows.
    #[inline]
    fn add(&mut self, banks: u64, first: Ticket) {
        let arrival = Arrival { ticket: first, rows: banks.count_ones() as u8 };
        self.reads.push(Read { banks, arrival });
    }

    /// Requests rows and copies their values.
    #[inline(always)]
    pub fn request(&mut self, warp: u8, registers: &[Reg], first: Ticket, rows: &mut [Row]) {
        let values = &self.rows[self.share(warp).row as usize..];
        for (to, register) in rows[usize::from(first.0)..].iter_mut().zip(registers) {
            *to = values[usize::from(register.0)];
        }
        let footprint = self.footprint(registers);
        self.request_read(warp, registers, &footprint, first);
    }

    /// Requests rows that have been read: only their banks' time.
    #[inline(always)]
    pub fn request_read(&mut self, warp: u8, registers: &[Reg], footprint: &Footprint, first: Ticket) {
        if footprint.rows == 0 {
            return;
        }
        if footprint.is_irregular {
            return self.request_each(warp, registers, first);
        }
        self.waiting += u32::from(footprint.rows);
        self.add(self.turned(footprint.banks, warp), first);
        if footprint.again != 0 {
            self.add(self.turned(footprint.again, warp), first);
        }
    }

    /// As [`RegisterBanks::request_read`], row by row.
    #[cold]
    #[inline(never)]
    pub fn request_each(&mut self, warp: u8, registers: &[Reg], first: Ticket) {
        self.waiting += registers.len() as u32;
        for register in registers {
            let bank = self.place(warp, *register).1;
            self.add(1 << bank, first);
        }
    }

    /// Performs one cycle: grants rows of each read, oldest first, and tells of the rows that arrive. The reads that wait for more
    /// are kept.
    #[inline(always)]
    pub fn serve(&mut self, now: Cycle, mut arrive: impl FnMut(Arrival)) {
        let mut free = if self.written_at == now { !self.written } else { u64::MAX };
        let (mut rows, mut kept) = (0, 0);
        let reads = &mut self.reads[..];
        for at in 0..reads.len() {
            let Read { banks, arrival } = reads[at];
            let granted = banks & free;
            free &= !granted;
            rows += granted.count_ones();
            if granted != banks {
                reads[kept] = Read { banks: banks & !granted, arrival };
                kept += 1;
            } else if self.extra_latency == 0 {
                arrive(arrival);
            } else {
                let due = now + self.extra_latency;
                self.under_way.push(due, arrival).expect("there is room for every collector's rows");
            }
        }
        self.reads.truncate(kept);
        self.waiting -= rows;
        self.statistics.reads += u64::from(rows);
        self.statistics.read_conflicts += u64::from(self.waiting);
        if self.extra_latency != 0 {
            while let Some(arrival) = self.under_way.pop(now) {
                arrive(arrival);
            }
        }
    }

    /// Takes a write of the given lanes of a row, unless the bank has been written in this cycle.
    #[inline(always)]
    pub fn offer_write(&mut self, warp: u8, register: Reg, lanes: LaneMask, row: &Row, now: Cycle) -> bool {
        let is_taken = self.offer_write_in_place(warp, register, lanes != ALL_LANES, now);
        if is_taken {
            self.rows(warp)[usize::from(register.0)].merge(lanes, row);
        }
        is_taken
    }

    #[inline(always)]
    fn offer_write_in_place(&mut self, warp: u8, register: Reg, is_partial: bool, now: Cycle) -> bool {
        let bank = self.place(warp, register).1;
        let written = self.written(now);
        if *written >> bank & 1 == 1 {
            self.statistics.write_conflicts += 1;
            return false;
        }
        *written |= 1 << bank;
        self.statistics.writes += 1;
        self.statistics.partial_writes += u64::from(is_partial);
        true
    }

    /// Takes the writes of rows whose values are in place, in their order up to the first whose bank has been written in this
    /// cycle. Returns how many have been accepted by now.
    #[inline(always)]
    pub fn write_in_place(
        &mut self,
        warp: u8,
        registers: &[Reg],
        footprint: &Footprint,
        write: WriteInPlace,
        now: Cycle,
    ) -> u8 {
        let banks = self.turned(footprint.banks, warp);
        let written = self.written(now);
        if write.done != 0 || footprint.again != 0 || footprint.is_irregular || *written & banks != 0 {
            return self.write_each(warp, registers, write, now);
        }
        *written |= banks;
        self.statistics.writes += u64::from(footprint.rows);
        self.statistics.partial_writes += u64::from(if write.is_partial { footprint.rows } else { 0 });
        footprint.rows
    }

    #[cold]
    fn write_each(&mut self, warp: u8, registers: &[Reg], write: WriteInPlace, now: Cycle) -> u8 {
        let left = &registers[usize::from(write.done)..];
        let is_taken = |register: &&Reg| self.offer_write_in_place(warp, **register, write.is_partial, now);
        write.done + left.iter().take_while(is_taken).count() as u8
    }

    /// Earliest cycle, not before `now`, at which a tick would do work.
    #[inline(always)]
    pub fn next_event(&self, now: Cycle) -> Cycle {
        if self.waiting != 0 { now } else { self.under_way.next_ready().max(now) }
    }

    /// Adds a sentence to `report` if rows wait.
    pub fn waits(&self, report: &mut Vec<String>) {
        if self.waiting > 0 {
            report.push(format!("register file: {} rows wait for their banks", self.waiting));
        }
    }

    /// The counters.
    pub fn statistics(&self) -> Vec<Group> {
        vec![self.statistics.report()]
    }
}

#[cfg(test)]
mod tests {
    use strata_engine::seed::Stream;

    use super::*;

    /// Tickets whose rows have all arrived, as the rows of both come.
    fn complete(banks: &mut RegisterBanks, missing: &mut [u8], now: Cycle) -> Vec<u16> {
        let mut complete = Vec::new();
        banks.serve(now, |Arrival { ticket, rows }| {
            let missing = &mut missing[usize::from(ticket.0)];
            *missing -= rows;
            if *missing == 0 {
                complete.push(ticket.0);
            }
        });
        complete.sort_unstable();
        complete
    }

    #[test]
    fn rows_in_place_take_the_time_of_rows_one_by_one() {
        let of_sub_cores = [(8, 4), (12, 2), (24, 4), (64, 8)];
        for (count, parts) in
            [1, 3, 4, 16, 24, 32, 64].map(|count| (count, 1)).into_iter().chain(of_sub_cores)
        {
            let mut stream = Stream::new(u64::from(count), "rows in place");
            let make = || {
                let mut banks = RegisterBanks::new(count, 1 + count % 3, 8 * 40, 4096).divided(parts);
                banks.prepare(&WarpRows::even(40));
                banks
            };
            let (mut plain, mut in_place) = (make(), make());
            let (mut of_plain, mut of_in_place) = (vec![0; 4096], vec![0; 4096]);
            let mut left: Vec<(u8, Vec<Reg>, bool, u8, u8)> = Vec::new();
            for cycle in 0..600 {
                let now = Cycle(cycle);
                // Few banks serve few instructions.
                let most = if stream.below(1 + 24 / u64::from(count)) == 0 { 6 } else { 1 };
                let registers: Vec<Reg> =
                    (0..stream.below(most)).map(|_| Reg(stream.below(40) as u8)).collect();
                let (warp, is_partial) = (stream.below(8) as u8, stream.below(2) == 0);
                left.push((warp, registers.clone(), is_partial, 0, 0));
                let lanes = |is_partial| if is_partial { 1 } else { ALL_LANES };
                for (warp, registers, is_partial, plain_done, done) in &mut left {
                    let offer = |register: &&Reg| {
                        plain.offer_write(*warp, **register, lanes(*is_partial), &Row::splat(7), now)
                    };
                    *plain_done +=
                        registers[usize::from(*plain_done)..].iter().take_while(offer).count() as u8;
                    let write = WriteInPlace { done: *done, is_partial: *is_partial };
                    let footprint = in_place.footprint(registers);
                    *done = in_place.write_in_place(*warp, registers, &footprint, write, now);
                    assert_eq!(done, plain_done, "cycle {cycle}, {count} banks");
                }
                left.retain(|(_, registers, _, _, done)| usize::from(*done) < registers.len());
                let (one, other) = (
                    complete(&mut plain, &mut of_plain, now),
                    complete(&mut in_place, &mut of_in_place, now),
                );
                assert_eq!(one, other, "cycle {cycle}, {count} banks");
                assert_eq!(plain.next_event(now), in_place.next_event(now));
                let ticket = Ticket(cycle as u16);
                (of_plain[cycle as usize], of_in_place[cycle as usize]) =
                    (registers.len() as u8, registers.len() as u8);
                plain.request_each(warp, &registers, ticket);
                let footprint = in_place.footprint(&registers);
                in_place.request_read(warp, &registers, &footprint, ticket);
            }
            assert_eq!(plain.statistics, in_place.statistics, "{count} banks");
            let RegisterFileStatistics { reads, read_conflicts, write_conflicts, .. } = plain.statistics;
            assert!(reads > 0 && read_conflicts > 0 && write_conflicts > 0, "{:?}", plain.statistics);
        }
    }
}
