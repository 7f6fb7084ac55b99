//! The threads of a phase on a core: the first, the next, and the end of the last.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use strata_engine::Cycle;
use strata_ptx::exec::{WarpContext, routine};
use strata_sm::launch::{Fault, FaultKind, Launch};

use crate::core::Core;
use crate::operands::{CoreFamily, LANE};
use crate::state::State;

impl Core {
    /// Prepares an idle core for a phase that begins in its cycle `now`: each CTA of the launch is a thread, and of n cores,
    /// core i takes the threads i, i + n, and so on. A core without a thread stays idle.
    ///
    /// # Panics
    /// When the core is not idle.
    pub fn begin(&mut self, launch: Arc<Launch>, now: Cycle) {
        assert!(self.is_idle(), "a phase begins on CPU core {} while another one runs", self.id.0);
        self.ended_at = None;
        let is_new = self.launch.as_ref().is_none_or(|before| !Arc::ptr_eq(&before.kernel, &launch.kernel));
        if is_new {
            self.routines.clear();
            self.routines.extend(launch.kernel.code.iter().map(routine::<CoreFamily>));
        }
        self.lsu.prepare(&launch);
        self.accounted = now;
        let first = u64::from(self.id.0);
        if first < launch.ctas() {
            self.start_thread(&launch, first);
        }
        self.launch = Some(launch);
    }

    fn start_thread(&mut self, launch: &Launch, thread: u64) {
        self.thread = thread;
        self.registers.reset(launch.kernel.registers, launch.kernel.predicates);
        self.stack.reset(LANE);
        self.context = WarpContext {
            ntid: launch.block,
            nctaid: launch.grid,
            ctaid: launch.cta_place(thread),
            cluster: launch.cluster,
            warp_slots: 1,
            sm: u32::from(self.id.0),
            sms: u32::from(self.cores),
            grid: launch.number,
            ..WarpContext::default()
        };
        self.state = State::Running;
    }

    /// Ends the thread. The next one begins with the next cycle; after the last, the L1D is flushed.
    pub(crate) fn end_thread(&mut self, launch: &Launch) {
        self.statistics.threads += 1;
        self.meter.fetch_add(1, Ordering::Relaxed);
        let next = self.thread + u64::from(self.cores);
        if next < launch.ctas() {
            self.start_thread(launch, next);
        } else {
            self.state = State::Flushing;
            self.lsu.flush_for_kernel_end();
        }
    }

    /// Records a fault of the program, which stops the core.
    pub(crate) fn fail(&mut self, launch: &Launch, line: u32, kind: FaultKind) {
        let (text, line) = launch.kernel.source(line);
        let kernel = launch.kernel.name.clone();
        self.fault = Some(Fault { kind, kernel, line, text, cta: self.context.ctaid, thread: [0; 3] });
    }
}
