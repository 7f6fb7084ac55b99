//! The contract of networks, for both directions, and its harness.
//!
//! Nodes on both sides run beside the network as islands of one simulation. Senders emit bursts of random
//! packets of every body and size, some of them to one favourite receiver, and then all fall silent.
//! Receivers take packets in some cycles, sleep in others, and now and then empty their buffers in one cycle.
//! The contents of a packet follow from its sender and its number, so a receiver knows what to expect.
//!
//! The harness checks that each packet arrives once, unchanged, at its destination, and in order for each
//! pair of nodes; that no buffer overflows and no outlet moves more than one flit per cycle; that at the end
//! the senders have all their credits back, nothing waits and nothing is due; that packets and the watchdog's
//! count make progress; that deliveries come in the same cycles whether every cycle is ticked or idle ones
//! are skipped, and in windows of one cycle or of the links' latency; and that the laws of the statistics
//! hold, under a name for each direction.

mod nodes;

use strata_engine::{Cycle, Doorbell, Island, RunOptions, Simulation, Stop, Window};
use strata_memory::atomic::AtomicBatch;
use strata_memory::doors::{
    Coherence, Direction, Network, NetworkDesign, NetworkEnds, NetworkSite, network_link,
};
use strata_memory::{HEADER_BYTES, LINE_BYTES, NodeId};

use super::{Outcome, PATIENCE, lawful, with_skips};
use nodes::Nodes;

/// The workload of a check.
#[derive(Clone, Copy, Debug)]
pub struct Contract {
    /// Seed of all random choices.
    pub seed: u64,
    /// Number of SMs, which are nodes 0 and up.
    pub sms: u16,
    /// Number of slices, which are the nodes after the SMs.
    pub slices: u16,
    /// Number of packets from each sender in each direction.
    pub packets: u32,
    /// Longest random time between two packets in a burst of a sender, in cycles.
    pub gap: u64,
    /// Percent of packets that go to one favourite receiver.
    pub favourite: u64,
    /// Percent of cycles in which a receiver that is awake takes a packet.
    pub willing: u64,
    /// Length of a window in cycles, from 1 to the latency of a link.
    pub window: u64,
    /// Whether only the cycles that `next_event` names are ticked.
    pub skip: bool,
}

impl Contract {
    /// Dense traffic: most of the time more packets than the network can carry.
    pub fn crowded(seed: u64) -> Contract {
        Contract {
            seed,
            sms: 15,
            slices: 12,
            packets: 200,
            gap: 4,
            favourite: 25,
            willing: 70,
            window: 1,
            skip: false,
        }
    }

    /// Sparse traffic: single packets with long pauses between them.
    pub fn sparse(seed: u64) -> Contract {
        Contract { packets: 60, gap: 400, willing: 100, ..Contract::crowded(seed) }
    }
}

/// Runs the harness once, in both directions, and between owners of words if the network joins SMs.
///
/// # Errors
/// Describes the first violation of the contract in a sentence.
pub fn check(contract: &Contract, design: &dyn NetworkDesign) -> Result<Outcome, String> {
    let request = check_direction(contract, design, Direction::Request)?;
    let reply = check_direction(contract, design, Direction::Reply)?;
    for group in &request.statistics[0] {
        if reply.statistics[0].iter().any(|other| other.name == group.name) {
            return Err(format!("both directions call their counters {}", group.name));
        }
    }
    let hash = request.hash ^ reply.hash.rotate_left(1);
    if design.joins_sms() {
        let owner = check_direction(contract, design, Direction::Owner)?;
        return Ok(Outcome {
            cycles: request.cycles.max(reply.cycles).max(owner.cycles),
            hash: hash ^ owner.hash.rotate_left(2),
            statistics: [request.statistics, reply.statistics, owner.statistics].concat(),
        });
    }
    Ok(Outcome {
        cycles: request.cycles.max(reply.cycles),
        hash,
        statistics: [request.statistics, reply.statistics].concat(),
    })
}

/// Runs the harness in windows of one cycle, once ticking every cycle and once skipping idle cycles, then in
/// windows as long as a link's latency, and compares the outcomes.
///
/// # Errors
/// Describes the first violation of the contract in a sentence.
pub fn check_with_skips(contract: &Contract, design: &dyn NetworkDesign) -> Result<Outcome, String> {
    let short = with_skips(|skip| check(&Contract { skip, window: 1, ..*contract }, design))?;
    let window = design.link_latency_cycles();
    let long = with_skips(|skip| check(&Contract { skip, window, ..*contract }, design))?;
    if (short.hash, &short.statistics) != (long.hash, &long.statistics) {
        return Err(format!("windows of {window} cycles do not give what windows of one cycle give"));
    }
    Ok(long)
}

fn check_direction(
    contract: &Contract,
    design: &dyn NetworkDesign,
    direction: Direction,
) -> Result<Outcome, String> {
    run(contract, design, direction).map_err(|fault| format!("{}: {fault}", direction.group()))
}

fn run(contract: &Contract, design: &dyn NetworkDesign, direction: Direction) -> Result<Outcome, String> {
    let parameter = |error: strata_memory::ParameterError| error.to_string();
    let (sms, slices) = ((NodeId(0), contract.sms), (NodeId(contract.sms), contract.slices));
    let ((first_input, senders), (first_output, receivers)) = match direction {
        Direction::Request => (sms, slices),
        Direction::Reply => (slices, sms),
        Direction::Owner => (sms, (NodeId(0), contract.sms + contract.slices)),
    };
    let largest = HEADER_BYTES + AtomicBatch::LARGEST_WIRE_BYTES.max(LINE_BYTES as u32);
    let links = |count: u16| -> Result<(Vec<_>, Vec<_>), String> {
        (0..count).map(|_| network_link(design, largest).map_err(parameter)).collect()
    };
    let (senders, inlets) = links(senders)?;
    let (outlets, receivers) = links(receivers)?;
    let ends = NetworkEnds { first_input, inlets, first_output, outlets };
    let owners = direction == Direction::Owner;
    let coherence = if owners { Coherence::Owners } else { Coherence::Boundaries };
    let network = design.build(NetworkSite { direction, coherence, ends }).map_err(parameter)?;
    let flit = design.flit_size().map_err(parameter)?;
    let room = design.link_flits();
    let (from, to) = ((first_input, senders), (first_output, receivers));
    let nodes = Nodes::new(contract, direction, from, to, flit, room);

    let before = network.progress();
    let mut simulation = Simulation::new(vec![Part::Network(network), Part::Nodes(Box::new(nodes))]);
    if !contract.skip {
        simulation.tick_every_cycle();
    }
    // Far beyond the time that sending one packet after the other would take.
    let limit = Cycle(100 * PATIENCE + u64::from(contract.packets) * (contract.gap + 10_000));
    let window = contract.window.clamp(1, design.link_latency_cycles());
    let options = RunOptions {
        threads: 1,
        saves_threads: false,
        window,
        patience_cycles: PATIENCE,
        limit,
        interrupt: None,
    };
    let stop = simulation.run(options, &mut |_| {});
    let (now, waits) = (simulation.now(), simulation.waits());
    let mut parts = simulation.islands_mut();
    let (Some(Part::Network(network)), Some(Part::Nodes(nodes))) = (parts.next(), parts.next()) else {
        unreachable!("the network stands before its nodes")
    };
    if let Some(fault) = nodes.fault.take() {
        return Err(fault);
    }
    let lost = nodes.lost();
    match stop {
        Stop::Quiet { .. } if lost > 0 => {
            return Err(format!("nothing is left to do, but {lost} packets are lost"));
        }
        Stop::Quiet { .. } if !waits.is_empty() => {
            return Err(format!("nothing is left to do, but it waits: {}", waits.join("; ")));
        }
        Stop::Quiet { .. } => {}
        _ => {
            let waits = waits.join("; ");
            return Err(format!("cycle {now}: {stop:?}; {lost} packets have not arrived; {waits}"));
        }
    }
    nodes.look_at_credits()?;
    if network.progress() == before {
        return Err("packets got through, but its progress stood still".to_owned());
    }
    let groups = network.statistics();
    lawful(&groups)?;
    Ok(Outcome { cycles: nodes.last.0, hash: nodes.hash.finish(), statistics: vec![groups] })
}

/// The islands of a check.
enum Part {
    Network(Box<dyn Network>),
    Nodes(Box<Nodes>),
}

impl Part {
    fn island(&mut self) -> &mut dyn Island {
        match self {
            Part::Network(network) => &mut **network,
            Part::Nodes(nodes) => &mut **nodes,
        }
    }

    fn island_ref(&self) -> &dyn Island {
        match self {
            Part::Network(network) => &**network,
            Part::Nodes(nodes) => &**nodes,
        }
    }
}

impl Island for Part {
    fn hang(&mut self, bell: &Doorbell) {
        self.island().hang(bell);
    }

    fn collect(&mut self, window: Window) {
        self.island().collect(window);
    }

    fn tick(&mut self, now: Cycle) {
        self.island().tick(now);
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        self.island_ref().next_event(now)
    }

    fn flush(&mut self, window: Window) -> Cycle {
        self.island().flush(window)
    }

    fn progress(&self) -> u64 {
        self.island_ref().progress()
    }

    fn waits(&self, report: &mut Vec<String>) {
        self.island_ref().waits(report);
    }

    fn failed(&self) -> bool {
        self.island_ref().failed()
    }
}

#[cfg(test)]
mod tests;
