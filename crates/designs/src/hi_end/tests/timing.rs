//! The cycles of single reads and writes, worked out by hand from the paper.

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_memory::WarpRows;
use strata_memory::doors::{
    Arrival, CollectorPort, RegisterFile, RegisterFileDesign, RegisterFileSite, Ticket,
};
use strata_warp::{ALL_LANES, Reg, Row};

use super::super::layout::Layout;
use super::*;

struct Bench {
    layout: Layout,
    file: Box<dyn RegisterFile>,
    rows: Vec<Row>,
    now: Cycle,
}

impl Bench {
    /// 48 warps of 20 registers, as in 1024 rows.
    fn new(design: &dyn RegisterFileDesign) -> Bench {
        let (rows, warps, tickets) = (1024, 48, 8);
        let site = RegisterFileSite { rows, warps, sub_cores: 1, registers_per_thread: 20, tickets, seed: 0 };
        let mut file = design.build(site).unwrap();
        file.prepare(&WarpRows::even(20));
        let mut layout = Layout::new(64, 64, 1024);
        layout.prepare(&WarpRows::even(20));
        Bench { layout, file, rows: vec![Row::ZERO; 8], now: Cycle(100) }
    }

    fn write(&mut self, warp: u8, register: u8, lanes: u32, row: &Row) -> bool {
        self.file.offer_write(warp, Reg(register), lanes, row, self.now)
    }

    fn tick(&mut self) -> Vec<Arrival> {
        let mut arrived = Vec::new();
        self.file.tick(CollectorPort { rows: &mut self.rows, arrived: &mut arrived }, self.now);
        self.now = self.now.next();
        arrived
    }

    /// Cycles from a read's first tick to its arrival, that one among them, and the row.
    fn read(&mut self, warp: u8, register: u8) -> (u64, Row) {
        self.file.request(warp, &[Reg(register)], Ticket(3), &mut self.rows, self.now);
        let from = self.now;
        while self.tick().is_empty() {}
        (self.now.since(from), self.rows[3])
    }

    fn wait(&mut self, cycles: u64) {
        (0..cycles).for_each(|_| assert!(self.tick().is_empty()));
    }

    fn count(&self, group: &str, name: &str) -> u64 {
        let groups: Vec<Group> = self.file.statistics();
        groups.iter().find(|of| of.name == group).and_then(|of| of.get(name)).expect("a counter")
    }
}

/// Hi-End whose writes never wait for reads.
fn eager() -> HierarchicalConfig {
    let mut config = hi_end();
    config.delay_buffer.as_mut().expect("it has one").eager_from = cited(0);
    config
}

#[test]
fn a_write_waits_for_the_reads_of_its_group_until_the_buffer_is_half_full() {
    for (config, buffer_reads) in [(hi_end(), 3), (eager(), 2)] {
        let mut bench = Bench::new(&config);
        assert!(bench.write(0, 5, ALL_LANES, &Row::splat(9)));
        bench.wait(1);
        assert!(bench.write(13, 1, ALL_LANES, &Row::splat(3)));
        // Each read takes two cycles; the write, six from its first free cycle on.
        for _ in 0..2 {
            assert_eq!(bench.read(0, 5).0, 2);
        }
        bench.wait(2);
        bench.read(0, 5);
        assert_eq!(bench.count("register_hierarchy", "buffer_reads"), buffer_reads);
    }
}

#[test]
fn a_write_to_stt_mram_occupies_its_group_for_four_cycles() {
    let mut bench = Bench::new(&banked(banks(1, 4)));
    assert!(bench.write(0, 0, ALL_LANES, &Row::splat(7)));
    assert!(!bench.write(0, 0, ALL_LANES, &Row::splat(8)), "the group is being written");
    assert!(bench.write(0, 1, ALL_LANES, &Row::splat(9)), "a neighbour lies in another group");
    assert_eq!(bench.read(0, 0), (5, Row::splat(7)));
    assert_eq!(bench.read(0, 0), (1, Row::splat(7)));
    assert_eq!(bench.count("register_banks", "bits_written"), 2048);
    assert_eq!(bench.count("register_file", "write_conflicts"), 1);
}

#[test]
fn a_write_waits_for_the_reads_of_its_group_where_those_go_first() {
    for (arbitration, taken, latency) in
        [(Arbitration::WritesFirst, true, 5), (Arbitration::ReadsFirst, false, 1)]
    {
        let mut bench = Bench::new(&BankedConfig { arbitration: cited(arbitration), ..banked(banks(1, 4)) });
        bench.file.request(0, &[Reg(0)], Ticket(0), &mut bench.rows, bench.now);
        let from = bench.now;
        assert_eq!(bench.write(0, 0, ALL_LANES, &Row::splat(7)), taken);
        assert!(bench.write(0, 1, ALL_LANES, &Row::splat(9)), "a neighbour lies in another group");
        while bench.tick().is_empty() {}
        assert_eq!(bench.now.since(from), latency);
        assert_eq!(bench.rows[0], Row::splat(if taken { 7 } else { 0 }));
    }
}

#[test]
fn a_group_serves_a_read_of_its_banks_beside_those_of_the_register_cache() {
    let mut bench = Bench::new(&eager());
    assert!(bench.write(0, 5, ALL_LANES, &Row::splat(1)));
    bench.wait(1);
    assert!(bench.write(13, 1, ALL_LANES, &Row::splat(3)));
    bench.wait(8);
    // Rows of one group: one that left the register cache, and two that lie in different banks of it.
    let layout = &bench.layout;
    let in_group = |row: &u32| layout.place(*row).group == layout.place(5).group;
    let rows = [(6..20).find(in_group), (270..280).find(in_group)].map(|row| row.expect("4 groups"));
    for row in rows {
        assert!(bench.write((row / 20) as u8, (row % 20) as u8, ALL_LANES, &Row::splat(row)));
        bench.wait(1);
    }
    bench.file.request(0, &[Reg(5), Reg(rows[0] as u8)], Ticket(0), &mut bench.rows, bench.now);
    bench.file.request(13, &[Reg((rows[1] % 20) as u8)], Ticket(2), &mut bench.rows, bench.now);
    assert_eq!(bench.tick(), [1, 2].map(|ticket| Arrival::of(Ticket(ticket))));
    bench.wait(2);
    assert_eq!(bench.tick(), [Arrival::of(Ticket(0))]);
    assert_eq!(bench.count("register_file", "read_conflicts"), 0);
}

#[test]
fn reads_of_cache_buffer_and_banks_take_one_two_and_four_cycles() {
    let mut bench = Bench::new(&eager());
    let thread = Row(std::array::from_fn(|lane| 1000 + lane as u32));
    assert!(bench.write(0, 5, ALL_LANES, &thread));
    // Rows go first where a bank is written and read at once.
    bench.wait(1);
    assert_eq!(bench.read(0, 5), (1, thread));
    // Row 12 * 20 + 16 + 5 = 261 has the line of row 5.
    assert!(bench.write(13, 1, ALL_LANES, &Row::splat(3)));
    // The evicted row enters the delay buffer; its write takes six cycles: two to compress, four to write.
    assert_eq!(bench.read(0, 5), (2, thread));
    assert_eq!(bench.count("register_hierarchy", "buffer_reads"), 1);
    bench.wait(2);
    let (latency, row) = bench.read(0, 5);
    assert_eq!((latency, row), (2, thread), "until it has ended, the row is in the delay buffer");
    assert_eq!(bench.read(0, 5), (4, thread));
    assert_eq!(bench.count("register_hierarchy", "bank_reads"), 1);
    // Deltas of one byte: five banks of 64 bits.
    assert_eq!(bench.count("register_banks", "bits_written"), 5 * 64);
    assert_eq!(bench.count("register_banks", "bits_read"), 5 * 64);
    assert_eq!(bench.count("register_hierarchy", "read_cycles"), 1 + 2 + 2 + 4);
}

#[test]
fn a_divergent_write_merges_with_the_row_in_the_banks() {
    let mut bench = Bench::new(&hi_end());
    assert!(bench.write(0, 5, ALL_LANES, &Row::splat(1)));
    bench.wait(1);
    assert!(bench.write(13, 1, ALL_LANES, &Row::splat(3)));
    bench.wait(8);
    assert!(bench.write(0, 5, 0xff, &Row::splat(2)));
    let merged = Row(std::array::from_fn(|lane| if lane < 8 { 2 } else { 1 }));
    assert_eq!(bench.file.peek(0, Reg(5)), merged);
    // Four cycles until the old value is there, and in the last of them the read.
    let (latency, row) = bench.read(0, 5);
    assert_eq!((latency, row), (4, merged));
    assert_eq!(bench.count("register_hierarchy", "merges"), 1);
}

#[test]
fn what_an_ended_warp_leaves_is_not_written() {
    for (dead, rows) in [(DeadRows::Dropped, 0), (DeadRows::Written, 20)] {
        let mut bench = Bench::new(&HierarchicalConfig { dead_rows: cited(dead), ..hi_end() });
        for register in 0..20 {
            assert!(bench.write(0, register, ALL_LANES, &Row::splat(u32::from(register))));
            bench.wait(1);
        }
        bench.file.release(0);
        // Warp 13's first 20 rows after row 256 take the lines of warp 0's.
        for row in 256..276u32 {
            assert!(bench.write((row / 20) as u8, (row % 20) as u8, ALL_LANES, &Row::splat(row)));
            bench.wait(8);
        }
        assert_eq!(bench.count("register_banks", "row_writes"), rows);
    }
}

#[test]
fn the_central_write_buffer_absorbs_writes_until_theirs_begin() {
    let mut bench = Bench::new(&write_buffered(16));
    assert!(bench.write(0, 5, ALL_LANES, &Row::splat(1)));
    assert_eq!(bench.read(0, 5), (1, Row::splat(1)));
    // Its write began in that cycle; a second one waits for its end, and a third joins it.
    assert!(bench.write(0, 5, 1, &Row::splat(2)));
    bench.wait(1);
    assert!(bench.write(0, 5, 2, &Row::splat(3)));
    bench.wait(20);
    let row = Row(std::array::from_fn(|lane| [2, 3].get(lane).copied().unwrap_or(1)));
    assert_eq!(bench.read(0, 5), (4, row));
    assert_eq!(bench.count("register_banks", "row_writes"), 2);
    assert_eq!(bench.count("register_hierarchy", "write_hits"), 1);
}

#[test]
fn a_write_back_that_never_stalls_takes_no_time_of_busy_banks() {
    let write_backs = Some(cited(WriteBacks::NeverStall));
    let mut bench = Bench::new(&BankedConfig { write_backs: write_backs.clone(), ..banked(banks(1, 4)) });
    assert!(bench.write(0, 0, ALL_LANES, &Row::splat(7)));
    assert!(bench.write(0, 0, ALL_LANES, &Row::splat(8)), "the group is being written");
    assert_eq!(bench.read(0, 0), (5, Row::splat(8)));
    assert_eq!(bench.count("register_banks", "row_writes"), 2);
    // Two rows of one bank of the register cache, in one cycle.
    for (write_backs, taken) in [(None, false), (write_backs, true)] {
        let mut bench = Bench::new(&HierarchicalConfig { write_backs, ..hi_end() });
        assert!(bench.write(0, 5, ALL_LANES, &Row::splat(7)));
        assert_eq!(bench.write(0, 5, ALL_LANES, &Row::splat(8)), taken);
    }
}

#[test]
fn a_write_of_some_lanes_may_wear_the_whole_row() {
    for (partial_writes, bits, second) in [(None, 32, 0), (Some(cited(PartialWrites::WholeRow)), 1024, 1)] {
        let mut bench = Bench::new(&BankedConfig { partial_writes, ..banked(banks(1, 4)) });
        assert!(bench.write(0, 0, 1, &Row::splat(7)));
        assert_eq!(bench.file.peek(0, Reg(0)).0[..2], [7, 0]);
        assert_eq!(bench.count("register_banks", "bits_written"), bits);
        let groups = bench.file.statistics();
        let wear = groups.iter().find(|group| group.name == "register_wear").expect("it has wear");
        assert_eq!((wear.values[0], wear.values[2]), (1, second), "{:?}", &wear.values[..4]);
    }
}

/// Cycles from the first of two writes of a group that leave the register cache together to the end of both.
#[test]
fn two_values_of_a_group_are_written_together_where_they_begin_at_different_banks() {
    for (levelling, cycles) in
        [(WearLevelling::None, 10), (WearLevelling::Entry, 7), (WearLevelling::BankPoint, 7)]
    {
        let mut bench =
            Bench::new(&HierarchicalConfig { wear_levelling: cited(levelling), ..write_buffered(16) });
        // Rows 0 and 5: one group, entries 0 and 1; a row of equal lanes takes one bank.
        assert_eq!(bench.layout.place(0).group, bench.layout.place(7).group);
        assert!(bench.write(0, 0, ALL_LANES, &Row::splat(7)));
        bench.wait(1);
        assert!(bench.write(0, 7, ALL_LANES, &Row::splat(8)));
        let from = bench.now;
        while bench.file.next_event(bench.now) < Cycle::NEVER {
            bench.tick();
        }
        assert_eq!(bench.now.since(from), cycles, "{levelling:?}");
    }
}
