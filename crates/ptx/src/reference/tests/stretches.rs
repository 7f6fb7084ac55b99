//! Stretches of the CTAs of a grid.

use super::session;
use crate::reference::testing::Session;
use crate::reference::{Executor, FaultKind, LaunchConfig, QUANTUM, Stretch, Summary, TURNS, pack_arguments};

/// Runs a stretch of the CTAs of a grid.
fn stretch(session: &mut Session, out: u64, grid: u32, stretch: Stretch) -> Summary {
    let kernel = session.module.kernel("test").unwrap();
    let params = pack_arguments(kernel, &[out]).unwrap();
    let (grid, block) = ([grid, 1, 1], [32, 1, 1]);
    let config = LaunchConfig { grid, block, cluster: None, dynamic_shared: 0, params };
    let executor = Executor::new(kernel, config, &session.variables, &mut session.memory);
    executor.only(stretch).run().unwrap_or_else(|fault| panic!("{fault}"))
}

#[test]
fn a_stretch_runs_its_ctas_and_no_others() {
    let mut session =
        session("ld.global.u32 %r5, [%rd0]; add.u32 %r5, %r5, 1; st.global.u32 [%rd0], %r5; ret;");
    let out = session.buffer(&[0; 8 * 32]);
    let whole = stretch(&mut session, out, 8, Stretch::WHOLE);
    let of_cta = whole.counts.thread_instructions / 8;
    assert_eq!(whole.next_cta, 8);
    let part = stretch(&mut session, out, 8, Stretch { first: 2, end: 5, enough: None });
    assert_eq!((part.counts.thread_instructions, part.next_cta), (3 * of_cta, 5));
    let done = |session: &Session| -> Vec<u32> {
        session.words(out, 8 * 32).chunks(32).map(|cta| cta.iter().sum::<u32>() / 32).collect()
    };
    assert_eq!(done(&session), [1, 1, 2, 2, 2, 1, 1, 1]);
    // The count is reached within CTA 3, which ends; exactly at its end, CTA 4 does not begin.
    for (enough, next) in [(of_cta + 1, 4), (2 * of_cta, 4), (0, 2), (u64::MAX, 8)] {
        let part = stretch(&mut session, out, 8, Stretch { first: 2, end: 8, enough: Some(enough) });
        assert_eq!((part.next_cta, part.counts.thread_instructions), (next, (next - 2) * of_cta), "{enough}");
    }
    let empty = stretch(&mut session, out, 8, Stretch { first: 3, end: 3, enough: None });
    assert_eq!((empty.next_cta, empty.counts.thread_instructions), (3, 0));
}

#[test]
fn long_ctas_of_a_stretch_run_one_after_another() {
    // Each takes several turns of all its warps.
    let rounds = 10 * QUANTUM * TURNS;
    let body = format!(
        "mov.u32 %r5, {rounds}; loop: sub.u32 %r5, %r5, 1; setp.ne.u32 %p0, %r5, 0; @%p0 bra loop; ret;"
    );
    let mut session = session(&body);
    let out = session.buffer(&[0; 20 * 32]);
    let whole = stretch(&mut session, out, 20, Stretch::WHOLE).counts.thread_instructions;
    for cta in [1, 7, 19] {
        let part = Stretch { first: 0, end: 20, enough: Some(whole / 20 * cta) };
        assert_eq!(stretch(&mut session, out, 20, part).next_cta, cta);
    }
}

#[test]
fn a_stretch_whose_ctas_wait_for_later_ones_is_a_livelock() {
    let mut session = session(
        "st.global.u32 [%rd0], 1; xor.b32 %r5, %r3, 1; mad.lo.u32 %r5, %r5, %r4, %r1; mul.wide.u32 %rd1, %r5, 4;
        add.u64 %rd1, %out, %rd1; wait: ld.volatile.global.u32 %r6, [%rd1]; setp.eq.u32 %p0, %r6, 0; @%p0 bra wait; ret;",
    );
    let out = session.buffer(&[0; 2 * 32]);
    assert_eq!(stretch(&mut session, out, 2, Stretch::WHOLE).next_cta, 2, "together they end");
    let out = session.buffer(&[0; 2 * 32]);
    let kernel = session.module.kernel("test").unwrap();
    let params = pack_arguments(kernel, &[out]).unwrap();
    let (grid, block) = ([2, 1, 1], [32, 1, 1]);
    let config = LaunchConfig { grid, block, cluster: None, dynamic_shared: 0, params };
    let executor = Executor::new(kernel, config, &session.variables, &mut session.memory);
    let fault = executor.only(Stretch { first: 0, end: 1, enough: None }).run().unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Livelock { .. }), "{fault}");
}
