//! Golden latencies and the worked cases of Figures 8 to 11.

use strata_memory::doors::{Design, L1d, L1dDesign, Refusal};

use super::super::*;
use super::bench::Bench;
use super::{small, system};

/// SRAM of one set of two ways beside the system's STT-MRAM, hit latency 4.
fn narrow(name: &str) -> FuseConfig {
    let mut config = small(name);
    let sram = config.sram.as_mut().unwrap();
    (sram.sets.value, sram.ways.value) = (1, 2);
    config
}

/// Brings lines 1, 2 and 3: the first moves to STT-MRAM.
fn with_a_line_in_stt(config: &FuseConfig) -> Bench {
    let mut bench = Bench::new(config);
    (1..=3).for_each(|line| bench.bring(line));
    assert_eq!([1, 2, 3].map(|line| bench.bank(line)), ["stt", "sram", "sram"]);
    bench
}

#[test]
fn latencies_of_each_bank() {
    for (name, stt_read) in
        [("hybrid", 4), ("base-fuse", 4), ("fa-fuse-true", 4), ("fa-fuse", 4 + 2), ("victim-buffer", 4)]
    {
        let mut bench = with_a_line_in_stt(&narrow(name));
        let token = bench.load(3).unwrap();
        assert_eq!(bench.latency(token), (4, 3), "{name}: a hit in SRAM");
        let token = bench.load(1).unwrap();
        // By approximation: a cycle of polling after the filters' test, and the array is read in the next one.
        assert_eq!(bench.latency(token), (stt_read, 1), "{name}: a hit in STT-MRAM");
    }
}

#[test]
fn each_positive_row_costs_a_cycle() {
    // With one counter for each filter, every row with a line is positive.
    let mut config = narrow("fa-fuse");
    config.approximation.as_mut().unwrap().slots.value = 1;
    let mut bench = Bench::new(&config);
    // Lines 1 to 10 go to places 0 to 9 of STT-MRAM: rows of four.
    (1..=12).for_each(|line| bench.bring(line));
    for (line, polls) in [(1, 1), (4, 1), (5, 2), (8, 2), (9, 3)] {
        assert_eq!(bench.bank(line), "stt");
        let before = bench.count("tag_search_cycles");
        let token = bench.load(line).unwrap();
        assert_eq!(bench.latency(token), (4 + 1 + polls, line as u8), "line {line}");
        assert_eq!(bench.count("tag_search_cycles") - before, polls);
    }
    let before = bench.count("cbf_false_positives");
    bench.bring(99);
    assert_eq!(bench.count("cbf_false_positives") - before, 3, "a miss polls all that is positive");
}

#[test]
fn a_write_occupies_stt_for_five_cycles_and_blocks_hybrid() {
    let mut bench = with_a_line_in_stt(&narrow("hybrid"));
    bench.load(4).unwrap();
    let mut refused = 0;
    bench.step();
    while bench.load(3) == Err(Refusal::Bank) {
        refused += 1;
        bench.step();
    }
    assert_eq!(refused, 4, "line 2 was written in the miss's cycle and the four after it");
    assert_eq!(bench.count("stt_write_stalls"), 4);
}

#[test]
fn the_swap_buffer_hides_the_write_from_sram() {
    let mut bench = with_a_line_in_stt(&narrow("base-fuse"));
    bench.load(4).unwrap();
    assert_eq!(bench.bank(2), "swap", "Figure 10: evicted to the buffer at once");
    bench.step();
    bench.step();
    assert_eq!(bench.bank(2), "stt", "the tag moves when the write begins");
    let token = bench.load(3).unwrap();
    assert_eq!(bench.latency(token), (4, 3), "SRAM goes on serving");
    let mut bench = with_a_line_in_stt(&narrow("base-fuse"));
    bench.load(4).unwrap();
    bench.step();
    let token = bench.load(1).unwrap();
    // "F" was served in cycle 1, when this load came: the bank is free again in cycle 6.
    assert_eq!(bench.latency(token), (5 + 4, 1), "a load of STT-MRAM waits for the write");
}

#[test]
fn the_internal_bus_carries_a_line_a_cycle() {
    let mut bench = with_a_line_in_stt(&narrow("base-fuse"));
    // A load of STT-MRAM and one of SRAM in cycles of their own: two banks, one bus, nothing to wait for.
    bench.load(1).unwrap();
    bench.step();
    bench.load(3).unwrap();
    assert_eq!(bench.count("bus_stalls"), 0);
    bench.settle();
    // Line 4's fill comes in the cycle of a hit: the hit waits for a cycle.
    bench.load(4).unwrap();
    while bench.sent.is_empty() {
        bench.step();
    }
    let reply = bench.sent.remove(0).into_reply();
    bench.l1d.accept(reply, bench.now);
    bench.step();
    assert_eq!(bench.load(3), Err(Refusal::Bank), "the fill has the bus");
    assert_eq!((bench.count("bus_stalls"), bench.count("refused_bank")), (1, 1));
    bench.step();
    let token = bench.load(3).unwrap();
    assert_eq!(bench.latency(token), (4, 3));
    // 64 bytes a cycle: every other cycle.
    let mut config = narrow("base-fuse");
    config.bus.as_mut().unwrap().bytes_per_cycle.value = 64;
    let mut bench = with_a_line_in_stt(&config);
    let taken = [0; 6].map(|_| {
        let taken = bench.load(3).is_ok();
        bench.step();
        taken
    });
    assert_eq!(taken, [true, false, true, false, true, false]);
}

#[test]
fn a_hit_in_sram_owns_the_bus_before_the_tag_queue() {
    // IV-A. The load of STT-MRAM has polled in its next cycle, and would read the array in the one after it.
    let mut bench = with_a_line_in_stt(&narrow("fa-fuse"));
    let start = bench.now;
    let from_stt = bench.load(1).unwrap();
    bench.step();
    bench.step();
    let from_sram = bench.load(3).unwrap();
    assert_eq!(bench.latency(from_sram), (4, 3), "at once");
    bench.settle();
    let done = bench.done.iter().find(|done| done.1 == from_stt).unwrap();
    assert_eq!(done.0 - start.0, 4 + 2 + 1, "a cycle later");
    assert_eq!(bench.count("bus_stalls"), 0);
}

#[test]
fn a_recount_keeps_the_polling_logic_for_a_cycle() {
    // Counters of one bit are saturated as soon as they count: every line that leaves has its filter recounted.
    for (saturated, rows) in [(Saturated::Stays, 0), (Saturated::Recounted, 1)] {
        let mut config = narrow("fa-fuse");
        let approximation = config.approximation.as_mut().unwrap();
        (approximation.counter_bits.value, approximation.saturated.value) = (1, saturated);
        let mut bench = Bench::new(&config);
        (1..=5).for_each(|line| bench.bring(line));
        assert_eq!([1, 2, 3].map(|line| bench.bank(line)), ["stt"; 3]);
        // A write hit: line 1 moves to SRAM, and leaves its filter.
        bench.store(1, 9).unwrap();
        while bench.bank(1) == "stt" {
            bench.step();
        }
        assert_eq!(bench.count("cbf_recounts"), rows);
        let next = bench.now.next();
        assert_eq!(
            bench.l1d.polled.0.saturating_sub(next.0),
            rows,
            "a search that begins in the next cycle waits"
        );
    }
}

#[test]
fn a_full_tag_queue_is_the_fault_of_what_its_front_waits_for() {
    // With one counter a filter every load that misses is searched for, and waits in the queue.
    let mut config = narrow("fa-fuse");
    config.approximation.as_mut().unwrap().slots.value = 1;
    config.mshr_entries.value = 1;
    config.queues.as_mut().unwrap().tag_queue_entries.value = 2;
    let mut bench = with_a_line_in_stt(&config);
    // Takes the only MSHR; line 2 leaves SRAM for it, and its write into STT-MRAM begins.
    bench.load(50).unwrap();
    (0..4).for_each(|_| bench.step());
    assert_eq!((bench.bank(50), bench.bank(2)), ("waits", "stt"));
    bench.load(51).unwrap();
    bench.step();
    bench.load(52).unwrap();
    bench.step();
    let now = bench.now;
    assert!(bench.l1d.chassis.cache.store.stt().is_writing(now), "a write occupies the bank");
    assert_eq!(bench.load(53), Err(Refusal::Bank), "the queue is full");
    assert_eq!(
        ["tag_queue_full", "stt_write_stalls", "tag_search_stalls", "other_stalls"]
            .map(|name| bench.count(name)),
        [1, 0, 0, 1],
        "the load at its front waits for an MSHR, not for the write"
    );
}

#[test]
fn a_load_of_a_line_in_the_swap_buffer_waits_behind_its_migration() {
    let mut bench = with_a_line_in_stt(&narrow("base-fuse"));
    bench.store(2, 0x55).unwrap();
    bench.settle();
    // Line 3 is older now; a load of 2 makes it so that 3 leaves first, then 2.
    bench.load(4).unwrap();
    bench.step();
    bench.store(5, 0x66).unwrap();
    assert_eq!(bench.bank(2), "swap");
    bench.step();
    let token = bench.load(2).unwrap();
    let (_, byte) = bench.latency(token);
    assert_eq!((byte, bench.bank(2)), (0x55, "stt"), "the bytes came along");
}

#[test]
fn a_write_hit_on_stt_flushes_the_queue_and_migrates() {
    for name in ["base-fuse", "fa-fuse", "dy-fuse"] {
        let mut bench = with_a_line_in_stt(&narrow(name));
        bench.load(4).unwrap();
        bench.step();
        let before = bench.load(1).unwrap();
        bench.step();
        let write = bench.store(1, 0x77).unwrap();
        bench.step();
        assert_eq!(bench.load(3), Err(Refusal::Bank), "{name}: nothing is taken behind it");
        assert_eq!(bench.latency(before).1, 1, "{name}: the load before it sees the old byte");
        bench.latency(write);
        bench.settle();
        assert_eq!(bench.bank(1), "sram", "{name}");
        assert_eq!((bench.count("tag_queue_flushes"), bench.count("migrations_to_sram")), (1, 1), "{name}");
        let token = bench.load(1).unwrap();
        assert_eq!(bench.latency(token), (4, 0x77), "{name}");
    }
}

#[test]
fn a_miss_goes_where_its_instruction_is_predicted_to_belong() {
    // Figure 9: placement by read-level, with what III-A says of WORO. Warp 0 is sampled; warp 1 is not.
    let mut config = narrow("dy-fuse");
    config.predictor.as_mut().expect("Dy-FUSE predicts").woro_miss.value = WoroMiss::Bypasses;
    let mut bench = Bench::new(&config);
    let teach = |bench: &mut Bench, pc: u32, write: bool| {
        (bench.pc, bench.warp) = (pc, 0);
        for _ in 0..9 {
            if write {
                bench.store(200, 1).map(drop).unwrap()
            } else {
                bench.load(200).map(drop).unwrap()
            }
            bench.settle();
        }
        (bench.pc, bench.warp) = (pc, 1);
    };
    bench.bring(1);
    assert_eq!((bench.bank(1), bench.count("predicted_neutral")), ("sram", 1), "at the beginning: neutral");
    teach(&mut bench, 10, false);
    bench.load(20).unwrap();
    bench.settle();
    assert_eq!((bench.bank(20), bench.count("predicted_worm")), ("stt", 1), "WORM");
    // Another instruction's block: seen first by a load of 11, then written.
    (bench.pc, bench.warp) = (11, 0);
    bench.load(201).unwrap();
    bench.settle();
    for _ in 0..8 {
        bench.store(201, 1).unwrap();
        bench.settle();
    }
    bench.warp = 1;
    bench.load(21).unwrap();
    bench.settle();
    assert_eq!((bench.bank(21), bench.count("predicted_wm")), ("sram", 1), "WM");
    // A read that hits STT-MRAM and is predicted WM moves the line.
    bench.load(20).unwrap();
    bench.settle();
    assert_eq!((bench.bank(20), bench.count("migrations_to_sram")), ("sram", 1));
    // Blocks that are never used again: 8 ways of the sampler, then 7 evictions.
    (bench.pc, bench.warp) = (12, 0);
    for line in 300..315 {
        bench.load(line).unwrap();
        bench.settle();
    }
    bench.warp = 1;
    bench.load(22).unwrap();
    bench.settle();
    assert_eq!(bench.bank(22), "-", "WORO");
    assert!((1..=2).contains(&bench.count("bypasses")), "the last one of the others may have been as well");
    assert_eq!(bench.count("predicted_woro"), bench.count("bypasses"));
    let (past, reads) = (bench.count("past_loads"), bench.count("sram_reads"));
    assert_eq!(past, bench.count("bypasses"), "they cost a search");
    bench.load(23).unwrap();
    bench.settle();
    assert_eq!((bench.count("past_loads"), bench.count("sram_reads")), (past + 1, reads));
    bench.store(24, 1).unwrap();
    bench.settle();
    assert_eq!(bench.count("past_writes"), 1, "a store past the cache searches the tags alone");
}

#[test]
fn woro_blocks_go_to_sram_and_from_there_below() {
    let mut bench = Bench::new(&small("dy-fuse"));
    // A sampled warp: 8 ways of the sampler, then 7 evictions; the next one is predicted WORO.
    bench.warp = 0;
    (300..315).for_each(|line| bench.bring(line));
    bench.warp = 1;
    let predicted = bench.count("predicted_woro");
    bench.bring(22);
    assert_eq!(bench.count("predicted_woro"), predicted + 1);
    assert_eq!((bench.bank(22), bench.count("bypasses")), ("sram", 0));
    let moved = bench.count("stt_writes");
    // Two ways: two more lines of its set push it out.
    bench.bring(24);
    bench.bring(26);
    assert_eq!((bench.bank(22), bench.count("stt_writes")), ("-", moved), "to the last-level cache");
}

#[test]
fn a_flush_empties_queue_buffer_and_banks() {
    for name in ["hybrid", "base-fuse", "fa-fuse", "dy-fuse"] {
        let mut bench = Bench::new(&narrow(name));
        for line in 1..=4 {
            while bench.store(line, line as u8).is_err() {
                bench.step();
            }
            bench.step();
        }
        bench.l1d.begin_flush(true, bench.now);
        assert_eq!(bench.load(1), Err(Refusal::Flush), "{name}");
        bench.settle();
        assert!(bench.l1d.is_flushed(), "{name}");
        assert_eq!([1, 2, 3, 4].map(|line| bench.bank(line)), ["-"; 4], "{name}");
        assert_eq!((bench.count("write_backs"), bench.count("outgoing_packets")), (4, 4), "{name}");
    }
}

#[test]
fn dead_fills_bypass_by_nvm() {
    let mut bench = Bench::new(&small("by-nvm"));
    // Set 0 of four is sampled: lines that meet there and are used once, until their instruction is known.
    for line in (0..24).step_by(4) {
        bench.bring(line);
    }
    assert_eq!(bench.count("bypasses"), 0);
    bench.bring(4001);
    assert_eq!(
        (bench.bank(4001), bench.count("bypasses"), bench.count("sampled_dead_on_arrival_fills")),
        ("-", 1, 3),
        "3 ways, then 3 evictions: counters of 2 bits in three tables"
    );
    bench.pc = 1;
    bench.bring(4002);
    assert_eq!(bench.bank(4002), "stt", "another instruction");
}

#[test]
fn table_1_is_what_the_systems_hold() {
    for (name, kilobytes) in [
        ("fa-sram", 32),
        ("stt-mram", 128),
        ("by-nvm", 128),
        ("victim-buffer", 80),
        ("hybrid", 80),
        ("base-fuse", 80),
        ("fa-fuse", 80),
        ("fa-fuse-true", 80),
        ("dy-fuse", 80),
    ] {
        assert_eq!(system(name).capacity_bytes(), kilobytes << 10, "{name}");
    }
}

#[test]
fn faults_of_a_configuration_name_their_field() {
    let field = |change: fn(&mut FuseConfig)| {
        let mut config = system("dy-fuse");
        change(&mut config);
        config.check().map_err(|fault| fault.field)
    };
    assert_eq!(field(|_| {}), Ok(()));
    assert_eq!(field(|config| config.queues = None), Err("stt.search"));
    assert_eq!(field(|config| config.approximation = None), Err("approximation"));
    assert_eq!(field(|config| config.stt.as_mut().unwrap().ways.value = 500), Err("approximation.filters"));
    assert_eq!(field(|config| config.sram.as_mut().unwrap().grows.value = true), Err("sram.grows"));
    assert_eq!(
        field(|config| config.queues.as_mut().unwrap().swap_buffer_entries.value = 0),
        Err("queues.swap_buffer_entries")
    );
    assert_eq!(
        field(|config| config.predictor.as_mut().unwrap().history_entries.value = 500),
        Err("predictor.history_entries")
    );
    assert_eq!(field(|config| config.mshr_entries.value = 0), Err("mshr_entries"));
    assert_eq!(field(|config| (config.sram, config.stt) = (None, None)), Err("sram"));
}
