//! Accesses of instructions, and the packets that bring their lines.

use strata_engine::Cycle;
use strata_memory::doors::Refusal;
use strata_memory::{LineAddress, TouchKind};
use strata_ptx::isa::Pc;

use super::PathRecorder;
use super::step::{NONE, PathAccess, PathPacket};
use crate::ledger::Offered;
use crate::record::SmEvent;

/// An access under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    warp: u8,
    pc: Pc,
    /// Its instruction, if that is known.
    pub step: u32,
    line: LineAddress,
    waits: bool,
    offered: u32,
    accepted: u32,
    refused: Option<Refusal>,
    /// The packet that it sent.
    pub packet: u32,
}

/// An access that is complete, whose instruction is not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    pc: Pc,
    pub access: PathAccess,
}

impl Open {
    /// Its line.
    pub fn line(&self) -> LineAddress {
        self.line
    }
}

impl PathRecorder {
    /// The L1D refuses an access, which is offered until it is taken.
    pub fn refused(&mut self, why: Refusal, now: Cycle) {
        let now = self.at(now);
        let since = self.refused.map_or(now, |(since, _)| since);
        self.refused = Some((since, why));
    }

    /// The L1D takes an access of an instruction that came to the load/store unit in cycle `issued`.
    pub fn accepted(&mut self, offered: &Offered, issued: Cycle, now: Cycle) {
        let refused = self.refused.take();
        if !self.records() {
            return;
        }
        self.hear_packets();
        let (issued, accepted) = (self.at(issued), self.at(now));
        let first = refused.map_or(accepted, |(since, _)| since);
        let Offered { token, pc, warp, line, waits, .. } = *offered;
        let of = &self.warps[usize::from(warp)];
        let same = |other, step: u32| other == pc && self.of.steps[step as usize].dispatched == issued;
        let step = of.running(same).or_else(|| of.running(|other, _| other == pc)).unwrap_or(NONE);
        let refused = refused.map(|(_, why)| why);
        let open = Open { warp, pc, step, line, waits, offered: first, accepted, refused, packet: NONE };
        self.open.insert(token, open);
    }

    /// The L1D has performed an access.
    pub fn completed(&mut self, token: u32, now: Cycle) {
        if !self.records() {
            return;
        }
        self.hear_packets();
        let now = self.at(now);
        let Some(open) = self.open.remove(&token) else { return };
        let Open { warp, pc, step, line, waits, offered, accepted, refused, packet } = open;
        let is_answered = |packet: &u32| {
            let answered = self.of.packets.get(*packet as usize).map_or(0, |packet| packet.answered);
            answered > accepted
        };
        let own = Some(packet).filter(|packet| waits && *packet != NONE).filter(is_answered);
        let others = || self.answers.get(&line).copied().filter(|_| waits).filter(is_answered);
        let access = PathAccess {
            offered,
            accepted,
            refused,
            completed: now,
            waits,
            packet: own.or_else(others).unwrap_or(NONE),
            is_own: own.is_some(),
        };
        let of = &mut self.warps[usize::from(warp)];
        of.done = Some(Done { pc, access });
        if step == NONE {
            return;
        }
        // Nobody waits for the end of its instruction, if that has no result, but a fence for this.
        let is_running = of.running.iter().any(|(_, running)| *running == step);
        if !is_running || !waits {
            of.performed = (step, now);
            self.note(step, access);
        }
    }

    /// The load/store unit has everything that an instruction waits for, which came to it in cycle `issued`.
    pub fn performed(&mut self, warp: u8, pc: Pc, issued: Cycle, now: Cycle) {
        if !self.records() {
            return;
        }
        let (issued, now) = (self.at(issued), self.at(now));
        let of = &mut self.warps[usize::from(warp)];
        let is_it = |other, step: u32| other == pc && self.of.steps[step as usize].dispatched == issued;
        let Some(step) = of.running(is_it) else { return };
        of.performed = (step, now);
        self.of.steps[step as usize].finished = now;
        if let Some(done) = of.done.filter(|done| done.pc == pc && done.access.accepted >= issued) {
            self.note(step, done.access);
        }
    }

    fn note(&mut self, step: u32, access: PathAccess) {
        let step = &mut self.of.steps[step as usize];
        if step.access == NONE {
            step.access = self.of.accesses.len() as u32;
            self.of.accesses.push(access);
        } else {
            self.of.accesses[step.access as usize] = access;
        }
    }

    /// Takes what the L1D has recorded.
    fn hear_packets(&mut self) {
        for (at, event) in self.log.take() {
            let at = self.at(at);
            match event {
                SmEvent::Sent { line, tag, kind, words } => self.sent((line, tag, words), kind, at),
                SmEvent::Answered { line, tag, words, .. } => {
                    let under_way = self.under_way.get_mut(&line);
                    let number = under_way.and_then(|packets| packets.answer(&tag, words));
                    let Some(number) = number else { continue };
                    // The last of several counts.
                    self.of.packets[number as usize].answered = at;
                    self.answers.insert(line, number);
                }
                _ => {}
            }
        }
    }

    fn sent(&mut self, (line, tag, words): (LineAddress, u32, Option<u32>), kind: TouchKind, sent: u32) {
        let brings = kind != TouchKind::Store || words.is_some_and(|words| words != 0);
        if !brings {
            return;
        }
        let number = self.of.packets.len() as u32;
        let mut packet = PathPacket {
            line,
            tag,
            is_atomic: kind == TouchKind::Atomic,
            step: NONE,
            offered: sent,
            accepted: sent,
            refused: None,
            sent,
            answered: 0,
            has_owners: words.is_some(),
        };
        // It belongs to the oldest access of the line that has none.
        let lacks = |open: &&mut Open| open.line == line && open.waits && open.packet == NONE;
        // Of several that were taken in one cycle, any.
        let oldest = self.open.values_mut().filter(lacks).min_by_key(|open| open.accepted);
        if let Some(open) = oldest.filter(|_| matches!(kind, TouchKind::Load | TouchKind::Atomic)) {
            open.packet = number;
            packet = PathPacket {
                step: open.step,
                offered: open.offered,
                accepted: open.accepted,
                refused: open.refused,
                ..packet
            };
        }
        self.of.packets.push(packet);
        self.under_way.entry(line).or_default().add(number, tag, words);
    }
}
