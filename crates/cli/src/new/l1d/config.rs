//! The numbers of the L1D, and the design that machine files name.

use strata_designs::chassis::{self, l1d_config};
use strata_designs::sram_area::{BankGeometry, sram_cache};
use strata_engine::Cited;
use strata_memory::area::Component;
use strata_memory::doors::{Design, HOST_ITEM_BYTES, L1d, L1dDesign, L1dSite};
use strata_memory::{LINE_BYTES, ParameterError};

use crate::l1d::SkewedL1d;

l1d_config! {
    /// Its section of a machine file, `[l1d.my-idea]`: these two, and what every L1D on the chassis has.
    pub struct Config {
        /// Frames of each way.
        #[schemars(range(min = 1, max = 1 << 16), extend("unit" = "sets"))]
        pub sets: Cited<usize>,
        /// Ways, each with a hash of its own: the frames that a line can live in.
        #[schemars(range(min = 1, max = 64), extend("unit" = "ways"))]
        pub ways: Cited<usize>,
    }
}

impl Design for Config {
    fn check(&self) -> Result<(), ParameterError> {
        for (field, found, most) in [("sets", *self.sets, 1 << 16), ("ways", *self.ways, 64)] {
            if !(1..=most).contains(&found) {
                return Err(ParameterError::new(field, format!("must be 1 to {most}, found {found}")));
            }
        }
        chassis::check(&self.chassis_parameters(), &self.chassis_rooms(1))
    }

    fn outline(&self) -> String {
        format!("{} KB, skewed, {} ways", self.capacity_bytes() / 1024, *self.ways)
    }

    fn host_bytes(&self) -> u64 {
        (self.capacity_bytes() / LINE_BYTES as u64 + self.chassis_items(1)) * HOST_ITEM_BYTES
    }

    fn area(&self) -> Vec<Component> {
        sram_cache(&BankGeometry::of_lines(*self.sets, *self.ways))
    }
}

impl L1dDesign for Config {
    fn capacity_bytes(&self) -> u64 {
        (*self.sets * *self.ways * LINE_BYTES) as u64
    }

    fn build(&self, site: L1dSite) -> Result<Box<dyn L1d>, ParameterError> {
        self.check()?;
        let mut rooms = self.chassis_rooms(1);
        // Loads that wait somewhere else for the memory, as a DMA engine's.
        rooms.bypass_entries += site.held_loads;
        Ok(Box::new(SkewedL1d::new(self, rooms, site)))
    }
}
