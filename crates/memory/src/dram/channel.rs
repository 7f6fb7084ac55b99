//! A DRAM channel: its ports for the slices, its clock and its completions.

use std::sync::Arc;

use strata_engine::statistics::{Group, Statistics};
use strata_engine::{ClockRatio, Cycle, DelayLine, Slab};

use super::atoms::Atoms;
use super::controller::{Control, Shape, Step};
use super::pages::Open;
use super::parameters::DramParameters;
use super::pattern::AddressPattern;
use super::queue::Arrival;
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
    pub(super) controller: AnyController,
    /// The next DRAM cycle in which the scheduler may issue, and the slices' cycle in which it begins.
    wake: u64,
    wake_here: Cycle,
    /// Binary logarithm of the lines in a chunk; chunks are dealt out to the slices in turn.
    chunk_shift: u32,
    /// Whether anything is done without a request.
    has_upkeep: bool,
    pub(super) requests: Requests,
}

/// The requests of a channel and what comes of them, beside the controller that gives the commands for them.
#[derive(Debug)]
pub(super) struct Requests {
    clock: ClockRatio,
    storage: Storage,
    slices: Vec<Slice>,
    /// Requests in the queue, and its size.
    queued: usize,
    queue_entries: usize,
    /// Queue entries reserved for each slice.
    guaranteed: usize,
    /// Requests accepted and not taken back, by their tickets.
    outstanding: Slab<Outstanding>,
    /// From a column command to the end of its burst.
    read_cycles: u64,
    write_cycles: u64,
    controller_latency: u64,
    pub(super) statistics: DramStatistics,
}

/// A request that has been accepted. It stays in its place until it is taken back.
#[derive(Debug)]
struct Outstanding {
    request: DramRequest,
    slice: usize,
    /// The line within the channel.
    line: LineAddress,
    accepted: Cycle,
}

/// What a channel keeps for one of its slices.
#[derive(Debug)]
struct Slice {
    queued: usize,
    /// Whether its last offer was refused.
    refused: bool,
    /// The tickets of finished requests.
    reads: DelayLine<u32>,
    writes: DelayLine<u32>,
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
        let requests = Requests {
            clock,
            storage: Storage::default(),
            slices: (0..slices).map(|_| slice()).collect(),
            queued: 0,
            queue_entries,
            guaranteed: (queue_entries / (2 * slices)).max(1),
            outstanding: Slab::new(outstanding_bound),
            read_cycles: *parameters.timing.cl + *parameters.burst_cycles,
            write_cycles: *parameters.timing.wl + *parameters.burst_cycles,
            controller_latency: *parameters.controller_latency_cycles,
            statistics: DramStatistics::default(),
        };
        let (wake, wake_here, chunk_shift) = (u64::MAX, Cycle::NEVER, chunk_lines.trailing_zeros());
        Ok(Channel { controller, wake, wake_here, chunk_shift, has_upkeep, requests })
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
        now >= self.wake_here && self.run(self.requests.clock.local(now))
    }

    /// Earliest cycle, not before `now`, at which a command can be issued or a finished request taken.
    pub fn next_event(&self, now: Cycle) -> Cycle {
        let finished =
            self.requests.slices.iter().map(|slice| slice.next_ready).min().unwrap_or(Cycle::NEVER);
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
        self.requests.slices[slice].next_ready
    }

    /// Backs the lines below `lines` of every slice with storage.
    pub fn ensure(&mut self, lines: u64) {
        // Whole chunks: the last slice's last chunk is the channel's last.
        let chunk = 1 << self.chunk_shift;
        self.requests.storage.ensure(lines.next_multiple_of(chunk) * self.requests.slices.len() as u64);
    }

    /// Reads a slice's line; takes no simulated time.
    pub fn peek(&self, slice: usize, line: LineAddress, into: &mut Line) {
        self.requests.storage.read(self.channel_line(slice, line), ByteMask::ALL, into);
    }

    /// Writes bytes of a slice's line; takes no simulated time.
    pub fn poke(&mut self, slice: usize, line: LineAddress, bytes: ByteMask, data: &Line) {
        self.requests.storage.write(self.channel_line(slice, line), bytes, data);
    }

    /// A measure of progress that rises with every burst and row command.
    pub fn progress(&self) -> u64 {
        self.requests.statistics.bursts
            + self.requests.statistics.activates
            + self.requests.statistics.precharges
    }

    /// Whether all requests have been finished and taken back.
    pub fn is_idle(&self) -> bool {
        self.requests.outstanding.is_empty()
    }

    /// Appends a sentence to `report` if requests wait.
    pub fn waits(&self, report: &mut Vec<String>) {
        if !self.requests.outstanding.is_empty() {
            report.push(format!(
                "DRAM: {} requests are queued, {} have not been taken back",
                self.requests.queued,
                self.requests.outstanding.len()
            ));
        }
    }

    /// The counters of the channel.
    pub fn statistics(&self) -> Vec<Group> {
        let of_page = match &self.controller {
            AnyController::Usual(controller) => controller.page_statistics(),
            AnyController::Other(controller) => controller.page_statistics(),
        };
        [self.requests.statistics.report()].into_iter().chain(of_page).collect()
    }

    #[inline]
    fn channel_line(&self, slice: usize, line: LineAddress) -> LineAddress {
        let chunk = line.0 >> self.chunk_shift;
        let within = line.0 & ((1 << self.chunk_shift) - 1);
        LineAddress((chunk * self.requests.slices.len() as u64 + slice as u64) << self.chunk_shift | within)
    }

    fn run(&mut self, until: u64) -> bool {
        let (requests, wake) = (&mut self.requests, self.wake);
        let (next, has_finished) = match &mut self.controller {
            AnyController::Usual(controller) => requests.run(&mut **controller, wake, until),
            AnyController::Other(controller) => requests.run(&mut **controller, wake, until),
        };
        self.wake = next;
        self.wake_here = requests.clock.reference(next);
        has_finished
    }
}

impl Requests {
    /// Issues the commands of the DRAM cycles from `wake` to `until`. Returns when the next is due, and whether any of them
    /// finished a request.
    #[inline]
    fn run(&mut self, controller: &mut (impl Control + ?Sized), wake: u64, until: u64) -> (u64, bool) {
        let (mut at, mut has_finished) = (wake, false);
        while at <= until {
            let Step { finished, next } = controller.step(at, &mut self.statistics);
            if let Some(ticket) = finished {
                self.finish(ticket, at);
                has_finished = true;
                if self.queued == 0 {
                    return (u64::MAX, true);
                }
            }
            at = next;
        }
        (at, has_finished)
    }

    /// The last burst of a request was commanded at DRAM cycle `at`: its bytes move.
    fn finish(&mut self, ticket: u32, at: u64) {
        let Outstanding { request, slice, line, accepted } = self.outstanding.get_mut(ticket);
        let (line, slice) = (*line, &mut self.slices[*slice]);
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
            self.statistics.read_latency_cycles += ready - *accepted;
            (&mut slice.reads, ready)
        };
        slice.next_ready = slice.next_ready.min(ready);
        line.push(ready, ticket).expect("the bound on outstanding requests keeps room for every completion");
    }

    /// Takes a finished request of a slice. Out of line, because in most cycles there is none.
    #[inline(never)]
    fn take(&mut self, slice: usize, now: Cycle) -> Option<DramRequest> {
        let slice = &mut self.slices[slice];
        let ticket = slice.reads.pop(now).or_else(|| slice.writes.pop(now))?;
        slice.next_ready = slice.reads.next_ready().min(slice.writes.next_ready());
        Some(self.outstanding.remove(ticket).request)
    }

    /// Whether a slice may have another queue entry.
    #[inline]
    fn has_room(&self, slice: usize) -> bool {
        let queued = self.queued;
        if self.outstanding.is_full() || queued == self.queue_entries {
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
        if !channel.requests.has_room(self.slice) {
            let slice = &mut channel.requests.slices[self.slice];
            channel.requests.statistics.refused += u64::from(!slice.refused);
            slice.refused = true;
            return Err(request);
        }
        let first = channel.requests.clock.local(now) + 1;
        let line = channel.channel_line(self.slice, request.line);
        let (slice, bytes, write) = (self.slice as u8, request.bytes, request.write);
        let outstanding = Outstanding { request, slice: self.slice, line, accepted: now };
        let ticket = channel.requests.outstanding.insert(outstanding).expect("there is room for the request");
        let arrival = Arrival { ticket, slice, line, bytes, write };
        let next = match &mut channel.controller {
            AnyController::Usual(controller) => controller.insert(arrival, first),
            AnyController::Other(controller) => {
                if channel.has_upkeep && channel.requests.queued == 0 {
                    controller.catch_up(first - 1, &mut channel.requests.statistics);
                }
                controller.insert(arrival, first)
            }
        };
        channel.requests.queued += 1;
        let slice = &mut channel.requests.slices[self.slice];
        slice.queued += 1;
        slice.refused = false;
        if next < channel.wake {
            channel.wake = next;
            channel.wake_here = channel.requests.clock.reference(next);
        }
        Ok(())
    }

    #[inline]
    fn completed(&mut self, now: Cycle) -> Option<DramRequest> {
        if self.channel.next_completion(self.slice) <= now {
            self.channel.requests.take(self.slice, now)
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
        atoms: Atoms::new(*parameters.atom_bytes),
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
