//! Traces: what warps, accesses, packets and DRAM do, cycle by cycle, as a file for Perfetto.
//!
//! Nothing of it is there unless a trace is asked for. Then SMs [record](strata_sm::SmEvent) what their warps do, and parts that record
//! stand in front of L1Ds and slices, whatever these are. After each launch the records are pieced together and drawn.

mod file;
pub(crate) mod l1d;
mod llc;
mod memory;
mod options;
pub mod proto;
pub(crate) mod requests;
mod rows;
mod sample;
pub(crate) mod slices;
mod text;
mod warps;

use std::collections::HashMap;
use std::sync::Arc;

use strata_engine::{Cycle, Log};
use strata_memory::NodeId;
use strata_sm::{Key, Launch, SmEvent, SmLog};

pub use options::{TraceOptions, WINDOW_CYCLES};

use crate::machine::Machine;
use crate::makers::Makers;
use file::{Slice, TraceFile, Value};
use l1d::recording_l1ds;
use requests::accesses;
use sample::Sample;
use slices::Slices;
use text::Instructions;

/// Cycles over which commands of DRAM are counted together.
const ROW_CYCLES: u64 = 100;

/// Names of a sampled trace's metadata: every how many-th memory request of an SM it has,
pub const SAMPLED_REQUESTS: &str = "strata.every_nth_request";
/// and every how many-th warp slot.
pub const SAMPLED_WARPS: &str = "strata.every_nth_warp";

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
    slices: Slices,
    /// The module's text.
    ptx: String,
    sms: Vec<(u16, Arc<SmLog>)>,
    sample: Sample,
    file: TraceFile,
    next_flow: u64,
    /// Whether any cycle was in the window.
    has_any: bool,
}

impl Tracer {
    /// A trace of a run on a machine, of a program whose module has this text.
    ///
    /// # Errors
    /// An SM that cannot be traced; or that the trace has nothing in it.
    pub fn new(machine: &Machine, options: TraceOptions, ptx: &str) -> Result<Tracer, String> {
        options.check()?;
        let sms = options.sms(machine)?;
        let mut file = TraceFile::default();
        if (options.sample, options.sample_warps) != (1, 1) {
            let every = [(SAMPLED_REQUESTS, options.sample), (SAMPLED_WARPS, options.sample_warps)];
            file.metadata(&every);
        }
        Ok(Tracer {
            sample: Sample::new(options.sample),
            options,
            slices: Slices::new(machine, usize::MAX)?,
            ptx: ptx.to_owned(),
            sms: sms.into_iter().map(|sm| (sm, Log::closed())).collect(),
            file,
            next_flow: 1,
            has_any: false,
        })
    }

    /// The makers of a machine whose parts record what they do, with accounts of these kinds.
    pub fn makers(&self, accounts: Vec<Key>) -> Makers<'static> {
        let logs: HashMap<u16, Arc<SmLog>> = self.sms.iter().cloned().collect();
        let warps = self.options.warps();
        let records = logs.iter().map(|(sm, log)| (*sm, (log.clone(), warps))).collect();
        Makers { l1d: recording_l1ds(logs), accounts, records, ..self.slices.makers() }
    }

    /// A launch begins in a core cycle. Returns when row commands are counted.
    pub(crate) fn begin(&mut self, launch: u64, start: Cycle) -> RowWindow {
        let window = self.options.window(launch, start.0);
        let (from, until) = (Cycle(window.start), Cycle(window.end));
        self.sms.iter().for_each(|(_, log)| log.open(from, until));
        self.slices.open(from, until);
        RowWindow { from, until, every: ROW_CYCLES }
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
        let mut instructions = Instructions::new(&launch.kernel, &ptx);
        self.draw_launch(launch, from, to);
        let first_flow = self.next_flow;
        let mut packets = Vec::new();
        let mut of_sms = Vec::new();
        for (sm, log) in &self.sms {
            let mut events = log.take();
            events.sort_by_key(|(cycle, _): &(Cycle, SmEvent)| *cycle);
            let first = packets.len();
            let mut draws = |issued| from <= issued && self.sample.takes_access(*sm);
            let mut accesses = accesses(NodeId(*sm), &events, &mut packets, &mut draws);
            accesses.retain(|access| access.is_drawn);
            self.sample.choose_packets(*sm, &accesses, &mut packets, first);
            of_sms.push((*sm, events, accesses));
        }
        let mut visits = self.slices.visits(&mut packets);
        self.sample.choose_visits(&mut visits, &packets);
        for (sm, events, accesses) in of_sms {
            let process = self.file.process(&format!("SM {sm}"));
            warps::draw(&mut self.file, process, &events, &mut instructions, to);
            memory::draw_accesses(&mut self.file, process, accesses, &packets, &mut instructions, first_flow);
        }
        memory::draw_networks(&mut self.file, &packets, &visits.visits, first_flow);
        let map = self.slices.map;
        memory::draw_partitions(&mut self.file, &visits, &|slice| map.channel_of(slice).0, first_flow);
        self.draw_rows(rows);
        self.next_flow += packets.len() as u64;
        self.ptx = ptx;
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
