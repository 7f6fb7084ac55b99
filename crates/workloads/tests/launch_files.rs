//! Launch files that are right: what they ask of a device, and what they accept.

mod recorder;

use std::path::{Path, PathBuf};

use recorder::Recorder;
use strata_workloads::launch_file::{self, LaunchFile};
use strata_workloads::recording::Recording;
use strata_workloads::{Arg, Device, DeviceError, DevicePtr, HostProgram, Module, Outcome, Shape};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A launch file in a folder of its own, with a module and a file of four floats beside it.
fn read(test: &str, text: &str) -> LaunchFile {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&folder).unwrap();
    let ptx = ".version 8.0\n.visible .entry k(\n)\n{ ret; }\n.visible .entry four(\n.param .u64 a,\n.param .u64 b,\n\
               .param .s8 c,\n.param .f32 d\n)\n{ ret; }\n";
    std::fs::write(folder.join("k.ptx"), ptx).unwrap();
    let floats: Vec<u8> = [1.0_f32, -0.0, f32::NAN, 4.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    std::fs::write(folder.join("four.bin"), floats).unwrap();
    let path = folder.join("launch.toml");
    std::fs::write(&path, text).unwrap();
    launch_file::read(&path).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_example_asks_for_what_it_says() {
    let file = launch_file::read(&root().join("examples/vector-add/launch.toml")).unwrap();
    assert_eq!(file.name(), "vector-add");
    assert!(file.module().text.contains(".visible .entry vector_add("));

    let mut device = Recorder::default();
    let outcome = file.run(&mut device).unwrap();
    assert_eq!(device.buffer("b")[4..8], 2.5_f32.to_le_bytes());
    assert_eq!(device.buffer("c").len(), 40_000);
    let [launch] = &device.launches[..] else { panic!("one launch") };
    assert_eq!((launch.kernel.as_str(), launch.grid, launch.block), ("vector_add", [40, 1, 1], [256, 1, 1]));
    assert_eq!(launch.args[0], Arg::I32(10_000));
    assert!(matches!(launch.args[3], Arg::Ptr(_)));

    // The recorder computes nothing, so c is all zero.
    assert!(!outcome.passed());
    assert_eq!(outcome.to_string(), "c: 10000 of 10000 elements wrong; [0] is 0.0, expected 0.5");
}

#[test]
fn the_page_shows_the_example() {
    let page = std::fs::read_to_string(root().join("docs/launch-files.md")).unwrap();
    let example = std::fs::read_to_string(root().join("examples/vector-add/launch.toml")).unwrap();
    let block = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    assert_eq!(block, Some(example.as_str()));
}

#[test]
fn files_are_inputs_and_expectations_bit_for_bit() {
    let file = read(
        "files",
        r#"
            module = "k.ptx"
            buffer = [{ name = "x", type = "f32", count = 4, contents = { file = "four.bin" } }]
            launch = [{ kernel = "k", grid = [1], block = [1] }]
            check = [{ buffer = "x", expected = { file = "four.bin" } }]
        "#,
    );
    assert_eq!(file.name(), "launch");
    assert!(file.run(&mut Recorder::default()).unwrap().passed(), "NaN and minus zero equal themselves");
}

#[test]
fn values_are_written_out_and_counted() {
    let outcome = |expected: &str| {
        let file = read(
            "values",
            &format!(
                r#"
                    module = "k.ptx"
                    buffer = [
                        {{ name = "x", type = "i16", contents = {{ values = [-1, 0x7fff, 3] }} }},
                        {{ name = "y", type = "f32", count = 2, contents = {{ values = [1, -inf] }} }},
                    ]
                    launch = [{{ kernel = "k", grid = [1], block = [1] }}]
                    check = [
                        {{ buffer = "x", byte_offset = 2, count = 2, expected = {{ values = [{expected}] }} }},
                        {{ buffer = "y", expected = {{ values = [1.0, -inf] }}, relative = 1e-6 }},
                    ]
                "#
            ),
        );
        let mut device = Recorder::default();
        let outcome = file.run(&mut device).unwrap();
        assert_eq!(device.buffer("x"), [0xff, 0xff, 0xff, 0x7f, 3, 0]);
        assert_eq!(device.buffer("y"), [1.0_f32, f32::NEG_INFINITY].map(f32::to_le_bytes).concat());
        outcome
    };
    assert!(outcome("32767, 3").passed());
    assert!(outcome("32767, 4").to_string().starts_with("x: 1 of 2 elements wrong; [1] is 3, expected 4"));
}

#[test]
fn tolerances_add_up() {
    let check = |expected: &str, bounds: &str| {
        let file = read(
            "tolerances",
            &format!(
                r#"
                    module = "k.ptx"
                    buffer = [{{ name = "x", type = "f64", count = 2, contents = {{ constant = 4 }} }}]
                    launch = [{{ kernel = "k", grid = [1], block = [1] }}]
                    check = [{{ buffer = "x", expected = {{ constant = {expected} }}, {bounds} }}]
                "#
            ),
        );
        file.run(&mut Recorder::default()).unwrap().passed()
    };
    assert!(check("4.5", "absolute = 0.5"));
    assert!(!check("4.5", "absolute = 0.25"));
    assert!(!check("4.5", "relative = 0.0625"));
    assert!(check("4.5", "absolute = 0.25, relative = 0.0625"));
    assert!(!check("nan", "absolute = 1e300"));
}

#[test]
fn the_host_writes_before_each_repetition_and_parts_are_compared() {
    let file = read(
        "writes",
        r#"
            module = "k.ptx"
            buffer = [
                { name = "x", type = "f32", count = 8, contents = { constant = 7 } },
                { name = "table", type = "u32", count = 2, contents = { constant = 9 }, variable = true },
            ]
            check = [
                { buffer = "x", name = "front", count = 4, expected = { file = "four.bin" } },
                { buffer = "x", name = "back", byte_offset = 20, type = "u8", count = 4, expected = { constant = 1 } },
                { buffer = "table", expected = { constant = 9 } },
            ]

            [[launch]]
            kernel = "k"
            grid = [1]
            block = [1]
            repeat = 2
            before = [{ buffer = "x", file = "four.bin" }, { buffer = "x", byte_offset = 20, bytes = 4, fill = 1 }]
        "#,
    );
    let mut device = Recorder::default();
    let outcome = file.run(&mut device).unwrap();
    assert!(outcome.passed(), "{outcome}");
    assert_eq!(device.buffer("x")[16..28], [0, 0, 224, 64, 1, 1, 1, 1, 0, 0, 224, 64]);
    let names: Vec<&str> = outcome.outputs.iter().map(|output| output.name.as_str()).collect();
    assert_eq!(names, ["front", "back", "table"]);
}

#[test]
fn each_element_has_its_own_bound() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bounds");
    std::fs::create_dir_all(&folder).unwrap();
    let passed = |bounds: [f64; 2]| {
        let bytes: Vec<u8> = bounds.iter().flat_map(|bound| bound.to_le_bytes()).collect();
        std::fs::write(folder.join("bounds.bin"), bytes).unwrap();
        let file = read(
            "bounds",
            r#"
                module = "k.ptx"
                buffer = [{ name = "x", type = "f32", count = 2, contents = { ramp = { start = 1, step = 1 } } }]
                launch = [{ kernel = "k", grid = [1], block = [1] }]
                check = [{ buffer = "x", expected = { constant = 1 }, bounds = "bounds.bin" }]
            "#,
        );
        file.run(&mut Recorder::default()).unwrap().passed()
    };
    assert!(passed([0.0, 1.0]));
    assert!(passed([0.0, f64::INFINITY]));
    assert!(!passed([1.0, 0.5]));
}

#[test]
fn arguments_offsets_and_repetitions_reach_the_device() {
    let file = read(
        "arguments",
        r#"
            module = "k.ptx"
            buffer = [{ name = "x", type = "u16", count = 3 }, { name = "y", type = "u8", count = 1 }]
            check = [{ buffer = "y" }]

            [[launch]]
            kernel = "four"
            grid = [2, 3]
            block = [4, 5, 6]
            dynamic_shared_bytes = 1024
            repeat = 3
            arguments = [
                { buffer = "x", byte_offset = 2 }, { u64 = 0xffff_ffff_ffff_ffff }, { i8 = -128 }, { f32 = 0.1 },
            ]
        "#,
    );
    let mut device = Recorder::default();
    let outcome = file.run(&mut device).unwrap();
    assert_eq!(device.launches.len(), 3);
    let launch = &device.launches[2];
    assert_eq!((launch.grid, launch.block, launch.dynamic_shared), ([2, 3, 1], [4, 5, 6], 1024));
    let [Arg::Ptr(DevicePtr(inside)), rest @ ..] = &launch.args[..] else { panic!("{launch:?}") };
    assert_eq!(inside % 256, 2);
    assert_eq!(rest, [Arg::U64(u64::MAX), Arg::I8(-128), Arg::F32(0.1)]);
    assert_eq!((outcome.outputs.len(), outcome.comparisons.len()), (1, 0));
}

#[test]
fn host_phases_stand_between_launches() {
    let file = read(
        "phases",
        r#"
            module = "k.ptx"
            buffer = [{ name = "x", type = "u16", count = 3 }]
            launch = [
                { kernel = "k", cpu_threads = 15, repeat = 2 },
                { kernel = "k", grid = [1], block = [32] },
                { kernel = "four", cpu_threads = 1, arguments = [
                    { buffer = "x" }, { u64 = 7 }, { i8 = 1 }, { f32 = 2 },
                ] },
            ]
        "#,
    );
    let mut device = Recorder::default();
    file.run(&mut device).unwrap();
    assert_eq!(device.launches.len(), 1);
    let phases: Vec<(&str, u32, usize)> = device
        .phases
        .iter()
        .map(|phase| (phase.kernel.as_str(), phase.threads, phase.after_launches))
        .collect();
    assert_eq!(phases, [("k", 15, 0), ("k", 15, 0), ("four", 1, 1)]);
    assert_eq!(device.phases[2].args[1..], [Arg::U64(7), Arg::I8(1), Arg::F32(2.0)]);
}

/// A program that launches, writes and has host phases.
#[derive(Debug)]
struct Phased;

impl HostProgram for Phased {
    fn name(&self) -> &str {
        "phased"
    }

    fn module(&self) -> Module<'_> {
        let text = ".version 8.0\n.visible .entry fill(\n.param .u64 a\n)\n{ ret; }\n.visible .entry k(\n)\n{ ret; }\n";
        Module { name: "k.ptx", text }
    }

    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        let x = device.alloc("x", 64)?;
        for _ in 0..3 {
            device.on_cpu("fill", 4, &[Arg::Ptr(x.offset(8))])?;
        }
        device.launch("k", Shape::new([2, 1, 1], [32, 1, 1]), &[])?;
        device.fill(x, 7, 16)?;
        device.on_cpu("k", 1, &[])?;
        Ok(Outcome::default())
    }
}

#[test]
fn a_recorded_program_with_host_phases_does_the_same_again() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("phased");
    let (mut first, mut again) = (Recorder::default(), Recorder::default());
    let mut recording = Recording::new(&mut first);
    let outcome = Phased.run(&mut recording).unwrap();
    let hash = recording.inputs_hash();
    launch_file::write("phased", Phased.module(), &recording, &outcome, &folder).unwrap();
    let file =
        launch_file::read(&folder.join(launch_file::FILE_NAME)).unwrap_or_else(|error| panic!("{error}"));
    let mut recording = Recording::new(&mut again);
    file.run(&mut recording).unwrap();
    assert_eq!(recording.inputs_hash(), hash);
    assert_eq!((again.phases, again.launches), (first.phases, first.launches));
}
