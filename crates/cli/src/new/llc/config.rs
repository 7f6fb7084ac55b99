//! The numbers of a slice, and the design that machine files name.

use strata_designs::chassis::llc::{Parameters, Slice, llc_config};
use strata_engine::Cited;
use strata_memory::doors::{Design, HOST_ITEM_BYTES, Llc, LlcDesign, LlcSite};
use strata_memory::{LINE_BYTES, ParameterError};

use crate::protocol::RestOnReuse;

llc_config! {
    /// Its section of a machine file, `[llc.my-idea]`: this key, and what every LLC on the chassis has. In cycles of the slice's clock.
    pub struct Config {
        /// Bytes that are fetched when a line is asked for the first time.
        #[schemars(range(min = 4, max = LINE_BYTES), extend("unit" = "B"))]
        pub sector_bytes: Cited<usize>,
    }
}

impl Config {
    fn parameters(&self) -> Parameters {
        self.slice_parameters(*self.sector_bytes, 0)
    }
}

impl Design for Config {
    fn check(&self) -> Result<(), ParameterError> {
        self.parameters().check()
    }

    fn outline(&self) -> String {
        self.parameters().outline()
    }

    fn host_bytes(&self) -> u64 {
        self.parameters().items() * HOST_ITEM_BYTES
    }
}

impl LlcDesign for Config {
    fn capacity_bytes(&self) -> u64 {
        self.parameters().capacity_bytes()
    }

    fn build(&self, site: LlcSite) -> Result<Box<dyn Llc>, ParameterError> {
        let protocol = RestOnReuse::default();
        Ok(Box::new(Slice::with(self.parameters(), site.slice, site.seed, protocol)?))
    }
}
