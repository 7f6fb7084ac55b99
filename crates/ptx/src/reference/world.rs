//! What all CTAs of a run share, and what is counted of them.

use super::fault::{FaultKind, Place};
use super::global::GlobalMemory;
use super::observer::Observer;
use crate::lanes::LaneMask;
use crate::texture::Headers;

/// Executed instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Counts {
    /// Instructions issued by warps, those included whose guard let no lane through.
    pub warp_instructions: u64,
    /// Instructions executed by threads: lanes that were active and passed the guard.
    pub thread_instructions: u64,
}

impl Counts {
    #[inline(always)]
    pub(super) fn add(&mut self, lanes: LaneMask) {
        self.warp_instructions += 1;
        self.thread_instructions += u64::from(lanes.count_ones());
    }
}

/// What is shared by all CTAs of a run.
pub(super) struct World<'a> {
    pub global: &'a mut GlobalMemory,
    pub headers: &'a Headers,
    pub counts: Counts,
    /// Grows whenever something happens that another warp may see: memory changes, or a barrier is reached.
    pub changes: u64,
    pub printed: String,
    pub observer: Option<&'a mut (dyn Observer + 'a)>,
    /// Shared memory of the other CTAs of the cluster whose CTA runs, by their number in it.
    pub peers: Vec<Vec<u8>>,
    /// Whether there is an observer and it wants to see registers.
    pub watches_registers: bool,
}

/// A fault before the kernel's name is put to it.
pub(super) type Stop = (FaultKind, Option<Place>);
