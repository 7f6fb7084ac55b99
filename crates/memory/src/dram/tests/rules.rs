//! Every timing rule at its edge: forbidden a cycle before it ends, allowed when it does.

use super::super::timing::Timing;
use super::*;

/// A channel in which all distances differ, so that no rule hides behind another.
const DISTINCT: &str = r#"
    banks = { value = 16, source = "test" }
    bank_groups = { value = 4, source = "test" }
    address_pattern = { value = "0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS", source = "test" }
    atom_bytes = { value = 64, source = "test" }
    burst_cycles = { value = 4, source = "test" }
    queue_entries = { value = 64, source = "test" }
    return_entries = { value = 64, source = "test" }
    starvation_bound = { value = 32, source = "test" }
    controller_latency_cycles = { value = 0, source = "test" }
    [timing]
    ccd = { value = 5, source = "test" }
    ccd_l = { value = 7, source = "test" }
    rrd = { value = 6, source = "test" }
    rrd_l = { value = 9, source = "test" }
    faw = { value = 43, source = "test" }
    rcd = { value = 16, source = "test" }
    ras = { value = 39, source = "test" }
    rp = { value = 17, source = "test" }
    rc = { value = 58, source = "test" }
    cl = { value = 18, source = "test" }
    wl = { value = 12, source = "test" }
    cdlr = { value = 3, source = "test" }
    cdlr_l = { value = 8, source = "test" }
    wr = { value = 19, source = "test" }
    rtp = { value = 10, source = "test" }
    turnaround = { value = 2, source = "test" }
    [refresh]
    refi = { value = 3200, source = "test" }
    rfc = { value = 100, source = "test" }
"#;

fn distinct() -> DramParameters {
    config::parse(Path::new("distinct.toml"), DISTINCT).unwrap()
}

/// Whether commands at their cycles allow another at its cycle.
fn allows(
    parameters: &DramParameters,
    before: &[(u64, Command, usize)],
    then: (u64, Command, usize),
) -> bool {
    let faw = parameters.timing.faw.as_ref().map(|faw| **faw);
    let mut timing = Timing::new(&constraints(parameters), faw);
    let group = |bank: usize| bank / 4;
    for (at, command, bank) in before {
        timing.issue(*command, *bank, group(*bank), *at);
        if matches!(command, Act | RefBank) {
            timing.activate(*at);
        }
    }
    let (at, command, bank) = then;
    timing.earliest_of_bank(command, bank, group(bank)).max(timing.earliest_of_channel(command)) <= at
}

#[test]
fn a_command_waits_exactly_as_long_as_its_rule_says() {
    let parameters = distinct();
    // Banks 0 and 1 are of group 0, bank 4 of group 1.
    let rules = [
        ("RC", Act, 0, Act, 0, 58),
        ("RCD of a read", Act, 0, Rd, 0, 16),
        ("RCD of a write", Act, 0, Wr, 0, 16),
        ("RAS", Act, 0, Pre, 0, 39),
        ("RP", Pre, 0, Act, 0, 17),
        ("RTP", Rd, 0, Pre, 0, 10),
        ("write recovery: WL 12 + burst 4 + WR 19", Wr, 0, Pre, 0, 35),
        ("RRDL", Act, 0, Act, 1, 9),
        ("RRD", Act, 0, Act, 4, 6),
        ("CCDL of reads", Rd, 0, Rd, 1, 7),
        ("CCD of reads", Rd, 0, Rd, 4, 5),
        ("CCDL of writes", Wr, 0, Wr, 1, 7),
        ("CCD of writes", Wr, 0, Wr, 4, 5),
        ("read to write: CL 18 + burst 4 + turnaround 2 - WL 12", Rd, 0, Wr, 4, 12),
        ("WTRL: WL 12 + burst 4 + 8", Wr, 0, Rd, 1, 24),
        ("WTR: WL 12 + burst 4 + 3", Wr, 0, Rd, 4, 19),
        ("RP before a refresh", Pre, 4, Ref, 0, 17),
        ("RFC", Ref, 0, Act, 4, 100),
        ("RFC of two refreshes", Ref, 0, Ref, 0, 100),
        ("RP before the refresh of the bank", Pre, 0, RefBank, 0, 17),
        ("RC before the refresh of the bank", Act, 0, RefBank, 0, 58),
        ("RFC of a bank", RefBank, 0, Act, 0, 100),
        ("RFC of a bank, twice", RefBank, 0, RefBank, 0, 100),
        ("RRD before the refresh of a bank", Act, 0, RefBank, 4, 6),
        ("RRD after the refresh of a bank", RefBank, 0, Act, 4, 6),
        ("RRD of refreshes of two banks", RefBank, 0, RefBank, 4, 6),
    ];
    for (name, first, bank, second, other, cycles) in rules {
        let allows = |at| allows(&parameters, &[(200, first, bank)], (at, second, other));
        assert_eq!((allows(200 + cycles - 1), allows(200 + cycles)), (false, true), "{name}");
    }
}

#[test]
fn what_no_rule_joins_may_follow_at_once() {
    let parameters = distinct();
    for (first, bank, second, other) in [
        (Pre, 0, Act, 1),
        (Act, 0, Pre, 1),
        (Act, 0, Rd, 1),
        (Rd, 0, Act, 4),
        (Wr, 0, Pre, 4),
        (RefBank, 0, Rd, 4),
        (Pre, 1, RefBank, 0),
    ] {
        assert!(allows(&parameters, &[(200, first, bank)], (201, second, other)), "{first:?}, {second:?}");
    }
}

#[test]
fn a_window_holds_four_activates() {
    let parameters = distinct();
    let four = [(200, Act, 0), (206, Act, 4), (212, RefBank, 8), (218, Act, 12)];
    // FAW 43 from the first on; without the window RRD would allow the fifth at 224.
    for fifth in [Act, RefBank] {
        let at = |at| allows(&parameters, &four, (at, fifth, 1));
        assert_eq!((at(242), at(243)), (false, true), "{fifth:?}");
    }
    assert!(allows(&parameters, &four[..3], (218, Act, 12)), "the fourth waits for RRD alone");
    // The sixth counts from the second.
    let five = [four.as_slice(), &[(243, Act, 1)]].concat();
    let sixth = |at| allows(&parameters, &five, (at, Act, 5));
    assert_eq!((sixth(248), sixth(249)), (false, true));
    // What opens no row is not counted.
    let mixed = [(200, Act, 0), (206, Act, 4), (212, Pre, 8), (218, Rd, 12), (219, Act, 12)];
    assert!(allows(&parameters, &mixed, (225, Act, 9)));
}

/// Lines of row 0 in every second bank; groups have four banks.
const BANK: u64 = 64;

#[test]
fn the_fifth_activate_of_a_channel_waits_for_the_window() {
    let parameters = parameters("faw = { value = 50, source = \"test\" }");
    let requests: Vec<_> = (0..6).map(|bank| (0, bank * BANK, LOW, false)).collect();
    let (channel, _) = play_on(&parameters, &requests);
    let activates: Vec<_> = commands(&channel).into_iter().filter(|issued| issued.1 == Act).collect();
    // RRD 6, with reads of the first two banks at 13 and 19; the fifth 50 after the first, the sixth 50 after the second.
    let expected = [(1, 0), (7, 2), (14, 4), (20, 6), (51, 8), (57, 10)];
    assert_eq!(activates, expected.map(|(at, bank)| (at, Act, bank)));
}

#[test]
fn a_refresh_of_all_banks_closes_rows_first_and_then_takes_rfc() {
    let requests = [(0, ROW_0, LOW, false), (990, OTHER_GROUP, LOW, false), (1001, ROW_0 + 1, LOW, false)];
    let (channel, _) = play_on(&parameters(REFRESH), &requests);
    let expected = vec![
        (1, Act, 0),
        (13, Rd, 0),
        (991, Act, 4),
        // Due at 1000: the row of bank 0 first; that of bank 4 after RAS 28, its read after the refresh.
        (1000, Pre, 0),
        (1019, Pre, 4),
        // RP 12, then RFC 70 and RCD 12; RRD 6 between the activates.
        (1031, Ref, 0),
        (1101, Act, 4),
        (1107, Act, 0),
        (1113, Rd, 4),
        (1119, Rd, 0),
    ];
    assert_eq!(commands(&channel), expected);
}

#[test]
fn a_refresh_of_a_bank_lets_the_others_go_on() {
    // A bank every 100 cycles: bank 0 at 100, bank 1 at 200.
    let per_bank = r#"
        [refresh]
        policy = { value = "per-bank", source = "test" }
        refi = { value = 1600, source = "test" }
        rfc = { value = 70, source = "test" }
    "#;
    let requests = [
        (80, ROW_0, LOW, false),
        (98, OTHER_GROUP, LOW, false),
        (99, ROW_0 + 1, LOW, false),
        (199, OTHER_GROUP + 1, LOW, false),
    ];
    let (channel, _) = play_on(&parameters(per_bank), &requests);
    let expected = vec![
        (81, Act, 0),
        (93, Rd, 0),
        (99, Act, 4),
        // Due at 100, but RAS 28 keeps the row until 109.
        (109, Pre, 0),
        (111, Rd, 4),
        // RP 12, which is RC 40, too. Bank 0 is back after RFC 70.
        (121, RefBank, 0),
        (191, Act, 0),
        // Bank 1 is closed, so only RRD 6 keeps its refresh waiting, which goes before the read.
        (200, RefBank, 1),
        (201, Rd, 4),
        (203, Rd, 0),
    ];
    assert_eq!(commands(&channel), expected);
    assert_eq!(
        (channel.requests.statistics.refreshes, channel.requests.statistics.refresh_precharges),
        (2, 1)
    );
}

#[test]
fn idle_banks_are_refreshed_one_after_the_other_when_a_request_ends_the_pause() {
    let per_bank = r#"
        [refresh]
        policy = { value = "per-bank", source = "test" }
        refi = { value = 1600, source = "test" }
        rfc = { value = 250, source = "test" }
    "#;
    // One at 100, 200, and so on; bank 0 has its turn at 100, 1,700, ... 9,700 and 11,300.
    for (offered, finished, refreshes) in [
        (11_250, 11_250 + 127, 112),
        // RFC 250 from 9,700 on, RCD 12, and what a read takes. Two banks more have their turn meanwhile.
        (9_760, 9_950 + 12 + 114, 97 + 2),
    ] {
        let requests = [(0, ROW_0, LOW, false), (offered, ROW_0, LOW, false)];
        let (channel, all_finished) = play_on(&parameters(per_bank), &requests);
        let first = commands(&channel).into_iter().find(|issued| issued.1 == RefBank);
        assert_eq!(first, Some((112, RefBank, 0)), "RP after the row was closed at 100");
        assert_eq!((all_finished[1], channel.requests.statistics.refreshes), (finished, refreshes));
    }
}
