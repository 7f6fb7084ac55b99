//! The reference executor in lockstep with the modelled GPU (`STRATA_MODE=check`): after every launch all of memory must be
//! equal.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use strata_gpu::device::{Backend, Buffer, Call, Functional, Modelled, difference};
use strata_ptx::isa::{Op, Special};
use strata_ptx::program::Kernel;
use strata_workloads::DeviceError;

use crate::log;
use crate::stop::STOP;

/// The reference executor, told all that the modelled GPU is told.
pub struct Check {
    reference: Functional,
    launches: u64,
    differences: Vec<String>,
    /// Starts of buffers whose contents may differ.
    unordered: BTreeSet<u64>,
}

impl Check {
    /// A reference executor that has been told nothing yet.
    pub fn new(reference: Functional) -> Check {
        Check { reference, launches: 0, differences: Vec::new(), unordered: BTreeSet::new() }
    }

    /// Launches after which memory was compared.
    pub fn launches(&self) -> u64 {
        self.launches
    }

    /// What differed, a sentence for each launch and buffer.
    pub fn differences(&self) -> &[String] {
        &self.differences
    }

    /// Notes that a variable is of the device heap, which hands out blocks in an order that depends on timing.
    pub fn unordered(&mut self, start: u64) {
        if self.unordered.insert(start) {
            log::once("the device heap is not compared: the order of its blocks depends on timing".into());
        }
    }

    /// As [`Backend::open`].
    pub fn open(&mut self, buffer: &Buffer, fresh: bool) {
        self.reference.open(buffer, fresh);
    }

    /// As [`Backend::close`].
    pub fn close(&mut self, buffer: &Buffer) {
        self.unordered.remove(&buffer.start);
        self.reference.close(buffer);
    }

    /// As [`Backend::write`].
    pub fn write(&mut self, at: u64, data: &[u8]) {
        self.reference.write(at, data);
    }

    /// Runs a launch that the modelled GPU has run, and compares memory. Where it differs, both go on with the modelled
    /// GPU's, so each difference is found once.
    ///
    /// # Errors
    /// If the process is to stop before the launch is done.
    pub fn launched(&mut self, call: &Call<'_>, gpu: &mut Modelled) -> Result<(), DeviceError> {
        let kernel = call.kernel;
        let when = format!("after launch {} (`{}`)", self.launches, kernel.name);
        match self.reference.run(call, &mut |_| {}) {
            Ok(_) => {}
            Err(error) if STOP.load(Ordering::Relaxed) => return Err(error),
            Err(error) => self.differences.push(format!("{when}, the reference executor says: {error}")),
        }
        self.launches += 1;
        let mut found = Vec::new();
        for buffer in call.heap.buffers() {
            found.resize(buffer.bytes as usize, 0);
            gpu.read(buffer.start, &mut found);
            let Some(differs) = difference(buffer, &found, self.reference.bytes(buffer)) else { continue };
            if !self.unordered.contains(&buffer.start) {
                self.differences.push(format!("{when}, {differs}{}", excuse(kernel)));
            }
            self.reference.write(buffer.start, &found);
        }
        Ok(())
    }
}

/// Names what a kernel reads that the reference executor has in its own way.
fn excuse(kernel: &Kernel) -> String {
    let names: BTreeSet<&str> = kernel
        .code
        .iter()
        .filter_map(|instruction| match instruction.op {
            Op::ReadSpecial(special) => name(special),
            _ => None,
        })
        .collect();
    match names.is_empty() {
        true => String::new(),
        false => {
            let names: Vec<&str> = names.into_iter().collect();
            format!("; the kernel reads {}, which cannot be checked", names.join(" and "))
        }
    }
}

/// The name of a special register that depends on time or on the place of a warp.
fn name(special: Special) -> Option<&'static str> {
    Some(match special {
        Special::Clock | Special::ClockHi => "%clock",
        Special::Clock64 => "%clock64",
        Special::GlobalTimer | Special::GlobalTimerLo | Special::GlobalTimerHi => "%globaltimer",
        Special::WarpId | Special::NWarpId => "%warpid",
        Special::SmId | Special::NSmId => "%smid",
        Special::GridId => "%gridid",
        _ => return None,
    })
}
