//! One direction of the network as an island.

use std::ops::Range;

use strata_engine::statistics::Group;
use strata_engine::{Cycle, Doorbell, Inlet, Island, Outlet, Rung, Window};
use strata_memory::bits::Set;
use strata_memory::doors::{Design, Direction, Network, NetworkEnds};
use strata_memory::{FlitSize, HEADER_BYTES, NodeId, Packet, ParameterError};

use super::parameters::Shape;
use super::ports::{Behind, Buffer, Head, Input, Output};
use super::{Arbitration, MultistageConfig, NetworkStatistics};

/// One direction of the network.
#[derive(Debug)]
pub struct MultistageNetwork {
    direction: Direction,
    shape: Shape,
    arbitration: Arbitration,
    flit_size: FlitSize,
    hop_latency: u64,
    first_output: NodeId,
    /// The inputs that links lead to, and the outputs that lead to links.
    inlets: Range<usize>,
    outlets: Range<usize>,
    /// Inputs and outputs of switches: number `stage * wires + wire`.
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    /// Entry `stage * outlets + outlet`: distance of the output from the first of its switch, in wires,
    /// and the port number that it is there.
    routes: Vec<u32>,
    /// Inputs whose next head packet appears at a known cycle.
    pending: Set,
    /// Outputs for which a head packet waits.
    active: Set,
    /// Inputs that packets have come from over links in this window, and outputs that they have left by: what the links have
    /// to hand over.
    came: Set,
    left: Set,
    /// The earliest cycle at which a head appears, an output becomes free or a credit returns, kept as
    /// these come to be known.
    next: Cycle,
    pub(super) statistics: NetworkStatistics,
}

impl MultistageNetwork {
    /// Makes one direction of a network between the given ends.
    ///
    /// # Errors
    /// Names the first parameter that cannot be built, or a topology with too few terminals.
    pub fn new(
        direction: Direction,
        parameters: &MultistageConfig,
        ends: NetworkEnds,
    ) -> Result<MultistageNetwork, ParameterError> {
        parameters.check()?;
        let side = |first: NodeId, count: usize| first.index()..first.index() + count;
        let shape = Shape::new(
            *parameters.topology,
            side(ends.first_input, ends.inlets.len()),
            side(ends.first_output, ends.outlets.len()),
        )?;
        let ports = shape.stages * shape.wires;
        let (inlet_count, outlet_count, flits) =
            (ends.inlets.len(), ends.outlets.len(), *parameters.buffer_flits);
        let mut inputs: Vec<_> =
            (0..ports).map(|input| Input::new(&shape, input, outlet_count, flits)).collect();
        let mut outputs: Vec<_> = (0..ports).map(|output| Output::new(&shape, output)).collect();
        let last_output = ports - shape.wires + shape.first_output;
        for (input, inlet) in inputs[shape.first_input..].iter_mut().zip(ends.inlets) {
            input.buffer = Buffer::Inlet(inlet);
        }
        for (output, outlet) in outputs[last_output..].iter_mut().zip(ends.outlets) {
            output.behind = Behind::Outlet(outlet);
        }
        let routes = (0..shape.stages)
            .flat_map(|stage| (0..outlet_count).map(move |outlet| (stage, shape.first_output + outlet)))
            .map(|(stage, wire)| (shape.digit(stage, wire) * shape.stride(stage)) as u32)
            .collect();
        Ok(MultistageNetwork {
            direction,
            shape,
            arbitration: *parameters.arbitration,
            flit_size: FlitSize::new(*parameters.flit_bytes)?,
            hop_latency: *parameters.hop_latency_cycles,
            first_output: ends.first_output,
            inlets: shape.first_input..shape.first_input + inlet_count,
            outlets: last_output..last_output + outlet_count,
            inputs,
            outputs,
            routes,
            pending: Set::new(ports),
            active: Set::new(ports),
            came: Set::new(ports),
            left: Set::new(ports),
            next: Cycle::NEVER,
            statistics: NetworkStatistics::default(),
        })
    }

    /// Makes packets that are due the heads of their buffers.
    #[inline]
    fn announce(&mut self, now: Cycle) {
        let mut next = Cycle::NEVER;
        for word in 0..self.pending.words() {
            for input in self.pending.members_of_word(word) {
                let wake = self.inputs[input].wake;
                if wake <= now {
                    self.pending.remove(input);
                    self.announce_head(input, now);
                } else {
                    next = next.min(wake);
                }
            }
        }
        self.next = self.next.min(next);
    }

    /// The links that lead into the network, by node number.
    fn inlets(&mut self) -> impl Iterator<Item = &mut Inlet<Packet>> {
        self.inputs[self.inlets.clone()].iter_mut().filter_map(|input| match &mut input.buffer {
            Buffer::Inlet(inlet) => Some(inlet),
            Buffer::Between(_) => None,
        })
    }

    /// The links that lead out of it.
    fn outlets(&mut self) -> impl Iterator<Item = &mut Outlet<Packet>> {
        self.outputs[self.outlets.clone()].iter_mut().filter_map(|output| match &mut output.behind {
            Behind::Outlet(outlet) => Some(outlet),
            Behind::Input(_) | Behind::Nothing => None,
        })
    }

    /// Takes what a link delivered: an inlet or, counted behind those, an outlet, in the order of [`Island::hang`].
    #[inline]
    fn collect_end(&mut self, end: usize, window: Window) {
        let input = self.inlets.start + end;
        if input < self.inlets.end {
            let Buffer::Inlet(inlet) = &mut self.inputs[input].buffer else { return };
            let before = inlet.next_arrival();
            inlet.collect(window);
            let arrival = inlet.next_arrival();
            // A packet behind others is looked at after them.
            if arrival != before {
                self.expect_head(input, arrival);
            }
            return;
        }
        let output = &mut self.outputs[self.outlets.start + (input - self.inlets.end)];
        if let Behind::Outlet(outlet) = &mut output.behind {
            outlet.collect(window);
            if output.stalled_since != Cycle::NEVER {
                self.next = self.next.min(outlet.next_credit());
            }
        }
    }

    /// Notes when the next head packet of an input can be looked at: it has arrived, and the one before has left.
    #[inline]
    fn expect_head(&mut self, number: usize, arrival: Cycle) {
        let input = &mut self.inputs[number];
        input.wake = arrival.max(input.free_at);
        self.next = self.next.min(input.wake);
        self.pending.insert(number);
    }

    // Inline in the only loop that calls it.
    #[inline(always)]
    fn announce_head(&mut self, number: usize, now: Cycle) {
        let input = &mut self.inputs[number];
        let (packet, injected) = match &input.buffer {
            Buffer::Inlet(inlet) => {
                self.statistics.packets_in += 1;
                (inlet.front(now).expect("a pending inlet has a packet"), inlet.next_arrival())
            }
            Buffer::Between(between) => {
                let (_, injected, packet) = between.packets.front().expect("a pending buffer has a packet");
                (packet, *injected)
            }
        };
        let outlet = usize::from(packet.destination.0.wrapping_sub(self.first_output.0));
        assert!(outlet < self.outlets.len(), "a packet goes to a node of the network");
        let output = input.switch as usize + self.routes[input.routes as usize + outlet] as usize;
        let bytes = packet.wire_bytes();
        let place = &mut self.outputs[output];
        input.has_head = true;
        input.head = Head {
            output: output as u32,
            flits: self.flit_size.flits(bytes),
            bytes,
            since: now,
            stalled_before: place.stalled_until(now),
            injected,
        };
        place.waiting.insert(input.port);
        self.active.insert(output);
    }

    /// Grants every output that is free and has credit for its winner.
    #[inline]
    fn grant(&mut self, now: Cycle) {
        let mut next = Cycle::NEVER;
        for word in 0..self.active.words() {
            for number in self.active.members_of_word(word) {
                let free_at = self.outputs[number].free_at;
                let due = if free_at > now { free_at } else { self.serve(number, now) };
                next = next.min(due);
            }
        }
        self.next = self.next.min(next);
    }

    /// Grants a free output, if it has credit for its winner. Returns when it can next be granted, as far as it knows.
    #[inline]
    fn serve(&mut self, number: usize, now: Cycle) -> Cycle {
        let winner = self.outputs[number].winner(&self.inputs, self.arbitration);
        let flits = self.inputs[winner].head.flits;
        let output = &mut self.outputs[number];
        let (has_credit, next_credit) = match &mut output.behind {
            Behind::Input(input) => {
                let between = self.inputs[*input as usize].between();
                (between.credits(now) >= flits, between.returning.front().map_or(Cycle::NEVER, |(at, _)| *at))
            }
            Behind::Outlet(outlet) => (outlet.has_credit(flits, now), outlet.next_credit()),
            Behind::Nothing => unreachable!("a packet goes to a node of the network"),
        };
        if has_credit {
            self.transfer(winner, number, now)
        } else {
            output.stalled_since = output.stalled_since.min(now);
            next_credit
        }
    }

    /// Moves the head packet of an input through an output. Returns when the output can next be granted.
    #[inline(always)]
    fn transfer(&mut self, winner: usize, number: usize, now: Cycle) -> Cycle {
        let input = &mut self.inputs[winner];
        let (head, port) = (input.head, input.port);
        let cycles = u64::from(head.flits);
        let last_flit = now + (cycles - 1);
        input.has_head = false;
        input.free_at = now + cycles;
        let (packet, next_arrival) = match &mut input.buffer {
            Buffer::Inlet(inlet) => {
                inlet.release(head.flits, last_flit);
                self.came.insert(winner);
                let packet = inlet.receive(now).expect("a head packet is in its inlet");
                (packet, inlet.next_arrival())
            }
            Buffer::Between(between) => {
                let back = last_flit + self.hop_latency;
                between.returning.push_back((back, head.flits));
                if self.outputs[winner - self.shape.wires].stalled_since != Cycle::NEVER {
                    self.next = self.next.min(back);
                }
                let (_, _, packet) = between.packets.pop_front().expect("a head packet is in its buffer");
                (packet, between.packets.front().map_or(Cycle::NEVER, |(arrival, _, _)| *arrival))
            }
        };
        if next_arrival != Cycle::NEVER {
            self.expect_head(winner, next_arrival);
        }

        let output = &mut self.outputs[number];
        let stalled = output.stalled_until(now);
        let without_credit = stalled - head.stalled_before;
        output.stalled_cycles = stalled;
        output.stalled_since = Cycle::NEVER;
        output.waiting.remove(port);
        output.free_at = now + cycles;
        output.turn = if usize::from(port) + 1 == self.shape.radix { 0 } else { port + 1 };
        let next = if output.waiting.is_empty() { Cycle::NEVER } else { output.free_at };
        if next == Cycle::NEVER {
            self.active.remove(number);
        }
        let statistics = &mut self.statistics;
        statistics.wait_credit_cycles += without_credit;
        statistics.wait_output_cycles += now - head.since - without_credit;
        statistics.output_busy_cycles += cycles;
        statistics.flit_hops += cycles;
        match &mut output.behind {
            Behind::Input(input) => {
                let input = *input as usize;
                self.enter(input, packet, head, now);
            }
            Behind::Outlet(outlet) => {
                statistics.packets_out += 1;
                statistics.flits += cycles;
                statistics.wire_bytes += u64::from(head.bytes);
                statistics.payload_bytes += u64::from(head.bytes - HEADER_BYTES);
                statistics.latency_cycles += last_flit + outlet.latency() - head.injected;
                // Sent as of the last flit: until then the output is held, so no credit is used early.
                outlet.send(packet, head.flits, last_flit).expect("a granted packet has credit");
                self.left.insert(number);
            }
            Behind::Nothing => unreachable!("a packet goes to a node of the network"),
        }
        next
    }

    /// Puts a packet into the buffer of a later stage.
    fn enter(&mut self, number: usize, packet: Packet, head: Head, now: Cycle) {
        let arrival = now + self.hop_latency;
        let between = self.inputs[number].between();
        between.credits -= head.flits;
        let first = between.packets.is_empty();
        between.packets.push_back((arrival, head.injected, packet));
        if first {
            self.expect_head(number, arrival);
        }
    }
}

impl Network for MultistageNetwork {
    fn statistics(&self) -> Vec<Group> {
        vec![self.statistics.report_as(self.direction)]
    }
}

impl Island for MultistageNetwork {
    fn hang(&mut self, bell: &Doorbell) {
        self.inlets().for_each(|inlet| inlet.hang(bell));
        self.outlets().for_each(|outlet| outlet.hang(bell));
    }

    fn collect(&mut self, window: Window) {
        (0..self.inlets.len() + self.outlets.len()).for_each(|end| self.collect_end(end, window));
    }

    fn collect_rung(&mut self, window: Window, rung: Rung) {
        rung.ends(self.inlets.len() + self.outlets.len()).for_each(|end| self.collect_end(end, window));
    }

    // Inline in the loop over a window's cycles.
    #[inline(always)]
    fn tick(&mut self, now: Cycle) {
        self.next = Cycle::NEVER;
        self.announce(now);
        self.grant(now);
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        self.next.max(now)
    }

    fn flush(&mut self, window: Window) -> Cycle {
        let mut first = Cycle::NEVER;
        for word in 0..self.came.words() {
            for input in self.came.take_word(word) {
                if let Buffer::Inlet(inlet) = &mut self.inputs[input].buffer {
                    first = first.min(inlet.flush(window));
                }
            }
            for output in self.left.take_word(word) {
                if let Behind::Outlet(outlet) = &mut self.outputs[output].behind {
                    first = first.min(outlet.flush(window));
                }
            }
        }
        first
    }

    fn progress(&self) -> u64 {
        self.statistics.flit_hops
    }

    fn waits(&self, report: &mut Vec<String>) {
        for (number, input) in self.inputs.iter().enumerate().filter(|(_, input)| input.has_head) {
            let output = &self.outputs[input.head.output as usize];
            let cause = if output.stalled_since == Cycle::NEVER {
                "is busy"
            } else {
                "has no credit of its receiver"
            };
            report.push(format!(
                "{}: stage {} input {} has waited since cycle {} for output {}, which {cause}",
                self.direction.group(),
                number / self.shape.wires,
                number % self.shape.wires,
                input.head.since,
                input.head.output as usize % self.shape.wires,
            ));
        }
    }
}
