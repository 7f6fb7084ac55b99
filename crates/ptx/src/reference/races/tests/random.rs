//! Random programs against vector clocks without any compression.

use std::collections::BTreeSet;
use std::fmt::Write;

use proptest::prelude::*;

use super::found;

const WARPS: usize = 3;
const THREADS: usize = 32 * WARPS;
const WORDS: usize = 48;

/// What all threads do in one step of a program.
#[derive(Clone, Debug)]
enum Step {
    /// Thread t accesses word (t * factor + term) % WORDS, if (t / run) % 3 is not `out`.
    Access { writes: bool, factor: usize, term: usize, run: usize, out: usize },
    /// A barrier of the CTA.
    Barrier,
    /// A barrier of all warps but one.
    Pair { without: usize },
    /// A barrier of each warp.
    Warp,
    /// A barrier of each half of each warp.
    Half,
}

impl Step {
    fn word(&self, thread: usize) -> Option<usize> {
        let Step::Access { factor, term, run, out, .. } = self else { return None };
        (thread / run % 3 != *out).then_some((thread * factor + term) % WORDS)
    }

    /// Who meets.
    fn groups(&self) -> Vec<Vec<usize>> {
        let of = |size: usize| (0..THREADS / size).map(|n| (n * size..(n + 1) * size).collect()).collect();
        match self {
            Step::Access { .. } => vec![],
            Step::Barrier => of(THREADS),
            Step::Pair { without } => vec![(0..THREADS).filter(|thread| thread / 32 != *without).collect()],
            Step::Warp => of(32),
            Step::Half => of(16),
        }
    }

    fn text(&self, text: &mut String) {
        let _ = match self {
            Step::Access { writes, factor, term, run, out } => {
                let _ = write!(
                    text,
                    "mul.lo.u32 %r4, %r0, {factor}; add.u32 %r4, %r4, {term}; rem.u32 %r4, %r4, {WORDS};
                     shl.b32 %r4, %r4, 2; add.u32 %r4, %r9, %r4;
                     div.u32 %r5, %r0, {run}; rem.u32 %r5, %r5, 3; setp.ne.u32 %p0, %r5, {out}; @%p0 "
                );
                let what = if *writes { "st.shared.u32 [%r4], %r0;" } else { "ld.shared.u32 %r6, [%r4];" };
                writeln!(text, "{what}")
            }
            Step::Barrier => writeln!(text, "bar.sync 0;"),
            Step::Pair { without } => {
                writeln!(text, "setp.ne.u32 %p1, %r11, {without}; @%p1 bar.sync {}, 64;", without + 1)
            }
            Step::Warp => writeln!(text, "bar.warp.sync -1;"),
            Step::Half => writeln!(
                text,
                "setp.lt.u32 %p0, %r10, 16; selp.b32 %r6, 0xffff, 0xffff0000, %p0; bar.warp.sync %r6;"
            ),
        };
    }
}

/// Pairs of steps whose accesses race.
fn expected(steps: &[Step]) -> BTreeSet<(usize, usize)> {
    // clocks[t][u]: how many of u's steps t knows.
    let mut clocks = vec![[0; THREADS]; THREADS];
    let mut seen: Vec<(usize, usize, usize, bool)> = Vec::new();
    let mut races = BTreeSet::new();
    for (number, step) in steps.iter().enumerate() {
        for group in step.groups() {
            let met: [usize; THREADS] =
                std::array::from_fn(|of| group.iter().map(|thread| clocks[*thread][of]).max().unwrap_or(0));
            group.iter().for_each(|thread| clocks[*thread] = met);
        }
        clocks.iter_mut().enumerate().for_each(|(thread, clock)| clock[thread] = number + 1);
        let Step::Access { writes, .. } = step else { continue };
        let touched = (0..THREADS).filter_map(|thread| Some((thread, step.word(thread)?)));
        for (thread, word) in touched {
            for (earlier, other, place, wrote) in &seen {
                let conflict = *place == word && *other != thread && (*writes || *wrote);
                if conflict && clocks[thread][*other] <= *earlier {
                    races.insert((*earlier, number));
                }
            }
            seen.push((number, thread, word, *writes));
        }
    }
    races
}

fn step() -> impl Strategy<Value = Step> {
    let access = (any::<bool>(), 0..5_usize, 0..WORDS, 1..40_usize, 0..4_usize);
    let access =
        access.prop_map(|(writes, factor, term, run, out)| Step::Access { writes, factor, term, run, out });
    prop_oneof![
        6 => access,
        3 => Just(Step::Barrier),
        1 => (0..WARPS).prop_map(|without| Step::Pair { without }),
        1 => Just(Step::Warp),
        1 => Just(Step::Half),
    ]
}

/// Pairs of steps that the check says race.
fn checked(steps: &[Step]) -> BTreeSet<(usize, usize)> {
    let newlines = |text: &str| text.matches('\n').count();
    let (mut text, mut lines) = (String::new(), Vec::new());
    for step in steps {
        let before = newlines(&text);
        step.text(&mut text);
        lines.push(before..newlines(&text));
    }
    let races = found(&text, 1, THREADS as u32);
    let first = BODY + newlines(super::PROLOGUE);
    let step = |line: u32| {
        let line = line as usize - first;
        lines.iter().position(|range| range.contains(&line)).expect("a line of a step")
    };
    let pair = |race: &super::Race| {
        let (one, other) = (step(race.earlier.line), step(race.later.line));
        (one.min(other), one.max(other))
    };
    races.iter().map(pair).collect()
}

/// The line of a session's text on which its body begins.
const BODY: usize = 7;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_races_is_found_and_nothing_else(steps in prop::collection::vec(step(), 2..14)) {
        let (expected, found) = (expected(&steps), checked(&steps));
        prop_assert!(found.is_subset(&expected), "found {found:?}, expected {expected:?}");
        prop_assert_eq!(found.is_empty(), expected.is_empty(), "expected {:?}", expected);
    }

    /// Each phase writes words in another order; only barriers make it right.
    #[test]
    fn a_barrier_that_is_taken_away_is_missed(
        phases in prop::collection::vec((0..WORDS, any::<bool>()), 2..6),
        gone in any::<prop::sample::Index>(),
    ) {
        let mut steps = Vec::new();
        for (term, writes) in &phases {
            // The first 48 threads have a word each; the others go without.
            steps.push(Step::Access { writes: *writes, factor: 1, term: *term, run: WORDS, out: 1 });
            steps.push(Step::Barrier);
        }
        prop_assert_eq!(checked(&steps), BTreeSet::new());
        let gone = gone.index(phases.len() - 1);
        steps.remove(2 * gone + 1);
        let ((one, writes), (other, writes_too)) = (phases[gone], phases[gone + 1]);
        let races = one != other && (writes || writes_too);
        prop_assert_eq!(!checked(&steps).is_empty(), races);
    }
}
