//! Refusals, and the cause to which each is attributed (Fig. 15).

use strata_engine::Cycle;
use strata_memory::doors::Refusal;

use super::l1d::FuseL1d;
use super::route::{Turn, Wait};
use super::tag_queue::{Command, TagQueue};

impl FuseL1d {
    /// The reason why the access stays in the register.
    fn latch_wait(&self, now: Cycle) -> Wait {
        let Some(latched) = &self.latch else { return Wait::Other };
        if latched.searched > now {
            Wait::Search
        } else if self.is_behind_queue(&latched.access) {
            self.queue_wait(now)
        } else {
            match self.resolve(&latched.access, Turn { now, from_queue: false }) {
                Ok(_) => Wait::Other,
                Err(Wait::TagQueue | Wait::SwapBuffer) => self.queue_wait(now),
                Err(wait) => wait,
            }
        }
    }

    /// What the front of the tag queue waits for; if it could go, only for its turn.
    fn queue_wait(&self, now: Cycle) -> Wait {
        let Some(front) = self.queue.as_ref().and_then(TagQueue::front) else { return Wait::Other };
        let way = match &front.command {
            Command::Read(_) if front.searched > now => Err(Wait::Search),
            Command::Read(access) => self.resolve(access, Turn { now, from_queue: true }).map(drop),
            Command::Migrate(_, line) => self.migration_room(*line, now),
        };
        way.err().unwrap_or(Wait::Other)
    }

    /// Counts a refusal, and returns its cause in the terms of the door. An access that waits for room in the
    /// tag queue, or in the swap buffer that the queue empties, waits for whatever the front of the queue
    /// waits for.
    pub(super) fn refuse(&mut self, wait: Wait, now: Cycle) -> Refusal {
        let cause = match wait {
            Wait::TagQueue | Wait::SwapBuffer => self.queue_wait(now),
            Wait::Register => self.latch_wait(now),
            wait => wait,
        };
        let statistics = &mut self.chassis.cache.store.statistics;
        statistics.tag_queue_full += u64::from(wait == Wait::TagQueue);
        statistics.swap_buffer_full += u64::from(wait == Wait::SwapBuffer);
        let refusal = match (wait, cause) {
            (Wait::Room(refusal), _) => refusal,
            (_, Wait::SttWrite) => {
                statistics.stt_write_stalls += 1;
                Refusal::Bank
            }
            (_, Wait::Bus) => {
                statistics.bus_stalls += 1;
                Refusal::Bank
            }
            (_, Wait::Search) => {
                statistics.tag_search_stalls += 1;
                Refusal::Bank
            }
            _ => {
                statistics.other_stalls += 1;
                Refusal::Bank
            }
        };
        self.chassis.statistics.refuse(refusal);
        refusal
    }
}
