//! Random programs against the memory model as the ISA writes it down: as relations between the accesses of a run.

use std::collections::BTreeSet;
use std::fmt::Write;

use proptest::prelude::*;

use super::super::RaceCheck;
use super::session;
use crate::isa::Op as Executed;
use crate::lanes::LaneMask;
use crate::program::Kernel;
use crate::reference::{Access, BarrierArrival, Executor, Issuer, LaunchConfig, Observer, pack_arguments};

const CTAS: usize = 2;
const WARPS: usize = 2;
/// Each is alone in its warp.
const THREADS: usize = CTAS * WARPS;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Both,
}

/// What a thread does.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// `strong` of gpu scope if it is `wide`, else of CTA scope; `orders` if it acquires or releases, or both.
    Access {
        word: usize,
        kind: Kind,
        strong: bool,
        wide: bool,
        orders: bool,
    },
    Fence {
        wide: bool,
    },
}

impl Act {
    fn text(self) -> String {
        let scope = |wide: bool| if wide { "gpu" } else { "cta" };
        match self {
            Act::Fence { wide } => format!("fence.acq_rel.{};", scope(wide)),
            Act::Access { word, kind, strong, wide, orders } => {
                let at = format!("[%out+{}]", 4 * word);
                let order = |word: &str| {
                    let word = if orders { word } else { "relaxed" };
                    if strong { format!(".{word}.{}", scope(wide)) } else { String::new() }
                };
                match kind {
                    Kind::Read => format!("ld{}.global.u32 %r5, {at};", order("acquire")),
                    Kind::Write => format!("st{}.global.u32 {at}, %r0;", order("release")),
                    Kind::Both => format!("atom{}.global.add.u32 %r5, {at}, 1;", order("acq_rel")),
                }
            }
        }
    }
}

/// Something that happened.
#[derive(Clone, Copy, Debug)]
struct Event {
    thread: usize,
    line: u32,
    act: Act,
    /// How many barriers of its CTA were before it.
    phase: usize,
}

impl Event {
    fn cta(&self) -> usize {
        self.thread / WARPS
    }

    fn word(&self) -> Option<usize> {
        if let Act::Access { word, .. } = self.act { Some(word) } else { None }
    }

    fn is(&self, what: Kind) -> bool {
        matches!(self.act, Act::Access { kind, .. } if kind == what || kind == Kind::Both)
    }

    fn is_strong(&self) -> bool {
        !matches!(self.act, Act::Access { strong: false, .. })
    }

    fn orders(&self) -> bool {
        matches!(self.act, Act::Access { strong: true, orders: true, .. })
    }

    fn is_fence(&self) -> bool {
        matches!(self.act, Act::Fence { .. })
    }

    /// Whether both are strong, at scopes that hold both threads.
    fn is_morally_strong_with(&self, other: &Event) -> bool {
        let wide = |event: &Event| match event.act {
            Act::Access { wide, .. } | Act::Fence { wide } => wide,
        };
        let near = self.cta() == other.cta();
        self.is_strong() && other.is_strong() && (near || wide(self) && wide(other))
    }
}

/// Pairs of lines whose accesses race in a run. By the letter of the model, a strong write that another overwrote, which it
/// happens before, is ordered before those that saw it, not before those that saw the other; `lenient` is not that strict.
fn expected(events: &[Event], lenient: bool) -> BTreeSet<(u32, u32)> {
    let all = 0..events.len();
    let program = |a: usize, b: usize| a < b && events[a].thread == events[b].thread;
    // Of each access, the write before it to its word.
    let from = |read: usize| {
        let word = events[read].word();
        (0..read).rev().find(|write| events[*write].is(Kind::Write) && events[*write].word() == word)
    };
    // observed[w][r]
    let mut observed = vec![vec![false; events.len()]; events.len()];
    for read in all.clone().filter(|read| events[*read].is(Kind::Read)) {
        let Some(write) = from(read) else { continue };
        if events[write].is_morally_strong_with(&events[read]) {
            observed[write][read] = true;
            if events[write].is(Kind::Read) {
                observed[..write].iter_mut().for_each(|by| by[read] |= by[write]);
            }
        }
    }
    let mut releases = Vec::new();
    let mut acquires = Vec::new();
    for access in all.clone().filter(|n| events[*n].is_strong() && !events[*n].is_fence()) {
        let same_place = |other: usize| {
            other == access
                || events[other].is_fence()
                || events[other].orders() && events[other].word() == events[access].word()
        };
        let pattern = |other: usize| (other != access || events[other].orders()) && same_place(other);
        if events[access].is(Kind::Write) {
            let first = |n: &usize| {
                *n == access || program(*n, access) && (events[*n].is_fence() || events[*n].is(Kind::Write))
            };
            releases.extend(all.clone().filter(first).filter(|n| pattern(*n)).map(|n| (n, access)));
        }
        if events[access].is(Kind::Read) {
            let last = |n: &usize| {
                *n == access || program(access, *n) && (events[*n].is_fence() || events[*n].is(Kind::Read))
            };
            acquires.extend(all.clone().filter(last).filter(|n| pattern(*n)).map(|n| (access, n)));
        }
    }
    let mut base = vec![vec![false; events.len()]; events.len()];
    for a in all.clone() {
        for b in all.clone() {
            let barrier = events[a].cta() == events[b].cta() && events[a].phase < events[b].phase;
            base[a][b] = program(a, b) || barrier;
        }
    }
    for (first, write) in &releases {
        for (read, last) in &acquires {
            if observed[*write][*read] && events[*first].is_morally_strong_with(&events[*last]) {
                base[*first][*last] = true;
            }
        }
    }
    for middle in all.clone() {
        for a in all.clone().filter(|a| base[*a][middle]).collect::<Vec<_>>() {
            for b in all.clone() {
                base[a][b] |= base[middle][b];
            }
        }
    }
    let saw = |a: usize, b: usize| all.clone().any(|z| observed[a][z] && base[z][b]);
    let overwrote = |a: usize, b: usize| {
        let same = events[a].word() == events[b].word() && events[b].is(Kind::Write) && events[b].is_strong();
        lenient && events[a].is_strong() && base[a][b] && same
    };
    let before = |a: usize, b: usize| {
        base[a][b] || saw(a, b) || all.clone().any(|later| overwrote(a, later) && saw(later, b))
    };
    let mut races = BTreeSet::new();
    for b in all.clone() {
        for a in 0..b {
            let (one, other) = (&events[a], &events[b]);
            let conflict = one.word().is_some()
                && one.word() == other.word()
                && one.thread != other.thread
                && (one.is(Kind::Write) || other.is(Kind::Write));
            if conflict && !one.is_morally_strong_with(other) && !before(a, b) && !before(b, a) {
                races.insert((one.line.min(other.line), one.line.max(other.line)));
            }
        }
    }
    races
}

/// Watches for another, and notes what happens.
struct Trace {
    check: RaceCheck,
    /// By line.
    acts: Vec<(u32, Act)>,
    events: Vec<Event>,
    phases: [usize; CTAS],
    lines: Vec<u32>,
}

impl Trace {
    fn note(&mut self, by: &Issuer<'_>) {
        let line = self.lines[by.pc as usize];
        let Some((_, act)) = self.acts.iter().find(|(of, _)| *of == line) else { return };
        let cta = by.cta as usize;
        let thread = cta * WARPS + by.warp as usize;
        self.events.push(Event { thread, line, act: *act, phase: self.phases[cta] });
    }
}

impl Observer for Trace {
    fn begins(&mut self, kernel: &Kernel, config: &LaunchConfig) {
        self.lines = kernel.code.iter().map(|instruction| instruction.line).collect();
        self.check.begins(kernel, config);
    }

    fn cta_begins(&mut self, cta: u64) {
        self.check.cta_begins(cta);
    }

    fn cta_ends(&mut self, cta: u64) {
        self.check.cta_ends(cta);
    }

    fn orders(&mut self, by: &Issuer<'_>, lanes: LaneMask) {
        assert!(matches!(by.instruction.op, Executed::Fence { .. }));
        self.note(by);
        self.check.orders(by, lanes);
    }

    fn arrives(&mut self, by: &Issuer<'_>, arrival: &BarrierArrival) {
        self.check.arrives(by, arrival);
    }

    fn opens(&mut self, cta: u64, barrier: u32, warps: u64) {
        self.phases[cta as usize] += 1;
        self.check.opens(cta, barrier, warps);
    }

    fn access(&mut self, access: &Access<'_>) {
        self.note(&access.by);
        self.check.access(access);
    }
}

/// What races in a program by the model, strictly and leniently, and by the check. A program has phases, in each of which each thread does something.
fn both(phases: &[Vec<Vec<Act>>]) -> [BTreeSet<(u32, u32)>; 3] {
    let newlines = |text: &str| text.matches('\n').count();
    let first = 7 + newlines(super::PROLOGUE);
    let mut text = String::from("setp.ne.u32 %p0, %r10, 0; @%p0 ret; mad.lo.u32 %r3, %r1, 2, %r11;\n");
    let mut acts = Vec::new();
    for (number, phase) in phases.iter().enumerate() {
        for (thread, does) in phase.iter().enumerate() {
            let _ = writeln!(text, "setp.ne.u32 %p1, %r3, {thread}; @%p1 bra skip_{number}_{thread};");
            for act in does {
                acts.push(((first + newlines(&text)) as u32, *act));
                let _ = writeln!(text, "{}", act.text());
            }
            let _ = writeln!(text, "skip_{number}_{thread}:");
        }
        text += "bar.sync 0;\n";
    }
    let (mut session, out) = session(&text);
    let check = RaceCheck::default();
    let mut trace = Trace { check, acts, events: vec![], phases: [0; CTAS], lines: vec![] };
    let kernel = session.module.kernel("test").expect("the body's kernel");
    let params = pack_arguments(kernel, &[out]).expect("one argument");
    let block = [32 * WARPS as u32, 1, 1];
    let config = LaunchConfig { grid: [CTAS as u32, 1, 1], block, cluster: None, dynamic_shared: 0, params };
    let executor = Executor::new(kernel, config, &session.variables, &mut session.memory);
    executor.watched_by(Some(&mut trace)).run().unwrap_or_else(|fault| panic!("{fault}"));
    let written: usize = phases.iter().flatten().map(Vec::len).sum();
    assert_eq!(trace.events.len(), written, "everything happens once");
    let lines = |race: &super::Race| {
        let (one, other) = (race.earlier.line, race.later.line);
        (one.min(other), one.max(other))
    };
    [
        expected(&trace.events, false),
        expected(&trace.events, true),
        trace.check.races().iter().map(lines).collect(),
    ]
}

fn agree(phases: &[Vec<Vec<Act>>]) -> Result<(), TestCaseError> {
    let [expected, grave, found] = both(phases);
    prop_assert!(found.is_subset(&expected), "found {found:?}, expected {expected:?}");
    prop_assert!(grave.is_empty() || !found.is_empty(), "expected {grave:?}");
    Ok(())
}

fn program(act: impl Strategy<Value = Act> + Clone) -> impl Strategy<Value = Vec<Vec<Vec<Act>>>> {
    let thread = prop::collection::vec(act, 0..6);
    prop::collection::vec(prop::collection::vec(thread, THREADS), 1..4)
}

fn kind() -> impl Strategy<Value = Kind> + Clone {
    prop_oneof![Just(Kind::Read), Just(Kind::Write), Just(Kind::Both)]
}

/// Anything at gpu scope, weak and strong accesses to the same words.
fn anything() -> impl Strategy<Value = Act> + Clone {
    let access =
        (0..3_usize, kind(), any::<bool>(), any::<bool>()).prop_map(|(word, kind, strong, orders)| {
            // Read-modify-writes are strong.
            Act::Access { word, kind, strong: strong || kind == Kind::Both, wide: true, orders }
        });
    prop_oneof![5 => access, 2 => Just(Act::Fence { wide: true })]
}

/// Weak accesses to data, and strong ones of any scope to flags; read-modify-writes at gpu scope.
fn messages() -> impl Strategy<Value = Act> + Clone {
    let data = (2..4_usize, any::<bool>()).prop_map(|(word, writes)| {
        let kind = if writes { Kind::Write } else { Kind::Read };
        Act::Access { word, kind, strong: false, wide: true, orders: false }
    });
    let flag = (0..2_usize, kind(), any::<bool>(), any::<bool>()).prop_map(|(word, kind, wide, orders)| {
        Act::Access { word, kind, strong: true, wide: wide || kind == Kind::Both, orders }
    });
    prop_oneof![1 => data, 3 => flag, 1 => any::<bool>().prop_map(|wide| Act::Fence { wide })]
}

/// As [`messages`] at gpu scope with few writes of data, so that many programs do not race.
fn careful() -> impl Strategy<Value = Act> + Clone {
    let data = (2..5_usize, 0..4_u32).prop_map(|(word, often)| {
        let kind = if often == 0 { Kind::Write } else { Kind::Read };
        Act::Access { word, kind, strong: false, wide: true, orders: false }
    });
    let flag = (kind(), any::<bool>()).prop_map(|(kind, orders)| Act::Access {
        word: 0,
        kind,
        strong: true,
        wide: true,
        orders,
    });
    prop_oneof![2 => data, 3 => flag, 2 => Just(Act::Fence { wide: true })]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn anything_races_as_the_model_says(phases in program(anything())) {
        agree(&phases)?;
    }

    #[test]
    fn messages_race_as_the_model_says(phases in program(messages())) {
        agree(&phases)?;
    }

    #[test]
    fn careful_programs_race_as_the_model_says(phases in program(careful())) {
        agree(&phases)?;
    }
}
