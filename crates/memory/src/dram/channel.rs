//! A DRAM channel: its ports for the slices, its clock and its completions.

use std::sync::Arc;

use strata_engine::statistics::{Group, Statistics};
use strata_engine::{ClockRatio, Cycle, DelayLine};

use super::controller::{Control, Shape, Step};
use super::pages::Open;
use super::parameters::DramParameters;
use super::pattern::AddressPattern;
use super::queue::Entry;
use super::registry::{AnyController, SchedulerPolicy};
use super::rules::constraints;
use super::schedulers::SchedulerSite;
use super::statistics::DramStatistics;
use super::storage::Storage;
use super::timing::Timing;
use super::upkeep::{Housekeeping, RefreshShape};
use crate::address::LineAddress;
use crate::doors::{DramPort, DramRequest};
use crate::line::{ByteMask, Line};
use crate::parameters::ParameterError;

/// A DRAM channel with its storage, shared by one or more slices.
#[derive(Debug)]
pub struct Channel {
    clock: ClockRatio,
    pub(super) controller: AnyController,
    storage: Storage,
    slices: Vec<Slice>,
    /// Binary logarithm of the lines in a chunk; chunks are dealt out to the slices in turn.
    chunk_shift: u32,
    /// The next DRAM cycle in which the scheduler may issue, and the slices' cycle in which it begins.
    wake: u64,
    wake_here: Cycle,
    /// Requests in the queue, and its size.
    queued: usize,
    queue_entries: usize,
    /// Slices whose last offer was refused.
    awaited: usize,
    /// Queue entries reserved for each slice.
    guaranteed: usize,
    /// Requests accepted and not taken back, and their bound.
    outstanding: usize,
    outstanding_bound: usize,
    /// From a column command to the end of its burst.
    read_cycles: u64,
    write_cycles: u64,
    controller_latency: u64,
    /// Whether anything is done without a request.
    has_upkeep: bool,
    pub(super) statistics: DramStatistics,
}

/// What a channel keeps for one of its slices.
#[derive(Debug)]
struct Slice {
    queued: usize,
    /// Whether its last offer was refused.
    refused: bool,
    reads: DelayLine<DramRequest>,
    writes: DelayLine<DramRequest>,
    /// When the first of them may be taken.
    next_ready: Cycle,
}

/// The channel's port for one of its slices.
#[derive(Debug)]
pub struct Port<'a> {
    channel: &'a mut Channel,
    slice: usize,
}

impl Channel {
    /// Makes a channel for `slices` slices, to which chunks of `chunk_lines` lines (a power of two) are dealt
    /// out in turn. All cycles are the slices', which `clock` converts to DRAM cycles.
    ///
    /// # Errors
    /// Names the first parameter that cannot be built.
    pub fn new(
        parameters: &DramParameters,
        clock: ClockRatio,
        slices: usize,
        chunk_lines: u64,
    ) -> Result<Channel, ParameterError> {
        let pattern = parameters.check()?;
        if !chunk_lines.is_power_of_two() {
            return Err(ParameterError::new(
                "interleave_bytes",
                "expected a power of two of at least one line",
            ));
        }
        let queue_entries = *parameters.queue_entries;
        if slices == 0 || slices > queue_entries {
            return Err(ParameterError::new(
                "queue_entries",
                format!(
                    "found {queue_entries}, expected at least one for each of {slices} slices, and a slice"
                ),
            ));
        }
        let outstanding_bound = queue_entries + *parameters.return_entries;
        let slice = || Slice {
            queued: 0,
            refused: false,
            reads: DelayLine::new(outstanding_bound),
            writes: DelayLine::new(outstanding_bound),
            next_ready: Cycle::NEVER,
        };
        let scheduler = match &parameters.scheduler {
            Some(scheduler) => Arc::clone(scheduler.policy()),
            None => SchedulerPolicy::usual(),
        };
        let upkeep = upkeep(parameters);
        let has_upkeep = upkeep.is_some();
        let controller = scheduler.controller(upkeep, shape(parameters, pattern, slices));
        Ok(Channel {
            clock,
            controller,
            storage: Storage::default(),
            slices: (0..slices).map(|_| slice()).collect(),
            chunk_shift: chunk_lines.trailing_zeros(),
            wake: u64::MAX,
            wake_here: Cycle::NEVER,
            queued: 0,
            queue_entries,
            awaited: 0,
            guaranteed: (queue_entries / (2 * slices)).max(1),
            outstanding: 0,
            outstanding_bound,
            read_cycles: *parameters.timing.cl + *parameters.burst_cycles,
            write_cycles: *parameters.timing.wl + *parameters.burst_cycles,
            controller_latency: *parameters.controller_latency_cycles,
            has_upkeep,
            statistics: DramStatistics::default(),
        })
    }

    /// The port of slice `slice` of this channel, counted from 0.
    #[inline]
    pub fn port(&mut self, slice: usize) -> Port<'_> {
        Port { channel: self, slice }
    }

    /// Issues the commands of all DRAM cycles that have begun by cycle `now`. Returns whether any of them finished a request:
    /// then [`Channel::next_completion`] may be earlier than before.
    #[inline]
    pub fn tick(&mut self, now: Cycle) -> bool {
        now >= self.wake_here && self.run(self.clock.local(now))
    }

    /// Earliest cycle, not before `now`, at which a command can be issued or a finished request taken.
    pub fn next_event(&self, now: Cycle) -> Cycle {
        let finished = self.slices.iter().map(|slice| slice.next_ready).min().unwrap_or(Cycle::NEVER);
        finished.min(self.next_command()).max(now)
    }

    /// Earliest cycle at which a command can be issued.
    #[inline]
    pub fn next_command(&self) -> Cycle {
        self.wake_here
    }

    /// Cycle from which the next finished request of a slice can be taken.
    #[inline]
    pub fn next_completion(&self, slice: usize) -> Cycle {
        self.slices[slice].next_ready
    }

    /// Whether a slice waits for room: its last offer was refused.
    #[inline]
    pub fn is_awaited(&self) -> bool {
        self.awaited > 0
    }

    /// Whether there is room for the request of a slice that was refused last.
    pub fn has_room_again(&self, slice: usize) -> bool {
        self.slices[slice].refused && self.has_room(slice)
    }

    /// Backs the lines below `lines` of every slice with storage.
    pub fn ensure(&mut self, lines: u64) {
        // Whole chunks: the last slice's last chunk is the channel's last.
        let chunk = 1 << self.chunk_shift;
        self.storage.ensure(lines.next_multiple_of(chunk) * self.slices.len() as u64);
    }

    /// Reads a slice's line; takes no simulated time.
    pub fn peek(&self, slice: usize, line: LineAddress, into: &mut Line) {
        self.storage.read(self.channel_line(slice, line), ByteMask::ALL, into);
    }

    /// Writes bytes of a slice's line; takes no simulated time.
    pub fn poke(&mut self, slice: usize, line: LineAddress, bytes: ByteMask, data: &Line) {
        self.storage.write(self.channel_line(slice, line), bytes, data);
    }

    /// A measure of progress that rises with every burst and row command.
    pub fn progress(&self) -> u64 {
        self.statistics.bursts + self.statistics.activates + self.statistics.precharges
    }

    /// Whether all requests have been finished and taken back.
    pub fn is_idle(&self) -> bool {
        self.outstanding == 0
    }

    /// Appends a sentence to `report` if requests wait.
    pub fn waits(&self, report: &mut Vec<String>) {
        if self.outstanding > 0 {
            report.push(format!(
                "DRAM: {} requests are queued, {} have not been taken back",
                self.queued, self.outstanding
            ));
        }
    }

    /// The counters of the channel.
    pub fn statistics(&self) -> Vec<Group> {
        let of_page = match &self.controller {
            AnyController::Usual(controller) => controller.page_statistics(),
            AnyController::Other(controller) => controller.page_statistics(),
        };
        [self.statistics.report()].into_iter().chain(of_page).collect()
    }

    #[inline]
    fn channel_line(&self, slice: usize, line: LineAddress) -> LineAddress {
        let chunk = line.0 >> self.chunk_shift;
        let within = line.0 & ((1 << self.chunk_shift) - 1);
        LineAddress((chunk * self.slices.len() as u64 + slice as u64) << self.chunk_shift | within)
    }

    fn run(&mut self, until: u64) -> bool {
        let mut has_finished = false;
        while self.wake <= until && self.queued > 0 {
            let at = self.wake;
            let Step { finished, next } = match &mut self.controller {
                AnyController::Usual(controller) => controller.step(at, &mut self.statistics),
                AnyController::Other(controller) => controller.step(at, &mut self.statistics),
            };
            self.wake = next;
            if let Some(entry) = finished {
                self.finish(entry, at);
                has_finished = true;
            }
        }
        if self.queued == 0 {
            self.wake = u64::MAX;
        }
        self.wake_here = self.clock.reference(self.wake);
        has_finished
    }

    /// The last burst of a request was commanded at DRAM cycle `at`: its bytes move.
    fn finish(&mut self, entry: Entry, at: u64) {
        let Entry { mut request, slice, line, accepted } = entry;
        let slice = &mut self.slices[slice];
        slice.queued -= 1;
        self.queued -= 1;
        let (line, ready) = if request.write {
            self.storage.write(line, request.bytes, &request.tray);
            self.statistics.writes += 1;
            (&mut slice.writes, self.clock.reference(at + self.write_cycles))
        } else {
            self.storage.read(line, request.bytes, &mut request.tray);
            self.statistics.reads += 1;
            let ready = self.clock.reference(at + self.read_cycles) + self.controller_latency;
            self.statistics.read_latency_cycles += ready - accepted;
            (&mut slice.reads, ready)
        };
        slice.next_ready = slice.next_ready.min(ready);
        line.push(ready, request).expect("the bound on outstanding requests keeps room for every completion");
    }

    /// Takes a finished request of a slice. Out of line, because in most cycles there is none.
    #[inline(never)]
    fn take(&mut self, slice: usize, now: Cycle) -> Option<DramRequest> {
        let slice = &mut self.slices[slice];
        let request = slice.reads.pop(now).or_else(|| slice.writes.pop(now))?;
        slice.next_ready = slice.reads.next_ready().min(slice.writes.next_ready());
        self.outstanding -= 1;
        Some(request)
    }

    /// Whether a slice may have another queue entry.
    #[inline]
    fn has_room(&self, slice: usize) -> bool {
        let queued = self.queued;
        if self.outstanding == self.outstanding_bound || queued == self.queue_entries {
            return false;
        }
        if self.slices[slice].queued < self.guaranteed {
            return true;
        }
        let kept = |other: &Slice| self.guaranteed.saturating_sub(other.queued);
        queued + self.slices.iter().map(kept).sum::<usize>() < self.queue_entries
    }
}

impl DramPort for Port<'_> {
    #[inline]
    fn offer(&mut self, request: DramRequest, now: Cycle) -> Result<(), DramRequest> {
        let channel = &mut *self.channel;
        if !channel.has_room(self.slice) {
            let slice = &mut channel.slices[self.slice];
            if !slice.refused {
                slice.refused = true;
                channel.awaited += 1;
                channel.statistics.refused += 1;
            }
            return Err(request);
        }
        let first = channel.clock.local(now) + 1;
        let line = channel.channel_line(self.slice, request.line);
        let entry = Entry { request, slice: self.slice, line, accepted: now };
        match &mut channel.controller {
            AnyController::Usual(controller) => controller.insert(entry, first),
            AnyController::Other(controller) => {
                if channel.has_upkeep && channel.queued == 0 {
                    controller.catch_up(first - 1, &mut channel.statistics);
                }
                controller.insert(entry, first);
            }
        }
        channel.queued += 1;
        channel.outstanding += 1;
        let slice = &mut channel.slices[self.slice];
        slice.queued += 1;
        channel.awaited -= usize::from(slice.refused);
        slice.refused = false;
        if first < channel.wake {
            channel.wake = first;
            channel.wake_here = channel.clock.reference(first);
        }
        Ok(())
    }

    fn has_room(&self) -> bool {
        self.channel.has_room(self.slice)
    }

    #[inline]
    fn completed(&mut self, now: Cycle) -> Option<DramRequest> {
        if self.channel.next_completion(self.slice) <= now {
            self.channel.take(self.slice, now)
        } else {
            None
        }
    }
}

/// What the controller needs to know of a channel.
fn shape(parameters: &DramParameters, pattern: AddressPattern, slices: usize) -> Shape {
    let faw = parameters.timing.faw.as_ref().map(|faw| **faw);
    Shape {
        banks: *parameters.banks,
        bank_groups: *parameters.bank_groups,
        pattern,
        atom_bytes: *parameters.atom_bytes,
        burst_cycles: *parameters.burst_cycles,
        timing: Timing::new(&constraints(parameters), faw),
        site: SchedulerSite {
            banks: *parameters.banks,
            slices,
            queue_entries: *parameters.queue_entries,
            starvation_bound: *parameters.starvation_bound,
        },
    }
}

/// What is done without a request.
fn upkeep(parameters: &DramParameters) -> Option<Housekeeping> {
    let page = match &parameters.page {
        Some(page) => Arc::clone(page.policy()),
        None => Arc::new(Open {}),
    };
    let refresh = parameters.refresh.as_ref().map(|refresh| RefreshShape {
        policy: refresh.policy(),
        banks: *parameters.banks,
        refi: *refresh.refi,
        rfc: *refresh.rfc,
    });
    Housekeeping::new(page, refresh)
}
