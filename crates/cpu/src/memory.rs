//! The memories' part of a cycle: the load/store unit, the L1D and the links to the network.

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_memory::read_only::ReadOnly;
use strata_memory::{Line, LineAddress, Packet};
use strata_ptx::isa::{Instruction, Op};
use strata_sm::launch::Launch;
use strata_sm::lsu::MemoryInstruction;

use crate::core::Core;
use crate::operands::LANE;
use crate::state::State;

impl Core {
    /// Issues a memory instruction of the thread, if the load/store unit has room for it. Returns whether it had.
    pub(crate) fn access(&mut self, launch: &Launch, instruction: &Instruction, now: Cycle) -> bool {
        if !self.lsu.can_accept() {
            self.state = State::Full;
            return false;
        }
        let pc = self.stack.pc();
        let memory = MemoryInstruction {
            instruction,
            pc,
            warp: 0,
            lanes: LANE,
            shared_base: 0,
            cta_slot: 0,
            cta: self.context.ctaid,
            warp_in_cta: 0,
        };
        let operands = self.registers.operands(instruction, &launch.constants);
        if let Err(fault) = self.lsu.issue(memory, &operands, launch, now) {
            self.fault = Some(fault);
            return true;
        }
        self.stack.advance();
        let needs_value = matches!(instruction.op, Op::Load(_) | Op::Atomic { .. });
        self.state = if needs_value { State::Memory { pc } } else { self.after_memory() };
        true
    }

    /// What the core does once it has its value: an acquire or release still waits for its fence.
    fn after_memory(&self) -> State {
        if self.lsu.waiting_fence() != 0 { State::Fence } else { State::Running }
    }

    /// Advances the L1D and the load/store unit, and goes on with what waited for them.
    pub(crate) fn memory(&mut self, now: Cycle) {
        while let Some(packet) = self.replies.receive(now) {
            self.replies.release(packet.wire_bytes().div_ceil(self.flit_bytes), now);
            self.l1d_due = now;
            self.l1d.accept(packet, now);
        }
        while let Some(packet) = self.owners.as_mut().and_then(|links| links.hear(now)) {
            self.l1d_due = now;
            self.l1d.accept(packet, now);
        }
        if self.l1d_due <= now {
            self.l1d.tick(now);
            self.lsu.complete(&mut *self.l1d, now);
        }
        if self.lsu.tick(&mut *self.l1d, &mut NoCache, now).l1d {
            self.l1d_due = now;
        }
        self.take_results(now);
        self.state = match self.state {
            State::Full if self.lsu.can_accept() => State::Running,
            State::Fence => self.after_memory(),
            State::Asleep { until } if until <= now => State::Running,
            State::Flushing if self.lsu.kernel_end_flushed(now) => {
                self.ended_at = Some(now);
                State::Idle
            }
            state => state,
        };
    }

    fn take_results(&mut self, now: Cycle) {
        let Some(launch) = &self.launch else { return };
        while let Some(finished) = self.lsu.finished(now) {
            self.registers.write_results(&launch.kernel.code[finished.pc as usize], finished.rows);
            if self.state == (State::Memory { pc: finished.pc }) {
                let is_fenced = self.lsu.waiting_fence() != 0;
                self.state = if is_fenced { State::Fence } else { State::Running };
            }
        }
    }

    /// Sends a packet of the L1D, if it has one and there is credit for it, and what it says of words that it owns.
    pub(crate) fn inject(&mut self, now: Cycle) {
        if let Some(links) = &mut self.owners
            && let Some(bytes) = self.l1d.answer_bytes(now)
            && links.has_room(bytes, now)
        {
            links.say(self.l1d.answer(now).expect("an L1D that names a packet's size has the packet"), now);
            self.statistics.packets += 1;
        }
        let Some(bytes) = self.l1d.outgoing_bytes(now) else { return };
        let flits = bytes.div_ceil(self.flit_bytes);
        if self.requests.credits(now) < flits {
            return;
        }
        let packet = self.l1d.outgoing(now).expect("an L1D that names a packet's size has the packet");
        self.requests.send(packet, flits, now).expect("there is credit for the packet");
        self.statistics.packets += 1;
    }
}

/// The constant cache that a core does not have: its load/store unit loads constants through the L1D.
struct NoCache;

impl ReadOnly for NoCache {
    fn request(&mut self, _: LineAddress, _: u32, _: Cycle) -> bool {
        false
    }

    fn arrived(&mut self, _: Cycle) -> Option<(u32, &Line)> {
        None
    }

    fn accept(&mut self, _: Packet, _: Cycle) {}

    fn outgoing(&mut self, _: Cycle) -> Option<Packet> {
        None
    }

    fn outgoing_bytes(&self, _: Cycle) -> Option<u32> {
        None
    }

    fn invalidate(&mut self) {}

    fn next_event(&self, _: Cycle) -> Cycle {
        Cycle::NEVER
    }

    fn waits(&self, _: &mut Vec<String>) {}

    fn statistics(&self) -> Vec<Group> {
        Vec::new()
    }
}
