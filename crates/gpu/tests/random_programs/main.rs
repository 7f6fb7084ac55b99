//! Timed machine against reference executor on random programs.

mod program;
mod text;

use proptest::prelude::*;
use strata_gpu::device::ReferenceDevice;
use strata_workloads::{Arg, Device, DeviceError, Module};
use program::Program;

fn host(program: &Program, device: &mut dyn Device) -> Result<Vec<Vec<u8>>, DeviceError> {
    let threads = program.block * program.grid;
    let out = device.alloc("out", text::output_bytes(threads))?;
    let input = device.alloc("in", u64::from(4 * text::INPUT_WORDS.max(8 * threads)))?;
    let counters = device.alloc("counters", u64::from(4 * text::COUNTERS))?;
    device.launch(
        "random",
        [program.grid, 1, 1],
        [program.block, 1, 1],
        0,
        &[Arg::Ptr(out), Arg::Ptr(input), Arg::Ptr(counters)],
    )?;
    let mut bytes = vec![0; text::output_bytes(threads) as usize];
    device.download(out, &mut bytes)?;
    Ok(vec![bytes])
}

proptest! {
    #[test]
    fn sane(program in program::program()) {
        let text = text::text(&program);
        let mut device = ReferenceDevice::new(Module { name: "random.ptx", text: &text }, Default::default(), 1 << 30, Default::default())
            .map_err(|e| { TestCaseError::fail(format!("{e}\n{text}")) })?;
        host(&program, &mut device).map_err(|e| { TestCaseError::fail(format!("{e}\n{text}")) })?;
    }
}
