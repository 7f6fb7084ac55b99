//! Where the slices of the last-level cache record their requests, and what those were.

use std::sync::Arc;

use strata_engine::{ClockRatio, Cycle, Log};
use strata_memory::LineAddress;
use strata_memory::address_map::{AddressMap, Home};

use super::llc::SliceLog;
use super::requests::{Packet, Senders, Visits};
use crate::machine::Machine;
use crate::makers::Makers;
use crate::observed::ObservedLlc;

/// The logs of all slices.
pub struct Slices {
    /// Where lines live.
    pub map: AddressMap,
    clock: ClockRatio,
    logs: Vec<Arc<SliceLog>>,
}

impl Slices {
    /// Those of a machine, each of which takes at most its share of so many events.
    ///
    /// # Errors
    /// What is wrong with the machine.
    pub fn new(machine: &Machine, most: usize) -> Result<Slices, String> {
        let file = machine.file();
        let map = file.address_map()?;
        let slices = map.slice_map().slices();
        let logs = (0..slices).map(|_| Log::with_room(most / usize::from(slices))).collect();
        Ok(Slices { map, clock: file.clocks.l2(), logs })
    }

    /// Makers of slices that record.
    pub fn makers(&self) -> Makers<'static> {
        let logs = self.logs.clone();
        Makers {
            llc: Box::new(move |design, site| {
                let log = logs[usize::from(site.slice)].clone();
                Ok(Box::new(ObservedLlc::new(design.build(site)?, log)))
            }),
            ..Makers::default()
        }
    }

    /// Records what happens in these core cycles.
    pub fn open(&self, from: Cycle, until: Cycle) {
        let (first, end) = (Cycle(self.clock.first_in(from)), Cycle(self.clock.first_in(until)));
        self.logs.iter().for_each(|log| log.open(first, end));
    }

    /// Records no more, and forgets what was not taken.
    pub fn close(&self) {
        self.open(Cycle::ZERO, Cycle::ZERO);
        self.logs.iter().for_each(|log| drop(log.take()));
    }

    /// Whether a log has no more room.
    pub fn are_full(&self) -> bool {
        self.logs.iter().any(|log| log.is_full())
    }

    /// Takes what was recorded of these packets and of all other requests.
    pub fn visits(&self, packets: &mut [Packet]) -> Visits {
        let mut visits = Visits::default();
        let mut senders = Senders::new(packets);
        let clock = self.clock;
        for (slice, log) in (0..).zip(&self.logs) {
            let map = self.map;
            let device_line = move |line: LineAddress| map.device_line(Home { slice, line });
            let of_slice: (&dyn Fn(Cycle) -> u64, &dyn Fn(LineAddress) -> LineAddress) =
                (&|cycle: Cycle| clock.reference(cycle.0).0, &device_line);
            visits.add(slice, &log.take(), of_slice, (&mut senders, packets));
        }
        visits
    }
}
