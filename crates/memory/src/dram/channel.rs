//! A DRAM channel: its ports for the slices, its clock and its completions.

use std::sync::Arc;

use strata_engine::statistics::{Group, Statistics};
use strata_engine::{ClockRatio, Cycle, DelayLine, Slab};

use super::atoms::Atoms;
use super::controller::{Control, Shape};
use super::pages::Open;
use super::parameters::DramParameters;
use super::pattern::AddressPattern;
use super::queue::Arrival;
use super::registry::{AnyController, SchedulerPolicy};
use super::requests::{Outstanding, Requests, Slice};
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
        let has_upkeep = upkeep.is_some() && !scheduler.is_unlimited;
        let controller = scheduler.controller(upkeep, shape(parameters, pattern, slices));
        let (latency, burst) = (*parameters.controller_latency_cycles, *parameters.burst_cycles);
        let row = if scheduler.is_unlimited { *parameters.timing.rcd } else { 0 };
        let column = row + burst;
        let (read_cycles, write_cycles) = (*parameters.timing.cl + column, *parameters.timing.wl + column);
        let read_patience = clock.whole_reference_cycles(read_cycles) + latency;
        let requests = Requests {
            clock,
            storage: Storage::default(),
            slices: (0..slices).map(|_| slice()).collect(),
            queued: 0,
            writes_queued: 0,
            queue_entries,
            awaited: 0,
            guaranteed: (queue_entries / (2 * slices)).max(1),
            outstanding: Slab::new(outstanding_bound),
            read_cycles,
            write_cycles,
            controller_latency: latency,
            read_patience,
            write_patience: clock.whole_reference_cycles(write_cycles).min(read_patience),
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

    /// A cycle by which commands have to be issued, since before it nobody sees what comes of them but by counters: no request
    /// that they finish can be taken, and no slice waits for room.
    #[inline]
    pub fn deadline(&self) -> Cycle {
        let requests = &self.requests;
        let patience = match (self.is_awaited(), requests.writes_queued) {
            (true, _) => 0,
            (false, 0) => requests.read_patience,
            (false, _) => requests.write_patience,
        };
        Cycle(self.wake_here.0.saturating_add(patience))
    }

    /// Cycle from which the next finished request of a slice can be taken.
    #[inline]
    pub fn next_completion(&self, slice: usize) -> Cycle {
        self.requests.slices[slice].next_ready
    }

    /// Whether a slice waits for room: its last offer was refused.
    #[inline]
    pub fn is_awaited(&self) -> bool {
        self.requests.awaited > 0
    }

    /// Whether there is room for the request of a slice that was refused last.
    pub fn has_room_again(&self, slice: usize) -> bool {
        self.requests.slices[slice].refused && self.requests.has_room(slice)
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

impl DramPort for Port<'_> {
    #[inline]
    fn offer(&mut self, request: DramRequest, now: Cycle) -> Result<(), DramRequest> {
        let channel = &mut *self.channel;
        if !channel.requests.has_room(self.slice) {
            let slice = &mut channel.requests.slices[self.slice];
            if !slice.refused {
                slice.refused = true;
                channel.requests.awaited += 1;
                channel.requests.statistics.refused += 1;
            }
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
        channel.requests.writes_queued += usize::from(write);
        let slice = &mut channel.requests.slices[self.slice];
        slice.queued += 1;
        channel.requests.awaited -= usize::from(slice.refused);
        slice.refused = false;
        if next < channel.wake {
            channel.wake = next;
            channel.wake_here = channel.requests.clock.reference(next);
        }
        Ok(())
    }

    fn has_room(&self) -> bool {
        self.channel.requests.has_room(self.slice)
    }

    #[inline]
    fn completed(&mut self, now: Cycle) -> Option<DramRequest> {
        if self.channel.next_completion(self.slice) <= now {
            self.channel.requests.take(self.slice, now)
        } else {
            None
        }
    }

    fn peek(&self, line: LineAddress, into: &mut Line) {
        self.channel.peek(self.slice, line, into);
    }

    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        self.channel.poke(self.slice, line, bytes, data);
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
