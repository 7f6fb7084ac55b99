//! Counters of a memory partition.

strata_engine::statistics! {
    /// Counters of a memory partition.
    pub struct PartitionStatistics: "partition" {
        /// Requests that slices accepted, less loads of the window that they have not answered.
        requests: "packets",
        /// Replies sent into the network; where words have owners, a request that is sent on to one counts as answered.
        replies: "packets",
        /// Requests that their slice refused at least once.
        held_requests: "packets",
        /// Cycles that requests waited after their first refusal, summed over requests.
        held_cycles: "L2 cycles",
        /// Cycles in which a reply was ready but the network had no room.
        reply_stall_cycles: "L2 cycles",
    }
    laws {
        "requests = replies": |s| s.requests == s.replies,
        "held_requests <= requests": |s| s.held_requests <= s.requests,
        "held_cycles >= held_requests": |s| s.held_cycles >= s.held_requests,
    }
}
