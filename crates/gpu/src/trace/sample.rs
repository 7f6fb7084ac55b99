//! Every so many-th request of a trace.

use std::collections::HashMap;

use strata_memory::TouchKind;

use super::requests::{Access, Packet, Visits};

/// Requests that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Counted {
    /// Accesses of an SM.
    Accesses(u16),
    /// Packets of an SM's L1D that no access waits for: what it writes, and what it fetches ahead.
    Packets(u16),
    /// Requests of a slice that are of no traced L1D.
    Requests(u16),
    /// Requests to DRAM that a slice makes for none of its requests: what it writes back.
    Transfers(u16),
}

/// Chooses the first of what is counted together, and every so many-th behind it. It counts over all launches.
pub struct Sample {
    every: u64,
    counts: HashMap<Counted, u64>,
}

impl Sample {
    /// Of every so many.
    pub fn new(every: u64) -> Sample {
        Sample { every, counts: HashMap::new() }
    }

    fn takes(&mut self, counted: Counted) -> bool {
        if self.every == 1 {
            return true;
        }
        let count = self.counts.entry(counted).or_default();
        let takes = count.is_multiple_of(self.every);
        *count += 1;
        takes
    }

    /// Whether the next access of an SM is drawn. Ask in the order in which its L1D takes them.
    pub fn takes_access(&mut self, sm: u16) -> bool {
        self.takes(Counted::Accesses(sm))
    }

    /// Chooses the packets of an SM that are drawn: those that one of the drawn accesses waits for and, of those that none ever waits for,
    /// every so many-th. `first` is the place of the SM's first packet.
    pub fn choose_packets(&mut self, sm: u16, drawn: &[Access], packets: &mut [Packet], first: usize) {
        if self.every == 1 {
            return;
        }
        for packet in &mut packets[first..] {
            let is_awaited = matches!(packet.kind, TouchKind::Load | TouchKind::Atomic);
            packet.is_drawn = !is_awaited && self.takes(Counted::Packets(sm));
        }
        for packet in drawn.iter().filter_map(Access::packet) {
            packets[packet].is_drawn = true;
        }
    }

    /// Chooses what is drawn in slices and at DRAM: what belongs to the drawn packets and, of what belongs to none, every so many-th.
    pub fn choose_visits(&mut self, visits: &mut Visits, packets: &[Packet]) {
        if self.every == 1 {
            return;
        }
        let Visits { visits, transfers } = visits;
        let mut of_visits = vec![None; transfers.len()];
        for visit in visits {
            visit.is_drawn = match visit.packet {
                Some(packet) => packets[packet].is_drawn,
                None => self.takes(Counted::Requests(visit.slice)),
            };
            if let Some(transfer) = visit.transfer {
                of_visits[transfer] = Some(visit.is_drawn);
            }
        }
        for (transfer, of_visit) in transfers.iter_mut().zip(of_visits) {
            transfer.is_drawn = of_visit.unwrap_or_else(|| self.takes(Counted::Transfers(transfer.slice)));
        }
    }
}
