//! Counters of a network.

use strata_engine::statistics::{Group, Statistics};

use strata_memory::HEADER_BYTES;
use strata_memory::doors::Direction;

strata_engine::statistics! {
    /// Counters of one direction of a network.
    pub struct NetworkStatistics: "network" {
        /// Packets that reached the head of their first buffer.
        packets_in: "packets",
        /// Packets granted their last output.
        packets_out: "packets",
        /// Flits of the packets granted their last output.
        flits: "flits",
        /// Bytes of the packets granted their last output, headers included.
        wire_bytes: "bytes",
        /// Bytes of the packets granted their last output, without headers.
        payload_bytes: "bytes",
        /// Cycles in which outputs of switches moved flits, summed over outputs.
        output_busy_cycles: "network cycles",
        /// Flits moved by switches, summed over stages.
        flit_hops: "flits" [energy],
        /// Cycles that head packets waited while their output served other packets.
        wait_output_cycles: "network cycles",
        /// Cycles that head packets waited because the buffer behind their output had no room.
        wait_credit_cycles: "network cycles",
        /// Cycles from the arrival in the first buffer to delivery, summed over packets.
        latency_cycles: "network cycles",
    }
    laws {
        "packets_in = packets_out": |s| s.packets_in == s.packets_out,
        "wire_bytes = payload_bytes + packets_out * header": |s| s.wire_bytes == s.payload_bytes + s.packets_out * u64::from(HEADER_BYTES),
        "flit_hops >= flits": |s| s.flit_hops >= s.flits,
        "output_busy_cycles = flit_hops": |s| s.output_busy_cycles == s.flit_hops,
        "latency_cycles >= wait_output_cycles + wait_credit_cycles": |s| s.latency_cycles >= s.wait_output_cycles + s.wait_credit_cycles,
    }
}

impl NetworkStatistics {
    /// Reports the counters under the direction's name.
    pub fn report_as(&self, direction: Direction) -> Group {
        Group { name: direction.group(), ..self.report() }
    }
}
