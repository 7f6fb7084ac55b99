//! A channel of any bandwidth.

use super::*;

#[test]
fn any_number_of_requests_take_as_long_as_one_alone() {
    let text = format!("scheduler = {{ value = \"unlimited\", source = \"test\" }}\n{GTX480}{REFRESH}");
    let unlimited = config::parse(Path::new("unlimited.toml"), &text).unwrap();
    // Rows of one bank and of others, whole lines and parts, reads and writes, all in one cycle.
    let lines = [ROW_0, ROW_1, OTHER_GROUP, OTHER_BANK, ROW_0 + 1, ROW_1 + 1];
    let read = lines.map(|line| (0, line, ByteMask::ALL, false));
    let written = lines.map(|line| (0, line + 4, LOW, true));
    let (channel, finished) = play_on(&unlimited, &[read, written].concat());
    // Seen in cycle 1; RCD 12, CL 12, a burst of 2 and the controller's 100; or RCD 12, WL 4 and the burst.
    assert_eq!(finished, [[1 + 12 + 12 + 2 + 100; 6], [1 + 12 + 4 + 2; 6]].concat());
    let counted = &channel.requests.statistics;
    assert_eq!((counted.reads, counted.writes, counted.refused), (6, 6, 0));
    assert_eq!((counted.read_bytes, counted.written_bytes), (6 * 128, 6 * 64));
    assert_eq!(counted.refreshes, 0);
}
