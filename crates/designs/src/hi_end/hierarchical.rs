//! The hierarchical register file (IV-A, Figs. 6 and 7): register cache, delay buffer and compressed banks; or a
//! central write buffer and compressed banks.

use strata_engine::Cycle;
use strata_engine::statistics::{Group, Statistics};
use strata_memory::WarpRows;
use strata_memory::doors::{Arrival, CollectorPort, RegisterFile, RegisterFileSite, Ticket};
use strata_warp::{ALL_LANES, LaneMask, Reg, Row};

use super::banks::{Banks, Timing};
use super::config::{DeadRows, HierarchicalConfig, WriteBacks};
use super::delay_buffer::DelayBuffer;
use super::layout::{Layout, ROW_BITS, RowId};
use super::reads::{Destination, Merge, Read, ReadQueues, UnderWay};
use super::register_cache::{RegisterCache, Room};
use super::statistics::HierarchyStatistics;
use crate::baseline::RegisterFileStatistics;

/// A register file whose rows lie compressed in its banks, behind buffers.
pub struct HierarchicalRegisterFile {
    pub(super) layout: Layout,
    pub(super) cache: Option<RegisterCache>,
    pub(super) buffer: DelayBuffer,
    pub(super) banks: Banks,
    rows_per_cycle: u32,
    /// Rows in the buffer from which on writes do not wait for reads.
    eager_from: u32,
    dead_rows: DeadRows,
    write_backs: WriteBacks,
    /// Bits of a line's or an entry's name: warp, register and valid flag.
    name_bits: u64,
    reads: ReadQueues,
    from_cache: UnderWay<Ticket>,
    from_buffer: UnderWay<Ticket>,
    from_banks: UnderWay<Ticket>,
    merges_from_buffer: UnderWay<Merge>,
    merges_from_banks: UnderWay<Merge>,
    /// Cycle of the last write.
    written_at: Cycle,
    /// Mask of the register cache's banks that were accessed in that cycle.
    written: u64,
    statistics: RegisterFileStatistics,
    hierarchy: HierarchyStatistics,
}

/// Where a read can be served in this cycle.
#[derive(Clone, Copy)]
enum Source {
    /// The register cache: its bank.
    Cache(u32),
    Buffer,
    Banks,
}

impl HierarchicalRegisterFile {
    /// A register file of undefined values.
    pub fn new(config: &HierarchicalConfig, site: RegisterFileSite) -> HierarchicalRegisterFile {
        let layout = Layout::new(*config.banks.count, *config.banks.bits, site.rows);
        let timing = Timing {
            compression: u64::from(*config.compression.cycles),
            write: u64::from(*config.banks.write_cycles),
        };
        let buffer = config.buffer();
        let cache = config.register_cache.as_ref();
        let lines = cache.map_or(0, |cache| *cache.lines as usize);
        // Every row above the banks may be merging; merges of rows that were given up stay on their way for a while.
        let merges = 4 * (lines + *buffer.entries as usize);
        let (buffer_latency, bank_latency) =
            (u64::from(*buffer.read_latency_cycles), u64::from(*config.banks.read_latency_cycles));
        HierarchicalRegisterFile {
            cache: cache.map(|of| RegisterCache::new(*of.lines, *of.banks, *of.index, *of.register_bits)),
            buffer: DelayBuffer::new(*buffer.entries, site.rows),
            banks: Banks::new(&layout, timing, *config.wear_levelling),
            rows_per_cycle: *config.compression.rows_per_cycle,
            eager_from: *buffer.eager_from,
            dead_rows: *config.dead_rows,
            write_backs: config.write_backs.as_deref().map_or(WriteBacks::Stall, |of| *of),
            name_bits: cache.map_or(12, |cache| u64::from(*cache.warp_bits + *cache.register_bits) + 1),
            reads: ReadQueues::new(layout.groups()),
            from_cache: UnderWay::new(cache.map_or(1, |of| u64::from(*of.read_latency_cycles)), site.tickets),
            from_buffer: UnderWay::new(buffer_latency, site.tickets),
            from_banks: UnderWay::new(bank_latency, site.tickets),
            merges_from_buffer: UnderWay::new(buffer_latency, merges),
            merges_from_banks: UnderWay::new(bank_latency, merges),
            written_at: Cycle::NEVER,
            written: 0,
            statistics: RegisterFileStatistics::default(),
            hierarchy: HierarchyStatistics::default(),
            layout,
        }
    }

    /// Ends the writes that are due in the banks, and gives merged rows the lanes that arrive.
    #[inline]
    fn settle(&mut self, now: Cycle) {
        if self.banks.next_event() <= now {
            let buffer = &mut self.buffer;
            self.banks.settle(now, |row| buffer.ended(row));
        }
        while let Some(merge) = self.merges_from_buffer.arrive(now) {
            self.fill(&merge);
        }
        while let Some(merge) = self.merges_from_banks.arrive(now) {
            self.fill(&merge);
        }
    }

    fn fill(&mut self, (place, merge, below): &Merge) {
        match &mut self.cache {
            Some(cache) => cache.fill(usize::from(*place), *merge, below),
            None => self.buffer.fill(*place, *merge, below),
        }
    }

    /// Finds where a read can be served, whatever else is served in this cycle.
    #[inline]
    fn source(&mut self, read: &Read, now: Cycle) -> Option<Source> {
        let merges = matches!(read.destination, Destination::Merge(..));
        if let Some(cache) = self.cache.as_ref().filter(|_| !merges) {
            let line = cache.line(read.warp, read.register, read.row);
            if let Some(held) = cache.find(line, read.row) {
                self.hierarchy.merge_waits += u64::from(!held.is_whole());
                return held.is_whole().then(|| Source::Cache(cache.bank(line)));
            }
        }
        if let Some(held) = self.buffer.find(read.row) {
            // A merge into the central write buffer reads the row from the banks: this is the merging row.
            if !merges || self.cache.is_some() {
                self.hierarchy.merge_waits += u64::from(!held.is_whole());
                return held.is_whole().then_some(Source::Buffer);
            }
        }
        self.banks.can_read(&self.layout, read.row, now).then_some(Source::Banks)
    }

    /// Grants a group's reads, oldest first: from its banks or the buffer one, and from the register cache as many
    /// as its banks serve. One that must wait does not hold up those behind it. `accessed` is the mask of the
    /// register cache's banks that are accessed in this cycle; returns it with those that these reads access.
    #[inline]
    fn grant(&mut self, group: u32, mut accessed: u64, rows: &mut [Row], now: Cycle) -> u64 {
        let mut from_below = false;
        let mut place = 0;
        while place < self.reads.of(group).len() {
            let read = self.reads.of(group)[place];
            let source = self.source(&read, now).filter(|source| match *source {
                Source::Cache(bank) => accessed >> bank & 1 == 0,
                Source::Buffer | Source::Banks => !from_below,
            });
            let Some(source) = source else {
                place += 1;
                continue;
            };
            match source {
                Source::Cache(bank) => accessed |= 1 << bank,
                Source::Buffer | Source::Banks => from_below = true,
            }
            self.reads.remove(group, place);
            self.serve(&read, source, rows, now);
        }
        accessed
    }

    /// Serves a read: takes the row and sends it on its way.
    #[inline]
    fn serve(&mut self, read: &Read, source: Source, rows: &mut [Row], now: Cycle) {
        let row_bits = u64::from(ROW_BITS);
        // The register cache is searched first, then the buffer; the central write buffer at once with the banks.
        if self.cache.is_some() {
            self.hierarchy.cache_bits_read += self.name_bits;
        }
        if !matches!(source, Source::Cache(_)) {
            self.hierarchy.buffer_bits_read += u64::from(self.buffer.entries()) * self.name_bits;
        }
        let value = match source {
            Source::Cache(_) => {
                self.hierarchy.cache_bits_read += row_bits;
                let cache = self.cache.as_ref().expect("it is the source");
                let line = cache.line(read.warp, read.register, read.row);
                cache.find(line, read.row).expect("it is the source").value
            }
            Source::Buffer => {
                self.hierarchy.buffer_bits_read += row_bits;
                if self.cache.is_none() {
                    self.banks.read(read.row);
                }
                self.buffer.find(read.row).expect("it is the source").value
            }
            Source::Banks => self.banks.read(read.row),
        };
        match read.destination {
            Destination::Merge(place, merge) => {
                let way = if matches!(source, Source::Buffer) {
                    &mut self.merges_from_buffer
                } else {
                    &mut self.merges_from_banks
                };
                way.send((place, merge, value), now);
            }
            Destination::Collector(ticket) => {
                rows[usize::from(ticket.0)] = value;
                let (way, counter) = match source {
                    Source::Cache(_) => (&mut self.from_cache, &mut self.hierarchy.cache_reads),
                    Source::Buffer => (&mut self.from_buffer, &mut self.hierarchy.buffer_reads),
                    Source::Banks => (&mut self.from_banks, &mut self.hierarchy.bank_reads),
                };
                *counter += 1;
                self.hierarchy.reads += 1;
                self.hierarchy.read_cycles += way.latency();
                way.send(ticket, now);
                self.statistics.reads += 1;
            }
        }
    }

    /// Whether a write of `lanes` of a row needs its other lanes from below.
    #[inline]
    fn needs_merge(&self, row: RowId, lanes: LaneMask) -> bool {
        lanes != ALL_LANES && (self.banks.holds(row) || self.buffer.find(row).is_some())
    }

    /// Asks for the other lanes of a row.
    fn merge(&mut self, warp: u8, register: Reg, row: RowId, place: u16, merge: u32) {
        self.hierarchy.merges += 1;
        let destination = Destination::Merge(place, merge);
        self.reads.push(self.layout.place(row).group, Read { row, warp, register, destination });
    }

    /// Counts a row that enters the buffer.
    fn count_entry(&mut self) {
        self.hierarchy.buffer_occupancy += u64::from(self.buffer.occupancy());
        self.hierarchy.buffer_bits_written += u64::from(ROW_BITS) + self.name_bits;
    }

    /// Whether a port refuses a write because it has taken one in this cycle.
    #[inline]
    fn has_written(&self, port: u32) -> bool {
        self.written >> port & 1 == 1 && self.write_backs == WriteBacks::Stall
    }

    /// Writes through the register cache. Returns whether it takes the write.
    #[inline]
    fn write_to_cache(&mut self, warp: u8, register: Reg, lanes: LaneMask, value: &Row) -> bool {
        let row = self.layout.row(warp, register);
        let merges = self.needs_merge(row, lanes);
        let cache = self.cache.as_ref().expect("the write goes there");
        let line = cache.line(warp, register, row);
        let bank = cache.bank(line);
        if self.has_written(bank) {
            return false;
        }
        let cache = self.cache.as_mut().expect("the write goes there");
        match cache.room(line, row) {
            Room::Hit => {
                cache.update(line, lanes, value);
                self.hierarchy.write_hits += 1;
                self.hierarchy.cache_bits_read += self.name_bits;
                self.hierarchy.cache_bits_written += u64::from(lanes.count_ones()) * 32;
                self.written |= 1 << bank;
                return true;
            }
            Room::Merging => {
                self.hierarchy.merging_refusals += 1;
                return false;
            }
            Room::Occupied if self.buffer.is_full() => {
                self.hierarchy.buffer_full += 1;
                return false;
            }
            Room::Occupied => {
                let (victim, old) = cache.victim(line);
                let old = *old;
                self.hierarchy.evictions += 1;
                self.hierarchy.cache_bits_read += u64::from(ROW_BITS);
                self.count_entry();
                self.buffer.accept(victim, ALL_LANES, &old, false);
            }
            Room::Free => {}
        }
        let cache = self.cache.as_mut().expect("the write goes there");
        let merge = cache.allocate(line, row, lanes, value, merges);
        self.hierarchy.cache_bits_read += self.name_bits;
        self.hierarchy.cache_bits_written += u64::from(lanes.count_ones()) * 32 + self.name_bits;
        self.written |= 1 << bank;
        if merges {
            self.merge(warp, register, row, line as u16, merge);
        }
        true
    }

    /// Writes into the central write buffer. Returns whether it takes the write.
    #[inline]
    fn write_to_buffer(&mut self, warp: u8, register: Reg, lanes: LaneMask, value: &Row) -> bool {
        let row = self.layout.row(warp, register);
        let group = self.layout.place(row).group;
        if self.has_written(group) {
            return false;
        }
        self.hierarchy.buffer_bits_read += u64::from(self.buffer.entries()) * self.name_bits;
        if self.buffer.absorb(row, lanes, value) {
            self.hierarchy.write_hits += 1;
            self.hierarchy.buffer_bits_written += u64::from(lanes.count_ones()) * 32;
            self.written |= 1 << group;
            return true;
        }
        if self.buffer.is_full() {
            self.hierarchy.buffer_full += 1;
            return false;
        }
        self.written |= 1 << group;
        self.count_entry();
        // A row that is being written lies in the buffer too: its other lanes are at hand.
        let being_written = self.buffer.find(row).map(|held| held.value);
        if let Some(mut whole) = being_written {
            whole.merge(lanes, value);
            self.buffer.accept(row, ALL_LANES, &whole, false);
            return true;
        }
        let merges = self.needs_merge(row, lanes);
        let (slot, merge) = self.buffer.accept(row, lanes, value, merges);
        if merges {
            self.merge(warp, register, row, slot, merge);
        }
        true
    }
}

impl RegisterFile for HierarchicalRegisterFile {
    fn prepare(&mut self, rows: &WarpRows) {
        self.layout.prepare(rows);
        if let Some(cache) = &mut self.cache {
            cache.clear();
        }
        self.buffer.clear();
        self.banks.clear();
        self.reads.clear();
        while self.merges_from_buffer.arrive(Cycle::NEVER).is_some() {}
        while self.merges_from_banks.arrive(Cycle::NEVER).is_some() {}
    }

    fn request(&mut self, warp: u8, registers: &[Reg], first: Ticket, _rows: &mut [Row], _now: Cycle) {
        self.reads.request(&self.layout, warp, registers, first);
    }

    fn tick(&mut self, port: CollectorPort<'_>, now: Cycle) {
        self.settle(now);
        for _ in 0..self.rows_per_cycle {
            // Writes go behind the reads of their group until the buffer fills up.
            let behind = self.buffer.occupancy() < self.eager_from;
            let reads = &self.reads;
            let is_free = |group| !behind || !reads.wants(group);
            if !self.buffer.has_waiting() || !self.buffer.begin(&mut self.banks, &self.layout, is_free, now) {
                break;
            }
            self.hierarchy.buffer_bits_read += u64::from(ROW_BITS);
        }
        let mut accessed = if self.written_at == now { self.written } else { 0 };
        // In turn, a group earlier each cycle: groups may want the same bank of the register cache.
        let groups = self.layout.groups();
        let turn = (now.0 % u64::from(groups)) as u32;
        let wanted = self.reads.wanted();
        for half in [wanted >> turn << turn, wanted & !(u64::MAX << turn)] {
            let mut left = half;
            while left != 0 {
                let group = left.trailing_zeros();
                left &= left - 1;
                accessed = self.grant(group, accessed, port.rows, now);
            }
        }
        self.statistics.read_conflicts += u64::from(self.reads.waiting());
        for way in [&mut self.from_cache, &mut self.from_buffer, &mut self.from_banks] {
            while let Some(ticket) = way.arrive(now) {
                port.arrived.push(Arrival::of(ticket));
            }
        }
    }

    fn offer_write(&mut self, warp: u8, register: Reg, lanes: LaneMask, row: &Row, now: Cycle) -> bool {
        self.settle(now);
        if self.written_at != now {
            self.written_at = now;
            self.written = 0;
        }
        let taken = if self.cache.is_some() {
            self.write_to_cache(warp, register, lanes, row)
        } else {
            self.write_to_buffer(warp, register, lanes, row)
        };
        if taken {
            self.statistics.writes += 1;
            self.statistics.partial_writes += u64::from(lanes != ALL_LANES);
        } else {
            self.statistics.write_conflicts += 1;
        }
        taken
    }

    fn release(&mut self, warp: u8) {
        if self.dead_rows == DeadRows::Written {
            return;
        }
        for (register, row) in self.layout.rows_of(warp).enumerate() {
            if let Some(cache) = &mut self.cache {
                let line = cache.line(warp, Reg(register as u8), row);
                self.hierarchy.dead_rows += u64::from(cache.find(line, row).is_some());
                cache.forget(line, row);
            }
            self.hierarchy.dead_rows += u64::from(self.buffer.forget(row));
            self.banks.forget(row);
        }
    }

    fn peek(&self, warp: u8, register: Reg) -> Row {
        let row = self.layout.row(warp, register);
        let in_banks = || self.banks.peek(row);
        let below = || self.buffer.find(row).map_or_else(in_banks, |held| held.over(&in_banks()));
        let cache = self.cache.as_ref();
        let held = cache.and_then(|cache| cache.find(cache.line(warp, register, row), row));
        held.map_or_else(below, |held| held.over(&below()))
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        if self.reads.waiting() > 0 || self.buffer.has_waiting() {
            return now;
        }
        let arrivals = [&self.from_cache, &self.from_buffer, &self.from_banks].map(UnderWay::next_event);
        let merges = [&self.merges_from_buffer, &self.merges_from_banks].map(UnderWay::next_event);
        let next = arrivals.into_iter().chain(merges).min().unwrap_or(Cycle::NEVER);
        next.min(self.banks.next_event()).max(now)
    }

    fn waits(&self, report: &mut Vec<String>) {
        if self.reads.waiting() > 0 {
            report.push(format!("register file: {} rows wait to be read", self.reads.waiting()));
        }
        if self.buffer.occupancy() > 0 {
            report.push(format!("register file: {} rows wait for the banks", self.buffer.occupancy()));
        }
    }

    fn statistics(&self) -> Vec<Group> {
        let mut groups = vec![
            self.statistics.report(),
            self.hierarchy.report(),
            self.banks.units().report(),
            self.banks.statistics().report(),
        ];
        groups.push(self.banks.wear().report());
        groups
    }
}
