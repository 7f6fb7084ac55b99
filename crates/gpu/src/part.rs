//! The islands of a GPU.

use strata_cpu::Core;
use strata_engine::statistics::Group;
use strata_engine::{ClockRatio, Cycle, Domain, Done, Doorbell, Island, Ran, Rung, Span, Window};
use strata_memory::doors::Network;
use strata_memory::partition::PartitionIsland;
use strata_memory::translation::Gmmu;
use strata_sm::Multiprocessor;
use strata_sm::dispatch::Dispatcher;

use crate::results::modes;

/// An island of a GPU.
pub enum Part {
    /// A streaming multiprocessor with its private memories.
    Sm(Box<dyn Multiprocessor>),
    /// One direction of the network, in its domain if it has a clock of its own.
    Network(Box<dyn Network>),
    /// A memory partition: LLC slices and their DRAM channel.
    Partition(Box<PartitionIsland>),
    /// The dispatcher that hands CTAs to SMs.
    Dispatcher(Box<Dispatcher>),
    /// A memory partition with a clock that is not the core clock.
    PartitionDomain(Box<Domain<PartitionIsland>>),
    /// A CPU core with its L1D, in its domain.
    Cpu(Box<Domain<Core>>),
    /// A memory management unit that SMs share.
    Gmmu(Box<Gmmu>),
}

macro_rules! each {
    ($part:expr, $island:ident => $body:expr) => {
        match $part {
            Part::Sm($island) => $body,
            Part::Network($island) => $body,
            Part::Partition($island) => $body,
            Part::Dispatcher($island) => $body,
            Part::PartitionDomain($island) => $body,
            Part::Cpu($island) => $body,
            Part::Gmmu($island) => $body,
        }
    };
}

impl Island for Part {
    fn hang(&mut self, bell: &Doorbell) {
        each!(self, island => island.hang(bell));
    }
    fn collect(&mut self, window: Window) {
        each!(self, island => island.collect(window));
    }
    fn collect_rung(&mut self, window: Window, rung: Rung) {
        each!(self, island => island.collect_rung(window, rung));
    }
    fn simulate(&mut self, window: Window, span: Span, rung: Rung) -> Done {
        each!(self, island => island.simulate(window, span, rung))
    }
    fn tick(&mut self, now: Cycle) {
        each!(self, island => island.tick(now));
    }
    fn run(&mut self, span: Span) -> Ran {
        each!(self, island => island.run(span))
    }
    fn next_event(&self, now: Cycle) -> Cycle {
        each!(self, island => island.next_event(now))
    }
    fn flush(&mut self, window: Window) -> Cycle {
        each!(self, island => island.flush(window))
    }
    fn progress(&self) -> u64 {
        each!(self, island => island.progress())
    }
    fn waits(&self, report: &mut Vec<String>) {
        each!(self, island => island.waits(report));
    }
    fn failed(&self) -> bool {
        each!(self, island => island.failed())
    }
}

impl Part {
    /// A memory partition with a clock.
    pub fn partition(island: PartitionIsland, clock: ClockRatio) -> Part {
        match clock {
            ClockRatio::ONE => Part::Partition(Box::new(island)),
            clock => Part::PartitionDomain(Box::new(Domain::new(clock, island))),
        }
    }

    /// One direction of the network with a clock.
    pub fn network(island: Box<dyn Network>, clock: ClockRatio) -> Part {
        match clock {
            ClockRatio::ONE => Part::Network(island),
            clock => Part::Network(Box::new(Domain::new(clock, island))),
        }
    }

    /// What kind of island it is, in results.
    pub fn kind(&self) -> &'static str {
        match self {
            Part::Sm(_) => "sm",
            Part::Partition(_) | Part::PartitionDomain(_) => "partition",
            Part::Network(_) => "network",
            Part::Dispatcher(_) => "dispatcher",
            Part::Cpu(_) => "cpu",
            Part::Gmmu(_) => "gmmu",
        }
    }

    /// Completes the counters of a memory partition or a CPU core for all reference cycles before `end`.
    pub fn settle_memory(&mut self, end: Cycle) {
        match self {
            Part::Partition(partition) => partition.settle(end),
            Part::PartitionDomain(domain) => {
                let end = domain.first(end);
                domain.island_mut().settle(end);
            }
            Part::Cpu(domain) => {
                let end = domain.first(end);
                domain.island_mut().settle(end);
            }
            Part::Sm(_) | Part::Network(_) | Part::Dispatcher(_) | Part::Gmmu(_) => {}
        }
    }

    /// Counters of this part.
    pub fn statistics(&self) -> Vec<Group> {
        match self {
            Part::Sm(sm) => sm.statistics(),
            Part::Network(network) => network.statistics(),
            Part::Partition(partition) => partition.statistics(),
            Part::Dispatcher(_) => Vec::new(),
            Part::PartitionDomain(domain) => domain.island().statistics(),
            Part::Cpu(domain) => modes::of_cpu(domain.island().statistics()),
            Part::Gmmu(gmmu) => vec![gmmu.statistics()],
        }
    }
}
