//! What runs beside the model: launches, CTAs and host phases on the reference executor, with a memory of its own. It goes forward
//! from the beginning of a run, or from a checkpoint, to the place at which the model takes over; or from where the model ended
//! to the end of the run.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use strata_ptx::reference::{GlobalMemory, Options, Stretch, Summary};
use strata_workloads::{DeviceError, Failure};

use super::card::{Backend, Call};
use super::functional::Functional;
use super::heap::Buffer;
use crate::checkpoint::{Answer, Checkpoint};
use crate::position::{Executed, Position};
use crate::progress::Progress;
use crate::region::Region;
use crate::results::PhaseResult;

/// What is wrong if a checkpoint does not fit.
const ANOTHER_HOST: &str = "the host does not do what it did when the checkpoint was made";

/// Where somebody else takes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goal {
    /// At this place, for what begins there.
    At(Position),
    /// Between two CTAs, as soon as so many thread instructions are executed.
    Instructions(u64),
    /// Nowhere.
    Never,
}

/// Goes forward in a run.
pub struct Forward {
    functional: Functional,
    goal: Goal,
    /// CTAs before the place that are left to whoever takes over.
    warm_ctas: u64,
    executed: Executed,
    /// The checkpoint whose place has not been reached, and what the host has still to read before it.
    replay: Option<(Arc<Checkpoint>, VecDeque<Answer>)>,
    /// How the host's reads differ from the checkpoint's.
    differs: Option<String>,
    /// CTAs of the next launch that had ended when the checkpoint was made.
    begun: u64,
    /// What the host has read, if somebody wants to know.
    answers: Option<Vec<Answer>>,
}

/// What became of a launch.
pub enum Step {
    /// It has ended.
    Passed(Summary),
    /// Somebody takes over.
    Here {
        /// The first CTA that has not run.
        first: u64,
        /// The place that was to be reached; CTAs of its launch between `first` and it are to warm caches.
        at: Position,
    },
}

/// The CTAs of a launch, and between which of them it can be left.
pub struct Grid {
    /// How many.
    pub ctas: u64,
    /// How many belong together.
    pub cluster: u64,
    is_cooperative: bool,
}

impl Grid {
    /// The grid of a call.
    pub fn of(call: &Call<'_>) -> Grid {
        let cluster = call.kernel.launch_bounds.cluster.or(call.shape.cluster);
        let count = |sides: [u32; 3]| sides.iter().map(|side| u64::from(*side)).product::<u64>();
        let (ctas, is_cooperative) = (count(call.shape.grid), call.kernel.cooperative);
        let cluster = if is_cooperative { ctas } else { cluster.map_or(1, count) };
        Grid { ctas, cluster: cluster.max(1), is_cooperative }
    }

    /// Checks that a launch can be entered before a CTA.
    ///
    /// # Errors
    /// What was found, and what was expected.
    pub fn check(&self, at: Position) -> Result<(), String> {
        let Position { launch, cta } = at;
        if cta == 0 {
            return Ok(());
        }
        if cta >= self.ctas {
            let ctas = self.ctas;
            return Err(format!("CTA {cta}: launch {launch} has {ctas}, counted from 0"));
        }
        if cta.is_multiple_of(self.cluster) {
            return Ok(());
        }
        Err(match self.is_cooperative {
            true => format!(
                "CTA {cta}: the CTAs of launch {launch}, which is cooperative, wait for each other, expected CTA 0"
            ),
            false => format!(
                "CTA {cta}: launch {launch} has clusters of {} CTAs, expected the first of one",
                self.cluster
            ),
        })
    }

    /// The first CTA of the cluster of one.
    pub fn down(&self, cta: u64) -> u64 {
        cta / self.cluster * self.cluster
    }
}

impl Forward {
    /// Goes forward to where a region's caches are to be warmed or its counting begins, from a checkpoint if there is one.
    pub fn to_region(
        region: &Region,
        memory: GlobalMemory,
        options: Options,
        checkpoint: Option<Arc<Checkpoint>>,
    ) -> Forward {
        let goal = match (region.begin(), region.from_instruction, &checkpoint) {
            (_, _, Some(checkpoint)) if region.warm => Goal::At(checkpoint.at),
            (None, Some(instructions), _) => Goal::Instructions(instructions),
            (begin, ..) => Goal::At(begin.unwrap_or(Position::START)),
        };
        let replay = checkpoint.map(|checkpoint| (checkpoint.clone(), checkpoint.answers.clone().into()));
        Forward { warm_ctas: region.warm_ctas, replay, ..Forward::with(goal, memory, options) }
    }

    /// Goes on to the end of the run.
    pub fn to_end(memory: GlobalMemory, options: Options) -> Forward {
        Forward::with(Goal::Never, memory, options)
    }

    fn with(goal: Goal, memory: GlobalMemory, options: Options) -> Forward {
        Forward {
            functional: Functional::holding(memory, options),
            goal,
            warm_ctas: 0,
            executed: Executed::default(),
            replay: None,
            differs: None,
            begun: 0,
            answers: None,
        }
    }

    /// Notes from now on what the host reads.
    pub fn note_answers(&mut self) {
        let before = self.replay.as_ref().map_or_else(Vec::new, |(checkpoint, _)| checkpoint.answers.clone());
        self.answers = Some(before);
    }

    /// What the host has read so far, if it was noted. What it reads from now on is not.
    pub fn take_answers(&mut self) -> Vec<Answer> {
        self.answers.take().unwrap_or_default()
    }

    /// Whether memory is as it was when a checkpoint was made, and not as it is now.
    pub fn is_replaying(&self) -> bool {
        self.replay.is_some()
    }

    /// What has been executed, and before the checkpoint.
    pub fn executed(&self) -> Executed {
        self.executed
    }

    /// Device memory.
    pub fn memory(&self) -> &GlobalMemory {
        self.functional.memory()
    }

    /// Runs a launch, or a part of it.
    ///
    /// # Errors
    /// As [`Backend::run`]; or if the place cannot be reached.
    pub fn launch(&mut self, call: &Call<'_>, number: u64) -> Result<Step, DeviceError> {
        if let Some((checkpoint, _)) = &self.replay {
            let until = checkpoint.at;
            if number < until.launch && self.differs.is_none() {
                return Ok(Step::Passed(Summary::default()));
            }
            self.restore(call)?;
            let grid = Grid::of(call);
            grid.check(until).map_err(|reason| bad(call, format!("the checkpoint: {reason}")))?;
            self.begun = until.cta;
        }
        let grid = Grid::of(call);
        let begun = std::mem::take(&mut self.begun);
        let at = match self.goal {
            Goal::Instructions(goal) => return self.execute_until_instruction(call, number, begun, goal),
            Goal::At(at) if at.launch == number => at,
            Goal::At(_) | Goal::Never => return self.execute(call, begun..grid.ctas).map(Step::Passed),
        };
        grid.check(at).map_err(|reason| bad(call, reason))?;
        let first = grid.down(at.cta.saturating_sub(self.warm_ctas));
        if first < begun {
            let (warm, most) = (self.warm_ctas, at.cta - begun);
            let reason =
                format!("--warm-ctas {warm}: {most} CTAs lie between the checkpoint and CTA {}", at.cta);
            return Err(bad(call, reason));
        }
        self.execute(call, begun..first)?;
        Ok(Step::Here { first, at })
    }

    /// Runs the rest of a launch whose CTAs before one have ended.
    ///
    /// # Errors
    /// As [`Backend::run`].
    pub fn go_on(&mut self, call: &Call<'_>, from: u64) -> Result<Summary, DeviceError> {
        self.execute(call, from..Grid::of(call).ctas)
    }

    /// Runs a launch until so many thread instructions are executed in all: to the end of a CTA.
    fn execute_until_instruction(
        &mut self,
        call: &Call<'_>,
        number: u64,
        begun: u64,
        goal: u64,
    ) -> Result<Step, DeviceError> {
        let left = goal.saturating_sub(self.executed.thread_instructions);
        if left == 0 {
            return Ok(Step::Here { first: begun, at: Position { launch: number, cta: begun } });
        }
        let grid = Grid::of(call);
        let enough = (grid.cluster < grid.ctas).then_some(left);
        // To warm caches, a part of it runs again.
        let before = (self.warm_ctas > 0).then(|| (self.functional.memory().clone(), self.executed));
        let done = self.run(call, Stretch { first: begun, end: grid.ctas, enough })?;
        let cta = done.next_cta;
        if cta == grid.ctas {
            return Ok(Step::Passed(done));
        }
        let mut first = cta;
        if let Some((memory, executed)) = before {
            self.functional.remember(memory);
            self.executed = executed;
            first = grid.down(cta.saturating_sub(self.warm_ctas)).max(begun);
            self.execute(call, begun..first)?;
        }
        Ok(Step::Here { first, at: Position { launch: number, cta } })
    }

    /// Runs some CTAs of a launch.
    fn execute(&mut self, call: &Call<'_>, ctas: Range<u64>) -> Result<Summary, DeviceError> {
        let is_part = ctas != (0..Grid::of(call).ctas);
        let done = self.run(call, Stretch { first: ctas.start, end: ctas.end, enough: None });
        done.map_err(|error| match error {
            DeviceError::Failed { kernel, failure: Failure::Unfinished, reason } if is_part => {
                let (first, last) = (ctas.start, ctas.end.saturating_sub(1));
                let reason = format!("without the others, CTAs {first} to {last} do not end: {reason}");
                DeviceError::Failed { kernel, failure: Failure::Unfinished, reason }
            }
            error => error,
        })
    }

    fn run(&mut self, call: &Call<'_>, stretch: Stretch) -> Result<Summary, DeviceError> {
        if stretch.first == stretch.end {
            return Ok(Summary { next_cta: stretch.end, ..Summary::default() });
        }
        let done = self.functional.run_stretch(call, stretch)?;
        self.executed.warp_instructions += done.counts.warp_instructions;
        self.executed.thread_instructions += done.counts.thread_instructions;
        Ok(done)
    }

    /// Runs a host phase, unless a checkpoint has what it did.
    ///
    /// # Errors
    /// As [`Backend::run_on_cpu`].
    pub fn phase(&mut self, call: &Call<'_>) -> Result<PhaseResult, DeviceError> {
        match self.replay {
            Some(_) => Ok(super::functional::executed(call, Summary::default())),
            None => self.functional.run_on_cpu(call, &mut |_: &Progress| {}),
        }
    }

    /// Puts the checkpoint's memory in place.
    fn restore(&mut self, call: &Call<'_>) -> Result<(), DeviceError> {
        let Some((checkpoint, left)) = self.replay.take() else { return Ok(()) };
        let found: Vec<(u64, u64)> =
            call.heap.buffers().iter().map(|buffer| (buffer.start, buffer.bytes)).collect();
        let reason = match self.differs.take() {
            Some(differs) => differs,
            None if !left.is_empty() => format!("it had read {} times more", left.len()),
            None if found != checkpoint.image.buffers => {
                let (before, now) = (checkpoint.image.buffers.len(), found.len());
                format!("its {before} buffers had other places or sizes than these {now}")
            }
            None => match checkpoint.image.memory() {
                Some(memory) => {
                    self.functional.remember(memory);
                    self.executed = checkpoint.executed;
                    return Ok(());
                }
                None => "its memory lies outside its buffers".to_owned(),
            },
        };
        Err(bad(call, format!("{ANOTHER_HOST}: {reason}")))
    }

    /// What is wrong, if the program has ended and the checkpoint was not reached.
    pub fn missed(&self) -> Option<String> {
        let (checkpoint, _) = self.replay.as_ref()?;
        let came = || format!("it had come to {}", checkpoint.at);
        Some(format!("{ANOTHER_HOST}: {}", self.differs.clone().unwrap_or_else(came)))
    }

    /// A buffer is allocated.
    pub fn open(&mut self, buffer: &Buffer, fresh: bool) {
        self.functional.open(buffer, fresh);
    }

    /// A buffer is freed.
    pub fn close(&mut self, buffer: &Buffer) {
        self.functional.close(buffer);
    }

    /// The host writes; what it writes before a checkpoint is in its memory.
    pub fn write(&mut self, at: u64, data: &[u8]) {
        if self.replay.is_none() {
            self.functional.write(at, data);
        }
    }

    /// The host reads; what it read before a checkpoint is read again.
    pub fn read(&mut self, at: u64, data: &mut [u8]) {
        if let Some((_, left)) = &mut self.replay {
            match left.pop_front() {
                Some(answer) if answer.at == at && answer.bytes.len() == data.len() => {
                    data.copy_from_slice(&answer.bytes);
                }
                found => {
                    data.fill(0);
                    let had = found.map_or("nothing".to_owned(), |answer| {
                        format!("{} bytes at {:#x}", answer.bytes.len(), answer.at)
                    });
                    let differs = format!("it had read {had}, and now reads {} at {at:#x}", data.len());
                    self.differs.get_or_insert(differs);
                }
            }
            return;
        }
        self.functional.read(at, data);
        if let Some(answers) = &mut self.answers {
            answers.push(Answer { at, bytes: data.to_vec() });
        }
    }

    /// The host copies within the device's memory, which tells it nothing.
    pub fn copy(&mut self, to: u64, from: u64, bytes: u64) {
        if self.replay.is_none() {
            self.functional.copy(to, from, bytes);
        }
    }
}

/// A launch that cannot be made as it is asked for.
fn bad(call: &Call<'_>, reason: String) -> DeviceError {
    DeviceError::BadLaunch { kernel: call.kernel.name.clone(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_is_entered_between_clusters() {
        let check = |cluster, is_cooperative, cta| {
            Grid { ctas: 12, cluster, is_cooperative }
                .check(Position { launch: 2, cta })
                .err()
                .unwrap_or_default()
        };
        for (cluster, is_cooperative, cta) in [(1, false, 11), (4, false, 8), (12, true, 0)] {
            assert_eq!(check(cluster, is_cooperative, cta), "");
        }
        assert_eq!(check(1, false, 12), "CTA 12: launch 2 has 12, counted from 0");
        assert_eq!(check(4, false, 7), "CTA 7: launch 2 has clusters of 4 CTAs, expected the first of one");
        assert_eq!(
            check(12, true, 6),
            "CTA 6: the CTAs of launch 2, which is cooperative, wait for each other, expected CTA 0"
        );
        assert_eq!(Grid { ctas: 12, cluster: 4, is_cooperative: false }.down(7), 4);
    }
}
