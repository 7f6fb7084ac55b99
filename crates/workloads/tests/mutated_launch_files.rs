//! Two thousand damaged launch files, read and prepared for a device: none panics or takes much memory, and every
//! refusal says where.

mod mutation;

use std::path::{Path, PathBuf};
use std::time::Duration;

use mutation::Mutation;
use strata_workloads::launch_file::{self, LaunchFileError};
use strata_workloads::random::Random;
use strata_workloads::{Arg, Device, DeviceError, DevicePtr, HostProgram, Shape};

/// A file that uses every key and every kind of contents.
const GOOD: &str = r#"name = "good"
module = "k.ptx"

[[buffer]]
name = "a"
type = "i32"
count = 16
contents = { ramp = { start = -3, step = 2 } }

[[buffer]]
name = "b"
type = "f32"
count = 4
contents = { values = [0.5, -1, 1e-41, nan] }
unordered = true

[[buffer]]
name = "c"
type = "u8"
count = 64
contents = { file = "data.bin" }

[[buffer]]
name = "v"
type = "u64"
count = 4
variable = true
contents = { uniform = { seed = 7, low = 1, high = 18_446_744_073_709_551_615 } }

[[buffer]]
name = "d"
type = "i16"
contents = { values = [1, 0x10] }

[[launch]]
kernel = "k"
grid = [2, 3, 4]
block = [32]
dynamic_shared_bytes = 1024
repeat = 3
before = [{ buffer = "c", byte_offset = 8, file = "short.bin" }, { buffer = "a", bytes = 4, fill = 255 }]
arguments = [{ buffer = "a" }, { i32 = 5 }]

[[launch]]
kernel = "l"
grid = [1]
block = [8, 8]
arguments = [{ buffer = "c", byte_offset = 16 }, { f64 = 0.5 }, { u8 = 0x7f }]

[[check]]
buffer = "a"
name = "first"
count = 4
expected = { values = [-3, -1, 1, 3] }

[[check]]
buffer = "b"
expected = { constant = 0.5 }
absolute = 1e-6
relative = 1e-5

[[check]]
buffer = "c"
type = "f64"
byte_offset = 8
count = 2
expected = "zeros"
bounds = "bounds.bin"

[[check]]
buffer = "v"
"#;

const FILES: u64 = 2000;
/// Most processor time that reading one may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// Bytes that reading a file of this size may take, all allocations together.
const READ_BYTES: u64 = 1 << 20;
/// Bytes that preparing it for the device below may take at once: a few times what the device has.
const RUN_BYTES: u64 = 8 << 20;

/// Processor time of this thread so far, which other work on the host does not lengthen.
fn busy() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap())
}

/// A folder with what the file names.
fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutated");
    std::fs::create_dir_all(&folder).unwrap();
    let ptx = ".entry k(.param .u64 a, .param .u32 n)\n{ ret; }\n\
               .entry l(.param .u64 a, .param .b64 x, .param .s8 y)\n{ ret; }\n\
               .entry m()\n{ ret; }\n";
    for (name, bytes) in
        [("k.ptx", ptx.as_bytes()), ("data.bin", &[1; 64]), ("short.bin", &[2; 8]), ("bounds.bin", &[0; 16])]
    {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
    folder
}

/// What is wrong with a refusal of a text, if anything.
fn fault(error: &LaunchFileError, path: &str, text: &[u8]) -> Option<&'static str> {
    let lines = text.iter().filter(|byte| **byte == b'\n').count() + 1;
    let (line, column, what) = match error {
        LaunchFileError::Unreadable { .. } => return Some("no place"),
        LaunchFileError::Syntax { line, column, message, .. } => (*line, *column, message),
        LaunchFileError::Field { line, column, field, found, expected, .. } => {
            if field.is_empty() || found.is_empty() {
                return Some("no field or nothing found");
            }
            (*line, *column, expected)
        }
    };
    let message = error.to_string();
    if !(1..=lines).contains(&line)
        || column == 0
        || !message.starts_with(&format!("{path}:{line}:{column}: "))
    {
        return Some("a wrong place");
    }
    if what.is_empty() || message.len() > 1000 || message.contains('\n') {
        return Some("no message, or one that is not a single line");
    }
    None
}

#[test]
fn damaged_files_are_refused_with_their_place_and_cost_little() {
    let path = folder().join("l.toml");
    let shown = path.display().to_string();
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..FILES {
        let mut random = Random::new(seed);
        let mut text = GOOD.as_bytes().to_vec();
        let mutations: Vec<Mutation> =
            (0..1 + random.below(2)).map(|_| Mutation::apply(&mut text, &mut random)).collect();
        std::fs::write(&path, &text).unwrap();
        // Shown only when the test fails.
        println!("seed {seed}: {mutations:?}");
        let mut outcome = None;
        let started = busy();
        let counted = allocation_counter::measure(|| outcome = Some(launch_file::read(&path)));
        let took = busy() - started;
        assert!(took < PATIENCE, "{took:?} of processor time");
        assert!(counted.bytes_total < READ_BYTES, "{counted:?}\n{}", String::from_utf8_lossy(&text));
        match outcome.expect("it was read") {
            Err(error) => {
                refused += 1;
                let fault = fault(&error, &shown, &text);
                assert_eq!(fault, None, "{error}\n{}", String::from_utf8_lossy(&text));
            }
            Ok(program) => {
                accepted += 1;
                let counted = allocation_counter::measure(|| {
                    let _ = program.run(&mut Small::default()).map(|outcome| outcome.to_string());
                });
                assert!(counted.bytes_max < RUN_BYTES, "{counted:?}\n{}", String::from_utf8_lossy(&text));
            }
        }
    }
    assert!(accepted > FILES / 20 && refused > FILES / 2, "{accepted} accepted, {refused} refused");
}

#[test]
fn a_variable_that_is_shorter_is_named() {
    let path = folder().join("short.toml");
    for contents in ["\"zeros\"", "{ constant = 1 }"] {
        let variable = format!(
            "buffer = [{{ name = \"v\", type = \"u8\", count = 33, variable = true, contents = {contents} }}]"
        );
        let launch = "launch = [{ kernel = \"m\", grid = [1], block = [1] }]";
        std::fs::write(&path, format!("module = \"k.ptx\"\n{variable}\n{launch}\n")).unwrap();
        let error = launch_file::read(&path).unwrap().run(&mut Small::default()).unwrap_err();
        assert_eq!(error.to_string(), "the module's variable `v` is shorter than 33 bytes");
    }
}

/// A device with little memory, all of it zero, that stops after a few launches. Its module has a variable `v` of 32
/// bytes, which lies at the memory's end.
#[derive(Default)]
struct Small {
    bytes: u64,
    launches: u32,
}

/// Bytes of its memory.
const SIZE: u64 = 1 << 20;

fn inside(ptr: DevicePtr, bytes: u64) -> Result<(), DeviceError> {
    if ptr.0 + bytes > SIZE { Err(DeviceError::OutOfBounds { ptr, bytes }) } else { Ok(()) }
}

impl Device for Small {
    fn alloc(&mut self, name: &str, bytes: u64) -> Result<DevicePtr, DeviceError> {
        if self.bytes + bytes > SIZE - 32 {
            return Err(DeviceError::OutOfMemory { name: name.into(), bytes });
        }
        self.bytes += bytes;
        Ok(DevicePtr(self.bytes - bytes))
    }

    fn upload(&mut self, to: DevicePtr, data: &[u8]) -> Result<(), DeviceError> {
        inside(to, data.len() as u64)
    }

    fn download(&mut self, from: DevicePtr, data: &mut [u8]) -> Result<(), DeviceError> {
        data.fill(0);
        inside(from, data.len() as u64)
    }

    fn fill(&mut self, to: DevicePtr, _: u8, bytes: u64) -> Result<(), DeviceError> {
        inside(to, bytes)
    }

    fn variable(&mut self, name: &str) -> Result<DevicePtr, DeviceError> {
        if name == "v" {
            Ok(DevicePtr(SIZE - 32))
        } else {
            Err(DeviceError::UnknownVariable { variable: name.into() })
        }
    }

    fn launch(&mut self, kernel: &str, _: Shape, _: &[Arg]) -> Result<(), DeviceError> {
        self.launches += 1;
        if self.launches > 100 {
            return Err(DeviceError::UnknownKernel { kernel: kernel.into() });
        }
        Ok(())
    }

    fn on_cpu(&mut self, kernel: &str, threads: u32, args: &[Arg]) -> Result<(), DeviceError> {
        self.launch(kernel, Shape::of_phase(threads), args)
    }
}
