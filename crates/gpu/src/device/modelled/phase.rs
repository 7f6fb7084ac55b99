//! Host phases on the modelled GPU: on its CPU cores, or functionally where it has none.

use std::sync::Arc;
use std::time::Instant;

use strata_cpu::CpuStatistics;
use strata_engine::statistics::Statistics;
use strata_ptx::reference::Options;
use strata_sm::launch::Launch;
use strata_workloads::DeviceError;

use super::{Modelled, failed};
use crate::device::card::Call;
use crate::device::coreless::run_functionally;
use crate::device::functional::executed;
use crate::device::heap::Heap;
use crate::gpu::{Observed, PhaseEnd, Stopped};
use crate::progress::Progress;
use crate::results::{Before, PhaseResult};

impl Modelled {
    /// Runs a host phase.
    ///
    /// # Errors
    /// As a launch.
    pub(super) fn host_phase(
        &mut self,
        call: &Call<'_>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<PhaseResult, DeviceError> {
        if let Some(beside) = &mut self.beside {
            return beside.phase(call).map(|done| PhaseResult { after_launches: self.launches, ..done });
        }
        let cores = self.gpu.cpu_cores() as u64;
        if cores == 0 {
            return self.functional_phase(call);
        }
        let launch = Arc::new(self.prepare(call, cores)?);
        self.phase(&launch, call.heap, progress).map_err(|stopped| failed(call, stopped))
    }

    /// Runs a host phase on the machine's memory, in no time: it has no CPU cores.
    fn functional_phase(&mut self, call: &Call<'_>) -> Result<PhaseResult, DeviceError> {
        let (instruction_limit, interrupt) = (self.gpu.cycles_left(), self.gpu.interrupt());
        let options = Options { instruction_limit, interrupt, ..Options::default() };
        let started = Instant::now();
        let done = run_functionally(call, options, &mut self.gpu);
        self.seconds += started.elapsed().as_secs_f64();
        done.map(|summary| PhaseResult { after_launches: self.launches, ..executed(call, summary) })
    }

    /// Runs a host phase on the CPU cores.
    fn phase(
        &mut self,
        launch: &Arc<Launch>,
        heap: &Heap,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<PhaseResult, Stopped> {
        let before = self.before();
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
        let (end, done) = self.gpu.phase(launch, &mut |Observed { cycle, ctas_done, .. }| {
            (state.cycle, state.ctas_done) = (cycle.0, ctas_done);
            progress(&state);
        });
        self.seconds += started.elapsed().as_secs_f64();
        let result = self.phase_result(launch, heap, &before, end);
        match done {
            Ok(()) => Ok(result),
            Err(stopped) => {
                self.stopped_phase = Some(result);
                Err(stopped)
            }
        }
    }

    /// What a host phase did, whether it ended or was stopped.
    fn phase_result(&mut self, launch: &Launch, heap: &Heap, before: &Before, end: PhaseEnd) -> PhaseResult {
        let is_measured = self.region.has_phase(launch.number, &launch.kernel.name);
        let name = format!("host phase after {} launches ({})", launch.number, launch.kernel.name);
        let counted = self.count(&name, before, end.cycles, is_measured);
        self.cycles += end.cycles;
        let cpu = counted.iter().find(|group| group.name == CpuStatistics::GROUP);
        let instructions = cpu.and_then(|group| group.get("instructions"));
        PhaseResult {
            kernel: launch.kernel.name.clone(),
            threads: launch.grid[0],
            after_launches: launch.number,
            functional: false,
            cycles: end.cycles,
            instructions: instructions.expect("CPU cores count their instructions"),
            printed: self.texts(launch, heap, &end.prints),
            energy: self.meter.as_ref().map(|meter| meter.report(&counted, end.cycles)),
            counted,
        }
    }
}
