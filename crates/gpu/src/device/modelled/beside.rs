//! What comes before and behind the part of a run that is measured, beside the model.

use std::sync::Arc;

use strata_ptx::reference::{Allocation, GlobalMemory, Options, Summary};
use strata_workloads::DeviceError;

use super::Modelled;
use crate::checkpoint::Checkpoint;
use crate::device::card::Call;
use crate::device::forward::{Forward, Grid, Step};
use crate::device::heap::{Buffer, Heap};
use crate::gpu::LaunchPart;
use crate::position::{Began, Position};
use crate::region::{Most, Region};
use crate::results::LaunchResult;

/// Bytes that are written to the machine's memory at once, if one of them is not zero.
const PIECE_BYTES: usize = 4096;

/// What became of a launch before the model gets it.
pub(super) enum Beside {
    /// All of it ran.
    Ran(Box<LaunchResult>),
    /// This part is left.
    Left(LaunchPart<'static>),
}

impl Modelled {
    /// Restricts what is measured to a part of the run. The buffers are those of the heap so far.
    pub(in crate::device) fn measure_only(
        &mut self,
        region: Region,
        checkpoint: Option<Arc<Checkpoint>>,
        buffers: &[Buffer],
    ) {
        let now = self.gpu.statistics();
        self.measured = (now.iter().map(|group| group.since(group)).collect(), 0);
        if region.passes_over() || checkpoint.is_some() {
            let memory = self.memory(buffers);
            self.touched = buffers.last().map_or(0, Buffer::end);
            self.beside = Some(Box::new(Forward::to_region(&region, memory, self.options(), checkpoint)));
        }
        self.region = region;
    }

    /// The region that is measured, with what is known of it so far.
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// Where the region began, if it did and anything came before it.
    pub fn began(&self) -> Option<Began> {
        self.began
    }

    /// Where the region ended so far, if it was to hold so much at the most.
    pub fn ended(&self) -> Option<Position> {
        self.ended.filter(|_| !self.region.most.is_unbounded())
    }

    /// Whether a checkpoint has not been reached: the host then reads what it read before, and not what memory holds.
    pub fn is_replaying(&self) -> bool {
        self.beside.as_ref().is_some_and(|beside| beside.is_replaying())
    }

    /// Thread instructions executed before the region, if it has not begun.
    pub fn before_region(&self) -> Option<u64> {
        let beside = self.beside.as_ref().filter(|_| self.region.begin().is_none())?;
        Some(beside.executed().thread_instructions)
    }

    /// What is wrong, if the program has ended and the checkpoint was not reached.
    pub fn missed(&self) -> Option<String> {
        self.beside.as_ref()?.missed()
    }

    fn options(&self) -> Options {
        Options { interrupt: self.gpu.interrupt(), ..Options::default() }
    }

    /// The machine's memory in these buffers.
    fn memory(&mut self, buffers: &[Buffer]) -> GlobalMemory {
        let mut memory = GlobalMemory::new();
        for buffer in buffers {
            let mut bytes = vec![0; buffer.bytes as usize];
            self.gpu.read(buffer.start, &mut bytes);
            assert!(memory.insert(buffer.start, bytes), "the heap hands out disjoint buffers");
        }
        memory
    }

    /// Runs what of a launch is not the model's, and says what is left.
    pub(super) fn beside(&mut self, call: &Call<'_>) -> Result<Beside, DeviceError> {
        self.end_region(call)?;
        let number = self.launches;
        let mut first = 0;
        if let Some(beside) = &mut self.beside {
            match beside.launch(call, number)? {
                Step::Passed(done) => {
                    self.launches += 1;
                    return Ok(Beside::Ran(Box::new(functional(call, done))));
                }
                Step::Here { first: place, at } => {
                    first = place;
                    self.take_over(at, first);
                }
            }
        }
        let mut counted = first;
        if let Some(begin) = self.region.begin().filter(|begin| begin.launch == number) {
            if begin.cta > first {
                let reason = Grid::of(call).check(begin).err();
                let bad = |reason| DeviceError::BadLaunch { kernel: call.kernel.name.clone(), reason };
                reason.map_or(Ok(()), |reason| Err(bad(reason)))?;
                counted = begin.cta;
            }
            let is_warm = self.began.is_some_and(|began| began.is_warm) || number > 0 || counted > first;
            let is_later = begin != Position::START && self.began.is_none_or(|began| began.at != begin);
            if is_later || counted > first {
                let skipped = self.began.map(|began| began.skipped).unwrap_or_default();
                self.began = Some(Began { at: begin, skipped, is_warm, warm_ctas: counted - first });
            }
        }
        let [ctas, cycles, instructions] = self.counted;
        let most = match self.region.has(number, &call.kernel.name) {
            true => self.region.most.after(ctas, cycles, instructions),
            false => Most::default(),
        };
        Ok(Beside::Left(LaunchPart { first, counted, most, by: &[] }))
    }

    /// The model takes over at a place of a launch, from which CTA on it runs.
    fn take_over(&mut self, at: Position, first: u64) {
        let Some(beside) = self.beside.take() else { return };
        for Allocation { base, bytes } in beside.memory().allocations() {
            for (at, piece) in (*base..).step_by(PIECE_BYTES).zip(bytes.chunks(PIECE_BYTES)) {
                // The rest of the machine's memory is zero.
                if at < self.touched || piece.iter().any(|byte| *byte != 0) {
                    self.gpu.write(at, piece);
                }
            }
        }
        if self.region.begin().is_none() {
            self.region = std::mem::take(&mut self.region).beginning_at(at);
        }
        if at != Position::START {
            let (is_warm, warm_ctas) = (first < at.cta, at.cta - first);
            self.began = Some(Began { at, skipped: beside.executed(), is_warm, warm_ctas });
        }
    }

    /// Counts a launch of the region, which ended before a CTA.
    pub(super) fn add_to_region(&mut self, number: u64, counts: [u64; 3], end: u64) {
        self.counted = std::array::from_fn(|of| self.counted[of] + counts[of]);
        self.ended = Some(Position { launch: number, cta: end });
        let [ctas, cycles, instructions] = self.counted;
        if self.region.most.after(ctas, cycles, instructions).is_reached() {
            self.region.to = Some(number);
        }
    }

    /// Leaves what comes behind the last launch that is measured, or refuses it.
    pub(super) fn end_region(&mut self, call: &Call<'_>) -> Result<(), DeviceError> {
        if !self.region.is_past(self.launches) {
            return Ok(());
        }
        if !self.region.finish {
            return Err(DeviceError::Enough { kernel: call.kernel.name.clone() });
        }
        if self.beside.is_none() {
            self.leave(call.heap);
        }
        Ok(())
    }

    /// The model stops, and the rest of the run goes on beside it.
    fn leave(&mut self, heap: &Heap) {
        let memory = self.memory(heap.buffers());
        self.beside = Some(Box::new(Forward::to_end(memory, self.options())));
    }

    /// A launch ended before its last CTA: the rest runs beside the model, or the run ends.
    pub(super) fn cut(
        &mut self,
        call: &Call<'_>,
        result: LaunchResult,
        end: u64,
    ) -> Result<LaunchResult, DeviceError> {
        if !self.region.finish {
            self.stopped = Some(result);
            return Err(DeviceError::Enough { kernel: call.kernel.name.clone() });
        }
        self.leave(call.heap);
        let beside = self.beside.as_mut().expect("it was put there");
        beside.go_on(call, end).map(|_| result)
    }
}

/// What a launch on the reference executor did.
fn functional(call: &Call<'_>, done: Summary) -> LaunchResult {
    LaunchResult {
        kernel: call.kernel.name.clone(),
        grid: call.shape.grid,
        block: call.shape.block,
        functional: true,
        cycles: 0,
        overlapped_cycles: 0,
        warp_instructions: done.counts.warp_instructions,
        thread_instructions: done.counts.thread_instructions,
        registers: call.kernel.registers,
        reuses_registers: call.kernel.reuses_registers,
        shared_bytes: call.kernel.shared_bytes.saturating_add(call.shape.dynamic_shared),
        carve_out: None,
        ctas_per_sm: 0,
        limiter: String::new(),
        printed: (!done.printed.is_empty()).then_some(done.printed).into_iter().collect(),
        energy: None,
    }
}
