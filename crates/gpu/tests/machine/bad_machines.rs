//! Machine files and overrides that are refused, with the exact messages.

use std::path::Path;

use strata_gpu::gpu::{Gpu, GpuOptions};
use strata_gpu::machine::{Machine, builtin};

/// Overrides of a GTX 480, and the message for each.
#[rustfmt::skip]
const OVERRIDES: &[(&str, &str)] = &[
    ("l1d.sram.ways",
     "--set l1d.sram.ways: found no `=`, expected door.key=value"),
    ("=4",
     "--set =4: found nothing on one side of `=`, expected door.key=value"),
    ("l1d.sram.ways=",
     "--set l1d.sram.ways=: found nothing on one side of `=`, expected door.key=value"),
    ("l1d.sram.way=4",
     "--set l1d.sram.way=4: unknown key `l1d.sram.way` (did you mean `l1d.sram.ways`?), expected one of the keys of `l1d.sram`: `accesses_per_cycle`, `allocate`, `banks`, `bypass_entries`, `fill_latency_cycles`, `hit_latency_cycles`, `honours_bypass`, `miss_queue`, `mshr_entries`, `mshr_merges`, `replacement`, `sector_bytes`, `set_index`, `sets`, `tag_latency_cycles`, `ways`, `write_buffer`, `write_miss_policy`, `write_policy`"),
    ("l1d.size=4",
     "--set l1d.size=4: unknown key `l1d.size`, expected one of the keys of `l1d.sram`: `accesses_per_cycle`, `allocate`, `banks`, `bypass_entries`, `fill_latency_cycles`, `hit_latency_cycles`, `honours_bypass`, `miss_queue`, `mshr_entries`, `mshr_merges`, `replacement`, `sector_bytes`, `set_index`, `sets`, `tag_latency_cycles`, `ways`, `write_buffer`, `write_miss_policy`, `write_policy`"),
    ("l2.ways=4",
     "--set l2.ways=4: unknown key `l2.ways` (did you mean `llc.conventional.ways`?), expected one of the keys: `clocks`, `constant_cache`, `description`, `dram`, `energy`, `gpu`, `instruction_cache`, `l1d`, `llc`, `lsu`, `name`, `network`, `sm`"),
    ("l1d.sram=4",
     "--set l1d.sram=4: `l1d.sram` is a section, expected one of its keys: `accesses_per_cycle`, `allocate`, `banks`, `bypass_entries`, `fill_latency_cycles`, `hit_latency_cycles`, `honours_bypass`, `miss_queue`, `mshr_entries`, `mshr_merges`, `replacement`, `sector_bytes`, `set_index`, `sets`, `tag_latency_cycles`, `ways`, `write_buffer`, `write_miss_policy`, `write_policy`"),
    ("name.first=x",
     "--set name.first=x: `name` is a value, it has no `first`"),
    ("l1d.sram.ways=many",
     "--set l1d.sram.ways=many: invalid type: string \"many\", expected a whole number from 0 on"),
    ("l1d.sram.ways=-1",
     "--set l1d.sram.ways=-1: invalid value: integer `-1`, expected a whole number from 0 on"),
    ("l1d.sram.ways=4.5",
     "--set l1d.sram.ways=4.5: invalid type: floating point `4.5`, expected a whole number from 0 on"),
    ("l1d.sram.ways=0",
     "m.toml with --set l1d.sram.ways=0: l1d.sram: ways: must be 1 to 64, found 0"),
    ("l1d.sram.ways=65",
     "m.toml with --set l1d.sram.ways=65: l1d.sram: ways: must be 1 to 64, found 65"),
    ("l1d.sram.sets=3",
     "m.toml with --set l1d.sram.sets=3: l1d.sram: sets: an index of bits needs a power of two, found 3"),
    ("l1d.sram.set_index=prime",
     "--set l1d.sram.set_index=prime: unknown variant `prime`, expected one of `modulo`, `bits`, `xor`, `fermi`"),
    ("l1d.sram.replacement=plru",
     "--set l1d.sram.replacement=plru: unknown variant `plru` (did you mean `lru`?), expected one of `lru`, `fifo`, `random`, `tree-plru`"),
    ("l1d.sram.sector_bytes=48",
     "m.toml with --set l1d.sram.sector_bytes=48: l1d.sram: sector_bytes: must be a power of two from 4 to 128, found 48"),
    ("l1d.sram.sector_bytes=2",
     "m.toml with --set l1d.sram.sector_bytes=2: l1d.sram: sector_bytes: must be a power of two from 4 to 128, found 2"),
    ("l1d.sram.mshr_entries=0",
     "m.toml with --set l1d.sram.mshr_entries=0: l1d.sram: mshr_entries: must be 1 to 4096, found 0"),
    ("l1d.sram.miss_queue=1",
     "m.toml with --set l1d.sram.miss_queue=1: l1d.sram: miss_queue: must be 2 to 4096, found 1"),
    ("l1d.sram.hit_latency_cycles=0",
     "m.toml with --set l1d.sram.hit_latency_cycles=0: l1d.sram: hit_latency_cycles: must be 1 to 4096, found 0"),
    ("l1d.sram.write_policy=lazy",
     "--set l1d.sram.write_policy=lazy: unknown variant `lazy`, expected `write-back` or `write-through`"),
    ("l1d.sram.write_miss_policy=drop",
     "--set l1d.sram.write_miss_policy=drop: unknown variant `drop`, expected one of `validate`, `fetch`, `no-allocate`"),
    ("l1d.sram.honours_bypass=1",
     "--set l1d.sram.honours_bypass=1: invalid type: integer `1`, expected a boolean"),
    ("sm.warp_slots=65",
     "m.toml with --set sm.warp_slots=65: sm.warp_slots = 65: expected 1 to 64"),
    ("sm.schedulers=0",
     "m.toml with --set sm.schedulers=0: sm.schedulers = 0: expected 1 to 8"),
    ("sm.scheduling=random",
     "--set sm.scheduling=random: unknown variant `random`, expected one of `loose-round-robin`, `greedy-then-oldest`, `switch-on-memory`, `two-level`"),
    ("sm.scheduling={ two-level = { active = 0 } }",
     "m.toml with --set sm.scheduling={ two-level = { active = 0 } }: sm.scheduling.two_level.active = 0: expected 1 to 64"),
    ("sm.scheduling={ two-level = { warps = 4 } }",
     "--set sm.scheduling={ two-level = { warps = 4 } }: unknown field `warps`, expected `active`"),
    ("sm.register_unit=33",
     "m.toml with --set sm.register_unit=33: sm.register_unit = 33: expected a multiple of 32"),
    ("sm.register_file.banks=65",
     "m.toml with --set sm.register_file.banks=65: sm.register_file.sram: banks: must be 1 to 64, found 65"),
    ("sm.units.sp=0",
     "m.toml with --set sm.units.sp=0: sm.units = 0: expected 1 to 16"),
    ("sm.timing.int_add.unit=ldst",
     "m.toml with --set sm.timing.int_add.unit=ldst: sm.timing.int_add.unit: the load/store unit performs memory instructions only"),
    ("sm.timing.int_add.latency_cycles=0",
     "m.toml with --set sm.timing.int_add.latency_cycles=0: sm.timing.int_add.latency_cycles = 0: expected 1 to 1000"),
    ("sm.timing.int_add.interval_cycles=1001",
     "m.toml with --set sm.timing.int_add.interval_cycles=1001: sm.timing.int_add.interval_cycles = 1001: expected 1 to 1000"),
    ("lsu.queue=257",
     "m.toml with --set lsu.queue=257: lsu: queue is 257, expected 1 to 256"),
    ("lsu.segment_bytes=48",
     "m.toml with --set lsu.segment_bytes=48: lsu: segment_bytes is 48, expected a power of two"),
    ("lsu.shared.bank_bytes=5",
     "m.toml with --set lsu.shared.bank_bytes=5: lsu: shared.bank_bytes is 5, expected a power of two"),
    ("lsu.shared.banks=3",
     "m.toml with --set lsu.shared.banks=3: lsu: shared.banks is 3, expected a power of two"),
    ("instruction_cache.ways=0",
     "m.toml with --set instruction_cache.ways=0: instruction_cache: ways: must be 1 to 64, found 0"),
    ("constant_cache.miss_queue=0",
     "m.toml with --set constant_cache.miss_queue=0: constant_cache: miss_queue: must be 1 to 4096, found 0"),
    ("network.hop_latency_cycles=0",
     "m.toml with --set network.hop_latency_cycles=0: network.multistage: hop_latency_cycles: must be 1 to 10000, found 0"),
    ("network.flit_bytes=0",
     "m.toml with --set network.flit_bytes=0: network.multistage: flit_bytes: found 0, expected 1 to 4096"),
    ("network.buffer_flits=1",
     "network.multistage: buffer_flits: found 1, expected at least the 14 flits of the largest packet"),
    ("network.topology=mesh",
     "--set network.topology=mesh: unknown variant `mesh`, expected `crossbar` or `butterfly`"),
    ("network.topology={ butterfly = { radix = 4, stages = 2 } }",
     "network.multistage: topology: found 16 terminals, expected at least one for each of 27 nodes"),
    ("network.topology={ butterfly = { radix = 0, stages = 1 } }",
     "m.toml with --set network.topology={ butterfly = { radix = 0, stages = 1 } }: network.multistage: topology: found 0 ports and 1 stages, expected 1 to 128 ports and 1 to 14 stages"),
    ("network.arbitration=priority",
     "--set network.arbitration=priority: unknown variant `priority`, expected `round-robin` or `oldest-first`"),
    ("llc.conventional.sets=63",
     "m.toml with --set llc.conventional.sets=63: llc.conventional: sets: an index of bits needs a power of two, found 63"),
    ("llc.conventional.dram_queue=1",
     "m.toml with --set llc.conventional.dram_queue=1: llc.conventional: dram_queue: must be 2 to 4096, found 1"),
    ("llc.conventional.sector_bytes=256",
     "m.toml with --set llc.conventional.sector_bytes=256: llc.conventional: sector_bytes: must be a power of two from 4 to 128, found 256"),
    ("dram.banks=12",
     "m.toml with --set dram.banks=12: dram: banks: found 12, expected a power of two up to 32"),
    ("dram.bank_groups=32",
     "m.toml with --set dram.bank_groups=32: dram: bank_groups: found 32, expected a power of two up to the 16 banks"),
    ("dram.address_pattern=RRRR",
     "m.toml with --set dram.address_pattern=RRRR: dram: address_pattern: found 4 bits, expected 32"),
    ("dram.address_pattern=0000RRRR.RRRRRRRR.BBBCCCCC.CCSSSSSS",
     "m.toml with --set dram.address_pattern=0000RRRR.RRRRRRRR.BBBCCCCC.CCSSSSSS: dram: address_pattern: found 8 banks, expected 16"),
    ("dram.atom_bytes=100",
     "m.toml with --set dram.atom_bytes=100: dram: atom_bytes: found 100, expected a power of two up to 128"),
    ("dram.queue_entries=65",
     "m.toml with --set dram.queue_entries=65: dram: queue_entries: found 65, expected 1 to 64"),
    ("dram.timing.rcd=0",
     "m.toml with --set dram.timing.rcd=0: dram: timing.rcd: found 0, expected 1 to 4096"),
    ("dram.burst_cycles=0",
     "m.toml with --set dram.burst_cycles=0: dram: burst_cycles: found 0, expected 1 to 4096"),
    ("dram.return_entries=0",
     "m.toml with --set dram.return_entries=0: dram: return_entries: found 0, expected 1 to 65536"),
    ("clocks.core_mhz=0",
     "m.toml with --set clocks.core_mhz=0: clocks.core_mhz: found 0, expected 1 to 100000"),
    ("clocks.dram_mhz=0",
     "m.toml with --set clocks.dram_mhz=0: clocks.dram_mhz: found 0, expected 1 to 100000"),
    ("gpu.sms=0",
     "m.toml with --set gpu.sms=0: gpu.sms: found 0, expected 1 to 1024"),
    ("gpu.sms=70000",
     "--set gpu.sms=70000: invalid value: integer `70000`, expected a whole number from 0 to 65535"),
    ("gpu.channels=0",
     "m.toml with --set gpu.channels=0: gpu.channels: found 0, expected 1 to 256"),
    ("gpu.interleave_bytes=100",
     "m.toml with --set gpu.interleave_bytes=100: gpu.interleave_bytes: found 100, expected 128 to 1048576"),
    ("gpu.memory_mib=1",
     "m.toml with --set gpu.memory_mib=1: gpu.memory_mib: found 1, expected 16 to 262144"),
    ("gpu.dispatch_latency_cycles=0",
     "m.toml with --set gpu.dispatch_latency_cycles=0: gpu.dispatch_latency_cycles: found 0, expected 1 to 10000"),
    ("gpu.sms=9223372036854775808",
     "--set gpu.sms=9223372036854775808: `gpu.sms`: found 9223372036854775808, expected a whole number from -9223372036854775808 to 9223372036854775807"),
    ("gpu.watchdog_cycles=1",
     "m.toml with --set gpu.watchdog_cycles=1: gpu.watchdog_cycles: found 1, expected 1000 to 1099511627776"),
];

/// Edits of the machine file: old text, new text, message. `@` is the line of the old text.
#[rustfmt::skip]
const EDITS: &[(&str, &str, &str)] = &[
    ("name = \"gtx480\"\n",
     "",
     "m.toml:1:1: missing field `name`"),
    ("name = \"gtx480\"",
     "name = gtx480",
     "m.toml:@:8: string values must be quoted, expected literal string"),
    ("name = \"gtx480\"",
     "name = \"gtx480\"\ncolour = \"green\"",
     "m.toml:@+1:1: unknown field `colour`, expected one of `name`, `description`, `clocks`, `gpu`, `sm`, `lsu`, `lane_path`, `l1d`, `instruction_cache`, `constant_cache`, `network`, `llc`, `memory_cache`, `dram`, `energy`, `endurance`"),
    ("[clocks]",
     "[clock]",
     "m.toml:@:2: unknown field `clock` (did you mean `clocks`?), expected one of `name`, `description`, `clocks`, `gpu`, `sm`, `lsu`, `lane_path`, `l1d`, `instruction_cache`, `constant_cache`, `network`, `llc`, `memory_cache`, `dram`, `energy`, `endurance`"),
    ("core_mhz = { value = 700, source =",
     "core_mhz = { value = 700, src =",
     "m.toml:@:27: unknown field `src` (did you mean `source`?), expected `value` or `source`"),
    ("core_mhz = { value = 700, source = \"SM2_GTX480; Hi-End Table 2: 700 MHz. Network and L2 run at the same clock\" }",
     "core_mhz = 700",
     "m.toml:@:12: invalid type: integer `700`, expected a value with its source: { value = ..., source = \"...\" }"),
    ("sms = { value = 15,",
     "sms = { value = \"15\",",
     "m.toml:@:17: invalid type: string \"15\", expected a whole number from 0 to 65535"),
    ("sms = { value = 15,",
     "sms = { value = -15,",
     "m.toml:@:17: invalid value: integer `-15`, expected a whole number from 0 to 65535"),
    ("sms = { value = 15,",
     "sms = { value = 9223372036854775808,",
     "m.toml:@:17: `gpu.sms`: found 9223372036854775808, expected a whole number from -9223372036854775808 to 9223372036854775807"),
    ("[l1d.sram]",
     "[l1d.dram]",
     "m.toml:@:6: unknown design `dram` (did you mean `sram`?), expected one of `sram`, `fuse`"),
    ("[llc.conventional]",
     "[llc]",
     "m.toml:@:1: found 14 keys, expected a table of one design: `conventional`"),
    ("serves = [\"sp\"]",
     "serves = [\"sp\", \"texture\"]",
     "m.toml:@:17: unknown variant `texture`, expected one of `sp`, `int`, `dp`, `sfu`, `tensor`, `ldst`"),
    ("serves = [\"sp\"]",
     "serves = []",
     "m.toml:@-2:6: sm.collectors: Sp is served by 0 pools, expected exactly one"),
    ("ways = { value = 4,",
     "ways = { value = 0,",
     "m.toml:@:1: l1d.sram: ways: must be 1 to 64, found 0"),
    ("core_mhz = { value = 700,",
     "core_mhz = { value = 0,",
     "m.toml:@:1: clocks.core_mhz: found 0, expected 1 to 100000"),
    ("schedulers = { value = 2,",
     "schedulers = { value = 0,",
     "m.toml:@:1: sm.schedulers = 0: expected 1 to 8"),
    ("[dram.timing]\n",
     "[dram.timing]\nccd = { value = 2, source = \"twice\" }\n",
     "m.toml:@+2:1: duplicate key"),
    ("rc = { value = 40,",
     "rcc = { value = 40,",
     "m.toml:@:1: unknown field `rcc` (did you mean `rc`, `rcd`?), expected one of `ccd`, `ccd_l`, `rrd`, `rcd`, `ras`, `rp`, `rc`, `cl`, `wl`, `cdlr`, `wr`, `rtp`, `turnaround`"),
    ("turnaround = ",
     "turnaround == ",
     "m.toml:@:13: extra `=`, expected nothing"),
];

/// Reads and builds a machine; some errors appear only when the parts are assembled.
fn refusal(text: &str, sets: &[String]) -> Option<String> {
    let machine = match Machine::parse(Path::new("m.toml"), text, sets) {
        Ok(machine) => machine,
        Err(error) => return Some(error.to_string()),
    };
    let options = GpuOptions {
        threads: 1,
        saves_threads: false,
        window: None,
        limit: strata_engine::Cycle::NEVER,
        interrupt: None,
    };
    Gpu::new(&machine, options).err()
}

#[test]
fn every_mistake_is_named_with_its_place() {
    let text = builtin()[0].text;
    assert_eq!(refusal(text, &[]), None);
    let mut wrong = Vec::new();
    let mut check = |what: String, found: Option<String>, expected: &str| {
        let found = found.unwrap_or_else(|| "nothing is wrong".into());
        if found != expected {
            wrong.push(format!("{what}\n  found    {found}\n  expected {expected}"));
        }
    };
    for (index, (set, expected)) in OVERRIDES.iter().enumerate() {
        check(format!("s{index} {set}"), refusal(text, &[(*set).to_owned()]), expected);
    }
    for (index, (from, to, expected)) in EDITS.iter().enumerate() {
        assert!(text.contains(from), "{from}");
        let line = 1 + text[..text.find(from).expect("it was found")].matches('\n').count();
        let expected = [("@-2:", line - 2), ("@+2:", line + 2), ("@+1:", line + 1), ("@:", line)]
            .iter()
            .fold((*expected).to_owned(), |text, (mark, line)| text.replace(mark, &format!("{line}:")));
        check(format!("e{index} {to}"), refusal(&text.replacen(from, to, 1), &[]), &expected);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
