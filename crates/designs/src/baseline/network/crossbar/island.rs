//! One direction of the crossbar as an island.

use strata_engine::statistics::Group;
use strata_engine::{Cycle, Doorbell, Island, Rung, Window};
use strata_memory::bits::Set;
use strata_memory::doors::{Direction, Network, NetworkEnds};
use strata_memory::{FlitSize, HEADER_BYTES, NodeId, Packet, ParameterError};

use super::super::NetworkStatistics;
use super::CrossbarConfig;
use super::ports::{Input, Output, Queues, Waiting};

/// One direction of a crossbar with virtual output queues.
#[derive(Debug)]
pub struct CrossbarNetwork {
    direction: Direction,
    flit_size: FlitSize,
    first_output: NodeId,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    /// Inputs to which packets are on their way over the link.
    arriving: Set,
    /// Inputs that move no packet, and those that do.
    free: Set,
    busy: Set,
    /// Outputs for which a packet waits.
    wanted: Set,
    /// Inputs that packets have come from, and outputs that they have left by, in this window: what the links have to hand over.
    came: Set,
    left: Set,
    /// The earliest cycle at which a packet arrives, a port becomes free or a credit returns, as far as known.
    next: Cycle,
    pub(super) statistics: NetworkStatistics,
}

impl CrossbarNetwork {
    /// Makes one direction of a crossbar between the given ends.
    ///
    /// # Errors
    /// Names the first parameter that cannot be built.
    pub fn new(
        direction: Direction,
        parameters: &CrossbarConfig,
        ends: NetworkEnds,
    ) -> Result<CrossbarNetwork, ParameterError> {
        let (from, to) = (ends.inlets.len(), ends.outlets.len());
        let mut free = Set::new(from);
        (0..from).for_each(|input| free.insert(input));
        let input = |inlet| Input { inlet, queues: Queues::new(to), free_at: Cycle::ZERO };
        Ok(CrossbarNetwork {
            direction,
            flit_size: FlitSize::new(*parameters.flit_bytes)?,
            first_output: ends.first_output,
            inputs: ends.inlets.into_iter().map(input).collect(),
            outputs: ends.outlets.into_iter().map(|outlet| Output::new(outlet, from)).collect(),
            arriving: Set::new(from),
            free,
            busy: Set::new(from),
            wanted: Set::new(to),
            came: Set::new(from),
            left: Set::new(to),
            next: Cycle::NEVER,
            statistics: NetworkStatistics::default(),
        })
    }

    /// Takes what a link delivered: an inlet or, counted behind those, an outlet, in the order of [`Island::hang`].
    #[inline]
    fn collect_end(&mut self, end: usize, window: Window) {
        if let Some(input) = self.inputs.get_mut(end) {
            input.inlet.collect(window);
            let arrival = input.inlet.next_arrival();
            if arrival != Cycle::NEVER {
                self.arriving.insert(end);
                self.next = self.next.min(arrival);
            }
            return;
        }
        let output = &mut self.outputs[end - self.inputs.len()];
        output.outlet.collect(window);
        if output.stalled_since != Cycle::NEVER {
            self.next = self.next.min(output.outlet.next_credit());
        }
    }

    /// Queues the packets that have arrived.
    #[inline]
    fn arrive(&mut self, now: Cycle) {
        for word in 0..self.arriving.words() {
            for number in self.arriving.members_of_word(word) {
                while let Some(packet) = self.inputs[number].inlet.receive(now) {
                    self.enqueue(number, packet, now);
                }
                let arrival = self.inputs[number].inlet.next_arrival();
                if arrival == Cycle::NEVER {
                    self.arriving.remove(number);
                } else {
                    self.next = self.next.min(arrival);
                }
            }
        }
    }

    #[inline]
    fn enqueue(&mut self, number: usize, packet: Packet, now: Cycle) {
        let to = usize::from(packet.destination.0.wrapping_sub(self.first_output.0));
        assert!(to < self.outputs.len(), "a packet goes to a node of the network");
        self.statistics.packets_in += 1;
        let bytes = packet.wire_bytes();
        let flits = self.flit_size.flits(bytes);
        let output = &mut self.outputs[to];
        let stalled_before = output.stalled_until(now);
        if self.inputs[number].queues.push(to, Waiting { packet, flits, bytes, since: now, stalled_before }) {
            output.waiting.insert(number);
            self.wanted.insert(to);
        }
    }

    /// Notes which inputs have moved their packet.
    #[inline]
    fn release(&mut self, now: Cycle) {
        for word in 0..self.busy.words() {
            for number in self.busy.members_of_word(word) {
                let input = &self.inputs[number];
                if input.free_at <= now {
                    self.busy.remove(number);
                    self.free.insert(number);
                } else if !input.queues.is_empty() {
                    self.next = self.next.min(input.free_at);
                }
            }
        }
    }

    /// Lets every free output take a packet from a free input.
    #[inline]
    fn grant(&mut self, now: Cycle) {
        for word in 0..self.wanted.words() {
            for number in self.wanted.members_of_word(word) {
                let free_at = self.outputs[number].free_at;
                let due = if free_at > now { free_at } else { self.serve(number, now) };
                self.next = self.next.min(due);
            }
        }
    }

    /// Grants a free output, if an input is free and there is credit for its packet. Returns when it can next be granted, as far
    /// as it knows; an input that becomes free wakes it too.
    #[inline]
    fn serve(&mut self, number: usize, now: Cycle) -> Cycle {
        let output = &mut self.outputs[number];
        let Some(winner) = output.winner(&self.free) else { return Cycle::NEVER };
        let flits = self.inputs[winner].queues.head(number).map_or(0, |head| head.flits);
        if output.outlet.has_credit(flits, now) {
            self.transfer(winner, number, now)
        } else {
            output.stalled_since = output.stalled_since.min(now);
            output.outlet.next_credit()
        }
    }

    /// Moves a packet from an input through an output. Returns when the output can next be granted.
    #[inline]
    fn transfer(&mut self, winner: usize, number: usize, now: Cycle) -> Cycle {
        let (input, output) = (&mut self.inputs[winner], &mut self.outputs[number]);
        let (waiting, more) =
            input.queues.pop(number).expect("an input that an output waits for has a packet");
        let cycles = u64::from(waiting.flits);
        let last_flit = now + (cycles - 1);
        input.inlet.release(waiting.flits, last_flit);
        input.free_at = now + cycles;
        self.free.remove(winner);
        self.busy.insert(winner);
        self.came.insert(winner);
        if !input.queues.is_empty() {
            self.next = self.next.min(input.free_at);
        }

        let stalled = output.stalled_until(now);
        let without_credit = stalled - waiting.stalled_before;
        output.stalled_cycles = stalled;
        output.stalled_since = Cycle::NEVER;
        output.free_at = now + cycles;
        output.turn = winner + 1;
        if !more {
            output.waiting.remove(winner);
        }
        let next = if output.waiting.is_empty() {
            self.wanted.remove(number);
            Cycle::NEVER
        } else {
            output.free_at
        };
        let statistics = &mut self.statistics;
        statistics.wait_credit_cycles += without_credit;
        statistics.wait_output_cycles += now - waiting.since - without_credit;
        statistics.output_busy_cycles += cycles;
        statistics.flit_hops += cycles;
        statistics.packets_out += 1;
        statistics.flits += cycles;
        statistics.wire_bytes += u64::from(waiting.bytes);
        statistics.payload_bytes += u64::from(waiting.bytes - HEADER_BYTES);
        statistics.latency_cycles += last_flit + output.outlet.latency() - waiting.since;
        // Sent as of the last flit: until then the output is held, so no credit is used early.
        output.outlet.send(waiting.packet, waiting.flits, last_flit).expect("a granted packet has credit");
        self.left.insert(number);
        next
    }
}

impl Network for CrossbarNetwork {
    fn statistics(&self) -> Vec<Group> {
        vec![self.statistics.report_as(self.direction)]
    }
}

impl Island for CrossbarNetwork {
    fn hang(&mut self, bell: &Doorbell) {
        self.inputs.iter().for_each(|input| input.inlet.hang(bell));
        self.outputs.iter().for_each(|output| output.outlet.hang(bell));
    }

    fn collect(&mut self, window: Window) {
        (0..self.inputs.len() + self.outputs.len()).for_each(|end| self.collect_end(end, window));
    }

    fn collect_rung(&mut self, window: Window, rung: Rung) {
        rung.ends(self.inputs.len() + self.outputs.len()).for_each(|end| self.collect_end(end, window));
    }

    // Inline in the loop over a window's cycles.
    #[inline(always)]
    fn tick(&mut self, now: Cycle) {
        self.next = Cycle::NEVER;
        self.arrive(now);
        self.release(now);
        self.grant(now);
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        self.next.max(now)
    }

    fn flush(&mut self, window: Window) -> Cycle {
        let mut first = Cycle::NEVER;
        for word in 0..self.came.words() {
            for input in self.came.take_word(word) {
                first = first.min(self.inputs[input].inlet.flush(window));
            }
        }
        for word in 0..self.left.words() {
            for output in self.left.take_word(word) {
                first = first.min(self.outputs[output].outlet.flush(window));
            }
        }
        first
    }

    fn progress(&self) -> u64 {
        self.statistics.flit_hops
    }

    fn waits(&self, report: &mut Vec<String>) {
        for (number, input) in self.inputs.iter().enumerate() {
            for (output, head) in input.queues.heads() {
                let cause = match self.outputs[output].stalled_since {
                    Cycle::NEVER => "is busy, or its input is",
                    _ => "has no credit of its receiver",
                };
                report.push(format!(
                    "{}: a packet at input {number} has waited since cycle {} for output {output}, which {cause}",
                    self.direction.group(),
                    head.since,
                ));
            }
        }
    }
}
