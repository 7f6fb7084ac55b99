//! Kernels that race and kernels that do not. What is expected is what the PTX ISA's memory consistency model says of them.

mod barriers;
mod copies;
mod fences;
mod memory;
mod model;
mod random;

use super::{Race, RaceCheck};
use crate::reference::testing::Session;
use crate::reference::{Executor, LaunchConfig, pack_arguments};

/// Thread number in the CTA in %r0, of the CTA in %r1, the CTA's size in %r2; the address of 4096 bytes of shared memory in
/// %r9, of the thread's word there in %r8, of its word of `out` in %rd0; its lane in %r10, its warp in %r11.
const PROLOGUE: &str = "
    .shared .align 16 .b8 s[4096];
    mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;
    mad.lo.u32 %r3, %r1, %r2, %r0; mul.wide.u32 %rd0, %r3, 4; add.u64 %rd0, %out, %rd0;
    mov.u32 %r9, s; shl.b32 %r8, %r0, 2; add.u32 %r8, %r9, %r8;
    and.b32 %r10, %r0, 31; shr.u32 %r11, %r0, 5;
";

/// Puts the shared word of thread %r0 ^ n into %r5.
fn read_shared_of(n: u32) -> String {
    format!("xor.b32 %r4, %r0, {n}; shl.b32 %r4, %r4, 2; add.u32 %r4, %r9, %r4; ld.shared.u32 %r5, [%r4];")
}

fn session(body: &str) -> (Session, u64) {
    let mut session = Session::of_body(&format!("{PROLOGUE}{body}\n ret;"));
    let out = session.buffer(&[0; 4096]);
    (session, out)
}

fn launch(session: &mut Session, check: &mut RaceCheck, grid: u32, block: u32, out: u64) {
    let kernel = session.module.kernel("test").expect("the body's kernel");
    let params = pack_arguments(kernel, &[out]).expect("one argument");
    let config =
        LaunchConfig { grid: [grid, 1, 1], block: [block, 1, 1], cluster: None, dynamic_shared: 0, params };
    let executor = Executor::new(kernel, config, &session.variables, &mut session.memory);
    let executor = executor.with_options(session.options);
    executor.watched_by(Some(check)).run().unwrap_or_else(|fault| panic!("{fault}"));
}

fn found(body: &str, grid: u32, block: u32) -> Vec<Race> {
    let (mut session, out) = session(body);
    let mut check = RaceCheck::default();
    launch(&mut session, &mut check, grid, block, out);
    check.races().to_vec()
}

/// The races of a kernel's body: what raced with what and how often; of stores, how often with the same value.
fn races(body: &str, grid: u32, block: u32) -> Vec<String> {
    let line = |race: &Race| {
        let half = if race.half_word { "half-word " } else { "" };
        let same = if race.both_write() { format!(", {} the same", race.same_value) } else { String::new() };
        format!("{half}{}/{} {}{same}", race.earlier.access, race.later.access, race.count)
    };
    found(body, grid, block).iter().map(line).collect()
}

const CLEAN: [&str; 0] = [];
