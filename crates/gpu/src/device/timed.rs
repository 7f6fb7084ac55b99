//! The modelled GPU as a device.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_memory::Address;
use strata_ptx::program::Kernel;
use strata_sm::launch::Launch;
use strata_workloads::{Arg, Device, DeviceError, DevicePtr, Module};

use super::arguments::{check_shape, parameter_block};
use super::heap::{Buffer, Heap};
use super::system::SystemRegion;
use crate::Progress;
use crate::endurance;
use crate::energy::{EnergyReport, Meter};
use crate::gpu::{Gpu, GpuOptions};
use crate::machine::Machine;
use crate::program::Program;
use crate::results::{LaunchResult, Sample};

/// A modelled GPU with a module loaded.
pub struct TimedDevice<'a> {
    gpu: Gpu,
    program: Program,
    heap: Heap,
    system: SystemRegion,
    variables: Vec<u64>,
    /// Device address of each kernel's code.
    code: BTreeMap<String, u64>,
    warp_slots: u64,
    /// None when the machine has no energies.
    meter: Option<Meter>,
    launches: Vec<LaunchResult>,
    seconds: f64,
    progress: &'a mut dyn FnMut(&Progress),
}

impl<'a> TimedDevice<'a> {
    /// A GPU with a module loaded. The error says what is wrong with machine or module.
    pub fn new(
        machine: &Machine,
        module: Module<'_>,
        options: GpuOptions,
        progress: &'a mut dyn FnMut(&Progress),
    ) -> Result<TimedDevice<'a>, String> {
        TimedDevice::on(Gpu::new(machine, options)?, machine, module, progress)
    }

    /// A module loaded on a GPU that was built from `machine`, with parts of one's own where wanted.
    ///
    /// # Errors
    /// What is wrong with the module.
    pub fn on(
        mut gpu: Gpu,
        machine: &Machine,
        module: Module<'_>,
        progress: &'a mut dyn FnMut(&Progress),
    ) -> Result<TimedDevice<'a>, String> {
        let file = machine.file();
        let groups = gpu.statistics();
        let meter = Meter::new(machine, &groups)?;
        // Checked before anything runs: the counters that an `endurance` section names.
        endurance::lifetimes(machine, &groups, 0)?;
        let program = Program::parse(module, machine.compile_options())?;
        let bytes = *file.gpu.memory_mib << 20;
        let system = SystemRegion::new(bytes);
        let mut heap = Heap::new(system.floor());
        let mut variables = Vec::new();
        let placed = program.place_variables(&mut heap).map_err(|error| error.to_string())?;
        if heap.end() > system.floor() {
            return Err(format!("the variables of the module do not fit the {bytes} bytes of device memory"));
        }
        for variable in placed {
            // Device memory is zero until it is written.
            gpu.write(variable.address, &variable.init);
            variables.push(variable.address);
        }
        Ok(TimedDevice {
            gpu,
            program,
            heap,
            system,
            variables,
            code: BTreeMap::new(),
            warp_slots: u64::from(*file.gpu.sms) * u64::from(*file.sm.warp_slots),
            meter,
            launches: Vec::new(),
            seconds: 0.0,
            progress,
        })
    }

    /// All buffers and variables, by address.
    pub fn buffers(&self) -> &[Buffer] {
        self.heap.buffers()
    }

    /// The bytes of a buffer, as a host copy sees them.
    pub fn bytes(&mut self, buffer: &Buffer) -> Vec<u8> {
        let mut bytes = vec![0; buffer.bytes as usize];
        self.gpu.read(buffer.start, &mut bytes);
        bytes
    }

    /// The launches so far.
    pub fn launches(&self) -> &[LaunchResult] {
        &self.launches
    }

    /// What was counted so far.
    pub fn statistics(&mut self) -> Vec<Group> {
        self.gpu.statistics()
    }

    /// Energy of the launches so far; none when the machine has no energies.
    pub fn energy(&mut self) -> Option<EnergyReport> {
        let cycles = self.launches.iter().map(|launch| launch.cycles).sum();
        Some(self.meter.as_ref()?.report(&self.gpu.statistics(), cycles))
    }

    /// From now on launches have samples, every so many cycles.
    pub fn sample_every(&mut self, cycles: u64) {
        self.gpu.sample_every(cycles);
    }

    /// Host seconds inside launches.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Cycles of a window.
    pub fn window(&self) -> u64 {
        self.gpu.window()
    }

    /// Everything that the machine must know of a launch; its code, parameters and local memory placed.
    fn prepare(
        &mut self,
        kernel: Arc<Kernel>,
        grid: [u32; 3],
        block: [u32; 3],
        dynamic_shared: u32,
        params: Vec<u8>,
    ) -> Result<Launch, DeviceError> {
        let no_room = |name: &str, bytes| DeviceError::OutOfMemory { name: name.to_owned(), bytes };
        let heap_end = self.heap.end();
        let code_at = match self.code.get(&kernel.name) {
            Some(at) => *at,
            None => {
                let bytes = kernel.code.len() as u64 * Launch::CODE_BYTES;
                let at = self.system.alloc(bytes, heap_end).ok_or_else(|| no_room("code", bytes))?;
                self.code.insert(kernel.name.clone(), at);
                at
            }
        };
        let local_bytes = Launch::local_region_bytes(&kernel, self.warp_slots);
        let local_at =
            self.system.local(local_bytes, heap_end).ok_or_else(|| no_room("local", local_bytes))?;
        let params_at = self.system.parameters();
        self.gpu.write(params_at, &params);
        let constants = kernel.constant_rows(&params, &self.variables);
        Ok(Launch {
            kernel,
            constants,
            params,
            params_at: Address(params_at),
            code_at: Address(code_at),
            grid,
            block,
            dynamic_shared,
            local_at: Address(local_at),
            allocations: self.heap.ranges(),
            number: self.launches.len() as u64,
        })
    }

    fn run(&mut self, launch: &Arc<Launch>) -> Result<LaunchResult, String> {
        let before = self.gpu.statistics();
        let mut state = Progress {
            launch: launch.number,
            kernel: launch.kernel.name.clone(),
            cycle: 0,
            ctas: launch.ctas(),
            ctas_done: 0,
        };
        let progress = &mut *self.progress;
        let started = Instant::now();
        let finished = self.gpu.launch(launch, &mut |now: Cycle, ctas_done| {
            (state.cycle, state.ctas_done) = (now.0, ctas_done);
            progress(&state);
        });
        self.seconds += started.elapsed().as_secs_f64();
        let finished = finished?;
        let after = self.gpu.statistics();
        let counted: Vec<Group> =
            after.iter().zip(&before).map(|(after, before)| after.since(before)).collect();
        let issued = Issued::of(&counted);
        let energy = self.meter.as_ref().map(|meter| meter.report(&counted, finished.cycles));
        let samples = match self.gpu.is_sampled() {
            true => samples(self.meter.as_ref(), before, finished.samples, (finished.cycles, after)),
            false => Vec::new(),
        };
        let gpu = &mut self.gpu;
        let printed = finished
            .prints
            .iter()
            .map(|print| print.text(&launch.kernel, |at| read_string(gpu, &self.heap, at)))
            .collect();
        Ok(LaunchResult {
            kernel: launch.kernel.name.clone(),
            grid: launch.grid,
            block: launch.block,
            cycles: finished.cycles,
            warp_instructions: issued.warp,
            thread_instructions: issued.thread,
            registers: launch.kernel.registers,
            shared_bytes: launch.shared_per_cta(),
            ctas_per_sm: finished.occupancy.ctas,
            limiter: finished.occupancy.limiter.to_string(),
            printed,
            energy,
            samples,
        })
    }
}

/// Instructions issued.
struct Issued {
    warp: u64,
    thread: u64,
}

impl Issued {
    fn of(groups: &[Group]) -> Issued {
        let sm = groups.iter().find(|group| group.name == "sm").expect("a machine has SMs");
        let count = |name| sm.get(name).expect("an SM counts its instructions");
        Issued { warp: count("warp_instructions"), thread: count("thread_instructions") }
    }
}

/// A string of a program in device memory, up to its end or the end of its buffer.
fn read_string(gpu: &mut Gpu, heap: &Heap, at: u64) -> String {
    let Ok((index, offset)) = heap.find(DevicePtr(at), 1) else { return "(null)".into() };
    let buffer = &heap.buffers()[index];
    let mut bytes = vec![0; (buffer.bytes - offset).min(4096) as usize];
    gpu.read(at, &mut bytes);
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

impl Device for TimedDevice<'_> {
    fn alloc(&mut self, name: &str, bytes: u64) -> Result<DevicePtr, DeviceError> {
        self.heap.alloc(name, bytes).and_then(|ptr| {
            if self.heap.end() <= self.system.floor() {
                Ok(ptr)
            } else {
                Err(DeviceError::OutOfMemory { name: name.to_owned(), bytes })
            }
        })
    }

    fn upload(&mut self, to: DevicePtr, data: &[u8]) -> Result<(), DeviceError> {
        self.heap.find(to, data.len() as u64)?;
        self.gpu.write(to.0, data);
        Ok(())
    }

    fn download(&mut self, from: DevicePtr, data: &mut [u8]) -> Result<(), DeviceError> {
        self.heap.find(from, data.len() as u64)?;
        self.gpu.read(from.0, data);
        Ok(())
    }

    fn fill(&mut self, to: DevicePtr, value: u8, bytes: u64) -> Result<(), DeviceError> {
        self.heap.find(to, bytes)?;
        let chunk = vec![value; bytes.min(1 << 16) as usize];
        let mut done = 0;
        while done < bytes {
            let step = (bytes - done).min(chunk.len() as u64);
            self.gpu.write(to.0 + done, &chunk[..step as usize]);
            done += step;
        }
        Ok(())
    }

    fn variable(&mut self, name: &str) -> Result<DevicePtr, DeviceError> {
        Ok(DevicePtr(self.variables[self.program.variable(name)?]))
    }

    fn launch(
        &mut self,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        dynamic_shared: u32,
        args: &[Arg],
    ) -> Result<(), DeviceError> {
        let bad = |reason| DeviceError::BadLaunch { kernel: kernel.to_owned(), reason };
        let compiled = self.program.kernel(kernel)?;
        check_shape(&compiled, grid, block).map_err(bad)?;
        let params = parameter_block(&compiled, args).map_err(bad)?;
        let launch = Arc::new(self.prepare(compiled, grid, block, dynamic_shared, params)?);
        let result =
            self.run(&launch).map_err(|reason| DeviceError::Failed { kernel: kernel.to_owned(), reason })?;
        self.launches.push(result);
        Ok(())
    }
}

/// The spans between a launch's beginning, its samples and its end. What is counted after the last completion, while
/// the machine comes to rest, belongs to the last span.
fn samples(
    meter: Option<&Meter>,
    before: Vec<Group>,
    noted: Vec<(u64, Vec<Group>)>,
    end: (u64, Vec<Group>),
) -> Vec<Sample> {
    let cycles = end.0;
    let inside = noted.into_iter().filter(|(at, _)| *at < cycles);
    let mut from = (0, before);
    let mut spans = Vec::new();
    for to in inside.chain(std::iter::once(end)) {
        let counted: Vec<Group> = to.1.iter().zip(&from.1).map(|(to, from)| to.since(from)).collect();
        let energy = meter.map(|meter| meter.report(&counted, to.0 - from.0));
        spans.push(Sample { from: from.0, to: to.0, counted, energy });
        from = to;
    }
    spans
}
