//! Counters of the tinyCaches of an SM.

use strata_engine::statistics;
use strata_memory::doors::LaneSpace;

statistics! {
    /// Counters of the tinyCaches of an SM. References are those of lanes: an instruction of 32 lanes makes 32.
    pub struct TinyCacheStatistics: "tiny_cache" {
        /// Loads of global memory that were looked up.
        global_loads: "references",
        /// Stores to global memory that were looked up.
        global_stores: "references",
        /// Loads of shared memory that were looked up.
        shared_loads: "references",
        /// Stores to shared memory that were looked up.
        shared_stores: "references",
        /// Loads that found all their half-words.
        load_hits: "references",
        /// Loads that found no tag (rm).
        load_misses: "references",
        /// Loads that found their tag, but not all their half-words (rh(i)).
        load_partial_hits: "references",
        /// Loads that found the tag of a block on its way.
        load_waits: "references",
        /// Stores that found their tag.
        store_hits: "references",
        /// Stores that took a line without fetching its block (wm).
        store_misses: "references",
        /// References that went past the caches: of a space that is bypassed, stores of single bytes, atomics,
        /// strong accesses and copies.
        bypasses: "references",
        /// Requests refused for a cycle because too many accesses waited, or every way of a set waited for its block.
        refusals: "refusals",
        /// Accesses that fetch blocks: a line of memory each.
        fetches: "accesses",
        /// Bytes that they bring, once for all lanes that wait for them.
        fetched_bytes: "bytes" [energy],
        /// Loads and lines of lanes that joined the fetch of another instruction.
        joined: "references",
        /// Blocks put into lines.
        fills: "lines",
        /// Bytes of these blocks, once for each line.
        filled_bytes: "bytes" [energy],
        /// Lines with dirty half-words that were evicted to make room for others.
        replacements: "lines",
        /// Lines with dirty half-words that were evicted because of a barrier, a fence, the end of a CTA, or a
        /// reference that went past.
        flushed: "lines",
        /// Lines evicted whose half-words the memory below had.
        dropped: "lines",
        /// Accesses that write back half-words: a line of memory each.
        write_backs: "accesses",
        /// Half-words written back.
        half_words: "half-words" [energy],
        /// Addresses of blocks of global memory that lanes have sent below, to be fetched or written back.
        global_blocks: "addresses" [energy],
        /// Addresses of blocks of shared memory that lanes have sent below, to be fetched or written back.
        shared_blocks: "addresses" [energy],
        /// Barriers, fences and ends of CTAs.
        events: "events",
        /// Probes of a lane's tags.
        tag_reads: "probes" [energy],
        /// Reads of a lane's data: load hits and write-backs.
        data_reads: "accesses" [energy],
        /// Writes of a lane's data by stores.
        data_writes: "accesses" [energy],
    }
    laws {
        "global_loads + shared_loads = load_hits + load_misses + load_partial_hits + load_waits": |s| {
            s.global_loads + s.shared_loads
                == s.load_hits + s.load_misses + s.load_partial_hits + s.load_waits
        },
        "global_stores + shared_stores = store_hits + store_misses": |s| {
            s.global_stores + s.shared_stores == s.store_hits + s.store_misses
        },
        "replacements + flushed <= half_words": |s| s.replacements + s.flushed <= s.half_words,
        "fetches + write_backs <= global_blocks + shared_blocks": |s| {
            s.fetches + s.write_backs <= s.global_blocks + s.shared_blocks
        },
        "write_backs <= replacements + flushed": |s| s.write_backs <= s.replacements + s.flushed,
    }
}

impl TinyCacheStatistics {
    /// Counts a block of a space whose address a lane sends below.
    #[inline]
    pub fn send_block(&mut self, space: LaneSpace) {
        *match space {
            LaneSpace::Global => &mut self.global_blocks,
            LaneSpace::Shared => &mut self.shared_blocks,
        } += 1;
    }
}
