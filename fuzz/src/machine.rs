//! Machine files: read, checked, assembled, and given a small kernel, whose results must be right.

use std::path::Path;

use strata_gpu::machine::Machine;
use strata_gpu::results::Verdict;
use strata_gpu::{RunRequest, run};
use strata_workloads::{Arg, Device, DeviceError, HostProgram, Module, Outcome, Shape};

/// Core cycles after which a run is given up.
const MOST_CYCLES: u64 = 20_000;

/// Does with the file what `strata run --check` would.
pub fn try_input(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let machine = match Machine::parse(Path::new("fuzz.toml"), text, &[]) {
        Ok(machine) => machine,
        Err(error) => return drop(error.to_string()),
    };
    let _ = (machine.outline(), machine.facts());
    if !is_small(&machine) {
        return;
    }
    match run(RunRequest {
        check: true,
        max_cycles: Some(MOST_CYCLES),
        ..RunRequest::plain(&Everything, &machine, &mut |_| (), &mut |_| ())
    }) {
        Ok(result) => assert!(!matches!(result.verdict, Verdict::Wrong(_)), "{:?}", result.verdict),
        Err(error) => drop(error.to_string()),
    }
}

/// Whether it takes little of this host to build it. A real machine may be large; what a file may ask for at
/// most is the business of its check.
pub fn is_small(machine: &Machine) -> bool {
    let file = machine.file();
    let slices = usize::from(*file.gpu.channels) * usize::from(*file.gpu.slices_per_channel);
    *file.gpu.memory_mib <= 4096 && *file.gpu.sms <= 32 && slices <= 64 && file.host_bytes() <= 64 << 20
}

/// A program that meets every part of a machine: both kinds of floats, divisions, shared and local memory, a
/// barrier, atomics, loads and stores that coalesce and that do not, and lanes that part.
#[derive(Debug)]
pub struct Everything;

impl HostProgram for Everything {
    fn name(&self) -> &str {
        "everything"
    }

    fn module(&self) -> Module<'_> {
        Module { name: "machine.ptx", text: include_str!("machine.ptx") }
    }

    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        const BYTES: u64 = 48 << 10;
        let buffer = device.alloc("buffer", BYTES)?;
        device.fill(buffer, 1, BYTES)?;
        let shape = Shape::new([3, 1, 1], [40, 1, 1]).with_shared(64);
        for _ in 0..2 {
            device.launch("k", shape, &[Arg::Ptr(buffer), Arg::U32(3)])?;
        }
        Ok(Outcome::default())
    }
}
