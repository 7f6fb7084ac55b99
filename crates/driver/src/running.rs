//! The execution of a launch: what stops it, and what is written about it.

use strata_gpu::Progress;
use strata_gpu::device::Entry;
use strata_workloads::{DeviceError, Failure, Shape};

use crate::engine::{Engine, Launched};
use crate::state::State;
use crate::status::Answer;
use crate::stop;

impl State {
    /// Runs a kernel to completion, or until the process is to stop. `block` is its parameter block.
    pub fn execute(&mut self, entry: &Entry, shape: Shape, block: &[u8]) -> Answer<Launched> {
        self.name_unordered()?;
        let number = self.launches;
        let (card, mut results, mut timeline) = self.written()?;
        let process = results.as_ref().map_or(0, |results| results.process());
        results.iter_mut().for_each(|results| results.runs(entry, None));
        let mut show = |progress: &Progress| {
            results.iter_mut().for_each(|results| results.runs(entry, Some(progress)));
            if let Some(timeline) = &mut timeline {
                // A card counts its own launches; there may have been others before it.
                timeline.add(process, &Progress { launch: number, ..progress.clone() });
            }
        };
        let launched = stop::watched(|| card.launch(entry, shape, block, &mut show));
        if let Some(results) = results {
            match &launched {
                Ok(launched) => results.launched(entry, shape, launched, card),
                Err(error) if is_fault(error) => results.failed(&error.to_string(), card),
                Err(_) => results.refused(),
            }
        }
        if launched.as_ref().err().is_none_or(is_fault) {
            self.launches += 1;
        }
        launched.map_err(|error| self.failed(&error))
    }

    /// Where everything is checked, says which variables' contents depend on timing.
    fn name_unordered(&mut self) -> Answer {
        let modules: Vec<_> = self.modules.iter().map(|(_, module)| module.id).collect();
        let card = self.card()?;
        if !matches!(card.backend(), Engine::Timed(engine) if engine.check().is_some()) {
            return Ok(());
        }
        let starts: Vec<_> = modules.into_iter().flat_map(|module| card.heap_variables(module)).collect();
        if let Engine::Timed(engine) = card.backend_mut() {
            starts.into_iter().for_each(|start| engine.unordered(start.0));
        }
        Ok(())
    }
}

/// Whether a launch began and failed, so that the run is not whole.
fn is_fault(error: &DeviceError) -> bool {
    matches!(error, DeviceError::Failed { failure, .. } if *failure != Failure::NoRoom)
}
