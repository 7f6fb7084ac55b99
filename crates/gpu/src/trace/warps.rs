//! The rows of an SM: what its warps issue and wait for, and its queues.

use strata_engine::Cycle;
use strata_sm::SmEvent;
use strata_sm::statistics::Stall;

use super::file::{Process, Slice, TraceFile, Track, Value};
use super::text::Instructions;

/// Draws what an SM's warps have done until `end`.
pub fn draw(
    file: &mut TraceFile,
    process: Process,
    events: &[(Cycle, SmEvent)],
    instructions: &mut Instructions<'_>,
    end: u64,
) {
    let mut warps = Warps { process, tracks: Vec::new(), waiting: Vec::new() };
    let (mut queue, mut outstanding) = (None, None);
    for (now, event) in events {
        match *event {
            SmEvent::Issued { warp, pc, cta, lanes } => {
                let track = warps.thread(file, warp);
                let (name, text) = instructions.numbers(file, pc);
                let values = [
                    ("ptx", Value::Text(text)),
                    ("cta", Value::Number(cta)),
                    ("lanes", Value::Number(lanes.into())),
                ];
                file.slice(Slice {
                    track,
                    depth: 0,
                    from: now.0,
                    to: now.0 + 1,
                    name,
                    category: "instruction",
                    flow: None,
                    values: values.map(Some),
                });
            }
            SmEvent::Waits { warp, cause } => {
                let before = warps.begins_to_wait(warp, now.0, cause);
                warps.draw_wait(file, warp, before, now.0);
            }
            SmEvent::Queued { instructions } => {
                let counter = || file.counter(process.track, "LSU queue", "instructions");
                let track = *queue.get_or_insert_with(counter);
                file.count(track, now.0, instructions.into());
            }
            SmEvent::Outstanding { requests } => {
                let counter = || file.counter(process.track, "L1D requests outstanding", "requests");
                let track = *outstanding.get_or_insert_with(counter);
                file.count(track, now.0, requests.into());
            }
            SmEvent::Access { .. }
            | SmEvent::Completed { .. }
            | SmEvent::Ended { .. }
            | SmEvent::Sent { .. }
            | SmEvent::Answered { .. } => {}
        }
    }
    for (warp, last) in (0..).zip(std::mem::take(&mut warps.waiting)) {
        warps.draw_wait(file, warp, last, end);
    }
}

/// The warps of an SM.
struct Warps {
    process: Process,
    /// By warp: its track, and the one below for what it waits for, once the file has them.
    tracks: Vec<(Option<Track>, Option<Track>)>,
    /// By warp: since when it waits for what.
    waiting: Vec<Option<(u64, Stall)>>,
}

impl Warps {
    fn thread(&mut self, file: &mut TraceFile, warp: u8) -> Track {
        let place = usize::from(warp);
        if self.tracks.len() <= place {
            self.tracks.resize(place + 1, (None, None));
        }
        let thread = || file.thread(self.process, warp.into(), &format!("warp {warp}"));
        *self.tracks[place].0.get_or_insert_with(thread)
    }

    /// A warp waits for something else from now on. Returns what it waited for before.
    fn begins_to_wait(&mut self, warp: u8, now: u64, cause: Stall) -> Option<(u64, Stall)> {
        let place = usize::from(warp);
        if self.waiting.len() <= place {
            self.waiting.resize(place + 1, None);
        }
        self.waiting[place].replace((now, cause))
    }

    /// Draws what a warp waited for until `to`.
    fn draw_wait(&mut self, file: &mut TraceFile, warp: u8, waited: Option<(u64, Stall)>, to: u64) {
        let Some((from, cause)) = waited.filter(|(_, cause)| *cause != Stall::NoWarp) else { return };
        let thread = self.thread(file, warp);
        let below = || file.track(thread, "waits for", 0);
        let track = *self.tracks[usize::from(warp)].1.get_or_insert_with(below);
        let name = file.label(awaited(cause));
        let (category, flow, values) = ("wait", None, [None; 3]);
        file.slice(Slice { track, depth: 0, from, to, name, category, flow, values });
    }
}

/// What a warp waits for.
const fn awaited(cause: Stall) -> &'static str {
    match cause {
        Stall::LsuFull => "load/store unit",
        Stall::CollectorFull => "operand collector",
        Stall::Inactive => "its turn",
        Stall::Memory => "memory",
        Stall::Execution => "execution",
        Stall::Control => "control",
        Stall::Barrier => "barrier",
        Stall::Fence => "fence",
        Stall::Copies => "copies",
        Stall::Fetch => "fetch",
        Stall::Sleep => "sleep",
        Stall::Drained => "drained",
        Stall::NoWarp => "no warp",
    }
}
