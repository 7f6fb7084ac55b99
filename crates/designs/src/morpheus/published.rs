//! Morpheus with the published costs of a set in place of the kernel: what the authors simulated (section 6, "Simulation
//! methodology"), for comparison with the kernel that the machine runs.
//!
//! The controller is the same. What it hands to a set comes back after a fixed time, and a slice's sets take no more in a time than its
//! share of the SMs' bandwidth. SMs in cache mode rest; what would go over the network between controller and SM does not, since the
//! measured latency has that way in it. A set that does not have the block says so, and the controller fetches it (Fig. 6).

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::statistics::Group;
use strata_engine::{Cited, Cycle};
use strata_memory::area::Component;
use strata_memory::doors::{Design, DramPort, HelperKernel, Llc, LlcDesign, LlcSite};
use strata_memory::window::result::{HIT, MISSED, Told};
use strata_memory::{ByteMask, LINE_BYTES, Line, LineAddress, Packet, ParameterError};

use super::controller::Controller;
use super::table::{Op, Step};
use super::{MorpheusConfig, Wait};

/// Most blocks of a set: no lane needs to know them.
const MOST_WAYS: u32 = 128;

/// The parameters of a slice whose sets have published costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedConfig {
    /// L2 cycles from the hand-over of a request to its set to the result.
    #[schemars(range(min = 1, max = 1 << 20), extend("unit" = "cycles"))]
    pub set_latency_cycles: Cited<u64>,
    /// Bytes of blocks that an SM in cache mode serves in a thousand L2 cycles.
    #[schemars(range(min = 1, max = 1 << 30), extend("unit" = "B in 1,000 L2 cycles"))]
    pub sm_bytes_per_1000_cycles: Cited<u64>,
    /// The controller and the conventional slice; `warps` and `ways` say how many sets an SM has, and how large. No warp waits.
    pub controller: MorpheusConfig,
}

impl Design for PublishedConfig {
    fn check(&self) -> Result<(), ParameterError> {
        let bounds = [
            ("set_latency_cycles", *self.set_latency_cycles, 1_u64 << 20),
            ("sm_bytes_per_1000_cycles", *self.sm_bytes_per_1000_cycles, 1 << 30),
        ];
        for (field, value, most) in bounds {
            if !(1..=most).contains(&value) {
                return Err(ParameterError::new(field, format!("must be 1 to {most}, found {value}")));
            }
        }
        let inner = |field: &str, message: String| {
            Err(ParameterError::new("controller", format!("{field}: {message}")))
        };
        if self.controller.compression.is_some() {
            return inner(
                "compression",
                "found some, expected none: sets of published costs hold whole blocks".into(),
            );
        }
        if self.controller.l1_warps() > 0 {
            let found = self.controller.l1_warps();
            return inner(
                "l1.warps",
                format!("found {found}, expected 0: sets of published costs are no L1D's"),
            );
        }
        if *self.controller.wait == Wait::Polled {
            return inner("wait", "found `polled`, expected `held`: no warp asks".into());
        }
        self.controller.check_ways(MOST_WAYS).or_else(|error| inner(error.field, error.message))
    }

    fn outline(&self) -> String {
        format!("{}; sets of {} cycles", self.controller.outline(), *self.set_latency_cycles)
    }

    fn host_bytes(&self) -> u64 {
        self.controller.host_bytes()
    }

    fn area(&self) -> Vec<Component> {
        self.controller.area()
    }
}

impl LlcDesign for PublishedConfig {
    fn capacity_bytes(&self) -> u64 {
        self.controller.capacity_bytes()
    }

    fn helper_kernel(&self) -> Option<HelperKernel> {
        self.controller.helper_kernel().map(|kernel| HelperKernel { runs: false, ..kernel })
    }

    fn build(&self, site: LlcSite) -> Result<Box<dyn Llc>, ParameterError> {
        self.check()?;
        Ok(Box::new(Published::new(self, site)?))
    }
}

/// Parts of a cycle in which the time between two blocks is counted.
const UNIT: u64 = 1024;

/// A controller whose sets answer by themselves.
pub(super) struct Published {
    controller: Controller,
    latency: u64,
    /// Between two requests that sets take, in 1024ths of a cycle.
    interval: u64,
    /// When sets can take the next one, in 1024ths of a cycle.
    free_at: u64,
    /// Operations seen so far.
    seen: u64,
    /// Rows whose sets have an operation, and when they are done, the first one first.
    served: VecDeque<(u32, Cycle)>,
}

impl Published {
    /// Makes an empty slice, from a configuration that has been checked.
    ///
    /// # Errors
    /// Names the first parameter that cannot be built.
    pub(super) fn new(config: &PublishedConfig, site: LlcSite) -> Result<Published, ParameterError> {
        let sms = site.helpers.map_or(0, |helpers| u64::from(helpers.sms));
        let sets = site.helpers.map_or(0, |helpers| u64::from(helpers.rows));
        // The slice has `sets` of all sets, and with them as much of the bandwidth.
        let of_slice = sms * *config.sm_bytes_per_1000_cycles * sets;
        let of_all = sms * u64::from(*config.controller.warps);
        Ok(Published {
            controller: Controller::new(&config.controller, site)?,
            latency: *config.set_latency_cycles,
            interval: (1000 * LINE_BYTES as u64 * of_all * UNIT).checked_div(of_slice).unwrap_or(0),
            free_at: 0,
            seen: 0,
            served: VecDeque::new(),
        })
    }

    /// Lets sets have what the controller has handed to them.
    fn take(&mut self, now: Cycle) {
        let operations = self.controller.statistics.operations;
        if operations == std::mem::replace(&mut self.seen, operations) {
            return;
        }
        for number in 0..self.controller.rows.len() as u32 {
            let row = &mut self.controller.rows[number as usize];
            if row.served.is_some() && !row.is_loaded {
                row.is_loaded = true;
                let start = self.free_at.max(now.0 * UNIT);
                self.free_at = start + self.interval;
                self.served.push_back((number, Cycle(start / UNIT + self.latency)));
                // As of a warp that has asked for it ahead.
                self.controller.payload_is_taken(number);
            }
        }
    }

    /// A set is done: what it answers is what the controller knows that it holds.
    fn answer(&mut self, number: u32, now: Cycle) {
        let controller = &mut self.controller;
        let row = &mut controller.rows[number as usize];
        let job = row.served.expect("a set has an operation");
        let job = controller.jobs.get(job);
        let (line, Step::Served(op)) = (job.line, job.step) else { unreachable!("its set has it") };
        let Some(block) = row.shadow.data(line).cloned() else {
            match op {
                Op::Insert { .. } => {}
                // The controller has the block since it read it for the atomic.
                Op::StoreAtomic => row.fetched = (line, row.payload.clone()),
                _ => return controller.missed_after_all(number, now),
            }
            if let Some((victim, data)) = row.shadow.dirty_victim() {
                self.write_back(number, victim, &data);
            }
            return self.end(number, MISSED, now);
        };
        if matches!(op, Op::Read | Op::FetchAtomic | Op::Atomic) {
            row.payload.0 = block.0;
        }
        self.end(number, HIT, now);
    }

    fn end(&mut self, number: u32, result: u32, now: Cycle) {
        self.controller.end(number, Told { result, depth: 0, bytes: 0 }, now);
    }

    fn write_back(&mut self, number: u32, line: LineAddress, data: &Line) {
        let controller = &mut self.controller;
        let mut tray = controller.trays.take();
        tray.0 = data.0;
        controller.rows[number as usize].shadow.written_back(line, &mut tray);
        controller.write_back(line, tray);
    }
}

impl Llc for Published {
    fn offer(&mut self, request: Packet, now: Cycle) -> Result<(), Packet> {
        self.controller.offer(request, now)
    }

    fn has_room(&self) -> bool {
        self.controller.has_room()
    }

    fn count_refusals(&mut self, cycles: u64) {
        self.controller.count_refusals(cycles);
    }

    fn tick(&mut self, dram: &mut dyn DramPort, now: Cycle) {
        while self.served.front().is_some_and(|(_, at)| *at <= now) {
            let (row, _) = self.served.pop_front().expect("there is a first one");
            self.answer(row, now);
        }
        self.controller.tick(dram, now);
        self.take(now);
    }

    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        self.controller.outgoing(now)
    }

    fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.controller.outgoing_bytes(now)
    }

    fn next_outgoing(&self) -> Cycle {
        self.controller.next_outgoing()
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        let done = self.served.front().map_or(Cycle::NEVER, |(_, at)| *at);
        self.controller.next_event(now).min(done).max(now)
    }

    fn peek(&self, line: LineAddress, below: &mut Line) {
        self.controller.peek(line, below);
    }

    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        self.controller.poke(line, bytes, data);
    }

    fn is_settled(&self) -> bool {
        self.served.is_empty() && self.controller.is_settled()
    }

    fn settle(&mut self, dram: &mut dyn DramPort, end: Cycle) {
        self.controller.settle(dram, end);
    }

    fn mshrs(&self) -> Option<usize> {
        self.controller.mshrs()
    }

    fn waits(&self, report: &mut Vec<String>) {
        self.controller.waits(report);
    }

    fn statistics(&self) -> Vec<Group> {
        self.controller.statistics()
    }
}
