//! What the ports of a router keep: the virtual channels of inputs, and what outputs know of those behind them.

use std::collections::VecDeque;

use strata_engine::Cycle;
use strata_memory::Packet;

/// A packet in the network.
#[derive(Debug)]
pub(super) struct Flight {
    pub packet: Packet,
    pub flits: u32,
    pub bytes: u32,
    /// Packets of the direction that entered before.
    pub number: u64,
    /// Arrival at the interface of its sender.
    pub injected: Cycle,
    /// The router of its receiver, and the receiver's port there.
    pub router: u32,
    pub port: u8,
}

impl Flight {
    /// Whether it is of the same two nodes as another packet and entered before it.
    #[inline]
    pub fn is_before(&self, other: &Flight) -> bool {
        self.number < other.number
            && self.packet.source == other.packet.source
            && self.packet.destination == other.packet.destination
    }
}

/// A flit in a buffer, or on the link to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flit {
    /// When it is in the buffer.
    pub arrival: Cycle,
    /// Index of its packet.
    pub flight: u32,
    pub is_head: bool,
    pub is_tail: bool,
}

/// Where a packet at the head of a channel goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    pub flight: u32,
    pub output: u8,
    /// Channel of the next input, once it has one.
    pub channel: u8,
    /// When its head first bid for a channel.
    pub routed: Cycle,
    /// When its head first bids for the switch.
    pub ready: Cycle,
}

/// A virtual channel of an input.
#[derive(Debug)]
pub(super) struct Channel {
    pub flits: VecDeque<Flit>,
    /// The packet whose head was at the front, until its tail leaves.
    pub route: Option<Route>,
    /// The tail of the packet before has left by then.
    pub free_at: Cycle,
}

impl Channel {
    pub fn new(room: u32) -> Channel {
        Channel { flits: VecDeque::with_capacity(room as usize), route: None, free_at: Cycle::ZERO }
    }

    /// The packets of which it holds flits, or whose next flit it waits for.
    pub fn flights(&self) -> impl Iterator<Item = u32> {
        let heads = self.flits.iter().filter(|flit| flit.is_head).map(|flit| flit.flight);
        self.route.iter().map(|route| route.flight).chain(heads)
    }
}

/// What an output knows of a channel behind it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Behind {
    /// Room that it may count on. Not used where a node is behind: its room is set aside packet by packet.
    pub credits: u32,
    /// The input channel (of this router) whose packet has it.
    pub held_by: Option<u8>,
}

/// An output of a router.
#[derive(Debug)]
pub(super) struct Output {
    pub behind: Vec<Behind>,
    /// Channels behind it that no packet has.
    pub free: u64,
    /// Credits on their way back, with their channel.
    pub returning: VecDeque<(Cycle, u8)>,
    /// Input channels whose head packet waits for a channel here.
    pub waiting: u128,
    /// The input channel that is first looked at for a channel, and the channel that is looked at first.
    pub turn: usize,
    pub channel_turn: usize,
    /// The input that is first granted the switch.
    pub grant_turn: usize,
    /// Flits it has moved.
    pub flits: u64,
}

impl Output {
    pub fn new(channels: usize, room: u32) -> Output {
        Output {
            behind: vec![Behind { credits: room, held_by: None }; channels],
            free: (1 << channels) - 1,
            returning: VecDeque::with_capacity(channels * room as usize),
            waiting: 0,
            turn: 0,
            channel_turn: 0,
            grant_turn: 0,
            flits: 0,
        }
    }

    /// Takes the credits that are back. Returns the input channels whose packets can use them, and when the next one is
    /// back.
    #[inline]
    pub fn take_credits(&mut self, now: Cycle) -> (u128, Cycle) {
        let mut holders = 0;
        while let Some(&(at, channel)) = self.returning.front() {
            if at > now {
                return (holders, at);
            }
            let behind = &mut self.behind[usize::from(channel)];
            behind.credits += 1;
            holders |= behind.held_by.map_or(0, |holder| 1 << holder);
            self.returning.pop_front();
        }
        (holders, Cycle::NEVER)
    }
}

/// An input of a router.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Input {
    /// Its channel that is looked at first when it bids for an output.
    pub turn: usize,
    /// The output whose grant it accepts first.
    pub accept_turn: usize,
}

/// The lowest member of a set that is no less than `turn`, or else the lowest.
#[inline]
pub(super) fn round_robin(set: u128, turn: usize) -> usize {
    let ahead = set & (u128::MAX << turn);
    let from = if ahead != 0 { ahead } else { set };
    from.trailing_zeros() as usize
}

/// The members of a set, lowest first.
#[inline]
pub(super) fn members(mut set: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = set.trailing_zeros() as usize;
        (set != 0).then(|| {
            set &= set - 1;
            lowest
        })
    })
}
