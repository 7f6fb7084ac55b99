//! A memory partition as an island: LLC slices in front of one DRAM channel.
//!
//! A slice sees only its own lines, numbered without gaps ([`AddressMap::home`]). The partition translates
//! the line numbers of requests and of what owners say as they enter, and of replies as they leave. All cycles are those of the LLC's clock.

mod slice;
mod statistics;

use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cycle, Doorbell, Island, Ran, Span, Window};

use crate::address::LineAddress;
use crate::address_map::{AddressMap, Home};
use crate::dram::Channel;
use crate::flit::FlitSize;
use crate::line::{ByteMask, Line};
use crate::parameters::ParameterError;
pub use slice::SliceEnds;
use slice::{Held, Slice};
pub use statistics::PartitionStatistics;

/// A memory partition: the LLC slices of one DRAM channel, and the channel.
pub struct PartitionIsland {
    map: AddressMap,
    flit_size: FlitSize,
    channel: u16,
    dram: Channel,
    slices: Vec<Slice>,
    /// Earliest cycle at which a slice has something to do: the earliest [`Slice::next`].
    next: Cycle,
    statistics: PartitionStatistics,
}

impl PartitionIsland {
    /// Makes the partition of channel `channel`, with `slices` in the order of [`AddressMap::slices_of`].
    ///
    /// # Errors
    /// Fails if the number of slices differs from that of the map.
    pub fn new(
        map: AddressMap,
        channel: u16,
        flit_size: FlitSize,
        dram: Channel,
        slices: Vec<SliceEnds>,
    ) -> Result<PartitionIsland, ParameterError> {
        let expected = map.slices_of(channel).count();
        if slices.len() != expected {
            let message =
                format!("found {} slices before channel {channel}, expected {expected}", slices.len());
            return Err(ParameterError::new("slices_per_channel", message));
        }
        let slices = slices
            .into_iter()
            .zip(map.slices_of(channel))
            .map(|(ends, number)| Slice {
                number,
                ends,
                due: Cycle::ZERO,
                reply_due: Cycle::NEVER,
                next: Cycle::ZERO,
                held: None,
                reply_stalled: None,
            })
            .collect();
        Ok(PartitionIsland {
            map,
            flit_size,
            channel,
            dram,
            slices,
            next: Cycle::ZERO,
            statistics: PartitionStatistics::default(),
        })
    }

    /// Backs all device addresses below `bytes` with storage.
    pub fn ensure(&mut self, bytes: u64) {
        self.dram.ensure(self.map.lines_per_slice(bytes));
    }

    /// Whether the line belongs to this partition.
    pub fn owns(&self, line: LineAddress) -> bool {
        self.map.channel_of(self.map.home(line).slice).0 == self.channel
    }

    /// Reads a device line of this partition for a host copy between kernels; takes no simulated time.
    pub fn peek_line(&self, line: LineAddress, into: &mut Line) {
        let (place, home) = self.place(line);
        self.dram.peek(place, home.line, into);
        if let Some(cache) = &self.slices[place].ends.cache {
            cache.peek(home.line, into);
        }
        self.slices[place].ends.llc.peek(home.line, into);
    }

    /// Writes bytes of a device line of this partition for a host copy between kernels; takes no simulated
    /// time.
    pub fn poke_line(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        let (place, home) = self.place(line);
        self.dram.poke(place, home.line, bytes, data);
        if let Some(cache) = &mut self.slices[place].ends.cache {
            cache.poke(home.line, bytes, data);
        }
        self.slices[place].ends.llc.poke(home.line, bytes, data);
    }

    /// Whether nothing is under way here but loads of rows of the [window](crate::window).
    pub fn is_settled(&self) -> bool {
        self.dram.is_idle()
            && self.slices.iter().all(|slice| slice.held.is_none() && slice.ends.llc.is_settled())
    }

    /// Completes the counters for all cycles before `end`.
    pub fn settle(&mut self, end: Cycle) {
        for (place, slice) in self.slices.iter_mut().enumerate() {
            slice.settle(&mut self.dram.port(place), end);
        }
    }

    /// The counters of the partition, its slices and its channel. They are complete once they are [settled](PartitionIsland::settle).
    pub fn statistics(&self) -> Vec<Group> {
        let withheld: u64 = self.slices.iter().map(|slice| slice.ends.llc.withheld()).sum();
        let further: u64 = self.slices.iter().map(|slice| slice.ends.llc.further()).sum();
        let (requests, replies) = (self.statistics.requests - withheld, self.statistics.replies - further);
        let mut groups = vec![PartitionStatistics { requests, replies, ..self.statistics }.report()];
        groups.extend(self.slices.iter().flat_map(|slice| slice.ends.llc.statistics()));
        groups.extend(self.slices.iter().filter_map(|slice| Some(slice.ends.cache.as_ref()?.statistics())));
        groups.extend(self.dram.statistics());
        groups
    }

    /// The counters of one of its slices, by its place among them, with the cache behind it.
    pub fn slice_statistics(&self, place: usize) -> Vec<Group> {
        let ends = &self.slices[place].ends;
        let mut groups = ends.llc.statistics();
        groups.extend(ends.cache.as_ref().map(|cache| cache.statistics()));
        groups
    }

    /// Performs the cycle of every slice that has something to do.
    fn serve(&mut self, now: Cycle) {
        self.next = Cycle::NEVER;
        let mut has_taken = false;
        for (place, slice) in self.slices.iter_mut().enumerate() {
            // What a slice takes from DRAM may make room there for the request of another.
            if has_taken && self.dram.is_awaited() && self.dram.has_room_again(place) {
                slice.expect_answer(now);
            }
            if slice.next <= now {
                if slice.ends.owners.is_some() {
                    slice.hear_owners(&self.map, self.flit_size, now);
                }
                if slice.due <= now {
                    has_taken |= self.dram.next_completion(place) <= now;
                    slice.tick(&mut self.dram.port(place), now);
                }
                if slice.reply_due <= now {
                    slice.reply(&self.map, self.flit_size, &mut self.statistics, now);
                }
                let intake = slice.take_in(&self.map, self.flit_size, &mut self.statistics, now);
                slice.due = slice.next_of_memory(now.next()).min(self.dram.next_completion(place));
                slice.next = slice.due.min(slice.reply_due).min(intake);
            }
            self.next = self.next.min(slice.next);
        }
        if has_taken && self.dram.is_awaited() {
            self.hear_of_room(now.next());
        }
    }

    /// Has the slices look again that DRAM refused, if it has room for them from cycle `next` on.
    #[inline(never)]
    fn hear_of_room(&mut self, next: Cycle) {
        for (place, slice) in self.slices.iter_mut().enumerate() {
            if self.dram.has_room_again(place) {
                slice.expect_answer(next);
                self.next = self.next.min(next);
            }
        }
    }

    fn place(&self, line: LineAddress) -> (usize, Home) {
        let home = self.map.home(line);
        let (channel, place) = self.map.channel_of(home.slice);
        assert_eq!(channel, self.channel, "a host copy goes to the partition that owns the line");
        (place, home)
    }
}

impl Island for PartitionIsland {
    fn hang(&mut self, bell: &Doorbell) {
        for slice in &self.slices {
            slice.ends.requests.hang(bell);
            slice.ends.replies.hang(bell);
            slice.ends.owners.iter().for_each(|owners| owners.hang(bell));
        }
    }

    fn collect(&mut self, window: Window) {
        for slice in &mut self.slices {
            slice.ends.requests.collect(window);
            slice.ends.replies.collect(window);
            if slice.reply_stalled.is_some() {
                slice.reply_due = slice.ends.replies.next_credit();
            }
            slice.next = slice.next.min(slice.reply_due).min(slice.ends.requests.next_arrival());
            if let Some(owners) = &mut slice.ends.owners {
                owners.collect(window);
                slice.next = slice.next.min(owners.next_arrival());
            }
            self.next = self.next.min(slice.next);
        }
    }

    // Inline in the loop over a window's cycles.
    #[inline(always)]
    fn tick(&mut self, now: Cycle) {
        if self.dram.tick(now) {
            for (place, slice) in self.slices.iter_mut().enumerate() {
                slice.expect_answer(self.dram.next_completion(place));
                self.next = self.next.min(slice.next);
            }
            if self.dram.is_awaited() {
                self.hear_of_room(now);
            }
        }
        if self.next <= now {
            self.serve(now);
        }
    }

    /// Ticks in the cycles in which a slice has something to do. The commands of DRAM between them are issued together:
    /// when a slice has, when something may come of them, and at the end.
    fn run(&mut self, span: Span) -> Ran {
        let (mut cycle, mut last) = (span.from, None);
        loop {
            let commands = if span.every_cycle { self.dram.next_command() } else { self.dram.deadline() };
            let due = self.next.min(commands).max(cycle);
            if !span.every_cycle {
                cycle = due;
            }
            if cycle >= span.until {
                break;
            }
            if cycle == due {
                last = Some(cycle);
            }
            self.tick(cycle);
            cycle = cycle.next();
        }
        let commands = self.dram.next_command();
        if commands < span.until {
            last = last.max(Some(commands));
            self.tick(Cycle(span.until.0 - 1));
        }
        Ran { last, due: self.next_event(span.until) }
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        self.next.min(self.dram.next_command()).max(now)
    }

    fn flush(&mut self, window: Window) -> Cycle {
        let mut first = Cycle::NEVER;
        for slice in &mut self.slices {
            first = first.min(slice.ends.requests.flush(window)).min(slice.ends.replies.flush(window));
            if let Some(owners) = &mut slice.ends.owners {
                first = first.min(owners.flush(window));
            }
        }
        first
    }

    fn progress(&self) -> u64 {
        self.statistics.requests + self.statistics.replies + self.dram.progress()
    }

    fn waits(&self, report: &mut Vec<String>) {
        for slice in &self.slices {
            if let Some(Held { request, since, .. }) = &slice.held {
                let line = self.map.device_line(Home { slice: slice.number, line: request.line });
                report.push(format!(
                    "slice {}: the request of node {} for line {line} has been handed back since L2 cycle {since}",
                    slice.number, request.source.0
                ));
            }
            if let Some(since) = slice.reply_stalled {
                report.push(format!(
                    "slice {}: a reply has waited for room in the network since L2 cycle {since}",
                    slice.number
                ));
            }
            slice.ends.llc.waits(report);
            if let Some(cache) = &slice.ends.cache {
                cache.waits(report);
            }
        }
        self.dram.waits(report);
    }
}
