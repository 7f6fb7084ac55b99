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
    instructions: &Instructions<'_>,
    end: u64,
) {
    // By warp, since when it waits for what.
    let mut waiting: Vec<Option<(u64, Stall)>> = Vec::new();
    for (now, event) in events {
        match *event {
            SmEvent::Issued { warp, pc, cta, lanes } => {
                let track = thread(file, process, warp);
                let text = file.text(&instructions.text(pc));
                let name = file.name(instructions.name(pc));
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
                let place = usize::from(warp);
                if waiting.len() <= place {
                    waiting.resize(place + 1, None);
                }
                let before = waiting[place].replace((now.0, cause));
                wait(file, process, warp, before, now.0);
            }
            SmEvent::Queued { instructions } => {
                let track = file.counter(process.track, "LSU queue", "instructions");
                file.count(track, now.0, instructions.into());
            }
            SmEvent::Outstanding { requests } => {
                let track = file.counter(process.track, "L1D requests outstanding", "requests");
                file.count(track, now.0, requests.into());
            }
            SmEvent::Access { .. }
            | SmEvent::Completed { .. }
            | SmEvent::Ended { .. }
            | SmEvent::Sent { .. }
            | SmEvent::Answered { .. } => {}
        }
    }
    for (warp, last) in (0..).zip(waiting) {
        wait(file, process, warp, last, end);
    }
}

fn thread(file: &mut TraceFile, process: Process, warp: u8) -> Track {
    file.thread(process, warp.into(), &format!("warp {warp}"))
}

/// Draws what a warp waited for until `to`.
fn wait(file: &mut TraceFile, process: Process, warp: u8, waited: Option<(u64, Stall)>, to: u64) {
    let Some((from, cause)) = waited.filter(|(_, cause)| *cause != Stall::NoWarp) else { return };
    let warp = thread(file, process, warp);
    let track = file.track(warp, "waits for", 0);
    let name = file.name(awaited(cause));
    let (category, flow, values) = ("wait", None, [None; 3]);
    file.slice(Slice { track, depth: 0, from, to, name, category, flow, values });
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
