//! The rows of memory: accesses in SMs, packets in networks, requests in slices and DRAM.

use std::collections::BTreeMap;

use strata_memory::{Client, Level, TouchKind};

use super::file::{Process, Slice, TraceFile, Value};
use super::requests::{Access, Found, Packet, Transfer, Visit, Visits};
use super::rows::Rows;
use super::text::Instructions;

/// Rows of accesses come below those of warps.
const ACCESSES: i32 = 100;

/// Draws the accesses of an SM. `first_flow` is the flow of the first packet.
pub fn draw_accesses(
    file: &mut TraceFile,
    process: Process,
    mut accesses: Vec<Access>,
    packets: &[Packet],
    instructions: &mut Instructions<'_>,
    first_flow: u64,
) {
    accesses.sort_by_key(|access| access.issued);
    let mut rows = Rows::new(process.track, "access", ACCESSES);
    for access in accesses {
        let Access { issued, accepted, completed, written, found, .. } = access;
        let track = rows.take(file, issued, written.unwrap_or(completed));
        let address = Value::Address(access.line.base().0);
        let (name, text) = instructions.numbers(file, access.pc);
        let whole = Slice {
            track,
            depth: 0,
            from: issued,
            to: written.unwrap_or(completed),
            name,
            category: "access",
            flow: None,
            values: [
                Some(("line", address)),
                Some(("ptx", Value::Text(text))),
                Some(("warp", Value::Number(access.warp.into()))),
            ],
        };
        file.slice(whole);
        let mut stage = |name: &'static str, from, to, flow| {
            let name = file.label(name);
            file.slice(Slice {
                depth: 1,
                from,
                to,
                name,
                category: "stage",
                flow,
                values: [None; 3],
                ..whole
            });
        };
        stage("LSU", issued, accepted, None);
        match found {
            Found::Hit => stage("L1D hit", accepted, completed, None),
            Found::Store => stage("L1D store", accepted, completed, None),
            Found::Miss(packet) => {
                let flow = Some(first_flow + packet as u64);
                let Packet { sent, answered, .. } = packets[packet];
                let answered = answered.unwrap_or(completed);
                stage("L1D miss", accepted, sent, flow);
                stage("MSHR", sent, answered, None);
                stage("fill", answered, completed, flow);
            }
            Found::Merged(packet) => {
                let answered = packets[packet].answered.unwrap_or(completed);
                stage("MSHR merged", accepted, answered, None);
                stage("fill", answered, completed, Some(first_flow + packet as u64));
            }
        }
        stage("write-back", completed, written.unwrap_or(completed), None);
    }
}

/// Draws packets on their way.
pub fn draw_networks(file: &mut TraceFile, packets: &[Packet], visits: &[Visit], first_flow: u64) {
    let process = file.process("network");
    let mut to_slices = Vec::new();
    let mut to_sms = Vec::new();
    for (number, packet) in packets.iter().enumerate() {
        let Some(visit) = packet.visit.map(|visit| &visits[visit]) else { continue };
        to_slices.push((packet.sent, visit.arrived, number));
        if let (Some((left, _)), Some(answered)) = (visit.left, packet.answered) {
            to_sms.push((left, answered, number));
        }
    }
    for (mut ways, name, rank) in [(to_slices, "request", 0), (to_sms, "reply", 1000)] {
        ways.sort_unstable();
        let mut rows = Rows::new(process.track, name, rank);
        let mut changes = Vec::new();
        for (from, to, number) in ways {
            changes.extend([(from, true), (to, false)]);
            let packet = &packets[number];
            if !packet.is_drawn {
                continue;
            }
            let track = rows.take(file, from, to);
            let name = file.label(kind_of(packet.kind));
            file.slice(Slice {
                track,
                depth: 0,
                from,
                to,
                name,
                category: if rank == 0 { "request" } else { "reply" },
                flow: Some(first_flow + number as u64),
                values: [
                    Some(("line", Value::Address(packet.line.base().0))),
                    Some(("sm", Value::Number(packet.node.0.into()))),
                    None,
                ],
            });
        }
        occupancy(file, process, &format!("{name} packets under way"), "packets", changes);
    }
}

/// Draws the requests in slices and at DRAM. `channel_of` gives the channel of a slice.
pub fn draw_partitions(
    file: &mut TraceFile,
    Visits { visits, transfers }: &Visits,
    channel_of: &dyn Fn(u16) -> u16,
    first_flow: u64,
) {
    let flow = |packet: Option<usize>| packet.map(|packet| first_flow + packet as u64);
    for of_slice in visits.chunk_by(|one, other| one.slice == other.slice) {
        let slice = of_slice[0].slice;
        let process = file.process(&channel(channel_of(slice)));
        let name = format!("LLC slice {slice}");
        let slice_track = file.track(process.track, &name, i32::from(slice));
        let mut of_slice: Vec<&Visit> = of_slice.iter().collect();
        of_slice.sort_by_key(|visit| visit.arrived);
        let mut rows = Rows::new(slice_track, "request", 0);
        let mut changes = Vec::new();
        for visit in of_slice {
            let Some((left, level)) = visit.left else { continue };
            changes.extend([(visit.arrived, true), (left, false)]);
            if !visit.is_drawn {
                continue;
            }
            let track = rows.take(file, visit.arrived, left);
            let whole = Slice {
                track,
                depth: 0,
                from: visit.arrived,
                to: left,
                name: file.label(kind_of(visit.kind)),
                category: "llc",
                flow: flow(visit.packet),
                values: [
                    Some(("line", Value::Address(visit.line.base().0))),
                    Some(("from", Value::Text(file.text(client(visit.client))))),
                    None,
                ],
            };
            file.slice(whole);
            let mut stage = |name: &'static str, from, to| {
                let name = file.label(name);
                let (depth, category, flow, values) = (1, "stage", None, [None; 3]);
                file.slice(Slice { depth, from, to, name, category, flow, values, ..whole });
            };
            match visit.transfer.map(|transfer| &transfers[transfer]) {
                Some(Transfer { from, to: Some(to), .. }) => {
                    stage("LLC miss", visit.arrived, *from);
                    stage("DRAM", *from, *to);
                    stage("LLC reply", *to, left);
                }
                _ => stage(found(level), visit.arrived, left),
            }
        }
        occupancy(file, process, &format!("LLC slice {slice} requests"), "requests", changes);
    }
    for of_channel in by_channel(transfers, channel_of) {
        let process = file.process(&channel(channel_of(of_channel[0].slice)));
        let mut rows = Rows::new(process.track, "DRAM", 1000);
        let mut changes = Vec::new();
        for transfer in of_channel {
            let Some(to) = transfer.to else { continue };
            changes.extend([(transfer.from, true), (to, false)]);
            if !transfer.is_drawn {
                continue;
            }
            let track = rows.take(file, transfer.from, to);
            let name = file.label(if transfer.writes { "write" } else { "read" });
            file.slice(Slice {
                track,
                depth: 0,
                from: transfer.from,
                to,
                name,
                category: "dram",
                flow: flow(transfer.packet),
                values: [Some(("line", Value::Address(transfer.line.base().0))), None, None],
            });
        }
        occupancy(file, process, "DRAM queue", "requests", changes);
    }
}

/// The name of the process of a channel.
pub fn channel(number: u16) -> String {
    format!("channel {number}")
}

/// Requests to DRAM by channel, each in the order of beginnings.
fn by_channel<'a>(
    transfers: &'a [Transfer],
    channel_of: &dyn Fn(u16) -> u16,
) -> impl Iterator<Item = Vec<&'a Transfer>> {
    let mut channels: BTreeMap<u16, Vec<&Transfer>> = BTreeMap::new();
    for transfer in transfers {
        channels.entry(channel_of(transfer.slice)).or_default().push(transfer);
    }
    channels.into_values().map(|mut transfers| {
        transfers.sort_by_key(|transfer| transfer.from);
        transfers
    })
}

/// Draws how many are there at a time.
fn occupancy(file: &mut TraceFile, process: Process, name: &str, unit: &str, mut changes: Vec<(u64, bool)>) {
    if changes.is_empty() {
        return;
    }
    let track = file.counter(process.track, name, unit);
    changes.sort_unstable();
    let mut there = 0_i64;
    for of_cycle in changes.chunk_by(|(one, _), (other, _)| one == other) {
        // Who comes and goes within a cycle is there for none.
        there += of_cycle.iter().map(|(_, comes)| if *comes { 1 } else { -1 }).sum::<i64>();
        file.count(track, of_cycle[0].0, there.unsigned_abs());
    }
}

const fn kind_of(kind: TouchKind) -> &'static str {
    match kind {
        TouchKind::Load => "read",
        TouchKind::Store => "write",
        TouchKind::Atomic => "atomic",
        TouchKind::Prefetch => "prefetch",
    }
}

const fn found(level: Level) -> &'static str {
    match level {
        Level::Llc => "LLC hit",
        Level::Extended => "extended LLC",
        Level::Memory => "LLC merged",
        Level::Owner => "owner",
    }
}

const fn client(client: Client) -> &'static str {
    match client {
        Client::L1d => "L1D",
        Client::Constant => "constant cache",
        Client::Instruction => "instruction cache",
        Client::ReadOnly => "read-only cache",
        Client::Scratchpad => "scratchpad",
        Client::Gmmu => "GMMU",
    }
}
