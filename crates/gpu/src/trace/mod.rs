//! Traces: what warps, accesses, packets and DRAM do, cycle by cycle, as a file for Perfetto.
//!
//! Nothing of it is there unless a trace is asked for. Then SMs [record](strata_sm::SmEvent) what their warps do, and parts that record
//! stand in front of L1Ds and slices, whatever these are. After each launch the records are pieced together and drawn.

mod file;
mod l1d;
mod llc;
mod memory;
mod options;
pub mod proto;
mod requests;
mod rows;
mod text;
mod warps;

use std::collections::HashMap;
use std::sync::Arc;

use strata_engine::{ClockRatio, Cycle, Log};
use strata_memory::address_map::{AddressMap, Home};
use strata_memory::{LineAddress, NodeId};
use strata_sm::{Key, Launch, SmEvent, SmLog};

pub use options::{TraceOptions, WINDOW_CYCLES};

use crate::machine::Machine;
use crate::makers::Makers;
use file::{Slice, TraceFile, Value};
use l1d::TracedL1d;
use llc::{SliceLog, TracedLlc};
use requests::{Senders, Visits, accesses};
use text::Instructions;

/// Cycles over which commands of DRAM are counted together.
const ROW_CYCLES: u64 = 100;

/// Row commands of a channel in some core cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowActivity {
    /// The channel.
    pub channel: u16,
    /// The first cycle.
    pub from: Cycle,
    /// Rows opened.
    pub activates: u64,
    /// Requests that found their row open.
    pub row_hits: u64,
}

/// The core cycles of a launch in which row commands are counted, so many cycles together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowWindow {
    /// The first cycle.
    pub from: Cycle,
    /// The cycle after the last.
    pub until: Cycle,
    /// Cycles that are counted together.
    pub every: u64,
}

/// Collects a trace.
pub struct Tracer {
    options: TraceOptions,
    map: AddressMap,
    slice_clock: ClockRatio,
    /// The module's text.
    ptx: String,
    sms: Vec<(u16, Arc<SmLog>)>,
    slices: Vec<Arc<SliceLog>>,
    file: TraceFile,
    next_flow: u64,
    /// Whether any cycle was in the window.
    has_any: bool,
}

impl Tracer {
    /// A trace of a run on a machine, of a program whose module has this text.
    ///
    /// # Errors
    /// An SM that cannot be traced; or that the trace has no cycles.
    pub fn new(machine: &Machine, options: TraceOptions, ptx: &str) -> Result<Tracer, String> {
        if options.cycles == 0 {
            return Err("a trace of 0 cycles: expected at least 1".into());
        }
        let file = machine.file();
        let sms = options.sms(machine)?;
        let first_slice = NodeId(*file.gpu.sms + file.cpu_cores() + file.gmmus());
        let map = file.gpu.address_map(first_slice).map_err(|error| format!("gpu: {error}"))?;
        Ok(Tracer {
            options,
            map,
            slice_clock: file.clocks.l2(),
            ptx: ptx.to_owned(),
            sms: sms.into_iter().map(|sm| (sm, Log::closed())).collect(),
            slices: (0..map.slice_map().slices()).map(|_| Log::closed()).collect(),
            file: TraceFile::default(),
            next_flow: 1,
            has_any: false,
        })
    }

    /// The makers of a machine whose parts record what they do, with accounts of these kinds.
    pub fn makers(&self, accounts: Vec<Key>) -> Makers<'static> {
        let logs: HashMap<u16, Arc<SmLog>> = self.sms.iter().cloned().collect();
        let (l1ds, slices) = (logs.clone(), self.slices.clone());
        Makers {
            l1d: Box::new(move |design, site| {
                let l1d = design.build(site)?;
                Ok(match l1ds.get(&site.node.0) {
                    Some(log) => Box::new(TracedL1d::new(l1d, log.clone())),
                    None => l1d,
                })
            }),
            llc: Box::new(move |design, site| {
                let log = slices[usize::from(site.slice)].clone();
                Ok(Box::new(TracedLlc::new(design.build(site)?, log)))
            }),
            accounts,
            records: logs,
            ..Makers::default()
        }
    }

    /// A launch begins in a core cycle. Returns when row commands are counted.
    pub(crate) fn begin(&mut self, launch: u64, start: Cycle) -> RowWindow {
        let window = self.options.window(launch, start.0);
        let (from, until) = (Cycle(window.start), Cycle(window.end));
        self.sms.iter().for_each(|(_, log)| log.open(from, until));
        let (first, end) = (self.slice_cycle(from), self.slice_cycle(until));
        self.slices.iter().for_each(|log| log.open(first, end));
        RowWindow { from, until, every: ROW_CYCLES }
    }

    /// The first cycle of the slices' clock that is simulated in a core cycle or later.
    fn slice_cycle(&self, core: Cycle) -> Cycle {
        match core.0.checked_sub(1) {
            Some(before) => Cycle(self.slice_clock.local(Cycle(before)).saturating_add(1)),
            None => Cycle::ZERO,
        }
    }

    /// A launch that began in core cycle `start` has ended before `end`: draws it.
    pub(crate) fn end(&mut self, launch: &Launch, (start, end): (Cycle, Cycle), rows: &[RowActivity]) {
        let window = self.options.window(launch.number, start.0);
        let (from, to) = (start.0.max(window.start), end.0.min(window.end));
        if from >= to {
            return;
        }
        self.has_any = true;
        let ptx = std::mem::take(&mut self.ptx);
        let instructions = Instructions::new(&launch.kernel, &ptx);
        self.draw_launch(launch, from, to);
        let first_flow = self.next_flow;
        let mut packets = Vec::new();
        let mut of_sms = Vec::new();
        for (sm, log) in &self.sms {
            let mut events = log.take();
            events.sort_by_key(|(cycle, _): &(Cycle, SmEvent)| *cycle);
            let mut accesses = accesses(NodeId(*sm), &events, &mut packets);
            accesses.retain(|access| from <= access.issued);
            of_sms.push((*sm, events, accesses));
        }
        let visits = self.visits(&mut packets);
        for (sm, events, accesses) in of_sms {
            let process = self.file.process(&format!("SM {sm}"));
            warps::draw(&mut self.file, process, &events, &instructions, to);
            memory::draw_accesses(&mut self.file, process, accesses, &packets, &instructions, first_flow);
        }
        memory::draw_networks(&mut self.file, &packets, &visits.visits, first_flow);
        let map = self.map;
        memory::draw_partitions(&mut self.file, &visits, &|slice| map.channel_of(slice).0, first_flow);
        self.draw_rows(rows);
        self.next_flow += packets.len() as u64;
        self.ptx = ptx;
    }

    /// What the slices have recorded.
    fn visits(&self, packets: &mut [requests::Packet]) -> Visits {
        let mut visits = Visits::default();
        let mut senders = Senders::new(packets);
        let clock = self.slice_clock;
        for (slice, log) in (0..).zip(&self.slices) {
            let map = self.map;
            let device_line = move |line: LineAddress| map.device_line(Home { slice, line });
            let of_slice: (&dyn Fn(Cycle) -> u64, &dyn Fn(LineAddress) -> LineAddress) =
                (&|cycle: Cycle| clock.reference(cycle.0).0, &device_line);
            visits.add(slice, &log.take(), of_slice, (&mut senders, packets));
        }
        visits
    }

    fn draw_launch(&mut self, launch: &Launch, from: u64, to: u64) {
        let process = self.file.process("GPU");
        let track = self.file.track(process.track, "launches", 0);
        let name = self.file.name(&launch.kernel.name);
        self.file.slice(Slice {
            track,
            depth: 0,
            from,
            to,
            name,
            category: "launch",
            flow: None,
            values: [
                Some(("number", Value::Number(launch.number))),
                Some(("ctas", Value::Number(launch.ctas()))),
                None,
            ],
        });
    }

    fn draw_rows(&mut self, rows: &[RowActivity]) {
        for RowActivity { channel, from, activates, row_hits } in rows {
            let process = self.file.process(&memory::channel(*channel));
            for (name, value) in [("DRAM activates", *activates), ("DRAM row hits", *row_hits)] {
                let track = self.file.counter(process.track, name, "in 100 cycles");
                self.file.count(track, from.0, value);
            }
        }
    }

    /// The trace's bytes; `None` if no cycle of a launch was in the window.
    pub fn into_bytes(self) -> Option<Vec<u8>> {
        self.has_any.then(|| self.file.into_bytes())
    }
}
