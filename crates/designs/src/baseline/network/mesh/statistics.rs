//! Counters of a mesh.

use strata_engine::statistics::{Definition, Group, Mark, Statistics, array_group};
use strata_memory::doors::Direction;
use strata_memory::{HEADER_BYTES, Purpose};

strata_engine::statistics! {
    /// Counters of one direction of a mesh.
    pub struct MeshStatistics: "network" {
        /// Packets that entered the network at the interface of their sender.
        packets_in: "packets",
        /// Packets that the interface of their receiver has passed on.
        packets_out: "packets",
        /// Flits of the packets passed on.
        flits: "flits",
        /// Bytes of the packets passed on, headers included.
        wire_bytes: "bytes",
        /// Bytes of the packets passed on, without headers.
        payload_bytes: "bytes",
        /// Routers that packets passed, summed over packets.
        packet_hops: "routers",
        /// Flits that passed a router, summed over routers.
        flit_hops: "flits" [energy],
        /// Flits that passed a link between two routers, summed over links.
        link_flits: "flits",
        /// Cycles from a flit's arrival in a router's buffer until it left, summed over flits: the buffers' occupancy.
        buffered_flit_cycles: "flits times network cycles",
        /// Cycles that heads waited for a virtual channel of the next input, beyond the router's own.
        wait_channel_cycles: "network cycles",
        /// Cycles that heads with a virtual channel waited for the switch or for room in it.
        wait_switch_cycles: "network cycles",
        /// Cycles that whole packets waited for the link to their receiver, because it moves one flit a cycle and flits of
        /// several packets had come interleaved.
        wait_interface_cycles: "network cycles",
        /// Cycles from the arrival at the sender's interface to delivery, summed over packets.
        latency_cycles: "network cycles",
    }
    laws {
        "packets_in = packets_out": |s| s.packets_in == s.packets_out,
        "wire_bytes = payload_bytes + packets_out * header": |s| s.wire_bytes == s.payload_bytes + s.packets_out * u64::from(HEADER_BYTES),
        "flit_hops = link_flits + flits": |s| s.flit_hops == s.link_flits + s.flits,
        "packet_hops >= packets_out": |s| s.packet_hops >= s.packets_out,
        "flit_hops >= packet_hops": |s| s.flit_hops >= s.packet_hops,
        "latency_cycles >= all waits": |s| s.latency_cycles >= s.wait_channel_cycles + s.wait_switch_cycles + s.wait_interface_cycles,
    }
}

strata_engine::statistics! {
    /// What a mesh carries for what purpose, in machines whose words have owners: flits times the links between routers on their way.
    pub struct TrafficStatistics: "network.traffic" {
        /// Reads, what is sent on for them, and all data that answer a request.
        read_flit_hops: "flits times links",
        /// Writes, atomics and registrations, what is sent on for them, and acknowledgements.
        write_flit_hops: "flits times links",
        /// What owners write back or return, the recalls, and acknowledgements.
        write_back_flit_hops: "flits times links",
    }
    laws {}
}

impl TrafficStatistics {
    /// Counts the flits of a packet over all links on its way.
    pub(super) fn count(&mut self, purpose: Purpose, flits: u32, links: usize) {
        *match purpose {
            Purpose::Read => &mut self.read_flit_hops,
            Purpose::Write => &mut self.write_flit_hops,
            Purpose::WriteBack => &mut self.write_back_flit_hops,
        } += u64::from(flits) * links as u64;
    }
}

impl MeshStatistics {
    /// Reports the counters under the direction's name, and the flits of each link in each of the four directions of
    /// the compass, by the number of the router that sends.
    pub(super) fn report_as(&self, direction: Direction, links: [&[u64]; 4]) -> Vec<Group> {
        let name = match direction {
            Direction::Request => "network.request.links",
            Direction::Reply => "network.reply.links",
            Direction::Owner => "network.owner.links",
        };
        let arrays = [
            ("east", "Flits that the router sent to the next one in the row."),
            ("west", "Flits that the router sent to the one before in the row."),
            ("south", "Flits that the router sent to the next row."),
            ("north", "Flits that the router sent to the row before."),
        ];
        let definition = |(name, meaning)| Definition { name, unit: "flits", meaning, mark: Mark::Plain };
        let arrays: Vec<_> = arrays.into_iter().map(definition).zip(links).collect();
        vec![Group { name: direction.group(), ..self.report() }, array_group(name, &arrays)]
    }
}
