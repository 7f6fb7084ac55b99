//! Losses and what follows from them, with numbers computed by hand.

use strata_engine::Cycle;

use super::*;

fn at(now: u64, issued: u64) -> Moment {
    Moment { now: Cycle(now), issued }
}

fn missed(line: u64, warp: u8) -> LineNews {
    LineNews::Missed { line: LineAddress(line), warp }
}

fn evicted(line: u64) -> LineNews {
    LineNews::Evicted { line: LineAddress(line) }
}

/// Warps 0 to 3 on an SM, with the paper's numbers: a cut-off of 400.
fn four_warps() -> LostLocality {
    let mut detector = LostLocality::new(&Ccws::default(), 4);
    detector.begin(at(0, 1000));
    (0..4).for_each(|warp| detector.add(warp, at(0, 1000)));
    detector
}

#[test]
fn a_miss_to_a_line_that_the_warp_brought_and_lost_is_a_loss() {
    let mut detector = four_warps();
    detector.hear(missed(7, 2), at(10, 1010));
    detector.hear(evicted(7), at(20, 1020));
    // Another warp did not lose it.
    detector.hear(missed(7, 1), at(30, 1030));
    assert_eq!((detector.statistics.lost, detector.hold(0b1111, at(30, 1030))), (0, 0));
    // Nor did 2 lose it again when what 1 brought is evicted; but it has lost it once.
    detector.hear(evicted(7), at(40, 1040));
    detector.hear(missed(7, 2), at(40, 1064));
    // 1 loss in 64 instructions: 1 * 8 * 400 / 64 = 50, less than the base score.
    assert_eq!((detector.statistics.lost, detector.scores.of(2, Cycle(40))), (1, 100));
    assert_eq!(detector.hold(0b1111, at(40, 1064)), 0);
    // 1 lost it, too: 2 losses in 20 instructions more: 2 * 8 * 400 / 84 = 76.
    detector.hear(missed(7, 1), at(50, 1084));
    assert_eq!((detector.statistics.lost, detector.scores.of(1, Cycle(50))), (2, 100));
    assert_eq!(detector.statistics.misses, 4);
}

#[test]
fn a_loss_holds_others_back_until_its_score_has_fallen() {
    let mut detector = four_warps();
    detector.hear(missed(7, 2), at(10, 1004));
    detector.hear(evicted(7), at(20, 1008));
    // 1 * 8 * 400 / 16 = 200. In order 2 (200), 0 (300), 1 (400), 3 (500): 3 is held back.
    detector.hear(missed(7, 2), at(30, 1016));
    assert_eq!(detector.scores.of(2, Cycle(30)), 200);
    assert_eq!(detector.hold(0b1111, at(30, 1016)), 0b1000);
    assert_eq!(detector.hold(0b0111, at(30, 1016)), 0, "only what asks can be held");
    // It takes 100 cycles to fall to the base score.
    assert_eq!(detector.hold(0b1111, at(129, 1016)), 0b1000);
    assert_eq!(detector.hold(0b1111, at(130, 1016)), 0);
    // With 2 losses in 20 instructions: 2 * 8 * 400 / 20 = 320. In order 2 (320), 0 (420): 0, 1 and 3 are held back.
    detector.hear(evicted(7), at(130, 1018));
    detector.hear(missed(7, 2), at(130, 1020));
    assert_eq!(detector.hold(0b1111, at(130, 1020)), 0b1011);
    assert_eq!(detector.statistics.held, 1 + 1 + 3);
    // The cut-off is that of the warps that are left: 2 of 100. 2 has 320 and goes on alone.
    detector.remove(0, at(131, 1020));
    detector.remove(3, at(131, 1020));
    assert_eq!(detector.hold(0b0110, at(131, 1020)), 0b0010);
}

#[test]
fn a_kernel_or_a_warp_that_begins_has_lost_nothing() {
    let mut detector = four_warps();
    [missed(7, 2), evicted(7), missed(8, 2), missed(9, 3)]
        .into_iter()
        .for_each(|news| detector.hear(news, at(1, 1001)));
    detector.remove(2, at(2, 1001));
    detector.add(2, at(2, 1001));
    detector.hear(missed(7, 2), at(3, 1002));
    assert_eq!(detector.statistics.lost, 0, "the tags were those of the warp before");
    // What was dropped was not lost to anybody.
    detector.hear(LineNews::Emptied, at(4, 1002));
    detector.hear(evicted(8), at(4, 1002));
    detector.hear(missed(8, 2), at(4, 1002));
    assert_eq!(detector.statistics.lost, 0);
    // One loss of the next kernel counts as one, among the instructions of that kernel: 1 * 8 * 400 / 10.
    [evicted(8), missed(8, 2)].into_iter().for_each(|news| detector.hear(news, at(5, 1004)));
    assert_eq!((detector.statistics.lost, detector.losses), (1, 1));
    detector.begin(at(5000, 2000));
    assert_eq!(detector.losses, 0);
    [missed(9, 3), evicted(9), missed(9, 3)].into_iter().for_each(|news| detector.hear(news, at(5000, 2010)));
    assert_eq!(detector.scores.of(3, Cycle(5000)), 320);
}

#[test]
fn numbers_that_make_no_sense_are_refused() {
    let with = |change: fn(&mut Ccws)| {
        let mut config = Ccws::default();
        change(&mut config);
        WarpScheduler::check(&config).err().unwrap_or_default()
    };
    assert_eq!(with(|_| {}), "");
    assert_eq!(with(|config| config.victim_tags = 0), "found victim_tags = 0, expected 1 to 1024");
    assert_eq!(
        with(|config| config.victim_ways = 3),
        "found victim_tags = 16, expected a multiple of victim_ways = 3"
    );
    assert_eq!(with(|config| config.k_throttle = 1025), "found k_throttle = 1025, expected 0 to 1024");
    assert_eq!(with(|config| config.base_score = 0), "found base_score = 0, expected 1 to 65536");
}
