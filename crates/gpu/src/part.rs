//! The islands of a GPU.

use strata_engine::statistics::Group;
use strata_engine::{ClockRatio, Cycle, Domain, Doorbell, Island, Ran, Span, Window};
use strata_memory::doors::Network;
use strata_memory::partition::PartitionIsland;
use strata_sm::dispatch::Dispatcher;
use strata_sm::sm::Sm;

/// An island of a GPU.
pub enum Part {
    /// A streaming multiprocessor with its private memories.
    Sm(Box<Sm>),
    /// One direction of the network.
    Network(Box<dyn Network>),
    /// A memory partition: LLC slices and their DRAM channel.
    Partition(Box<PartitionIsland>),
    /// The dispatcher that hands CTAs to SMs.
    Dispatcher(Box<Dispatcher>),
    /// One of the others, with a clock that is not the core clock.
    Domain(Box<Domain<Part>>),
}

macro_rules! each {
    ($part:expr, $island:ident => $body:expr) => {
        match $part {
            Part::Sm($island) => $body,
            Part::Network($island) => $body,
            Part::Partition($island) => $body,
            Part::Dispatcher($island) => $body,
            Part::Domain($island) => $body,
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
    /// Gives a part a clock.
    pub fn with_clock(self, clock: ClockRatio) -> Part {
        if clock == ClockRatio::ONE { self } else { Part::Domain(Box::new(Domain::new(clock, self))) }
    }

    /// The part itself, whatever its clock.
    pub fn within(&mut self) -> &mut Part {
        match self {
            Part::Domain(domain) => domain.island_mut(),
            part => part,
        }
    }

    /// What kind of island it is, in results.
    pub fn kind(&self) -> &'static str {
        match self {
            Part::Sm(_) => "sm",
            Part::Partition(_) => "partition",
            Part::Network(_) => "network",
            Part::Dispatcher(_) => "dispatcher",
            Part::Domain(domain) => domain.island().kind(),
        }
    }

    /// Counters of this part.
    pub fn statistics(&self) -> Vec<Group> {
        match self {
            Part::Sm(sm) => sm.statistics(),
            Part::Network(network) => network.statistics(),
            Part::Partition(partition) => partition.statistics(),
            Part::Dispatcher(_) => Vec::new(),
            Part::Domain(domain) => domain.island().statistics(),
        }
    }
}
