//! One request at each level of the hierarchy, from offer to answer.

use std::hint::black_box;

use strata_designs::baseline::{L2Config, L2Slice, SramL1d, SramL1dConfig};
use strata_engine::{ClockRatio, Cycle, Window};
use strata_gpu::machine::Machine;
use strata_memory::doors::{
    Access, Action, Coherence, Direction, DramPort, DramRequest, L1d, Llc, NetworkEnds, NetworkSite, Policy,
    network_link,
};
use strata_memory::dram::Channel;
use strata_memory::{
    Body, ByteMask, Client, Contents, Level, Line, LineAddress, NodeId, Origin, Packet, SliceMap, Tray,
};

use super::{Path, machine};

/// The L1D configuration of a machine file.
pub fn sram(machine: &Machine) -> &SramL1dConfig {
    machine.file().doors.l1d.downcast().expect("the benchmarked machine has an SRAM L1D")
}

/// A load that hits the L1D.
pub fn l1d_hit() -> Path {
    l1d_load(|_| 0)
}

/// A load that misses the L1D: the request goes out, the line comes back, is filled and served.
pub fn l1d_miss() -> Path {
    l1d_load(|count| count)
}

/// Loads the lines whose numbers `line` returns; misses are answered immediately.
fn l1d_load(line: impl Fn(u64) -> u64 + 'static) -> Path {
    let machine = machine();
    let slices = SliceMap::new(1, 256, NodeId(1)).expect("one slice");
    let mut l1d = SramL1d::new(sram(&machine), NodeId(0), slices, 1).expect("the machine was checked");
    let mut spare: Option<Tray> = Some(Box::new(Line::ZERO));
    let (mut now, mut count) = (Cycle::ZERO, 0);
    Path::new(move || {
        let access = Access {
            line: LineAddress(line(count)),
            bytes: ByteMask::ALL,
            action: Action::Load(spare.take().expect("the tray is back")),
            policy: Policy::Cached,
            token: 0,
            pc: 0,
            leads: true,
            warp: 0,
        };
        count += 1;
        l1d.offer(access, now).expect("the cache is idle");
        while spare.is_none() {
            now = Cycle(l1d.next_event(now.next()).0.max(now.0 + 1));
            l1d.tick(now);
            if let Some(packet) = l1d.outgoing(now) {
                l1d.accept(packet.into_reply(), now);
            }
            if let Some(completion) = l1d.completed(now) {
                let Action::Load(tray) = completion.action else { unreachable!("only loads were offered") };
                spare = Some(black_box(tray));
            }
        }
        now = now.next();
    })
    .warm()
}

/// A DRAM behind a slice that answers every read immediately.
#[derive(Default)]
struct AtOnce(Option<DramRequest>);

impl DramPort for AtOnce {
    fn offer(&mut self, request: DramRequest, _: Cycle) -> Result<(), DramRequest> {
        self.0 = Some(request);
        Ok(())
    }
    fn completed(&mut self, _: Cycle) -> Option<DramRequest> {
        self.0.take()
    }
}

/// A read that hits the L2 slice.
pub fn l2_hit() -> Path {
    let machine = machine();
    let config: &L2Config = machine.file().doors.llc.downcast().expect("the machine has a conventional L2");
    let mut slice = L2Slice::new(config, 0, 1).expect("the machine was checked");
    let mut dram = AtOnce::default();
    let mut spare: Option<Tray> = Some(Box::new(Line::ZERO));
    let mut now = Cycle::ZERO;
    Path::new(move || {
        let tray = spare.take().expect("the tray is back");
        slice.offer(packet(0, 1, Body::Read(tray)), now).expect("the slice is idle");
        while spare.is_none() {
            now = if dram.0.is_some() {
                now.next()
            } else {
                slice.next_event(now.next()).min(slice.next_outgoing()).max(now.next())
            };
            slice.tick(&mut dram, now);
            if let Some(reply) = slice.outgoing(now) {
                let Body::ReadReply(tray) = reply.body else { unreachable!("a read was offered") };
                spare = Some(black_box(tray));
            }
        }
        now = now.next();
    })
    .warm()
}

fn packet(from: u16, to: u16, body: Body) -> Packet {
    Packet::new(Contents {
        line: LineAddress(0),
        bytes: ByteMask::ALL,
        source: NodeId(from),
        destination: NodeId(to),
        client: Client::L1d,
        tag: 0,
        origin: Origin::default(),
        level: Level::default(),
        body,
    })
}

/// A packet with a line, from an SM through the network to a partition.
pub fn network_packet() -> Path {
    let machine = machine();
    let design = &*machine.file().doors.network.design;
    let (sms, slices) = (15, 12);
    let hop = design.link_latency_cycles();
    let links = |count: u16| (0..count).map(|_| network_link(design, 136).expect("the machine was checked"));
    let (mut senders, inlets): (Vec<_>, Vec<_>) = links(sms).unzip();
    let (outlets, mut receivers): (Vec<_>, Vec<_>) = links(slices).unzip();
    let ends = NetworkEnds { first_input: NodeId(0), inlets, first_output: NodeId(sms), outlets };
    let site = NetworkSite { direction: Direction::Request, coherence: Coherence::Boundaries, ends };
    let mut network = design.build(site).expect("the machine was checked");
    let flit_size = design.flit_size().expect("the machine was checked");
    let mut spare = Some(packet(3, sms + 5, Body::Write(Box::new(Line::ZERO))));
    let (mut now, mut window) = (Cycle::ZERO, Window(0));
    Path::new(move || {
        let packet = spare.take().expect("the packet is back");
        let flits = flit_size.flits(packet.wire_bytes());
        senders[3].send(packet, flits, now).unwrap_or_else(|_| panic!("the link is idle"));
        while spare.is_none() {
            // A window as the engine runs it: `hop` cycles, then the mailboxes are exchanged.
            senders[3].flush(window);
            receivers[5].flush(window);
            network.flush(window);
            window = Window(window.0 + 1);
            network.collect(window);
            senders[3].collect(window);
            receivers[5].collect(window);
            for cycle in 0..hop {
                let at = now + cycle;
                if network.next_event(at) <= at {
                    network.tick(at);
                }
                if let Some(packet) = receivers[5].receive(at) {
                    receivers[5].release(flits, at);
                    spare = Some(black_box(packet));
                }
            }
            now += hop;
        }
    })
    .warm()
}

/// A read of a line whose DRAM row is not open.
pub fn dram_read() -> Path {
    let machine = machine();
    let clocks = &machine.file().clocks;
    let clock = ClockRatio::of(u64::from(*clocks.dram_mhz), u64::from(*clocks.core_mhz)).expect("a ratio");
    let mut channel = Channel::new(&machine.file().dram, clock, 2, 2).expect("the machine was checked");
    const LINES: u64 = 1 << 14;
    channel.ensure(LINES);
    let mut spare: Option<Tray> = Some(Box::new(Line::ZERO));
    let (mut now, mut line) = (Cycle::ZERO, 0);
    Path::new(move || {
        let tray = spare.take().expect("the tray is back");
        let request =
            DramRequest { line: LineAddress(line), bytes: ByteMask::ALL, write: false, tag: 0, tray };
        line = (line + 512) % LINES;
        channel.port(0).offer(request, now).expect("the queue is empty");
        while spare.is_none() {
            now = Cycle(channel.next_event(now.next()).0.max(now.0 + 1));
            channel.tick(now);
            spare = channel.port(0).completed(now).map(|done| black_box(done.tray));
        }
        now = now.next();
    })
    .warm()
}
