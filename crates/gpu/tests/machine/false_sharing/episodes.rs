//! Random race-free episodes on a few lines that all threads write.
//!
//! In an episode, at most one thread writes each slot (1 to 16 aligned bytes), and it may also read it; a
//! slot that no thread writes may be read by all. A plain array of bytes therefore predicts every value read,
//! although neighbouring bytes of the line change at the same time. Episodes are separated by the end of the
//! kernel, or by a barrier of the whole grid with fences.

use std::fmt::Write;

use strata_engine::seed::Stream;
use strata_gpu::device::TimedDevice;
use strata_memory::LINE_BYTES;
use strata_workloads::{Arg, Device, DeviceError, Module, Shape as Launched};

use crate::support::variation::Variation;
use crate::support::{WrapL1d, with_wrapped_l1ds};

/// What separates the episodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// Each episode is a launch.
    Launches,
    /// A barrier of the grid, with a fence in every thread.
    GridBarrier,
    /// A barrier of the grid, with a fence in one thread of each CTA on behalf of its CTA.
    GridBarrierOneFence,
}

/// Shape of the episodes. The CTAs of a grid barrier must all be resident.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub grid: u32,
    pub block: u32,
    /// Number of contended lines.
    pub lines: u32,
    pub episodes: u32,
    /// Accesses of each thread in an episode.
    pub steps: u32,
    pub between: Between,
    pub seed: u64,
}

/// Size of a step in the plan in bytes: offset, kind, two unused words, the value to store.
const STEP_BYTES: u32 = 32;
/// Size of a step's result in bytes.
const RESULT_BYTES: u32 = 16;
/// Store and load instructions by `log2(width)`, plain and strong.
const SUFFIXES: [&str; 5] = ["u8", "u16", "u32", "v2.u32", "v4.u32"];
const REGISTERS: [&str; 5] = ["%v0", "%v0", "%v0", "{%v0, %v1}", "{%v0, %v1, %v2, %v3}"];
const STORES: [&str; 3] = ["st.global", "st.volatile.global", "st.global.cg"];
const LOADS: [&str; 3] = ["ld.global", "ld.volatile.global", "ld.global.cg"];

/// A step's kind: 0 does nothing, then stores by flavour and width, then loads.
fn kind(load: bool, flavour: u64, log_width: u32) -> u32 {
    1 + u32::from(load) * 15 + flavour as u32 * 5 + log_width
}

/// What the threads do, and the expected results.
struct Plan {
    steps: Vec<u8>,
    at_first: Vec<u8>,
    at_end: Vec<u8>,
    results: Vec<u8>,
}

fn plan(shape: &Shape) -> Plan {
    let mut stream = Stream::new(shape.seed, "episodes");
    let threads = shape.grid * shape.block;
    let bytes = shape.lines as usize * LINE_BYTES;
    let at_first: Vec<u8> = (0..bytes).map(|_| stream.next() as u8).collect();
    let mut memory = at_first.clone();
    let count = (shape.episodes * shape.steps * threads) as usize;
    let mut steps = vec![0; count * STEP_BYTES as usize];
    let mut results = vec![0; count * RESULT_BYTES as usize];
    for episode in 0..shape.episodes {
        let mut owned: Vec<Vec<(usize, u32)>> = vec![Vec::new(); threads as usize];
        let mut free = Vec::new();
        let mut at = 0;
        while at < bytes {
            let log_width = (stream.below(5) as u32).min((at | 16).trailing_zeros());
            let owner = &mut owned[stream.below(u64::from(threads)) as usize];
            if stream.below(4) == 0 { &mut free } else { owner }.push((at, log_width));
            at += 1 << log_width;
        }
        for (thread, owned) in owned.iter().enumerate() {
            for step in 0..shape.steps {
                let index = ((episode * shape.steps + step) * threads) as usize + thread;
                let own = !owned.is_empty() && stream.below(3) != 0;
                let slots = if own { owned } else { &free };
                if slots.is_empty() {
                    continue;
                }
                let (at, log_width) = slots[stream.below(slots.len() as u64) as usize];
                let load = !own || stream.below(3) == 0;
                let width = 1 << log_width;
                let kind = kind(load, stream.below(6).saturating_sub(3), log_width);
                let place = &mut steps[index * STEP_BYTES as usize..][..STEP_BYTES as usize];
                place[..4].copy_from_slice(&(at as u32).to_le_bytes());
                place[4..8].copy_from_slice(&kind.to_le_bytes());
                if load {
                    results[index * RESULT_BYTES as usize..][..width]
                        .copy_from_slice(&memory[at..at + width]);
                } else {
                    place[16..16 + width].fill_with(|| stream.next() as u8);
                    memory[at..at + width].copy_from_slice(&place[16..16 + width]);
                }
            }
        }
    }
    Plan { steps, at_first, at_end: memory, results }
}

/// The kernel that plays the episodes.
fn text(between: Between) -> String {
    let mut accesses = String::new();
    for (load, flavours) in [(false, STORES), (true, LOADS)] {
        for (flavour, name) in flavours.iter().enumerate() {
            for (log_width, (suffix, registers)) in SUFFIXES.iter().zip(REGISTERS).enumerate() {
                let kind = kind(load, flavour as u64, log_width as u32);
                let operands =
                    if load { format!("{registers}, [%at]") } else { format!("[%at], {registers}") };
                writeln!(accesses, "setp.eq.u32 %p, %kind, {kind};\n@%p {name}.{suffix} {operands};")
                    .expect("a string grows");
            }
        }
    }
    let (all, one) = match between {
        Between::GridBarrierOneFence => ("", "membar.gl;"),
        _ => ("membar.gl;", ""),
    };
    format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n\
         .visible .entry episodes(.param .u64 plan, .param .u64 lines, .param .u64 results, .param .u64 arrivals,\n\
         .param .u32 first, .param .u32 last, .param .u32 steps)\n{{\n\
         .reg .b32 %n, %threads, %grid, %tid, %episode, %last, %steps, %step, %index, %kind, %offset, %target, %seen;\n\
         .reg .b32 %v<4>, %w<2>;\n.reg .b64 %plan, %lines, %results, %arrivals, %at, %wide;\n.reg .pred %p;\n\
         ld.param.u64 %plan, [plan];\nld.param.u64 %lines, [lines];\nld.param.u64 %results, [results];\n\
         ld.param.u64 %arrivals, [arrivals];\nld.param.u32 %episode, [first];\nld.param.u32 %last, [last];\n\
         ld.param.u32 %steps, [steps];\nmov.u32 %tid, %tid.x;\nmov.u32 %grid, %nctaid.x;\n\
         mov.u32 %n, %ctaid.x;\nmov.u32 %threads, %ntid.x;\nmad.lo.u32 %n, %n, %threads, %tid;\n\
         mul.lo.u32 %threads, %threads, %grid;\nmov.u32 %target, 0;\n\
         EPISODE:\nmov.u32 %step, 0;\n\
         STEP:\nmad.lo.u32 %index, %episode, %steps, %step;\nmad.lo.u32 %index, %index, %threads, %n;\n\
         mul.wide.u32 %at, %index, {STEP_BYTES};\nadd.u64 %at, %at, %plan;\n\
         ld.global.v4.u32 {{%offset, %kind, %w0, %w1}}, [%at];\n\
         ld.global.v4.u32 {{%v0, %v1, %v2, %v3}}, [%at+16];\ncvt.u64.u32 %wide, %offset;\nadd.u64 %at, %lines, %wide;\n\
         {accesses}\
         setp.lt.u32 %p, %kind, {first_load};\n@%p bra NEXT;\nmul.wide.u32 %at, %index, {RESULT_BYTES};\n\
         add.u64 %at, %at, %results;\nst.global.v4.u32 [%at], {{%v0, %v1, %v2, %v3}};\n\
         NEXT:\nadd.u32 %step, %step, 1;\nsetp.lt.u32 %p, %step, %steps;\n@%p bra STEP;\n\
         add.u32 %episode, %episode, 1;\nsetp.eq.u32 %p, %episode, %last;\n@%p bra DONE;\n\
         {all}\nbar.sync 0;\nadd.u32 %target, %target, %grid;\nsetp.ne.u32 %p, %tid, 0;\n@%p bra ARRIVED;\n\
         {one}\nred.global.add.u32 [%arrivals], 1;\n\
         WAIT:\nld.volatile.global.u32 %seen, [%arrivals];\nsetp.lt.u32 %p, %seen, %target;\n@%p bra WAIT;\n{one}\n\
         ARRIVED:\nbar.sync 0;\n{all}\nbra EPISODE;\n\
         DONE:\nret;\n}}\n",
        first_load = kind(true, 0, 0),
    )
}

/// Plays the episodes on a machine. The error describes the first mismatch.
pub fn check(mut shape: Shape, variation: &Variation, wrap_l1d: WrapL1d<'_>) -> Result<(), String> {
    let (machine, options) = variation.machine();
    // One CTA per SM: the whole grid is resident on any machine.
    shape.grid = shape.grid.min(u32::from(*machine.file().gpu.sms));
    let text = text(shape.between);
    let mut silent = |_: &_| {};
    let module = Module { name: "episodes.ptx", text: &text };
    let gpu = with_wrapped_l1ds(&machine, options, wrap_l1d)?;
    let mut device = TimedDevice::on(gpu, &machine, module, &mut silent)?;
    match play(&shape, &mut device).map_err(|error| error.to_string())? {
        Some(wrong) => Err(wrong),
        None => Ok(()),
    }
}

/// Plays the episodes on a device and describes the first mismatch, if any.
fn play(shape: &Shape, device: &mut dyn Device) -> Result<Option<String>, DeviceError> {
    let plan = plan(shape);
    let steps = device.alloc("plan", plan.steps.len() as u64)?;
    let lines = device.alloc("lines", plan.at_first.len() as u64)?;
    let results = device.alloc("results", plan.results.len() as u64)?;
    let arrivals = device.alloc("arrivals", 4)?;
    device.upload(steps, &plan.steps)?;
    device.upload(lines, &plan.at_first)?;
    device.fill(results, 0, plan.results.len() as u64)?;
    device.fill(arrivals, 0, 4)?;
    let mut launch = |first, last| {
        device.launch(
            "episodes",
            Launched::new([shape.grid, 1, 1], [shape.block, 1, 1]),
            &[
                Arg::Ptr(steps),
                Arg::Ptr(lines),
                Arg::Ptr(results),
                Arg::Ptr(arrivals),
                Arg::U32(first),
                Arg::U32(last),
                Arg::U32(shape.steps),
            ],
        )
    };
    match shape.between {
        Between::Launches => (0..shape.episodes).try_for_each(|episode| launch(episode, episode + 1))?,
        Between::GridBarrier | Between::GridBarrierOneFence => launch(0, shape.episodes)?,
    }
    let mut found = vec![0; plan.results.len()];
    device.download(results, &mut found)?;
    let mut kinds = plan.steps.chunks(STEP_BYTES as usize).map(|step| (step[0..4].to_vec(), step[4]));
    for (index, (found, expected)) in found.chunks(16).zip(plan.results.chunks(16)).enumerate() {
        let (offset, kind) = kinds.next().expect("a step for each result");
        // A narrow load leaves the other bytes of a wide register as they were.
        let width = if kind < 16 { 0 } else { 1 << ((kind - 1) % 5) };
        if found[..width] != expected[..width] {
            let offset = u32::from_le_bytes(offset.try_into().expect("four bytes"));
            let threads = shape.grid * shape.block;
            let (row, thread) = (index as u32 / threads, index as u32 % threads);
            return Ok(Some(format!(
                "episode {}, step {}: thread {thread} read {:02x?} at byte {offset} of the lines, expected {:02x?}",
                row / shape.steps,
                row % shape.steps,
                &found[..width],
                &expected[..width]
            )));
        }
    }
    let mut found = vec![0; plan.at_end.len()];
    device.download(lines, &mut found)?;
    let wrong = found.iter().zip(&plan.at_end).position(|(found, expected)| found != expected);
    Ok(wrong.map(|byte| {
        let (found, expected) = (found[byte], plan.at_end[byte]);
        format!("byte {byte} of the lines is {found:#04x} at the end, expected {expected:#04x}")
    }))
}
