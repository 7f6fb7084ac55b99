//! The rules that keep results right without coherence, by name. Tests drop one at a time and must notice.

/// A rule of coherence; the numbers are those of the module's page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// 1: only half-words that the lane has written are written back.
    DirtyHalfWordsOnly,
    /// 3: a barrier evicts.
    Barrier,
    /// 4: stores of single bytes go past.
    ByteStores,
    /// 6: what goes past evicts its lane's line.
    PassEvicts,
    /// 6: a collective load evicts in every lane.
    CollectiveEvicts,
    /// 7: a fence evicts.
    Fence,
    /// 8: the end of a CTA evicts all lines.
    CtaEnd,
    /// 9: a fetch is not joined once its line is written.
    WritesCloseFetches,
}
