//! A router: buffers behind its inputs, and the pipeline from their heads to its outputs.

use strata_engine::Cycle;
use strata_engine::slab::Slab;

use strata_memory::{Body, FlitSize, HEADER_BYTES, NodeId, Packet};

use super::interface::{Ejector, Injection, Injector};
use super::port::{Channel, Flight, Flit, Input, Output, Route, members};
use super::topology::{Grid, LINKS};
use super::{MeshStatistics, TrafficStatistics};

/// What is the same for all routers of a mesh.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub grid: Grid,
    pub flit_size: FlitSize,
    pub cut_through: bool,
    /// Classes of messages, and virtual channels of each.
    pub classes: usize,
    pub channels_per_class: usize,
    pub buffer_flits: u32,
    pub routing: u64,
    pub vc_allocation: u64,
    pub switch: u64,
    pub link: u64,
    pub credit: u64,
}

impl Rules {
    /// Virtual channels of an input.
    #[inline]
    pub fn channels(&self) -> usize {
        self.classes * self.channels_per_class
    }

    /// Flits for which a channel must have room before a packet of `flits` may take it.
    #[inline]
    pub fn needed(&self, flits: u32) -> u32 {
        if self.cut_through { flits } else { 0 }
    }

    fn class(&self, packet: &Packet) -> usize {
        let is_reply = matches!(
            packet.body,
            Body::ReadReply(_) | Body::WriteAck(_) | Body::AtomicReply(_) | Body::PrefetchAck
        );
        if self.classes > 1 { usize::from(is_reply) } else { 0 }
    }
}

/// What the routers of a mesh share: the packets under way, and what is counted.
#[derive(Debug)]
pub(super) struct Traffic {
    pub flights: Slab<Flight>,
    /// Router and port of each receiver, in order of the outlets.
    pub receivers: Vec<(u32, u8)>,
    pub first_output: NodeId,
    /// Flits that left a router in this cycle.
    pub departures: Vec<Departure>,
    pub statistics: MeshStatistics,
    /// By purpose, where that is counted.
    pub purposes: Option<TrafficStatistics>,
}

/// A flit that leaves a router.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure {
    pub router: u32,
    /// The input and its channel that it leaves.
    pub input: u8,
    pub channel: u8,
    /// The output by which it leaves, and its channel behind it.
    pub output: u8,
    pub next_channel: u8,
    pub flit: Flit,
}

/// What a tick finds out about the next one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    pub now: Cycle,
    /// When something waited for is there.
    pub next: Cycle,
    /// Whether anything moved, so that what lost may win in the next cycle.
    pub moved: bool,
}

impl Due {
    #[inline]
    pub fn at(&mut self, cycle: Cycle) {
        self.next = self.next.min(cycle);
    }
}

/// A router. Input channels have numbers, `input * channels + channel`; each with a packet at its front is in one of
/// three sets.
#[derive(Debug)]
pub(super) struct Router {
    pub number: usize,
    pub inputs: Vec<Input>,
    pub channels: Vec<Channel>,
    pub outputs: Vec<Output>,
    pub injectors: Vec<Injector>,
    pub ejectors: Vec<Ejector>,
    /// Channels whose head has no output yet.
    pub unrouted: u128,
    /// Channels whose head waits for a channel behind its output.
    pub waiting: u128,
    /// Channels whose packet has one.
    pub moving: u128,
    /// Those of them that bid for the switch: they lack neither flits nor credits, as far as they know.
    pub bidding: u128,
    pub scratch: Scratch,
}

/// Bids of one switch allocation, kept so that they are allocated once.
#[derive(Debug)]
pub(super) struct Scratch {
    /// For each output, the inputs that bid for it.
    pub bids: Vec<u128>,
    /// For each input, the outputs granted to it.
    pub grants: Vec<u128>,
    /// `input * outputs + output`: the channel for which an input bids.
    pub channels: Vec<u8>,
}

impl Router {
    pub fn new(number: usize, rules: &Rules, injectors: Vec<Injector>, ejectors: Vec<Ejector>) -> Router {
        let (inputs, outputs) = (LINKS + injectors.len(), LINKS + ejectors.len());
        let (channels, room) = (rules.channels(), rules.buffer_flits);
        Router {
            number,
            inputs: vec![Input::default(); inputs],
            channels: (0..inputs * channels).map(|_| Channel::new(room)).collect(),
            outputs: (0..outputs).map(|_| Output::new(channels, room)).collect(),
            injectors,
            ejectors,
            unrouted: 0,
            waiting: 0,
            moving: 0,
            bidding: 0,
            scratch: Scratch {
                bids: vec![0; outputs],
                grants: vec![0; inputs],
                channels: vec![0; inputs * outputs],
            },
        }
    }

    /// Simulates a cycle. Returns the next one in which something can change, unless flits, credits or packets come
    /// before.
    pub fn tick(&mut self, rules: &Rules, traffic: &mut Traffic, now: Cycle) -> Cycle {
        let mut due = Due { now, next: Cycle::NEVER, moved: false };
        for output in &mut self.outputs {
            let (holders, next) = output.take_credits(now);
            self.bidding |= holders;
            due.at(next);
        }
        self.inject(rules, traffic, &mut due);
        self.compute_routes(rules, traffic, &mut due);
        self.allocate_channels(rules, traffic, &mut due);
        self.allocate_switch(rules, traffic, &mut due);
        if due.moved && self.is_busy() { now.next() } else { due.next }
    }

    fn is_busy(&self) -> bool {
        let injects = |injector: &Injector| injector.current.is_some() || injector.inlet.waiting() > 0;
        self.has_packets() || self.injectors.iter().any(injects)
    }

    /// Whether a packet is in it, or on the link to it.
    pub fn has_packets(&self) -> bool {
        self.unrouted | self.waiting | self.moving != 0
    }

    /// Puts a flit into a channel, or on the link to it.
    pub fn enter(&mut self, channel: usize, flit: Flit) {
        if self.channels[channel].route.is_none() {
            self.unrouted |= 1 << channel;
        }
        self.bidding |= self.moving & 1 << channel;
        self.channels[channel].flits.push_back(flit);
    }

    /// Moves a flit of each sender's packet into the router.
    fn inject(&mut self, rules: &Rules, traffic: &mut Traffic, due: &mut Due) {
        for place in 0..self.injectors.len() {
            let current = self.injectors[place].current.or_else(|| self.begin(place, rules, traffic, due));
            let Some(mut injection) = current else { continue };
            if self.channels[injection.channel].flits.len() < rules.buffer_flits as usize {
                let is_head = injection.left == injection.flits;
                injection.left -= 1;
                let is_tail = injection.left == 0;
                let flit = Flit { arrival: due.now, flight: injection.flight, is_head, is_tail };
                self.enter(injection.channel, flit);
                if is_tail {
                    self.injectors[place].inlet.release(injection.flits, due.now);
                }
                due.moved = true;
            }
            self.injectors[place].current = Some(injection).filter(|injection| injection.left > 0);
        }
    }

    /// Takes a sender's next packet, if there is one and a channel for it.
    fn begin(
        &mut self,
        place: usize,
        rules: &Rules,
        traffic: &mut Traffic,
        due: &mut Due,
    ) -> Option<Injection> {
        let injector = &mut self.injectors[place];
        let Some(packet) = injector.inlet.front(due.now) else {
            due.at(injector.inlet.next_arrival());
            return None;
        };
        let bytes = packet.wire_bytes();
        let flits = rules.flit_size.flits(bytes);
        let per_class = rules.channels_per_class;
        let first = (LINKS + place) * rules.channels() + rules.class(packet) * per_class;
        let needed = rules.needed(flits).max(1);
        let room = |channel: usize| rules.buffer_flits - self.channels[first + channel].flits.len() as u32;
        let turn = injector.turn;
        let chosen =
            (0..per_class).map(|step| (turn + step) % per_class).find(|channel| room(*channel) >= needed)?;
        injector.turn = chosen + 1;
        let injected = injector.inlet.next_arrival();
        let packet = injector.inlet.receive(due.now).expect("a packet is in its inlet");
        let receiver = usize::from(packet.destination.0.wrapping_sub(traffic.first_output.0));
        let (router, port) =
            *traffic.receivers.get(receiver).expect("a packet goes to a node of the network");
        if let Some(purposes) = &mut traffic.purposes {
            purposes.count(packet.purpose(), flits, rules.grid.distance(self.number, router as usize));
        }
        let number = traffic.statistics.packets_in;
        traffic.statistics.packets_in += 1;
        let flight = Flight { packet, flits, bytes, number, injected, router, port };
        let flight = traffic.flights.insert(flight).expect("each packet under way has a flit in a buffer");
        Some(Injection { flight, channel: first + chosen, flits, left: flits })
    }

    /// Finds the outputs of packets that have come to the front of their channels.
    fn compute_routes(&mut self, rules: &Rules, traffic: &Traffic, due: &mut Due) {
        for number in members(self.unrouted) {
            let channel = &mut self.channels[number];
            let head = channel.flits.front().expect("a channel without a route has a head");
            let routed = head.arrival.max(channel.free_at) + rules.routing;
            if routed > due.now {
                due.at(routed);
                continue;
            }
            let flight = traffic.flights.get(head.flight);
            let link = rules.grid.link(self.number, flight.router as usize);
            let output = link.unwrap_or(LINKS + usize::from(flight.port));
            channel.route = Some(Route {
                flight: head.flight,
                output: output as u8,
                channel: 0,
                routed,
                ready: Cycle::NEVER,
            });
            self.outputs[output].waiting |= 1 << number;
            self.unrouted &= !(1 << number);
            self.waiting |= 1 << number;
        }
    }

    /// Moves the front flit of a channel that has won the switch.
    pub fn depart(&mut self, number: usize, rules: &Rules, traffic: &mut Traffic, now: Cycle) {
        let channel = &mut self.channels[number];
        let route = channel.route.expect("a channel that bids has a route");
        let flit = channel.flits.pop_front().expect("a channel that bids has a flit");
        let output = &mut self.outputs[usize::from(route.output)];
        let behind = &mut output.behind[usize::from(route.channel)];
        output.flits += 1;
        traffic.statistics.flit_hops += 1;
        traffic.statistics.buffered_flit_cycles += now - flit.arrival;
        if flit.is_head {
            traffic.statistics.packet_hops += 1;
            traffic.statistics.wait_switch_cycles += now - route.ready;
        }
        if flit.is_tail {
            behind.held_by = None;
            output.free |= 1 << route.channel;
            channel.route = None;
            channel.free_at = now.next();
            self.moving &= !(1 << number);
            self.bidding &= !(1 << number);
            if !channel.flits.is_empty() {
                self.unrouted |= 1 << number;
            }
        }
        if usize::from(route.output) < LINKS {
            behind.credits -= 1;
            traffic.statistics.link_flits += 1;
        } else if flit.is_tail {
            self.eject(usize::from(route.output) - LINKS, flit.flight, traffic, now + rules.switch);
        }
        traffic.departures.push(Departure {
            router: self.number as u32,
            input: (number / rules.channels()) as u8,
            channel: (number % rules.channels()) as u8,
            output: route.output,
            next_channel: route.channel,
            flit,
        });
    }

    /// Passes a packet on whose last flit reaches its receiver's interface at `last`.
    fn eject(&mut self, place: usize, flight: u32, traffic: &mut Traffic, last: Cycle) {
        let Flight { packet, flits, bytes, injected, .. } = traffic.flights.remove(flight);
        let ejector = &mut self.ejectors[place];
        let leaves = ejector.deliver(packet, flits, last);
        let statistics = &mut traffic.statistics;
        statistics.wait_interface_cycles += leaves - last;
        statistics.packets_out += 1;
        statistics.flits += u64::from(flits);
        statistics.wire_bytes += u64::from(bytes);
        statistics.payload_bytes += u64::from(bytes - HEADER_BYTES);
        statistics.latency_cycles += leaves + ejector.outlet.latency() - injected;
    }
}
