//! The stages behind the door: the front of the tag queue, and the access in the controller's register.

use strata_engine::Cycle;
use strata_memory::LineAddress;
use strata_memory::cache::FrameId;
use strata_memory::doors::{Access, Refusal};

use super::l1d::FuseL1d;
use super::route::{Route, Turn, Wait};
use super::tag_queue::{Command, TagQueue};

impl FuseL1d {
    /// Puts a command into the tag queue.
    pub(super) fn push(&mut self, command: Command, searched: Cycle) {
        let queue = self.queue.as_mut().expect("commands wait where there is a tag queue");
        let statistics = &mut self.chassis.cache.store.statistics;
        statistics.tag_queue_pushes += 1;
        statistics.tag_queue_occupancy += queue.len() as u64 + 1;
        statistics.tag_queue_migrations += u64::from(matches!(command, Command::Migrate(..)));
        if queue.is_empty() {
            self.queue_next = searched;
        }
        queue.push(command, searched);
    }

    /// Lets the tag queue have what the accesses of the cycle before `now` have left: a hit in SRAM owns the bus at once
    /// (IV-A), so the queue comes after everything that was offered in its cycle.
    pub(super) fn end_cycle_before(&mut self, now: Cycle) {
        if self.queue_due() <= now && !self.chassis.hits.is_full() {
            let served = Cycle(now.0 - 1);
            self.queue_step(served);
            self.recount(served);
        }
    }

    /// The cycle before which the end of a cycle brings nothing for the tag queue.
    #[inline]
    pub(super) fn queue_due(&self) -> Cycle {
        if self.queue_next == Cycle::NEVER { Cycle::NEVER } else { self.queue_next.next() }
    }

    /// Serves the tag queue's oldest command, if it has what it needs.
    fn queue_step(&mut self, now: Cycle) {
        let Some(front) = self.queue.as_ref().and_then(TagQueue::front) else { return };
        let step = match &front.command {
            Command::Read(access) => {
                let way = self.resolve(access, Turn { now, from_queue: true });
                self.serve_read(way, now)
            }
            Command::Migrate(register, _) => {
                let register = *register;
                self.migrate_to_stt(register, now)
            }
        };
        self.queue_next = match (step, self.queue.as_ref().and_then(|queue| queue.front())) {
            (_, None) => Cycle::NEVER,
            (Ok(()), Some(front)) => front.searched.max(now.next()),
            (Err(wait), Some(_)) => self.again(wait, now),
        };
    }

    /// Sends the read at the front of the tag queue along its route.
    fn serve_read(&mut self, way: Result<Route, Wait>, now: Cycle) -> Result<(), Wait> {
        if !matches!(way, Ok(_) | Err(Wait::Behind | Wait::SwapBuffer)) {
            return way.map(|_| ());
        }
        self.steps += 1;
        let command = self.pop_command().expect("the oldest command was looked at");
        match (way, command) {
            (Ok(route), Command::Read(access)) => self.take(access, route, now),
            (_, command) => {
                // Its line is in the swap buffer, or the line that it evicts has no room there. The migration
                // that it needs is behind it, so it moves to the end of the queue. Only loads wait here, and
                // loads may pass each other.
                self.chassis.cache.store.statistics.tag_queue_rotations += 1;
                self.queue.as_mut().expect("the queue").push(command, now.next());
            }
        }
        Ok(())
    }

    fn pop_command(&mut self) -> Option<Command> {
        self.queue.as_mut()?.pop().map(|waiting| waiting.command)
    }

    /// Performs a command "F": moves a line from a register of the swap buffer to STT-MRAM.
    fn migrate_to_stt(&mut self, register: FrameId, now: Cycle) -> Result<(), Wait> {
        let line =
            self.chassis.cache.frames().line(register).expect("a register holds its line until it is moved");
        self.migration_room(line, now)?;
        self.steps += 1;
        self.pop_command();
        let moving = self.chassis.cache.store.take(register, now);
        self.put_in_stt(&moving, now);
        Ok(())
    }

    /// Checks that a line can move from the swap buffer into STT-MRAM now: the bank is free, a way is
    /// available, and there is room for the line that leaves it.
    pub(super) fn migration_room(&self, line: LineAddress, now: Cycle) -> Result<(), Wait> {
        self.stt_is_free(now)?;
        let Some(victim) = self.chassis.cache.store.stt_victim(line) else {
            return Err(Wait::Room(Refusal::Ways));
        };
        if !self.chassis.cache.frames().dirty(victim).is_empty() && !self.chassis.write_room_for_new(1) {
            return Err(Wait::Room(Refusal::Network));
        }
        Ok(())
    }

    /// Whether an access must be served after the commands in the tag queue: a command names its line, or the
    /// line is in STT-MRAM or on its way there.
    pub(super) fn is_behind_queue(&self, access: &Access) -> bool {
        let Some(queue) = &self.queue else { return false };
        !queue.is_empty()
            && (queue.names(access.line) || self.chassis.cache.store.is_beside_sram(access.line))
    }

    /// Resolves the access in the controller's register.
    pub(super) fn latch_step(&mut self, now: Cycle) {
        let Some(latched) = &self.latch else { return };
        if self.latch_next > now || self.chassis.hits.is_full() {
            return;
        }
        if self.is_behind_queue(&latched.access) {
            if !latched.flushing {
                self.chassis.cache.store.statistics.tag_queue_flushes += 1;
                self.chassis.cache.store.statistics.tag_queue_flushed +=
                    self.queue.as_ref().map_or(0, TagQueue::len) as u64;
                self.latch.as_mut().expect("it was looked at").flushing = true;
            }
            self.latch_next = self.queue_due().max(now.next());
            return;
        }
        let latched = self.latch.take().expect("it was looked at");
        match self.resolve(&latched.access, Turn { now, from_queue: false }) {
            Ok(route) => {
                self.steps += 1;
                self.latch_next = Cycle::NEVER;
                self.take(latched.access, route, now);
            }
            Err(wait) => {
                self.latch_next = self.again(wait, now);
                self.latch = Some(latched);
            }
        }
    }

    /// The cycle in which to retry after a wait.
    fn again(&self, wait: Wait, now: Cycle) -> Cycle {
        match (wait, &self.chassis.cache.store.stt) {
            (Wait::SttWrite | Wait::SttRead, Some(stt)) => stt.free_at().max(now.next()),
            _ => now.next(),
        }
    }
}
