//! DeNovo's L2 slice as a design that a machine file can select.

use strata_memory::ParameterError;
use strata_memory::doors::{Coherence, Design, HOST_ITEM_BYTES, Llc, LlcDesign, LlcSite};

use super::{DenovoL2, DenovoL2Config, Registry};

impl DenovoL2 {
    /// Makes an empty slice, called `number` in reports. `seed` starts the stream of random replacement.
    ///
    /// # Errors
    /// Names the first parameter that cannot be built.
    pub fn new(config: &DenovoL2Config, number: u16, seed: u64) -> Result<DenovoL2, ParameterError> {
        DenovoL2::with(config.parameters(), number, seed, Registry::new(*config.sets * *config.ways))
    }
}

impl Design for DenovoL2Config {
    fn check(&self) -> Result<(), ParameterError> {
        self.parameters().check()
    }

    fn outline(&self) -> String {
        format!("{}, registry of DeNovo", self.parameters().outline())
    }

    fn host_bytes(&self) -> u64 {
        self.parameters().items() * HOST_ITEM_BYTES
    }
}

impl LlcDesign for DenovoL2Config {
    fn capacity_bytes(&self) -> u64 {
        self.parameters().capacity_bytes()
    }

    fn coherence(&self) -> Coherence {
        Coherence::Owners
    }

    fn build(&self, site: LlcSite) -> Result<Box<dyn Llc>, ParameterError> {
        Ok(Box::new(DenovoL2::new(self, site.slice, site.seed)?))
    }
}
