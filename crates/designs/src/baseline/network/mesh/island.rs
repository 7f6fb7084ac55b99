//! One direction of a mesh as an island.

use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cycle, Doorbell, Inlet, Island, Outlet, Slab, Window};
use strata_memory::doors::{Design, Direction, Network, NetworkDesign, NetworkEnds};
use strata_memory::{NodeId, Packet, ParameterError};

use super::interface::{Ejector, Injector};
use super::parameters::MAX_CHANNELS;
use super::placement::Places;
use super::port::Flit;
use super::report;
use super::router::{Departure, Router, Rules, Traffic};
use super::topology::{Grid, LINKS, opposite};
use super::{MeshConfig, MeshStatistics, Switching, TrafficStatistics};

/// One direction of a mesh.
#[derive(Debug)]
pub struct MeshNetwork {
    direction: Direction,
    rules: Rules,
    routers: Vec<Router>,
    /// When each router next has something to do.
    wakes: Vec<Cycle>,
    /// The earliest of them.
    next: Cycle,
    traffic: Traffic,
}

impl MeshNetwork {
    /// Makes one direction of a network between the given ends.
    ///
    /// # Errors
    /// Names the first parameter that cannot be built.
    pub fn new(
        direction: Direction,
        config: &MeshConfig,
        ends: NetworkEnds,
    ) -> Result<MeshNetwork, ParameterError> {
        MeshNetwork::with_classes(direction, config, ends, 1)
    }

    /// Makes a network that carries requests and replies, each class on virtual channels of its own, so that replies
    /// pass requests that wait in routers. Nodes may stand on both sides. An interface serves its packets in order, of
    /// either class: a node whose replies must pass its own requests too stands there once for each class.
    ///
    /// # Errors
    /// Names the first parameter that cannot be built.
    pub fn for_both_classes(
        direction: Direction,
        config: &MeshConfig,
        ends: NetworkEnds,
    ) -> Result<MeshNetwork, ParameterError> {
        MeshNetwork::with_classes(direction, config, ends, 2)
    }

    /// Counts flits by the purpose of their packets too.
    #[must_use]
    pub fn with_purposes(mut self) -> MeshNetwork {
        self.traffic.purposes = Some(TrafficStatistics::default());
        self
    }

    fn with_classes(
        direction: Direction,
        config: &MeshConfig,
        ends: NetworkEnds,
        classes: usize,
    ) -> Result<MeshNetwork, ParameterError> {
        config.check()?;
        let side = |first: NodeId, count: usize| first.index()..first.index() + count;
        let places = Places::new(
            config,
            side(ends.first_input, ends.inlets.len()),
            side(ends.first_output, ends.outlets.len()),
        )?;
        let rules = rules(config, classes)?;
        let first_output = ends.first_output;
        let receivers = ports(&places.outputs);
        let mut injectors =
            by_router(config.routers(), &places.inputs, ends.inlets.into_iter().map(Injector::new));
        let mut ejectors =
            by_router(config.routers(), &places.outputs, ends.outlets.into_iter().map(Ejector::new));
        let routers: Vec<Router> = (0..config.routers())
            .map(|router| {
                (router, std::mem::take(&mut injectors[router]), std::mem::take(&mut ejectors[router]))
            })
            .map(|(router, injectors, ejectors)| build(router, &rules, injectors, ejectors))
            .collect::<Result<_, _>>()?;
        let inputs = routers.iter().map(|router| router.inputs.len()).sum();
        // Of each packet under way there is a flit in a buffer, or an interface has begun it and not ended.
        let flights = inputs * rules.channels() * (rules.buffer_flits as usize + 1)
            + receivers.len() * rules.channels();
        Ok(MeshNetwork {
            direction,
            rules,
            wakes: vec![Cycle::NEVER; routers.len()],
            next: Cycle::NEVER,
            routers,
            traffic: Traffic {
                flights: Slab::new(flights),
                receivers,
                first_output,
                departures: Vec::with_capacity(inputs),
                statistics: MeshStatistics::default(),
                purposes: None,
            },
        })
    }

    /// Moves flits that left routers to the next ones, and their credits to those before.
    fn forward(&mut self, now: Cycle) {
        for place in 0..self.traffic.departures.len() {
            let departure = self.traffic.departures[place];
            let input = usize::from(departure.input);
            if input < LINKS {
                let back = now + self.rules.credit;
                let before = self.neighbour(&departure, input);
                let router = &mut self.routers[before];
                router.outputs[opposite(input)].returning.push_back((back, departure.channel));
                if router.has_packets() {
                    self.wake(before, back);
                }
            }
            let output = usize::from(departure.output);
            if output < LINKS {
                let arrival = now + (self.rules.switch + self.rules.link);
                let behind = self.neighbour(&departure, output);
                let channel = opposite(output) * self.rules.channels() + usize::from(departure.next_channel);
                self.routers[behind].enter(channel, Flit { arrival, ..departure.flit });
                self.wake(behind, arrival);
            }
        }
        self.traffic.departures.clear();
    }

    fn neighbour(&self, departure: &Departure, link: usize) -> usize {
        self.rules
            .grid
            .neighbour(departure.router as usize, link)
            .expect("flits come and go by links that exist")
    }

    fn wake(&mut self, router: usize, at: Cycle) {
        self.wakes[router] = self.wakes[router].min(at);
    }

    fn inlets(&mut self) -> impl Iterator<Item = &mut Inlet<Packet>> {
        self.routers.iter_mut().flat_map(|router| &mut router.injectors).map(|injector| &mut injector.inlet)
    }

    fn outlets(&mut self) -> impl Iterator<Item = &mut Outlet<Packet>> {
        self.routers.iter_mut().flat_map(|router| &mut router.ejectors).map(|ejector| &mut ejector.outlet)
    }
}

fn rules(config: &MeshConfig, classes: usize) -> Result<Rules, ParameterError> {
    Ok(Rules {
        grid: Grid { columns: *config.columns, rows: *config.rows },
        flit_size: config.flit_size()?,
        cut_through: *config.switching == Switching::VirtualCutThrough,
        classes,
        channels_per_class: *config.virtual_channels,
        buffer_flits: *config.buffer_flits,
        routing: *config.routing_cycles,
        vc_allocation: *config.vc_allocation_cycles,
        switch: *config.switch_cycles,
        link: *config.link_cycles,
        credit: *config.credit_cycles,
    })
}

fn build(
    router: usize,
    rules: &Rules,
    injectors: Vec<Injector>,
    ejectors: Vec<Ejector>,
) -> Result<Router, ParameterError> {
    let ports = LINKS + injectors.len().max(ejectors.len());
    if ports * rules.channels() > MAX_CHANNELS {
        let message = format!(
            "found {} for each of the {ports} ports of router {router}, expected at most {MAX_CHANNELS} together",
            rules.channels()
        );
        return Err(ParameterError::new("virtual_channels", message));
    }
    Ok(Router::new(router, rules, injectors, ejectors))
}

/// Router and port of each node, by the routers of the nodes.
fn ports(routers: &[usize]) -> Vec<(u32, u8)> {
    let port = |node: usize| routers[..node].iter().filter(|router| **router == routers[node]).count();
    routers.iter().enumerate().map(|(node, router)| (*router as u32, port(node).min(255) as u8)).collect()
}

/// What belongs to nodes, by the routers of the nodes.
fn by_router<T>(count: usize, routers: &[usize], ends: impl Iterator<Item = T>) -> Vec<Vec<T>> {
    let mut sorted: Vec<Vec<T>> = (0..count).map(|_| Vec::new()).collect();
    routers.iter().zip(ends).for_each(|(router, end)| sorted[*router].push(end));
    sorted
}

impl Network for MeshNetwork {
    fn statistics(&self) -> Vec<Group> {
        let links: [Vec<u64>; LINKS] = std::array::from_fn(|link| {
            self.routers.iter().map(|router| router.outputs[link].flits).collect()
        });
        let mut groups =
            self.traffic.statistics.report_as(self.direction, links.each_ref().map(Vec::as_slice));
        groups.extend(self.traffic.purposes.as_ref().map(Statistics::report));
        groups
    }
}

impl Island for MeshNetwork {
    fn hang(&mut self, bell: &Doorbell) {
        self.inlets().for_each(|inlet| inlet.hang(bell));
        self.outlets().for_each(|outlet| outlet.hang(bell));
    }

    fn collect(&mut self, window: Window) {
        for (router, wake) in self.routers.iter_mut().zip(&mut self.wakes) {
            for injector in &mut router.injectors {
                let before = injector.inlet.next_arrival();
                injector.inlet.collect(window);
                let arrival = injector.inlet.next_arrival();
                // A packet behind others is looked at after them.
                if arrival != before {
                    *wake = (*wake).min(arrival);
                }
            }
            for ejector in &mut router.ejectors {
                ejector.outlet.collect(window);
                if ejector.stalled {
                    *wake = (*wake).min(ejector.outlet.next_credit());
                }
            }
            self.next = self.next.min(*wake);
        }
    }

    fn tick(&mut self, now: Cycle) {
        for (router, wake) in self.routers.iter_mut().zip(&mut self.wakes) {
            if *wake <= now {
                *wake = router.tick(&self.rules, &mut self.traffic, now);
            }
        }
        self.forward(now);
        self.next = self.wakes.iter().copied().min().unwrap_or(Cycle::NEVER);
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        self.next.max(now)
    }

    fn flush(&mut self, window: Window) -> Cycle {
        let sent = self.outlets().map(|outlet| outlet.flush(window)).min();
        let released = self.inlets().map(|inlet| inlet.flush(window)).min();
        sent.unwrap_or(Cycle::NEVER).min(released.unwrap_or(Cycle::NEVER))
    }

    fn progress(&self) -> u64 {
        self.traffic.statistics.flit_hops
    }

    fn waits(&self, report: &mut Vec<String>) {
        for router in &self.routers {
            report::router(self.direction, &self.rules, router, &self.traffic, report);
        }
    }
}
