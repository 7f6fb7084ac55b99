//! Address translation: TLBs in SMs, and the GPU's memory management unit behind them, which walks page tables.
//!
//! An L1D has virtual tags, so what hits it is not translated. What leaves it goes through the SM's [`Mmu`]: a packet whose page
//! is in the first-level TLB passes, any other waits for its page. The page is looked for in a second level in the SM, where
//! there is one, and then in a [`Gmmu`], which many SMs share. It walks the page tables: each level is a read of memory, through the
//! last-level cache.
//!
//! Every page lies where its address says, so no packet changes; translation is about time. Nor do page tables hold anything: walks
//! move their lines as fetch moves code.

mod config;
mod gmmu;
mod mmu;
mod page_table;
mod statistics;
mod tlb;

#[cfg(test)]
mod tests;

use crate::address::LineAddress;
use crate::mshr::MshrId;

pub use config::{FirstTlbConfig, GmmuConfig, SecondTlbConfig, TranslationConfig};
pub use gmmu::{Gmmu, GmmuSite, SmLinks};
pub use mmu::{Mmu, MmuLinks};
pub use page_table::PageTable;
pub use statistics::{FirstTlbStatistics, GmmuStatistics, SecondTlbStatistics};

/// The number of a page: a byte address divided by the bytes of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Page(pub u64);

impl Page {
    /// The page of a line, of pages of 2^`shift` lines.
    #[inline]
    fn of(line: LineAddress, shift: u32) -> Page {
        Page(line.0 >> shift)
    }

    /// The page as what the sets and MSHRs of caches call a line.
    #[inline]
    fn key(self) -> LineAddress {
        LineAddress(self.0)
    }
}

/// An SM asks for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// The page.
    pub page: Page,
    /// Identifies the request to the SM; the reply carries it back.
    pub mshr: MshrId,
}

/// A page has been found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageReply {
    /// That of the request.
    pub mshr: MshrId,
}
