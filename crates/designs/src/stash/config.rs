//! Parameters of a stash, its storage and its energies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::Cited;
use strata_memory::ParameterError;
use strata_memory::area::Component;

use super::storage::Bits;
use crate::denovo::MAPS;

/// A stash (Table 2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StashConfig {
    /// Bytes of data: whole chunks.
    #[schemars(range(min = 1 << 10, max = 1 << 20), extend("unit" = "B"))]
    pub bytes: Cited<u32>,
    /// Bytes of a chunk: a power of two.
    #[schemars(range(min = 4, max = 1024), extend("unit" = "B"))]
    pub chunk_bytes: Cited<u32>,
    /// Bytes of a line of the caches, 64 or 128: a request is about words of one.
    #[schemars(range(min = 64, max = 128), extend("unit" = "B"))]
    pub line_bytes: Cited<u32>,
    /// CTAs that run at a time.
    #[schemars(range(min = 1, max = 32), extend("unit" = "CTAs"))]
    pub ctas: Cited<u32>,
    /// Mappings that a CTA may add.
    #[schemars(range(min = 1, max = 64), extend("unit" = "mappings"))]
    pub maps_per_cta: Cited<u32>,
    /// Entries of the stash-map: at least one for each mapping of each CTA.
    #[schemars(range(max = MAPS), extend("unit" = "mappings", "minimum" = null))]
    pub map_entries: Cited<u32>,
    /// Entries of TLB and of RTLB.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "pages"))]
    pub vp_entries: Cited<u32>,
    /// Bytes of a page: a power of two.
    #[schemars(range(min = 128, max = 1 << 30), extend("unit" = "B"))]
    pub page_bytes: Cited<u32>,
    /// Cycles of a hit.
    #[schemars(range(min = 1, max = 100), extend("unit" = "cycles"))]
    pub hit_cycles: Cited<u32>,
    /// Cycles of a translation in either direction.
    #[schemars(range(min = 0, max = 100), extend("unit" = "cycles"))]
    pub translation_cycles: Cited<u32>,
    /// Whether a load miss brings along the other words of its line that its mapping has and the L2 has data of.
    pub takes_along: Cited<bool>,
    /// Lines whose registrations wait for others of the same line.
    #[schemars(range(min = 0, max = 1024), extend("unit" = "lines"))]
    pub combined_lines: Cited<u32>,
    /// Cycles for which they wait at most. The end of a CTA or a kernel, and whoever needs their chunk, does not wait.
    #[schemars(range(min = 0, max = 1000000), extend("unit" = "cycles"))]
    pub combine_cycles: Cited<u32>,
    /// Accesses past the L1D under way at most. When present, the stash itself knows which of its mappings has which word, and writes
    /// back all of them when a kernel ends: the L1D and the LLC need know no owners. When absent, they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024), extend("unit" = "lines"))]
    pub accesses: Option<Cited<u32>>,
}

/// Bits of an address, virtual or physical. ASSUMED: the paper does not say.
const ADDRESS_BITS: u64 = 48;
/// Bits of each of the seven numbers that translation needs (`tile.rs`). ASSUMED: the paper does not say.
const NUMBER_BITS: u64 = 32;

/// Energies of Table 3, in picojoules an access: the counter of [`super::StashStatistics`] that counts the accesses, the
/// energy, and what the table calls it. The text of 6.1 has the scratchpad's energy (5.53 pJ) at 29 % of an L1 hit (17.7 pJ) and
/// a stash miss at 41 % of an L1 miss (19.7 pJ); the table gives 31 % and 44 %.
pub const ENERGIES: [(&str, f64, &str); 3] = [
    ("hits", 5.54, "Table 3, stash, hit energy"),
    ("misses", 8.68, "Table 3, stash, miss energy"),
    ("translations", 1.41, "Table 3, TLB access"),
];

impl StashConfig {
    /// The stash of Table 2.
    pub fn paper() -> StashConfig {
        let cited = |value, source: &str| Cited::new(value, format!("Stash {source}"));
        StashConfig {
            bytes: cited(16 << 10, "Table 2"),
            chunk_bytes: cited(64, "4.2, 4.4"),
            line_bytes: Cited::new(128, "ASSUMED: the line of the L2"),
            ctas: cited(8, "4.1.3"),
            maps_per_cta: cited(4, "4.1.2"),
            map_entries: cited(64, "Table 2"),
            vp_entries: cited(64, "Table 2"),
            page_bytes: Cited::new(4096, "ASSUMED: the paper does not say; the pages of its x86 hosts"),
            hit_cycles: cited(1, "Table 2"),
            translation_cycles: cited(10, "Table 2"),
            takes_along: Cited::new(true, "ASSUMED: see reading 12"),
            combined_lines: Cited::new(32, "ASSUMED: see reading 13"),
            combine_cycles: Cited::new(10_000, "ASSUMED: see reading 13"),
            accesses: None,
        }
    }

    /// Accesses past the L1D under way at most, of a stash that is its own registry.
    pub fn own_registry(&self) -> Option<u32> {
        self.accesses.as_ref().map(|accesses| accesses.value)
    }

    /// Checks that the parameters can be built.
    ///
    /// # Errors
    /// Names the first wrong field, what was found and what was expected.
    pub fn check(&self) -> Result<(), ParameterError> {
        for (field, value, least, most) in [
            ("chunk_bytes", *self.chunk_bytes, 4, 1024),
            ("line_bytes", *self.line_bytes, 64, 128),
            ("page_bytes", *self.page_bytes, 128, 1 << 30),
        ] {
            if !value.is_power_of_two() || !(least..=most).contains(&value) {
                let message = format!("must be a power of two from {least} to {most}, found {value}");
                return Err(ParameterError::new(field, message));
            }
        }
        let (bytes, chunk) = (*self.bytes, *self.chunk_bytes);
        if !(1 << 10..=1 << 20).contains(&bytes) || !bytes.is_multiple_of(chunk) {
            let message =
                format!("must be a multiple of chunk_bytes ({chunk}) from 1024 to 1048576, found {bytes}");
            return Err(ParameterError::new("bytes", message));
        }
        for (field, value, least, most) in [
            ("accesses", self.own_registry().unwrap_or(1), 1, 1024),
            ("ctas", *self.ctas, 1, 32),
            ("maps_per_cta", *self.maps_per_cta, 1, 64),
            ("vp_entries", *self.vp_entries, 1, 4096),
            ("hit_cycles", *self.hit_cycles, 1, 100),
            ("translation_cycles", *self.translation_cycles, 0, 100),
            ("combined_lines", *self.combined_lines, 0, 1024),
            ("combine_cycles", *self.combine_cycles, 0, 1_000_000),
        ] {
            if !(least..=most).contains(&value) {
                return Err(ParameterError::new(field, format!("must be {least} to {most}, found {value}")));
            }
        }
        let (least, most) = (*self.ctas * *self.maps_per_cta, u32::from(MAPS));
        if !(least..=most).contains(&self.map_entries.value) {
            let message = format!("must be {least} to {most}, found {}", *self.map_entries);
            return Err(ParameterError::new("map_entries", message));
        }
        Ok(())
    }

    /// Storage in bits: data, and what the stash has beside a scratchpad.
    pub fn area(&self) -> Vec<Component> {
        let bits = |value: u32| u64::from(value.next_power_of_two().trailing_zeros());
        let [bytes, chunk, ctas, maps, entries, pages] = [
            *self.bytes,
            *self.chunk_bytes,
            *self.ctas,
            *self.maps_per_cta,
            *self.map_entries,
            *self.vp_entries,
        ]
        .map(u64::from);
        let (words, chunks) = (bytes / 4, bytes / chunk);
        let (map, state) = (bits(*self.map_entries), Bits::width(*self.takes_along));
        let count = u64::from((chunks as u32).ilog2()) + 1;
        let entry = 1 + count + 1 + 1 + map + bits(*self.bytes) + ADDRESS_BITS + 7 * NUMBER_BITS;
        let page = ADDRESS_BITS - bits(*self.page_bytes);
        vec![
            Component::bits("data", 8 * bytes, format!("{bytes} B")),
            Component::bits(
                "state bits",
                state * words,
                format!("{words} words x {state} (Stash 4.4; reading 12)"),
            ),
            Component::bits(
                "chunks",
                chunks * (map + 1),
                format!("{chunks} chunks x ({map} of map index + 1 dirty) (Stash 4.4)"),
            ),
            Component::bits(
                "map index table",
                ctas * maps * map,
                format!("{ctas} CTAs x {maps} mappings x {map} (Stash 4.1.2)"),
            ),
            Component::bits(
                "stash-map",
                entries * entry,
                format!(
                    "{entries} entries x {entry}: valid, #DirtyData, coherent, reuse, bases, 7 numbers (Stash 4.1.3)"
                ),
            ),
            Component::bits(
                "VP-map",
                pages * (2 * page + map + 1),
                format!("{pages} pages x (2 x {page} + {map} + 1 valid) (Stash 4.1.4)"),
            ),
        ]
    }
}
