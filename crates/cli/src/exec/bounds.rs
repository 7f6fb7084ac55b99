//! `--bounds`: where a kernel's access to device memory is a fault.

use clap::ValueEnum;

/// Where a kernel's access to device memory is a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Bounds {
    /// Past the last byte that the program asked for.
    #[default]
    Exact,
    /// As `exact`; and 256 unused bytes follow each allocation, so addresses and cycles differ a little.
    Guard,
    /// Past the last page of 2 MiB that holds an allocation, as on hardware.
    Page,
}

impl Bounds {
    /// As the driver reads it.
    pub fn name(self) -> &'static str {
        match self {
            Bounds::Exact => "exact",
            Bounds::Guard => "guard",
            Bounds::Page => "page",
        }
    }
}
