//! A microbenchmark as a host program, to be run on a modelled machine.

use super::benchmark::{Argument, Benchmark, CLOCKS};
use crate::{
    Arg, Device, DeviceError, DevicePtr, Expected, HostProgram, Module, Outcome, Output, Plan, Shape,
};

impl HostProgram for Benchmark {
    fn name(&self) -> &str {
        &self.name
    }

    fn module(&self) -> Module<'_> {
        Module { name: &self.text.name, text: &self.text.ptx }
    }

    fn plan(&self) -> Option<Plan> {
        let mut kernels: Vec<String> = self.launches.iter().map(|launch| launch.kernel.clone()).collect();
        kernels.sort();
        kernels.dedup();
        let launches = self.launches.iter().map(|launch| u64::from(launch.repeat)).sum();
        Some(Plan { launches, kernels })
    }

    /// Its only output is the clock readings.
    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        let readings = self.pairs * 16;
        let clocks = device.alloc(CLOCKS, readings)?;
        device.fill(clocks, 0, readings)?;
        device.unordered(clocks);
        let mut buffers = vec![(CLOCKS, clocks)];
        for buffer in &self.buffers {
            let at = if buffer.variable {
                device.variable(buffer.name)?
            } else {
                device.alloc(buffer.name, buffer.bytes)?
            };
            device.fill(at, 0, buffer.bytes)?;
            buffers.push((buffer.name, at));
        }
        for launch in &self.launches {
            let shape = Shape::new([launch.grid, 1, 1], [launch.block, 1, 1]).with_shared(launch.shared);
            let arguments: Vec<Arg> =
                launch.arguments.iter().map(|argument| value(*argument, &buffers)).collect();
            for _ in 0..launch.repeat {
                device.launch(&launch.kernel, shape, &arguments)?;
            }
        }
        let mut bytes = vec![0; usize::try_from(readings).expect("a host's memory holds them")];
        device.download(clocks, &mut bytes)?;
        let output =
            Output { name: CLOCKS.into(), ptr: clocks, element: "u64", bytes, expected: Expected::Anything };
        Ok(Outcome { outputs: vec![output], comparisons: vec![] })
    }
}

fn value(argument: Argument, buffers: &[(&str, DevicePtr)]) -> Arg {
    match argument {
        Argument::Address(name, offset) => {
            let (_, at) =
                buffers.iter().find(|(known, _)| *known == name).expect("a buffer of the benchmark");
            Arg::Ptr(at.offset(offset))
        }
        Argument::U32(number) => Arg::U32(number),
        Argument::U64(number) => Arg::U64(number),
    }
}
