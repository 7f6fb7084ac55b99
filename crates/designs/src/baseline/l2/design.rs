//! The L2 slice as a design that a machine file can select.

use strata_memory::ParameterError;
use strata_memory::doors::{Design, HOST_ITEM_BYTES, Llc, LlcDesign, LlcSite};

use super::{Conventional, Halves, L2Config, L2Slice};
use crate::chassis::check_policies;

impl L2Slice {
    /// Makes an empty slice, called `number` in reports. `seed` starts the stream of random replacement.
    ///
    /// # Errors
    /// Names the first parameter that cannot be built.
    pub fn new(config: &L2Config, number: u16, seed: u64) -> Result<L2Slice, ParameterError> {
        let mut slice = L2Slice::with(config.parameters(), number, seed, Conventional)?;
        slice.prefetching = config.prefetching(slice.cache.frames().count());
        Ok(slice)
    }
}

impl Design for L2Config {
    fn check(&self) -> Result<(), ParameterError> {
        check_policies(self.insertion.as_ref(), self.prefetch.as_ref())?;
        self.check_far()?;
        self.parameters().check()
    }

    fn outline(&self) -> String {
        self.parameters().outline()
    }

    fn host_bytes(&self) -> u64 {
        let parameters = self.parameters();
        let far = self
            .far_latency_cycles
            .as_ref()
            .map_or(0, |cycles| 2 * (parameters.reply_room() as u64 + **cycles));
        (parameters.items() + far) * HOST_ITEM_BYTES
    }
}

impl LlcDesign for L2Config {
    fn capacity_bytes(&self) -> u64 {
        self.parameters().capacity_bytes()
    }

    fn build(&self, site: LlcSite) -> Result<Box<dyn Llc>, ParameterError> {
        let slice = L2Slice::new(self, site.slice, site.seed)?;
        Ok(match &self.far_latency_cycles {
            Some(cycles) => Box::new(Halves::new(slice, **cycles)),
            None => Box::new(slice),
        })
    }
}
