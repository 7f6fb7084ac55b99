//! Back through the steps of an SM, from the end of a CTA to the launch's beginning.

use strata_ptx::isa::{Class, Instruction, Op, Pc, Space};
use strata_sm::{How, NONE, SmPath, Step, Wait, What};

use super::Cause;
use super::segments::{Cut, Segment, Spent};

/// The segments from the launch's beginning to a step, last to first. `latency`: the cycles until the first CTA could begin.
pub(super) fn walk(path: &SmPath, end: u32, code: &[Instruction], latency: u64) -> Vec<Segment> {
    let walk = Walk { path, code };
    let mut segments = Vec::new();
    let mut number = end;
    loop {
        let step = &path.steps[number as usize];
        back(&mut segments, walk.waits(step));
        let from = step.from.into();
        let Some(parent) = path.steps.get(step.parent as usize) else {
            let mut cut = Cut::new(0, from);
            cut.on(latency, Cause::Launch, None);
            back(&mut segments, cut.end(Cause::Dispatch, None));
            return segments;
        };
        // Each step begins before the one that it led to, so this ends.
        number = step.parent;
        match step.how {
            How::Before | How::Place => {}
            How::Arrival => {
                let cut = Cut::new(parent.at.into(), from);
                back(&mut segments, cut.end(Cause::Barrier, pc(parent)));
            }
            How::Result => {
                let (of_parent, led_by) = walk.result(number, from);
                back(&mut segments, of_parent);
                number = led_by;
            }
        }
    }
}

fn back(segments: &mut Vec<Segment>, more: Vec<Segment>) {
    segments.extend(more.into_iter().rev());
}

fn pc(step: &Step) -> Option<Pc> {
    match step.what {
        What::Instruction(pc) => Some(pc),
        What::Begin | What::End => None,
    }
}

struct Walk<'a> {
    path: &'a SmPath,
    code: &'a [Instruction],
}

impl Walk<'_> {
    /// What a step waited for since the one that led to it.
    fn waits(&self, step: &Step) -> Vec<Segment> {
        let mut cut = Cut::new(step.from.into(), step.at.into());
        let before = match step.how {
            How::Before => self.path.steps.get(step.parent as usize).and_then(pc),
            _ => pc(step),
        };
        let mut at = u64::from(step.from);
        for (wait, cycles) in self.path.waits(step) {
            at += u64::from(*cycles);
            let of = match wait {
                // The instruction before is what makes the warp wait.
                Wait::Issue | Wait::Control | Wait::Barrier | Wait::Fence | Wait::Copies | Wait::Sleep => {
                    before
                }
                _ => pc(step),
            };
            cut.on(at, Cause::of_wait(*wait), of);
        }
        let rest = if step.what == What::Begin { Cause::Dispatch } else { Cause::Unknown };
        cut.end(rest, pc(step))
    }

    /// From the issue of the instruction at a step until its result was there. Where another's packet brought its line, from the issue of
    /// that one. Returns that step.
    fn result(&self, number: u32, until: u64) -> (Vec<Segment>, u32) {
        let step = &self.path.steps[number as usize];
        let of = pc(step);
        let Some(instruction) = of.map(|pc| &self.code[pc as usize]) else {
            // A CTA that ends where it began has not issued anything.
            return (Cut::new(step.at.into(), until).end(Cause::Unknown, None), number);
        };
        let leader = self.leader(step);
        let mut cut = Cut::new(leader.map_or(step.at, |leader| leader.step.at).into(), until);
        if let Some(Leader { step: by, packet, .. }) = leader {
            let of = pc(by);
            self.issue_to_unit(&mut cut, by);
            let packet_of = &self.path.packets[packet as usize];
            access(&mut cut, (packet_of.offered, packet_of.accepted, packet_of.refused), of);
            cut.on(packet_of.sent.into(), Cause::Miss, of);
            cut.to(packet_of.answered.into(), Spent::Packet(packet), of);
        } else {
            self.issue_to_unit(&mut cut, step);
        }
        match step.dispatched {
            0 if instruction.class == Class::Memory => {}
            0 => cut.on(until, Cause::Control, of),
            _ if instruction.class == Class::Memory => {
                self.memory(&mut cut, step, instruction, leader.is_some());
            }
            _ => cut.on(step.finished.into(), Cause::Execution, of),
        }
        let rest = if step.finished == 0 { Cause::Unknown } else { Cause::WriteBack };
        (cut.end(rest, of), leader.map_or(number, |leader| leader.number))
    }

    /// Until an instruction comes to its unit.
    fn issue_to_unit(&self, cut: &mut Cut, step: &Step) {
        let of = pc(step);
        // Operands that arrive in a cycle are there in the next.
        cut.on(u64::from(step.arrived.max(step.at)) + 1, Cause::Operands, of);
        let is_memory = of.is_some_and(|pc| self.code[pc as usize].class == Class::Memory);
        let busy = if is_memory { Cause::LsuFull } else { Cause::UnitBusy };
        cut.on(step.dispatched.into(), busy, of);
    }

    /// In the load/store unit and behind it.
    fn memory(&self, cut: &mut Cut, step: &Step, instruction: &Instruction, has_leader: bool) {
        let of = pc(step);
        let Some(found) = self.path.accesses.get(step.access as usize) else {
            return cut.on(step.finished.into(), without_access(&instruction.op), of);
        };
        if !has_leader {
            access(cut, (found.offered, found.accepted, found.refused), of);
            match self.path.packets.get(found.packet as usize) {
                None if found.waits => cut.on(found.completed.into(), Cause::Hit, of),
                None => cut.on(found.completed.into(), Cause::Store, of),
                Some(packet) => {
                    if found.is_own {
                        cut.on(packet.sent.into(), Cause::Miss, of);
                    }
                    cut.to(packet.answered.into(), Spent::Packet(found.packet), of);
                }
            }
        }
        cut.on(found.completed.into(), Cause::Fill, of);
        let behind = match instruction.op {
            Op::Texture(_) => Cause::Texture,
            _ => Cause::Lsu,
        };
        cut.on(step.finished.into(), behind, of);
    }

    /// The instruction whose packet brought the line that another one waited for.
    fn leader(&self, step: &Step) -> Option<Leader<'_>> {
        let access = self.path.accesses.get(step.access as usize).filter(|access| !access.is_own)?;
        let packet = self.path.packets.get(access.packet as usize).filter(|packet| packet.step != NONE)?;
        let by = self.path.steps.get(packet.step as usize)?;
        Some(Leader { step: by, number: packet.step, packet: access.packet })
    }
}

/// An instruction that sent a packet.
#[derive(Clone, Copy)]
struct Leader<'a> {
    step: &'a Step,
    number: u32,
    packet: u32,
}

/// From the load/store unit to the L1D.
fn access(
    cut: &mut Cut,
    (offered, accepted, refused): (u32, u32, Option<strata_memory::doors::Refusal>),
    of: Option<Pc>,
) {
    cut.on(offered.into(), Cause::Lsu, of);
    cut.on(accepted.into(), refused.map_or(Cause::Lsu, Cause::of_refusal), of);
}

/// Where an instruction is that makes no access of the L1D.
fn without_access(op: &Op) -> Cause {
    let space = match op {
        Op::Load(mode) | Op::Store(mode) | Op::Atomic { mode, .. } | Op::Reduce { mode, .. } => mode.space,
        Op::Texture(_) | Op::TextureQuery(_) => return Cause::Texture,
        _ => return Cause::Shared,
    };
    match space {
        Space::Const | Space::Param => Cause::Constant,
        Space::Shared | Space::Generic => Cause::Shared,
        Space::Global | Space::Local => Cause::Lsu,
    }
}
