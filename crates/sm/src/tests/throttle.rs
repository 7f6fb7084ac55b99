//! Loads that are held back, beside the schedulers.

use std::sync::Arc;

use strata_engine::{Cited, Cycle};
use strata_memory::LineAddress;
use strata_memory::doors::LineNews;
use strata_memory::policy::Chosen;
use strata_ptx::isa::{Barrier, Instruction, Op, Special, Src};

use crate::config::{Scheduling, SmConfig};
use crate::dispatch::Notice;
use crate::fixtures::*;
use crate::multiprocessor::Multiprocessor;
use crate::scheduler::{Moment, SchedulerSite, Throttle, View, WarpScheduler};

/// The ready warp in the lowest slot. Loads of `warps` are held back until a cycle.
#[derive(Clone, Debug)]
struct Late {
    warps: u64,
    until: Cycle,
}

impl WarpScheduler for Late {
    fn pick(&mut self, view: View) -> Option<usize> {
        (view.ready != 0).then_some(view.ready.trailing_zeros() as usize)
    }

    fn throttle(&self, _: &SchedulerSite) -> Option<Box<dyn Throttle>> {
        Some(Box::new(self.clone()))
    }
}

impl Throttle for Late {
    fn hold(&mut self, loads: u64, at: Moment) -> u64 {
        if at.now < self.until { loads & self.warps } else { 0 }
    }
}

fn late(warps: u64, until: u64) -> Scheduling {
    Chosen::of("late", Arc::new(Late { warps, until: Cycle(until) }))
}

fn bench(scheduling: Scheduling, code: Vec<Instruction>, warps: u32) -> Bench {
    let config = SmConfig { scheduling: Cited::new(scheduling, "test"), ..config() };
    Bench::new(&config, launch(code, &[HEAP as u32, 0], 1, 32 * warps), 10)
}

/// A load between instructions that are none.
fn one_load() -> Vec<Instruction> {
    vec![set(0, 0), set(1, 1), load(2, 0), control(Op::Exit)]
}

#[test]
fn a_load_issues_in_the_cycle_in_which_it_is_held_back_no_more() {
    let mut free = bench(late(0, 50), one_load(), 1);
    let mut held = bench(late(1, 50), one_load(), 1);
    free.run(1);
    held.run(1);
    // The load needs what the instruction before it writes in 9, and issues in 9; held back, in 50.
    let [free_at, held_at] = [&free, &held].map(|bench| bench.told[0].0);
    assert_eq!(held_at.since(free_at), 50 - 9);
    assert_eq!((free.count("sm", "stall_inactive"), held.count("sm", "stall_inactive")), (0, 41));
    assert_eq!(held.told[0].1, Notice::CtaDone);
}

#[test]
fn only_loads_of_some_warps_wait() {
    // Warps 0 and 2 belong to one scheduler. 2 loads and ends while 0 is held back; what is no load issues.
    let code = vec![set(0, 0), set(1, 1), special(3, Special::Clock), load(2, 0), special(4, Special::Clock)];
    let code: Vec<_> = code.into_iter().chain([control(Op::Exit)]).collect();
    let mut bench = bench(late(1, 500), code, 3);
    bench.run(1);
    let clock = |warp, register| bench.register(warp, register)[0];
    assert!([0, 1, 2].iter().all(|warp| clock(*warp, 3) < 30), "clocks before the load");
    assert!(clock(0, 4) > 500, "{}", clock(0, 4));
    assert!(clock(1, 4) < 50 && clock(2, 4) < 50, "{} {}", clock(1, 4), clock(2, 4));
}

#[test]
fn skipping_equals_ticking_while_loads_are_held_back() {
    let run = |skip| {
        let mut bench = bench(late(0b10, 300), one_load(), 4);
        bench.skip = skip;
        let end = bench.run(1);
        (end, bench.told.clone(), bench.sm.statistics())
    };
    assert_eq!(run(true), run(false));
}

#[test]
fn what_the_l1d_tells_holds_loads_of_other_warps_back() {
    let meet = barrier(Barrier::Sync, &[], 1, Src::None, Src::None);
    let code = vec![set(0, 0), set(1, 1), load(2, 0), alu(3, &[2]), load(4, 0), meet, control(Op::Exit)];
    let (quiet, mut told) = (bench(named("ccws"), code.clone(), 2), bench(named("ccws"), code, 2));
    let line = LineAddress(HEAP / 128);
    // Told when warp 0 loads: it has lost a line and missed it again.
    told.sm.l1d.news.extend([
        LineNews::Missed { line, warp: 0 },
        LineNews::Evicted { line },
        LineNews::Missed { line, warp: 0 },
    ]);
    let [quiet, told] = [quiet, told].map(|mut bench| {
        let end = bench.run(1);
        (end, bench)
    });
    assert!(told.1.sm.l1d.tells_news, "the L1D was asked to tell");
    let count = |name| told.1.count("ccws", name);
    assert_eq!([count("misses"), count("evictions"), count("lost")], [2, 1, 1]);
    // One loss in the six instructions until then gives at most the cut-off of two warps, 200, which takes 100 cycles to fall to
    // the base score. Warp 1 is alone in its scheduler; its second load waits for the rest of them, and warp 0 at the barrier for
    // warp 1.
    let (end, quiet_end) = (told.0, quiet.0);
    assert_eq!(count("held"), told.1.count("sm", "stall_inactive"));
    // Where nothing is held back, both second loads issue in one cycle, and the load/store unit takes that of warp 1 a cycle later.
    assert_eq!(end.since(quiet_end), count("held") - 1, "nothing else takes longer");
    assert!((50..100).contains(&count("held")), "{}", count("held"));
    assert_eq!(quiet.1.count("ccws", "held"), 0);
}
