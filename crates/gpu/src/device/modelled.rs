//! The modelled GPU as a card's backend.

mod beside;
mod counting;
mod phase;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use strata_engine::statistics::Group;
use strata_memory::Address;
use strata_sm::launch::Launch;
use strata_sm::print::Print;
use strata_workloads::{DeviceError, DevicePtr};

use super::card::{Backend, Call, ModuleId, copy_in_pieces};
use super::forward::Forward;
use super::heap::{Buffer, Heap};
use super::system::SystemRegion;
use crate::critical_path::{PathFinder, Paths};
use crate::endurance;
use crate::energy::{EnergyReport, Meter};
use crate::gpu::{Finished, Gpu, LaunchPart, Observed, Stopped, Watch};
use crate::machine::Machine;
use crate::position::{Began, Position};
use crate::progress::Progress;
use crate::queues::Queues;
use crate::region::Region;
use crate::resident::{Resident, resident};
use crate::results::{Before, Breakdown, By, LaunchResult, PhaseResult, RunSchedule, Sample, since};
use crate::trace::Tracer;
use beside::Beside;

/// Location of a kernel's code.
#[derive(Clone, Copy)]
struct Code {
    at: u64,
    bytes: u64,
}

/// A modelled GPU, the system memory that programs cannot see, and what is measured.
pub struct Modelled {
    gpu: Gpu,
    system: SystemRegion,
    /// Bytes left for programs when no launch has taken system memory.
    capacity_bytes: u64,
    /// Code of each kernel, by module and name.
    code: BTreeMap<ModuleId, BTreeMap<String, Code>>,
    /// How often code memory has been given back.
    code_version: u64,
    /// Size of an instruction in memory.
    instruction_bytes: u64,
    warp_slots: u64,
    /// `None` if the machine has no energies.
    meter: Option<Meter>,
    launches: u64,
    cycles: u64,
    seconds: f64,
    /// The launch that was stopped, until then.
    stopped: Option<LaunchResult>,
    /// The host phase that was stopped, until then.
    stopped_phase: Option<PhaseResult>,
    region: Region,
    /// Counters of the launches in the region, and their cycles.
    measured: (Vec<Group>, u64),
    /// What runs beside the model, which is before or behind the region.
    beside: Option<Box<Forward>>,
    /// The first address behind what the machine's memory held when that began.
    touched: u64,
    /// Where the region began, if anything came before it.
    began: Option<Began>,
    /// CTAs, cycles and thread instructions of the launches in the region.
    counted: [u64; 3],
    /// Where the last launch in the region ended.
    ended: Option<Position>,
    /// The same counters by what was asked for.
    breakdowns: Vec<Breakdown>,
    /// `None` unless a trace is asked for.
    tracer: Option<Tracer>,
    /// `None` unless critical paths are asked for.
    paths: Option<PathFinder>,
}

impl Modelled {
    /// Wraps a GPU that was built from `machine`, possibly with custom parts.
    ///
    /// # Errors
    /// If the machine's energy or endurance section names a counter that the GPU does not have, or SMs in cache mode cannot
    /// run their kernel.
    pub fn new(mut gpu: Gpu, machine: &Machine) -> Result<Modelled, String> {
        let file = machine.file();
        let groups = gpu.statistics();
        let meter = Meter::new(machine, &groups)?;
        // Check the counters that an `endurance` section names before anything runs.
        endurance::lifetimes(machine, &groups, 0)?;
        let tables = file.page_table().map_or(0, |table| table.bytes());
        let mut system = SystemRegion::new((*file.gpu.memory_mib << 20) - tables);
        if let Some(Resident { launch, params }) = resident(machine, &mut system)? {
            gpu.write(launch.params_at.0, &params);
            gpu.reside(&Arc::new(launch))?;
        }
        Ok(Modelled {
            gpu,
            capacity_bytes: system.floor(),
            system,
            code: BTreeMap::new(),
            code_version: 0,
            instruction_bytes: u64::from(file.sm.instruction_bytes()),
            warp_slots: u64::from(*file.gpu.sms) * u64::from(*file.sm.warp_slots),
            meter,
            launches: 0,
            cycles: 0,
            seconds: 0.0,
            stopped: None,
            stopped_phase: None,
            region: Region::default(),
            measured: (Vec::new(), 0),
            beside: None,
            touched: 0,
            began: None,
            counted: [0; 3],
            ended: None,
            breakdowns: Vec::new(),
            tracer: None,
            paths: None,
        })
    }

    /// All counters so far, of the launches that are measured.
    pub fn statistics(&mut self) -> Vec<Group> {
        if self.region.is_everything() { self.gpu.statistics() } else { self.measured.0.clone() }
    }

    /// Energy of all launches so far that are measured; `None` if the machine has no energies.
    pub fn energy(&mut self) -> Option<EnergyReport> {
        let cycles = if self.region.is_everything() { self.cycles } else { self.measured.1 };
        let statistics = self.statistics();
        Some(self.meter.as_ref()?.report(&statistics, cycles))
    }

    /// Samples all later launches every `cycles` cycles.
    pub fn sample_every(&mut self, cycles: u64) {
        self.gpu.sample_every(cycles);
    }

    /// Looks at the parts of all later launches and host phases.
    pub fn watch(&mut self, watch: Watch) {
        self.gpu.watch(watch);
    }

    /// Traces later launches. The GPU has the parts of the tracer's [makers](Tracer::makers).
    pub fn trace(&mut self, tracer: Tracer) {
        self.tracer = Some(tracer);
    }

    /// Takes the trace so far.
    pub fn take_trace(&mut self) -> Option<Tracer> {
        self.tracer.take()
    }

    /// Finds the critical paths of later launches. The GPU has the parts of the finder's [makers](PathFinder::makers).
    pub fn find_paths(&mut self, finder: PathFinder) {
        self.paths = Some(finder);
    }

    /// Breaks what later launches have in queues down, too, where that is asked for. The GPU has the parts that [`Queues::new`] makes.
    pub fn watch_queues(&mut self, queues: Queues) {
        self.gpu.watch_queues(queues);
    }

    /// The critical paths so far; `None` if none were asked for.
    pub fn paths(&self) -> Option<&Paths> {
        self.paths.as_ref().map(PathFinder::paths)
    }

    /// Core cycles of all launches and host phases so far.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// What the launch that failed had done until then.
    pub fn stopped(&self) -> Option<&LaunchResult> {
        self.stopped.as_ref()
    }

    /// What the host phase that failed had done until then.
    pub fn stopped_phase(&self) -> Option<&PhaseResult> {
        self.stopped_phase.as_ref()
    }

    /// Host seconds spent in launches and host phases.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Measures from now on what each island costs the host, on one thread.
    pub fn measure_schedule(&mut self) {
        self.gpu.measure_schedule();
    }

    /// What was measured, and what more threads would gain.
    pub fn schedule(&mut self) -> Option<RunSchedule> {
        self.gpu.schedule()
    }

    /// Length of a simulation window in cycles.
    pub fn window(&self) -> u64 {
        self.gpu.window()
    }

    /// Address of a kernel's code, which is placed at its first launch.
    fn code(&mut self, call: &Call<'_>) -> Option<u64> {
        let kernel = call.kernel;
        if let Some(code) = self.code.get(&call.module).and_then(|module| module.get(&kernel.name)) {
            return Some(code.at);
        }
        let bytes = kernel.code.len() as u64 * self.instruction_bytes;
        let at = self.system.alloc(bytes, call.heap.end())?;
        self.code.entry(call.module).or_default().insert(kernel.name.clone(), Code { at, bytes });
        Some(at)
    }

    /// Places code, parameters and local memory, and collects everything the machine needs for a launch, or with its CPU
    /// cores' warp slots for a host phase.
    fn prepare(&mut self, call: &Call<'_>, warp_slots: u64) -> Result<Launch, DeviceError> {
        let no_room = |name: &str, bytes| DeviceError::OutOfMemory { name: name.to_owned(), bytes };
        let Call { kernel, shape, params, .. } = *call;
        let code_bytes = kernel.code.len() as u64 * self.instruction_bytes;
        let code_at = self.code(call).ok_or_else(|| no_room("code", code_bytes))?;
        let local_bytes = Launch::local_region_bytes(kernel, warp_slots);
        let local_at = self.system.local(local_bytes, call.heap.end());
        let local_at = local_at.ok_or_else(|| no_room("local", local_bytes))?;
        let params_at = self.system.parameters();
        self.gpu.write(params_at, params);
        Ok(Launch {
            kernel: kernel.clone(),
            constants: kernel.constant_rows(params, call.variables),
            params: params.to_vec(),
            params_at: Address(params_at),
            code_at: Address(code_at),
            code_version: self.code_version,
            grid: shape.grid,
            block: shape.block,
            cluster: kernel.launch_bounds.cluster.or(shape.cluster),
            dynamic_shared: shape.dynamic_shared,
            local_at: Address(local_at),
            allocations: call.heap.ranges(),
            registers: None,
            headers: call.headers.clone(),
            number: self.launches,
            micro: strata_sm::micro::MicroCode::default(),
        })
    }

    fn measure(
        &mut self,
        launch: &Arc<Launch>,
        part: &LaunchPart<'_>,
        heap: &Heap,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<(LaunchResult, u64), Stopped> {
        let before = self.before();
        let in_region = self.region.has(launch.number, &launch.kernel.name);
        let mut spans = (self.gpu.is_sampled() && in_region).then(|| Spans::new(before.all.clone()));
        let mut state = Progress {
            launch: launch.number,
            kernel: launch.kernel.name.clone(),
            cycle: 0,
            ctas: launch.ctas(),
            ctas_done: 0,
            warnings: Vec::new(),
            sample: None,
        };
        let started = Instant::now();
        let start = self.gpu.now();
        if let Some(tracer) = &mut self.tracer {
            self.gpu.count_rows(tracer.begin(launch.number, start));
        }
        let is_followed =
            in_region && self.paths.as_mut().is_some_and(|paths| paths.begin(launch.number, start));
        self.gpu.follow(is_followed);
        let meter = self.meter.as_ref();
        let finished = self.gpu.launch_part(launch, part, &mut |Observed { cycle, ctas_done, counted }| {
            (state.cycle, state.ctas_done) = (cycle.0, ctas_done);
            state.sample = spans.as_mut().zip(counted).map(|(spans, end)| spans.end(meter, end));
            progress(&state);
        });
        if let Some(tracer) = &mut self.tracer {
            tracer.end(launch, (start, self.gpu.now()), &self.gpu.take_rows());
        }
        if in_region {
            self.add_queues();
        }
        if let Some(paths) = self.paths.as_mut().filter(|_| is_followed) {
            let of_sms = self.gpu.take_paths();
            match &finished {
                Ok(Finished { cycles, latency, .. }) => paths.end(launch, *cycles, *latency, &of_sms),
                Err(_) => paths.leave_out(launch, "it did not end".into()),
            }
        }
        self.seconds += started.elapsed().as_secs_f64();
        let (finished, stopped) = match finished {
            Ok(finished) => (Some(finished), None),
            Err(mut stopped) => (stopped.so_far.take().map(|so_far| *so_far), Some(stopped)),
        };
        if let Some((spans, finished)) = spans.as_mut().zip(finished.as_ref()) {
            let last = spans.end(self.meter.as_ref(), (finished.cycles, self.gpu.statistics()));
            if !last.is_empty() {
                progress(&Progress { sample: Some(last), ..state });
            }
        }
        let result = finished.map(|finished| {
            let end = finished.end_cta;
            (self.result(launch, part, heap, &before, finished), end)
        });
        match stopped {
            None => Ok(result.expect("a launch that ended has a result")),
            Some(stopped) => {
                self.stopped = result.map(|(result, _)| result);
                Err(stopped)
            }
        }
    }

    /// What prints say.
    fn texts(&mut self, launch: &Launch, heap: &Heap, prints: &[Print]) -> Vec<String> {
        let gpu = &mut self.gpu;
        prints.iter().map(|print| print.text(&launch.kernel, |at| read_string(gpu, heap, at))).collect()
    }

    /// What a launch did, whether it ended or was stopped.
    fn result(
        &mut self,
        launch: &Launch,
        part: &LaunchPart<'_>,
        heap: &Heap,
        before: &Before,
        finished: Finished,
    ) -> LaunchResult {
        let is_measured = self.region.has(launch.number, &launch.kernel.name);
        let before = finished.before.as_deref().unwrap_or(before);
        let name = format!("launch {} ({})", launch.number, launch.kernel.name);
        let counted = self.count(&name, before, finished.cycles, is_measured);
        self.add_accounts(launch, heap, is_measured);
        let issued = Issued::of(&counted);
        if is_measured {
            let ctas = finished.end_cta.saturating_sub(part.counted);
            self.add_to_region(launch.number, [ctas, finished.cycles, issued.thread], finished.end_cta);
        }
        let energy = self.meter.as_ref().map(|meter| meter.report(&counted, finished.cycles));
        self.launches += 1;
        self.cycles += finished.cycles;
        let printed = self.texts(launch, heap, &finished.prints);
        LaunchResult {
            kernel: launch.kernel.name.clone(),
            grid: launch.grid,
            block: launch.block,
            functional: false,
            cycles: finished.cycles,
            overlapped_cycles: finished.overlapped_cycles,
            warp_instructions: issued.warp,
            thread_instructions: issued.thread,
            registers: launch.kernel.registers,
            reuses_registers: launch.kernel.reuses_registers,
            shared_bytes: launch.shared_per_cta(),
            carve_out: finished.occupancy.carve_out,
            ctas_per_sm: finished.occupancy.ctas,
            limiter: finished.occupancy.limiter.to_string(),
            printed,
            energy,
        }
    }
}

/// Why a launch or host phase failed, as a host program learns it.
fn failed(call: &Call<'_>, stopped: Stopped) -> DeviceError {
    let Stopped { failure, mut reason, outside, .. } = stopped;
    if let Some((address, bytes)) = outside {
        reason += &call.heap.nearest(address, bytes);
    }
    DeviceError::Failed { kernel: call.kernel.name.clone(), failure, reason }
}

/// Warp and thread instructions issued.
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

/// Reads a zero-terminated string from device memory, up to the end of its buffer.
fn read_string(gpu: &mut Gpu, heap: &Heap, at: u64) -> String {
    let Ok((index, offset)) = heap.find(DevicePtr(at), 1) else { return "(null)".into() };
    let buffer = &heap.buffers()[index];
    let mut bytes = vec![0; (buffer.bytes - offset).min(4096) as usize];
    gpu.read(at, &mut bytes);
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

impl Backend for Modelled {
    type Done = LaunchResult;

    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn floor(&self) -> u64 {
        self.system.floor()
    }

    fn open(&mut self, buffer: &Buffer, fresh: bool) {
        // All of device memory exists and reads as zero until written.
        if let Some(beside) = &mut self.beside {
            beside.open(buffer, fresh);
        }
    }

    fn close(&mut self, buffer: &Buffer) {
        if let Some(beside) = &mut self.beside {
            beside.close(buffer);
        }
    }

    fn write(&mut self, at: u64, data: &[u8]) {
        if let Some(beside) = &mut self.beside {
            return beside.write(at, data);
        }
        self.gpu.synchronize();
        self.gpu.write(at, data);
    }

    fn read(&mut self, at: u64, data: &mut [u8]) {
        if let Some(beside) = &mut self.beside {
            return beside.read(at, data);
        }
        self.gpu.synchronize();
        self.gpu.read(at, data);
    }

    fn copy(&mut self, to: u64, from: u64, bytes: u64) {
        match &mut self.beside {
            Some(beside) => beside.copy(to, from, bytes),
            None => copy_in_pieces(self, to, from, bytes),
        }
    }

    fn synchronize(&mut self) {
        self.gpu.synchronize();
    }

    fn run(
        &mut self,
        call: &Call<'_>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<LaunchResult, DeviceError> {
        let part = match self.beside(call)? {
            Beside::Ran(result) => return Ok(*result),
            Beside::Left(part) => part,
        };
        let by: Vec<By> = self.breakdowns.iter().map(|breakdown| breakdown.by).collect();
        let part = LaunchPart { by: &by, ..part };
        let launch = Arc::new(self.prepare(call, self.warp_slots)?);
        let (result, end) =
            self.measure(&launch, &part, call.heap, progress).map_err(|stopped| failed(call, stopped))?;
        if end < launch.ctas() { self.cut(call, result, end) } else { Ok(result) }
    }

    fn run_on_cpu(
        &mut self,
        call: &Call<'_>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<PhaseResult, DeviceError> {
        self.end_region(call)?;
        self.host_phase(call, progress)
    }

    fn forget(&mut self, module: ModuleId) {
        for Code { at, bytes } in self.code.remove(&module).into_iter().flat_map(BTreeMap::into_values) {
            self.system.free(at, bytes);
            self.code_version += 1;
        }
    }
}

/// Splits a launch into spans.
struct Spans {
    /// Where the next span begins: cycles of the launch, and the counters then.
    from: (u64, Vec<Group>),
}

impl Spans {
    /// A launch that begins with these counters.
    fn new(before: Vec<Group>) -> Spans {
        Spans { from: (0, before) }
    }

    /// The span that ends now. The last one also covers what is counted after the last completion, while the machine
    /// drains.
    fn end(&mut self, meter: Option<&Meter>, to: (u64, Vec<Group>)) -> Sample {
        let from = std::mem::replace(&mut self.from, to);
        let to = &self.from;
        let counted = since(&to.1, &from.1);
        let energy = meter.map(|meter| meter.report(&counted, to.0 - from.0));
        Sample { from: from.0, to: to.0, counted, energy }
    }
}
