//! An L1D in which everything costs what a hit costs.
//!
//! It keeps no lines: every access goes below at once, so its bytes are always memory's. Its completion comes after the latency of a hit,
//! counted from its acceptance, whatever it is: a load, a store, an atomic, or one that asks to go past the cache. The ports are as in a
//! cache: so many accesses a cycle. There are no banks, MSHRs, ways or queues to wait for.
//!
//! That holds as long as an answer from below is here within the latency of a hit. What is not, is late and counted as such; behind the L1D
//! belongs a memory that is faster ([`super::network`], [`super::llc`], at a fast clock).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use schemars::JsonSchema;
use serde::Deserialize;
use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cited, Cycle, Slab, statistics};
use strata_memory::doors::{
    Access, Action, Completion, Design, HOST_ITEM_BYTES, L1d, L1dDesign, L1dSite, Policy, Refusal,
};
use strata_memory::packets::Packets;
use strata_memory::{Body, Client, Contents, Level, Packet, ParameterError};

use crate::chassis::{Found, L1dStatistics};

/// The parameters of an ideal L1D.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdealL1dConfig {
    /// Cycles from the acceptance of an access to its completion.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
    pub hit_latency_cycles: Cited<u64>,
    /// Accesses that it takes in a cycle.
    #[schemars(range(min = 1, max = 32), extend("unit" = "accesses"))]
    pub accesses_per_cycle: Cited<u32>,
    /// Accesses that can be under way; `lsu.accesses` is enough for all there are.
    #[schemars(range(min = 1, max = 32768), extend("unit" = "accesses"))]
    pub entries: Cited<usize>,
}

#[cfg(test)]
pub(super) const EXAMPLE: &str = r#"
[l1d.ideal]
hit_latency_cycles = { value = 9, source = "test" }
accesses_per_cycle = { value = 1, source = "test" }
entries = { value = 64, source = "test" }
"#;

impl Design for IdealL1dConfig {
    fn check(&self) -> Result<(), ParameterError> {
        let bounds = [
            ("hit_latency_cycles", *self.hit_latency_cycles, 4096),
            ("accesses_per_cycle", u64::from(*self.accesses_per_cycle), 32),
            ("entries", *self.entries as u64, 32768),
        ];
        for (field, value, most) in bounds {
            if !(1..=most).contains(&value) {
                return Err(ParameterError::new(field, format!("must be 1 to {most}, found {value}")));
            }
        }
        Ok(())
    }

    fn outline(&self) -> String {
        format!("ideal: everything costs a hit, {} cycles", *self.hit_latency_cycles)
    }

    fn host_bytes(&self) -> u64 {
        3 * *self.entries as u64 * HOST_ITEM_BYTES
    }
}

impl L1dDesign for IdealL1dConfig {
    /// It keeps no lines.
    fn capacity_bytes(&self) -> u64 {
        0
    }

    fn build(&self, site: L1dSite) -> Result<Box<dyn L1d>, ParameterError> {
        self.check()?;
        Ok(Box::new(IdealL1d {
            site,
            hit_latency: *self.hit_latency_cycles,
            ports: *self.accesses_per_cycle,
            used: (Cycle::NEVER, 0),
            under_way: Slab::new(*self.entries + site.held_loads),
            writes: 0,
            accepted: 0,
            outgoing: VecDeque::new(),
            done: BinaryHeap::new(),
            is_flushing: false,
            packets: Packets::default(),
            statistics: L1dStatistics::default(),
            ideal: IdealL1dStatistics::default(),
        }))
    }
}

statistics! {
    /// What an ideal L1D could not hide.
    pub struct IdealL1dStatistics: "ideal_l1d" {
        /// Accesses whose answer came later than a hit would have.
        late: "accesses",
        /// Cycles by which they came later.
        late_cycles: "cycles",
    }
    laws {
        "late <= late_cycles": |s| s.late <= s.late_cycles,
    }
}

/// An L1D in which everything costs a hit.
struct IdealL1d {
    site: L1dSite,
    hit_latency: u64,
    ports: u32,
    /// The last cycle in which ports were used, and how many.
    used: (Cycle, u32),
    under_way: Slab<Entry>,
    /// Those of them that are not loads.
    writes: usize,
    /// Accesses accepted so far: the order of completions that are due in one cycle.
    accepted: u64,
    outgoing: VecDeque<Packet>,
    /// Accesses that are answered, by the cycle of their completion.
    done: BinaryHeap<Reverse<(Cycle, u64, u32)>>,
    is_flushing: bool,
    packets: Packets,
    statistics: L1dStatistics,
    ideal: IdealL1dStatistics,
}

/// An access under way.
struct Entry {
    token: u32,
    number: u64,
    due: Cycle,
    /// Its buffer, once it is back.
    action: Option<Action>,
}

impl IdealL1d {
    fn room(&self, now: Cycle) -> Result<(), Refusal> {
        if self.is_flushing {
            Err(Refusal::Flush)
        } else if self.used == (now, self.ports) {
            Err(Refusal::Port)
        } else if self.under_way.is_full() {
            Err(Refusal::Mshr)
        } else {
            Ok(())
        }
    }

    fn end_flush(&mut self) {
        // What was written is in memory, where everybody sees it, and there are no copies to drop.
        self.is_flushing &= self.writes > 0;
    }
}

impl L1d for IdealL1d {
    fn accesses_per_cycle(&self) -> u32 {
        self.ports
    }

    fn packets_per_cycle(&self) -> u32 {
        self.ports
    }

    fn offer(&mut self, access: Access, now: Cycle) -> Result<(), (Access, Refusal)> {
        if let Err(cause) = self.room(now) {
            self.statistics.refuse(cause);
            return Err((access, cause));
        }
        let ports = if self.used.0 == now { self.used.1 } else { 0 };
        self.used = (now, ports + 1);
        let goes_past = access.policy == Policy::Bypass || matches!(access.action, Action::Atomic(_));
        self.statistics.count(&access, goes_past, Found::Hit);
        let origin = access.origin();
        let Access { line, bytes, action, token, .. } = access;
        let body = match action {
            Action::Load(tray) => {
                self.statistics.data_reads += u64::from(!goes_past);
                Body::Read(tray)
            }
            Action::Store(tray) => {
                self.statistics.data_writes += u64::from(!goes_past);
                Body::Write(tray)
            }
            Action::Atomic(batch) => Body::Atomic(batch),
        };
        self.writes += usize::from(!matches!(body, Body::Read(_)));
        let entry = Entry { token, number: self.accepted, due: now + self.hit_latency, action: None };
        self.accepted += 1;
        let tag = self.under_way.insert(entry).ok().expect("room for an access was checked");
        let (source, destination) = (self.site.node, self.site.slices.node_of(line));
        let (client, level) = (Client::L1d, Level::default());
        let contents = Contents { line, bytes, source, destination, client, tag, origin, level, body };
        self.outgoing.push_back(self.packets.write(contents));
        Ok(())
    }

    fn accept(&mut self, reply: Packet, now: Cycle) {
        self.statistics.bytes_in += u64::from(reply.wire_bytes());
        let tag = reply.tag;
        let action = match self.packets.open(reply) {
            Body::ReadReply(tray) => Action::Load(tray),
            Body::WriteAck(tray) => Action::Store(tray),
            Body::AtomicReply(batch) => Action::Atomic(batch),
            body => unreachable!("the L1D never asked for this: {body:?}"),
        };
        self.writes -= usize::from(!matches!(action, Action::Load(_)));
        self.end_flush();
        let entry = self.under_way.get_mut(tag);
        entry.action = Some(action);
        let late = now.since(entry.due);
        self.ideal.late += u64::from(late > 0);
        self.ideal.late_cycles += late;
        self.done.push(Reverse((entry.due.max(now), entry.number, tag)));
    }

    fn tick(&mut self, _now: Cycle) {}

    fn completed(&mut self, now: Cycle) -> Option<Completion> {
        let Reverse((due, _, tag)) = *self.done.peek()?;
        if due > now {
            return None;
        }
        self.done.pop();
        let Entry { token, action, .. } = self.under_way.remove(tag);
        Some(Completion { token, action: action.expect("what is answered has its buffer back") })
    }

    fn outgoing(&mut self, _now: Cycle) -> Option<Packet> {
        let packet = self.outgoing.pop_front()?;
        self.statistics.bytes_out += u64::from(packet.wire_bytes());
        Some(packet)
    }

    fn outgoing_bytes(&self, _now: Cycle) -> Option<u32> {
        self.outgoing.front().map(|packet| packet.wire_bytes())
    }

    fn begin_flush(&mut self, _invalidate: bool, _now: Cycle) {
        self.statistics.flushes += 1;
        self.is_flushing = true;
        self.end_flush();
    }

    fn is_flushed(&self) -> bool {
        !self.is_flushing && self.writes == 0
    }

    fn outstanding(&self) -> usize {
        self.under_way.len() - self.done.len()
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        if !self.outgoing.is_empty() {
            return now;
        }
        self.done.peek().map_or(Cycle::NEVER, |Reverse((due, ..))| (*due).max(now))
    }

    fn waits(&self, report: &mut Vec<String>) {
        if !self.under_way.is_empty() {
            report.push(format!(
                "ideal L1D: {} accesses wait for their answers, {} packets for the network",
                self.outstanding(),
                self.outgoing.len()
            ));
        }
    }

    fn statistics(&self) -> Vec<Group> {
        vec![self.statistics.report(), self.ideal.report()]
    }
}
