//! The network interfaces between nodes and routers.

use strata_engine::{Cycle, Inlet, Outlet};
use strata_memory::Packet;

/// The interface of a node that sends: cuts packets into flits.
#[derive(Debug)]
pub(super) struct Injector {
    pub inlet: Inlet<Packet>,
    /// The packet that it is cutting.
    pub current: Option<Injection>,
    /// The channel that the next packet is offered first.
    pub turn: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Injection {
    pub flight: u32,
    pub channel: usize,
    pub flits: u32,
    pub left: u32,
}

impl Injector {
    pub fn new(inlet: Inlet<Packet>) -> Injector {
        Injector { inlet, current: None, turn: 0 }
    }
}

/// The interface of a node that receives: puts packets together.
#[derive(Debug)]
pub(super) struct Ejector {
    pub outlet: Outlet<Packet>,
    /// Room set aside, in flits, for packets that are not all here.
    pub promised: u32,
    /// When it has passed on the packet before.
    pub free_at: Cycle,
    /// Whether a packet waits for room at the receiver.
    pub stalled: bool,
}

impl Ejector {
    pub fn new(outlet: Outlet<Packet>) -> Ejector {
        Ejector { outlet, promised: 0, free_at: Cycle::ZERO, stalled: false }
    }

    /// Sets room for a packet aside, if the receiver has it.
    #[inline]
    pub fn promise(&mut self, flits: u32, now: Cycle) -> bool {
        let has_room = self.outlet.has_credit(self.promised + flits, now);
        if has_room {
            self.promised += flits;
        }
        self.stalled = !has_room;
        has_room
    }

    /// Passes on a packet whose last flit is here at `last`. Flits of several packets may come interleaved; the link
    /// to the node still moves one a cycle. Returns when its last flit leaves.
    pub fn deliver(&mut self, packet: Packet, flits: u32, last: Cycle) -> Cycle {
        let leaves = last.max(self.free_at + u64::from(flits));
        self.free_at = leaves;
        self.promised -= flits;
        self.outlet.send(packet, flits, leaves).expect("room was set aside");
        leaves
    }
}
