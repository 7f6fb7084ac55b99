//! The packets on a path, between the L1D and their answers.

use strata_memory::{Level, NodeId, TouchKind};
use strata_sm::SmPath;

use super::Cause;
use super::segments::{Cut, Segment, Spent};
use crate::trace::requests::{Packet, Transfer, Visit, Visits};
use crate::trace::slices::Slices;

/// Splits the segments that packets take by what they were spent on.
pub(super) fn split(segments: Vec<Segment>, path: &SmPath, node: NodeId, slices: &Slices) -> Vec<Segment> {
    let base = path.base.0;
    let mut numbers: Vec<u32> = segments.iter().filter_map(packet).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let of = |number: &u32| {
        let packet = &path.packets[*number as usize];
        Packet {
            node,
            tag: packet.tag,
            line: packet.line,
            kind: if packet.is_atomic { TouchKind::Atomic } else { TouchKind::Load },
            sent: base + u64::from(packet.sent),
            visit: None,
            answered: Some(base + u64::from(packet.answered)),
            is_drawn: false,
        }
    };
    let mut packets: Vec<Packet> = numbers.iter().map(of).collect();
    let visits = slices.visits(&mut packets);
    let found = Found { visits: &visits, base };
    let split = |segment: Segment| match packet(&segment) {
        None => vec![segment],
        Some(number) => {
            let place = numbers.binary_search(&number).expect("all packets are among them");
            let has_owners = path.packets[number as usize].has_owners;
            let visit = packets[place].visit.map(|visit| &visits.visits[visit]);
            let mut split = found.split(&segment, visit, has_owners);
            // Segments go back in time.
            split.reverse();
            split
        }
    };
    segments.into_iter().flat_map(split).collect()
}

fn packet(segment: &Segment) -> Option<u32> {
    match segment.spent {
        Spent::Packet(number) => Some(number),
        Spent::On(_) => None,
    }
}

struct Found<'a> {
    visits: &'a Visits,
    base: u64,
}

impl Found<'_> {
    fn split(&self, segment: &Segment, visit: Option<&Visit>, has_owners: bool) -> Vec<Segment> {
        let of = segment.pc;
        let at = |cycle: u64| cycle.saturating_sub(self.base);
        let mut cut = Cut::new(segment.from, segment.to);
        let rest = if has_owners { Cause::Owner } else { Cause::Unknown };
        let Some(visit) = visit else { return cut.end(rest, of) };
        cut.on(at(visit.arrived), Cause::Request, of);
        let Some((left, level)) = visit.left else { return cut.end(rest, of) };
        match (self.transfer(visit, level), level) {
            (Some((from, to)), _) => {
                cut.on(at(from), Cause::LlcMiss, of);
                cut.on(at(to), Cause::Dram, of);
                cut.on(at(left), Cause::LlcReply, of);
            }
            (None, Level::Extended) => cut.on(at(left), Cause::Extended, of),
            (None, _) => cut.on(at(left), Cause::LlcHit, of),
        }
        cut.end(Cause::Reply, of)
    }

    /// When the request to DRAM that brought a visit's line was made and done: its own, or another's of the line.
    fn transfer(&self, visit: &Visit, level: Level) -> Option<(u64, u64)> {
        let times = |transfer: &Transfer| Some((transfer.from, transfer.to?));
        if let Some(own) = visit.transfer.and_then(|transfer| times(&self.visits.transfers[transfer])) {
            return Some(own);
        }
        let (left, _) = visit.left.filter(|_| level == Level::Memory)?;
        let of_line = self.visits.transfers.iter().filter(|transfer| {
            !transfer.writes && (transfer.slice, transfer.line) == (visit.slice, visit.line)
        });
        of_line
            .filter_map(times)
            .filter(|(_, to)| visit.arrived < *to && *to <= left)
            .max_by_key(|(_, to)| *to)
    }
}
