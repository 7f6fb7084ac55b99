//! What stands behind the banks of shared memory, in a whole machine: programs that map or copy tiles leave what the
//! reference executor leaves, no number depends on threads or windows, and skipping equals ticking.

use crate::support::{How, module, run_on, ticked, verified};
use strata_gpu::machine::Machine;
use strata_gpu::results::RunResult;
use strata_workloads::{Arg, Comparison, Device, DeviceError, HostProgram, Module, Outcome, Shape};

/// Words of the program's array: 48 CTAs with 32 objects of four words each.
const WORDS: u32 = 48 * 128;

/// Two kernels on an array of objects: `field` adds to one field of each, through the tile functions; `sum` adds the fields up by
/// plain loads, and puts the sum in the last one.
#[derive(Debug)]
struct Objects {
    text: String,
    launches: u32,
}

const DECLARATIONS: &str = ".extern .func stash_add_map(.param .b32 s, .param .b64 g, .param .b32 f, .param .b32 o, \
     .param .b32 w, .param .b32 d, .param .b32 n, .param .b32 c);\n\
     .extern .func dma_load(.param .b32 s, .param .b64 g, .param .b32 f, .param .b32 o, .param .b32 w, \
     .param .b32 d, .param .b32 n);\n\
     .extern .func dma_store(.param .b32 s, .param .b64 g, .param .b32 f, .param .b32 o, .param .b32 w, \
     .param .b32 d, .param .b32 n);\n";

impl Objects {
    /// `first` by one thread before, `last` after, with the CTA's tile at `%rd1`; addresses of the field's words have `bits`
    /// added.
    fn new(first: &str, last: &str, bits: u32, launches: u32) -> Objects {
        let text = module(&format!(
            "{DECLARATIONS}
.visible .entry field(.param .u64 a) {{
.shared .align 64 .b8 s[128];
.reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<4>;
ld.param.u64 %rd0, [a];
mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;
mul.wide.u32 %rd1, %r1, 512; add.u64 %rd1, %rd1, %rd0;
setp.ne.u32 %p, %r0, 0;
@%p bra HERE;
{first}
HERE: bar.sync 0;
shl.b32 %r2, %r0, 2; add.u32 %r2, %r2, {bits};
ld.shared.u32 %r3, [%r2]; mad.lo.u32 %r3, %r3, 3, %r0; st.shared.u32 [%r2], %r3;
bar.sync 0;
@%p bra END;
{last}
END: ret;
}}
.visible .entry sum(.param .u64 a) {{
.reg .b32 %r<8>; .reg .b64 %rd<4>;
ld.param.u64 %rd0, [a];
mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r0, %r1, 32, %r0;
mul.wide.u32 %rd1, %r0, 16; add.u64 %rd1, %rd1, %rd0;
ld.global.v2.u32 {{%r2, %r3}}, [%rd1]; ld.global.u32 %r4, [%rd1+8];
add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; st.global.u32 [%rd1+12], %r2;
ret;
}}"
        ));
        Objects { text, launches }
    }

    /// The second word of each object, mapped.
    fn mapped(launches: u32) -> Objects {
        let map = "add.u64 %rd1, %rd1, 4; call.uni stash_add_map, (0, %rd1, 4, 16, 32, 0, 1, 1);";
        Objects::new(map, "", 0x1000_0000, launches)
    }

    /// The same, copied.
    fn copied(launches: u32) -> Objects {
        let copy =
            |function| format!("add.u64 %rd2, %rd1, 4; call.uni {function}, (0, %rd2, 4, 16, 32, 0, 1);");
        Objects::new(&copy("dma_load"), &copy("dma_store"), 0, launches)
    }
}

impl HostProgram for Objects {
    fn name(&self) -> &str {
        "objects"
    }

    fn module(&self) -> Module<'_> {
        Module { name: "objects.ptx", text: &self.text }
    }

    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        let mut words: Vec<u32> = (0..WORDS).map(|word| word.wrapping_mul(2_654_435_761)).collect();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let array = device.alloc("array", u64::from(4 * WORDS))?;
        device.upload(array, &bytes)?;
        for launch in 0..self.launches {
            let shape = Shape::new([48, 1, 1], [32, 1, 1]);
            device.launch("field", shape, &[Arg::Ptr(array)])?;
            for object in 0..words.len() / 4 {
                words[4 * object + 1] =
                    words[4 * object + 1].wrapping_mul(3).wrapping_add(object as u32 % 32);
            }
            if launch % 2 == 1 {
                device.launch("sum", shape, &[Arg::Ptr(array)])?;
                for object in words.chunks_exact_mut(4) {
                    object[3] = object[0].wrapping_add(object[1]).wrapping_add(object[2]);
                }
            }
            // The host changes what a stash may own.
            words[5] = words[5].wrapping_add(launch);
            device.upload(array.offset(20), &words[5].to_le_bytes())?;
        }
        let mut found = vec![0; 4 * WORDS as usize];
        device.download(array, &mut found)?;
        let found: Vec<u32> = found
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")))
            .collect();
        let comparisons = vec![Comparison::exact("array", &found, &words)];
        Ok(Outcome { comparisons, ..Outcome::default() })
    }
}

fn machine(systems: &[&str], sets: &[&str]) -> Machine {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Machine::load_with("gtx480", systems, &sets).unwrap_or_else(|error| panic!("{error}"))
}

const STASH: &[&str] = &["denovo", "stash"];
const DMA: &[&str] = &["scratch-dma"];

fn cases() -> Vec<(&'static str, Machine, Objects)> {
    let few = &["gpu.sms=2"];
    vec![
        ("stash", machine(STASH, few), Objects::mapped(4)),
        (
            "stash of 4 KiB",
            machine(STASH, &["gpu.sms=3", "sm.shared_bytes=4096", "scratchpad.bytes=4096"]),
            Objects::mapped(5),
        ),
        ("dma", machine(DMA, few), Objects::copied(4)),
        (
            "dma, an access at a time",
            machine(DMA, &["gpu.sms=3", "scratchpad.accesses=1"]),
            Objects::copied(2),
        ),
        (
            "dma that blocks a warp",
            machine(DMA, &["gpu.sms=2", "scratchpad.dma.blocks=warp"]),
            Objects::copied(4),
        ),
        ("dma in DeNovo", machine(&["denovo", "scratch-dma"], few), Objects::copied(3)),
    ]
}

fn lawful(result: &RunResult, what: &str) {
    for group in &result.statistics {
        assert_eq!(group.broken, None, "{what}: {}", group.name);
    }
}

#[test]
fn results_are_right() {
    for (what, machine, program) in cases() {
        let result = verified(&machine, &program, How::CHECKED, what);
        lawful(&result, what);
    }
}

#[test]
fn threads_and_windows_change_no_number() {
    for (what, machine, program) in cases() {
        let one = verified(&machine, &program, How::PLAIN, what);
        for (threads, window) in [(1, Some(1)), (2, Some(3)), (4, None)] {
            let other = verified(&machine, &program, How { threads, window, ..How::PLAIN }, what);
            assert_eq!(one.statistics, other.statistics, "{what}: {threads}, {window:?}");
        }
    }
}

#[test]
fn skipping_is_ticking() {
    for (what, machine, program) in cases() {
        let skipping =
            run_on(&machine, &program, How::PLAIN).unwrap_or_else(|error| panic!("{what}: {error}"));
        let (launches, statistics) = ticked(&machine, &program);
        assert_eq!(skipping.launches, launches, "{what}");
        for group in ["stash", "dma"] {
            let of = |groups: &[strata_engine::statistics::Group]| {
                groups.iter().find(|found| found.name == group).map(|group| format!("{group:?}"))
            };
            assert_eq!(of(&skipping.statistics), of(&statistics), "{what}");
        }
    }
}

#[test]
fn a_machine_says_what_it_lacks() {
    let refused = |systems: &[&str], sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        Machine::load_with("gtx480", systems, &sets).expect_err("it lacks something").to_string()
    };
    let found = refused(&["stash"], &[]);
    assert!(found.contains("scratchpad.stash: words under its mappings have owners"), "{found}");
    assert!(found.contains("found `l1d.sram` and `llc.conventional`, which know none"), "{found}");
    let found = refused(STASH, &["sm.shared_bytes=32768"]);
    assert!(found.contains("bytes") && found.contains("(32768), found 16384"), "{found}");
    let found = refused(&["scratch-dma", "tcbase"], &[]);
    assert!(found.contains("scratchpad.dma: found it on a machine with `lane_path.tiny-cache`"), "{found}");
    let found = refused(&["scratch-dma"], &["scratchpad.dma.blocks=cta"]);
    assert!(found.contains("unknown variant `cta`, expected `core` or `warp`"), "{found}");
    let run = |systems, program: &Objects| {
        run_on(&machine(systems, &[]), program, How::PLAIN).unwrap_err().to_string()
    };
    let found = run(&[], &Objects::mapped(1));
    assert!(found.contains("without a stash (`scratchpad.stash`)") && found.contains("line "), "{found}");
    let found = run(&[], &Objects::copied(1));
    assert!(found.contains("without a DMA engine (`scratchpad.dma`)"), "{found}");
    let found = run(DMA, &Objects::mapped(1));
    assert!(found.contains("a DMA engine copies tiles and maps none"), "{found}");
}
