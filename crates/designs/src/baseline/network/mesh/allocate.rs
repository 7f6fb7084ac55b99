//! Allocation of virtual channels and of the switch.

use strata_engine::Cycle;

use super::port::{Input, Output, members, round_robin};
use super::router::{Due, Router, Rules, Traffic};
use super::topology::LINKS;

impl Router {
    /// Gives waiting heads virtual channels behind their outputs, round robin for each output.
    pub fn allocate_channels(&mut self, rules: &Rules, traffic: &mut Traffic, due: &mut Due) {
        if self.waiting == 0 {
            return;
        }
        for output in 0..self.outputs.len() {
            if self.outputs[output].waiting != 0 && self.outputs[output].free != 0 {
                self.allocate_channels_of(output, rules, traffic, due);
            }
        }
    }

    fn allocate_channels_of(&mut self, output: usize, rules: &Rules, traffic: &mut Traffic, due: &mut Due) {
        let (mut waiting, turn) = (self.outputs[output].waiting, self.outputs[output].turn);
        // Classes in which nobody else gets a channel in this cycle.
        let mut closed = 0u32;
        while waiting != 0 {
            let number = round_robin(waiting, turn);
            waiting &= !(1 << number);
            let class = number % rules.channels() / rules.channels_per_class;
            if closed >> class & 1 == 1 || self.is_early_for_channel(number, rules, traffic) {
                continue;
            }
            let flight = self.channels[number].route.expect("a waiting channel has a route").flight;
            let flits = traffic.flights.get(flight).flits;
            match self.find_channel(output, class, flits, rules, due) {
                Some(channel) => self.give_channel(number, output, channel, rules, traffic, due),
                // Nobody passes the packet whose turn it is, so a large one gets its room in the end.
                None => closed |= 1 << class,
            }
        }
    }

    /// The earlier packets of the same two nodes and class with flits at the same input as a channel's packet, with their
    /// channels.
    fn earlier<'a>(
        &'a self,
        number: usize,
        rules: &Rules,
        traffic: &'a Traffic,
    ) -> impl Iterator<Item = (usize, u32)> + 'a {
        let route = self.channels[number].route.expect("a packet that bids has a route");
        let mine = traffic.flights.get(route.flight);
        let first = number - number % rules.channels_per_class;
        let others = (first..first + rules.channels_per_class).filter(move |other| *other != number);
        let flights =
            others.flat_map(|other| self.channels[other].flights().map(move |flight| (other, flight)));
        flights.filter(|(_, flight)| traffic.flights.get(*flight).is_before(mine))
    }

    /// Whether an earlier packet of the same two nodes waits for a channel, too. It gets one first.
    fn is_early_for_channel(&self, number: usize, rules: &Rules, traffic: &Traffic) -> bool {
        let moves = |(other, flight): (usize, u32)| {
            let route = self.channels[other].route.filter(|_| self.moving >> other & 1 == 1);
            route.is_some_and(|route| route.flight == flight)
        };
        self.earlier(number, rules, traffic).any(|earlier| !moves(earlier))
    }

    /// A virtual channel behind an output for a packet of a class; none if others have all of them, or if there is not
    /// the room that the packet needs before it may take one.
    fn find_channel(
        &mut self,
        output: usize,
        class: usize,
        flits: u32,
        rules: &Rules,
        due: &mut Due,
    ) -> Option<usize> {
        let per_class = rules.channels_per_class;
        let Output { behind, free, channel_turn: turn, .. } = &self.outputs[output];
        let in_turn = (0..per_class).map(|step| class * per_class + (turn + step) % per_class);
        let mut free = in_turn.filter(|channel| free >> channel & 1 == 1).peekable();
        let first = *free.peek()?;
        if let Some(place) = output.checked_sub(LINKS) {
            let ejector = &mut self.ejectors[place];
            let has_room = ejector.promise(flits, due.now);
            if !has_room {
                due.at(ejector.outlet.next_credit());
            }
            return has_room.then_some(first);
        }
        free.find(|channel| behind[*channel].credits >= rules.needed(flits))
    }

    fn give_channel(
        &mut self,
        number: usize,
        output: usize,
        channel: usize,
        rules: &Rules,
        traffic: &mut Traffic,
        due: &mut Due,
    ) {
        let route = self.channels[number].route.as_mut().expect("a waiting channel has a route");
        route.channel = channel as u8;
        route.ready = due.now + rules.vc_allocation;
        traffic.statistics.wait_channel_cycles += due.now - route.routed;
        let output = &mut self.outputs[output];
        output.behind[channel].held_by = Some(number as u8);
        output.free &= !(1 << channel);
        output.waiting &= !(1 << number);
        output.turn = (number + 1) % self.channels.len();
        output.channel_turn = (channel + 1) % rules.channels_per_class;
        self.waiting &= !(1 << number);
        self.moving |= 1 << number;
        self.bidding |= 1 << number;
        due.moved = true;
    }

    /// One iteration of iSLIP: inputs bid for outputs, outputs grant one of them, inputs accept one grant.
    pub fn allocate_switch(&mut self, rules: &Rules, traffic: &mut Traffic, due: &mut Due) {
        let outputs = self.bid(rules, traffic, due);
        let mut inputs = 0u128;
        for output in members(outputs) {
            let bids = std::mem::take(&mut self.scratch.bids[output]);
            let input = round_robin(bids, self.outputs[output].grant_turn);
            self.scratch.grants[input] |= 1 << output;
            inputs |= 1 << input;
        }
        for input in members(inputs) {
            let grants = std::mem::take(&mut self.scratch.grants[input]);
            self.accept(input, grants, rules, traffic, due.now);
        }
        due.moved |= inputs != 0;
    }

    /// Collects the bids of channels whose front flit can go. Returns the outputs for which there are any.
    fn bid(&mut self, rules: &Rules, traffic: &Traffic, due: &mut Due) -> u128 {
        let channels = rules.channels();
        let mut wanted = 0;
        for number in members(self.bidding) {
            let route = self.channels[number].route.expect("a moving channel has a route");
            let output = usize::from(route.output);
            let Some(flit) = self.channels[number].flits.front() else {
                self.bidding &= !(1 << number);
                continue;
            };
            let ready = flit.arrival.max(route.ready);
            if ready > due.now {
                due.at(ready);
                continue;
            }
            if output < LINKS && self.outputs[output].behind[usize::from(route.channel)].credits == 0 {
                self.bidding &= !(1 << number);
                continue;
            }
            // A head follows the tail of the packet before it.
            if flit.is_head && self.earlier(number, rules, traffic).next().is_some() {
                continue;
            }
            self.place_bid(number / channels, number % channels, output, rules);
            wanted |= 1 << output;
        }
        wanted
    }

    /// Bids for the first of an input's channels, from its turn on, that want the same output.
    fn place_bid(&mut self, input: usize, channel: usize, output: usize, rules: &Rules) {
        let channels = rules.channels();
        let place = input * self.outputs.len() + output;
        let distance = |channel: usize| (channel + channels - self.inputs[input].turn) % channels;
        let bids = &mut self.scratch.bids[output];
        let is_first = *bids >> input & 1 == 0;
        if is_first || distance(channel) < distance(usize::from(self.scratch.channels[place])) {
            self.scratch.channels[place] = channel as u8;
        }
        *bids |= 1 << input;
    }

    fn accept(&mut self, input: usize, grants: u128, rules: &Rules, traffic: &mut Traffic, now: Cycle) {
        let output = round_robin(grants, self.inputs[input].accept_turn);
        let channel = usize::from(self.scratch.channels[input * self.outputs.len() + output]);
        self.outputs[output].grant_turn = (input + 1) % self.inputs.len();
        let next_output = (output + 1) % self.outputs.len();
        self.inputs[input] = Input { turn: (channel + 1) % rules.channels(), accept_turn: next_output };
        self.depart(input * rules.channels() + channel, rules, traffic, now);
    }
}
