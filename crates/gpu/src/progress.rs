//! The progress that a run reports while it simulates.

use crate::results::Sample;

/// Progress of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Number of the current launch, from 0.
    pub launch: u64,
    /// Name of the launch's kernel.
    pub kernel: String,
    /// Core cycles simulated so far.
    pub cycle: u64,
    /// CTAs in the launch.
    pub ctas: u64,
    /// CTAs that have ended.
    pub ctas_done: u64,
    /// What is dubious about the kernel, a sentence each with its place; once, before its first launch, and then nothing else
    /// is told.
    pub warnings: Vec<String>,
    /// The span of the launch that has just ended, where spans are asked for. Each comes once, in order.
    pub sample: Option<Sample>,
}

impl Progress {
    /// A line of a timeline: the fields of the launch's span, in the order of [`Sample::columns`].
    pub fn fields(&self, sample: &Sample) -> Vec<String> {
        let place =
            [self.launch.to_string(), self.kernel.clone(), sample.from.to_string(), sample.to.to_string()];
        place.into_iter().chain(sample.fields()).collect()
    }
}
