//! The dispatcher between the ends of links: who gets which CTA, and when.

use strata_engine::{Inlet, Outlet, link};

use super::*;

type SmEnds = (Inlet<Command>, Outlet<Notice>);

/// A dispatcher for `count` SMs and the SMs' ends of the links, all with latency 1.
fn machine(count: usize) -> (Dispatcher, Vec<SmEnds>) {
    let (ours, theirs) = (0..count)
        .map(|_| {
            let (commands, command_inlet) = link(1, 9);
            let (notice_outlet, notices) = link(1, 9);
            (SmLinks { commands, notices }, (command_inlet, notice_outlet))
        })
        .unzip();
    (Dispatcher::new(ours), theirs)
}

#[test]
fn ctas_go_to_the_sms_in_turn_and_end_in_a_flush() {
    let (mut dispatcher, mut sms) = machine(2);
    dispatcher.begin(5, 2, Cycle::ZERO);
    let mut log = Vec::new();
    // Every CTA finishes as soon as it arrives.
    for cycle in 0..12 {
        let window = Window(cycle);
        dispatcher.collect(window);
        for (sm, (commands, notices)) in sms.iter_mut().enumerate() {
            commands.collect(window);
            notices.collect(window);
            while let Some(command) = commands.receive(Cycle(cycle)) {
                commands.release(1, Cycle(cycle));
                log.push((cycle, sm, command));
                let notice = if command == Command::Flush { Notice::Flushed } else { Notice::CtaDone };
                notices.send(notice, 1, Cycle(cycle)).unwrap();
            }
            notices.flush(window);
            commands.flush(window);
        }
        dispatcher.tick(Cycle(cycle));
        dispatcher.flush(window);
    }
    // The CTAs are sent in cycles 0, 1 and 2 (the first notices arrive in 2). The last CTA's notice, sent in
    // cycle 3, arrives in 4; the flush reaches the SMs in 5 and their replies arrive in 6.
    let start = Command::StartCta;
    assert_eq!(
        log,
        [
            (1, 0, start(0)),
            (1, 1, start(1)),
            (2, 0, start(2)),
            (2, 1, start(3)),
            (3, 0, start(4)),
            (5, 0, Command::Flush),
            (5, 1, Command::Flush),
        ]
    );
    assert_eq!(dispatcher.finished_at(), Some(Cycle(6)));
    assert_eq!(dispatcher.next_event(Cycle(12)), Cycle::NEVER);
}

#[test]
fn a_resident_grid_keeps_no_program_from_ending() {
    let (dispatcher, mut sms) = machine(4);
    let mut dispatcher = dispatcher.with_programs_on(2);
    dispatcher.begin_resident(2..3, 2);
    let mut log = Vec::new();
    for cycle in 0..24 {
        if cycle % 12 == 0 {
            dispatcher.begin(2, 1, Cycle::ZERO);
        }
        let window = Window(cycle);
        dispatcher.collect(window);
        for (sm, (commands, notices)) in sms.iter_mut().enumerate() {
            commands.collect(window);
            notices.collect(window);
            while let Some(command) = commands.receive(Cycle(cycle)) {
                commands.release(1, Cycle(cycle));
                log.push((cycle, sm, command));
                let notice = if command == Command::Flush { Notice::Flushed } else { Notice::CtaDone };
                // The resident CTA never ends.
                if sm < 2 {
                    notices.send(notice, 1, Cycle(cycle)).unwrap();
                }
            }
            notices.flush(window);
            commands.flush(window);
        }
        dispatcher.tick(Cycle(cycle));
        dispatcher.flush(window);
    }
    // SM 2 gets its two CTAs once, SM 3 nothing; each program ends five cycles after it began.
    let start = Command::StartCta;
    let round = |at: u64| {
        [
            (at + 1, 0, start(0)),
            (at + 1, 1, start(1)),
            (at + 3, 0, Command::Flush),
            (at + 3, 1, Command::Flush),
        ]
    };
    let mut expected = [round(0), round(12)].concat();
    expected.insert(2, (1, 2, start(0)));
    expected.insert(3, (2, 2, start(1)));
    assert_eq!((log, dispatcher.finished_at()), (expected, Some(Cycle(16))));
}

#[test]
fn a_grid_may_begin_later() {
    let (mut dispatcher, _sms) = machine(2);
    dispatcher.begin(4, 1, Cycle(7));
    for cycle in 0..7 {
        dispatcher.tick(Cycle(cycle));
        assert_eq!((dispatcher.grid.next, dispatcher.next_event(Cycle(cycle))), (0, Cycle(7)));
    }
    dispatcher.tick(Cycle(7));
    assert_eq!((dispatcher.grid.next, dispatcher.next_event(Cycle(8))), (2, Cycle::NEVER));
}

#[test]
fn the_ctas_of_a_cluster_go_to_one_sm() {
    let (mut dispatcher, mut sms) = machine(3);
    // Three clusters of three; an SM has room for one and two CTAs more.
    dispatcher.begin_clusters(9, 3, 5, Cycle::ZERO);
    let log = handed_out(&mut dispatcher, &mut sms, 14);
    // One a cycle and SM; the next cluster begins in the cycle of the last one's end.
    let wanted = (0..9).map(|cta| (1 + cta - cta / 3, cta as usize / 3, Command::StartCta(cta)));
    assert_eq!(log, wanted.collect::<Vec<_>>());
}

#[test]
fn a_part_of_a_grid_is_handed_out_and_held() {
    let (mut dispatcher, mut sms) = machine(2);
    dispatcher.begin_part(3..9, 1, 2, Cycle::ZERO);
    dispatcher.hold_at(6);
    let log = handed_out(&mut dispatcher, &mut sms, 6);
    let start = Command::StartCta;
    assert_eq!(log, [(1, 0, start(3)), (1, 1, start(4)), (2, 0, start(5))]);
    assert!(dispatcher.is_waiting() && !dispatcher.is_held(), "those before have not ended");
    assert_eq!(dispatcher.next_event(Cycle(6)), Cycle::NEVER, "an SM has room, and nothing goes there");
    dispatcher.go_on();
    assert_eq!(dispatcher.next_event(Cycle(6)), Cycle(6));
    dispatcher.tick(Cycle(6));
    assert_eq!((dispatcher.grid.next, dispatcher.end(), dispatcher.is_waiting()), (7, 9, false));
    dispatcher.end_early();
    assert_eq!(dispatcher.end(), 7);
}

#[test]
fn a_grid_that_ends_early_ends_with_a_cluster() {
    let (mut dispatcher, mut sms) = machine(1);
    dispatcher.begin_clusters(9, 3, 5, Cycle::ZERO);
    assert_eq!(handed_out(&mut dispatcher, &mut sms, 3).len(), 2);
    assert_eq!(dispatcher.grid.next, 3);
    dispatcher.end_early();
    assert_eq!(dispatcher.end(), 3);
    let (mut dispatcher, mut sms) = machine(1);
    dispatcher.begin_clusters(9, 3, 5, Cycle::ZERO);
    assert_eq!(handed_out(&mut dispatcher, &mut sms, 2).len(), 1);
    dispatcher.end_early();
    assert_eq!((dispatcher.grid.next, dispatcher.end()), (2, 3));
    dispatcher.tick(Cycle(2));
    dispatcher.tick(Cycle(3));
    assert_eq!(dispatcher.grid.next, 3, "nothing behind the cluster");
}

#[test]
fn an_sm_without_room_is_passed_over() {
    let (mut dispatcher, _sms) = machine(3);
    dispatcher.begin(100, 1, Cycle::ZERO);
    dispatcher.tick(Cycle(0));
    dispatcher.tick(Cycle(1));
    assert_eq!(dispatcher.grid.next, 3);
    assert_eq!(dispatcher.next_event(Cycle(2)), Cycle::NEVER);
    let mut report = Vec::new();
    dispatcher.waits(&mut report);
    assert_eq!(report, ["dispatcher: 0 of 100 CTAs have ended, 3 run, 97 wait for room"]);
}

/// Steps a dispatcher and SMs on which CTAs never end, for some cycles. Returns when which SM got what.
fn handed_out(dispatcher: &mut Dispatcher, sms: &mut [SmEnds], cycles: u64) -> Vec<(u64, usize, Command)> {
    let mut log = Vec::new();
    for cycle in 0..cycles {
        let window = Window(cycle);
        dispatcher.collect(window);
        for (sm, (commands, notices)) in sms.iter_mut().enumerate() {
            commands.collect(window);
            notices.collect(window);
            while let Some(command) = commands.receive(Cycle(cycle)) {
                commands.release(1, Cycle(cycle));
                log.push((cycle, sm, command));
            }
            commands.flush(window);
        }
        dispatcher.tick(Cycle(cycle));
        dispatcher.flush(window);
    }
    log
}

#[test]
fn a_policy_picks_the_sms() {
    let start = Command::StartCta;
    let (dispatcher, mut sms) = machine(2);
    let mut dispatcher = dispatcher.with_policy(Arc::new(DepthFirst {}));
    dispatcher.begin(5, 2, Cycle::ZERO);
    let log = handed_out(&mut dispatcher, &mut sms, 8);
    assert_eq!(log, [(1, 0, start(0)), (2, 0, start(1)), (2, 1, start(2)), (3, 1, start(3))]);
    assert_eq!(dispatcher.next_event(Cycle(8)), Cycle::NEVER, "nobody has room");

    let (dispatcher, mut sms) = machine(2);
    let mut dispatcher = dispatcher.with_policy(Arc::new(Limited::to(1)));
    dispatcher.begin(5, 2, Cycle::ZERO);
    let log = handed_out(&mut dispatcher, &mut sms, 8);
    assert_eq!(log, [(1, 0, start(0)), (1, 1, start(1))]);
    assert_eq!(dispatcher.next_event(Cycle(8)), Cycle::NEVER, "nobody may have more");
}

#[test]
fn a_cluster_that_is_larger_than_the_limit_runs_alone() {
    let (dispatcher, mut sms) = machine(2);
    let mut dispatcher = dispatcher.with_policy(Arc::new(Limited::to(1)));
    dispatcher.begin_clusters(6, 2, 5, Cycle::ZERO);
    let log = handed_out(&mut dispatcher, &mut sms, 8);
    let start = Command::StartCta;
    assert_eq!(log, [(1, 0, start(0)), (2, 0, start(1)), (2, 1, start(2)), (3, 1, start(3))]);
}

#[test]
fn a_policy_that_wants_to_wait_is_asked_again_when_a_cta_ends() {
    let (dispatcher, mut sms) = machine(2);
    let mut dispatcher = dispatcher.with_policy(Arc::new(Blocks::of(2)));
    dispatcher.begin(8, 3, Cycle::ZERO);
    let log = handed_out(&mut dispatcher, &mut sms, 8);
    let start = Command::StartCta;
    assert_eq!(log, [(1, 0, start(0)), (2, 0, start(1)), (2, 1, start(2)), (3, 1, start(3))]);
    assert_eq!(dispatcher.next_event(Cycle(8)), Cycle::NEVER, "each has room for one, and for no block");
    let mut got = Vec::new();
    for cycle in 8..14 {
        let window = Window(cycle);
        dispatcher.collect(window);
        let (commands, notices) = &mut sms[1];
        commands.collect(window);
        notices.collect(window);
        if cycle == 8 {
            notices.send(Notice::CtaDone, 1, Cycle(8)).unwrap();
        }
        while let Some(command) = commands.receive(Cycle(cycle)) {
            got.push((cycle, command));
        }
        notices.flush(window);
        dispatcher.tick(Cycle(cycle));
        dispatcher.flush(window);
    }
    // The notice arrives in 9; the block is sent in 9 and 10.
    assert_eq!(got, [(10, start(4)), (11, start(5))]);
}
