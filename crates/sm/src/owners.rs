//! The way of an SM or CPU core to the network of owners: what its memories say of words that they own, and what others and
//! the registry want of them or answer. Only in machines whose words have owners.

use strata_engine::{Cycle, Doorbell, Inlet, Outlet, Window};
use strata_memory::Packet;

/// The links to and from the network of owners; credits are flits.
pub struct OwnerLinks {
    /// To the network.
    pub answers: Outlet<Packet>,
    /// From the network.
    pub arrivals: Inlet<Packet>,
    /// Bytes of a flit.
    pub flit_bytes: u32,
}

impl OwnerLinks {
    /// As [`strata_engine::Island::hang`].
    pub fn hang(&self, bell: &Doorbell) {
        self.answers.hang(bell);
        self.arrivals.hang(bell);
    }

    /// As [`strata_engine::Island::collect`].
    pub fn collect(&mut self, window: Window) {
        self.answers.collect(window);
        self.arrivals.collect(window);
    }

    /// As [`strata_engine::Island::flush`].
    pub fn flush(&mut self, window: Window) -> Cycle {
        self.answers.flush(window).min(self.arrivals.flush(window))
    }

    /// Arrival of the next packet.
    #[inline]
    pub fn arrival(links: &Option<Box<OwnerLinks>>) -> Cycle {
        links.as_ref().map_or(Cycle::NEVER, |links| links.arrivals.next_arrival())
    }

    /// Takes the next packet that has arrived.
    pub fn hear(&mut self, now: Cycle) -> Option<Packet> {
        let packet = self.arrivals.receive(now)?;
        self.arrivals.release(packet.wire_bytes().div_ceil(self.flit_bytes), now);
        Some(packet)
    }

    /// Whether there is credit for a packet of so many bytes.
    pub fn has_room(&mut self, bytes: u32, now: Cycle) -> bool {
        self.answers.has_credit(bytes.div_ceil(self.flit_bytes), now)
    }

    /// Sends a packet for which there is [credit](OwnerLinks::has_room).
    pub fn say(&mut self, packet: Packet, now: Cycle) {
        let flits = packet.wire_bytes().div_ceil(self.flit_bytes);
        self.answers.send(packet, flits, now).expect("there is credit for the packet");
    }
}
