//! The memory below a lane path: takes what the path sends for a space in order, performs it after a random delay, and
//! returns the trays some time later.

use std::collections::VecDeque;

use strata_engine::Cycle;
use strata_engine::seed::Stream;
use strata_memory::doors::{LaneAccess, LaneItem, LaneRequest, LaneSpace};
use strata_memory::{LINE_BYTES, Tray};

/// The memories of both spaces.
pub struct Below {
    /// By space.
    pub bytes: [Vec<u8>; 2],
    queues: [VecDeque<(Cycle, LaneItem)>; 2],
    returning: Vec<(Cycle, u32, Tray)>,
    delay: u64,
}

impl Below {
    /// Memories of these bytes.
    pub fn new(bytes: [Vec<u8>; 2], delay: u64) -> Below {
        Below { bytes, queues: Default::default(), returning: Vec::new(), delay }
    }

    /// Whether a memory can take another item: few at a time, so that the path is held up now and then.
    pub fn can_take(&self, space: LaneSpace) -> bool {
        self.queues[space as usize].len() < 6
    }

    /// Takes an item.
    pub fn take(&mut self, space: LaneSpace, item: LaneItem, now: Cycle, stream: &mut Stream) {
        let ready = now + (1 + stream.below(self.delay));
        self.queues[space as usize].push_back((ready, item));
    }

    /// Performs what is due and calls `pass` for each request that went past the path.
    ///
    /// # Errors
    /// What `pass` finds wrong.
    pub fn perform(
        &mut self,
        now: Cycle,
        stream: &mut Stream,
        mut pass: impl FnMut(Box<LaneRequest>, &mut Vec<u8>) -> Result<(), String>,
    ) -> Result<(), String> {
        for (queue, memory) in self.queues.iter_mut().zip(&mut self.bytes) {
            while queue.front().is_some_and(|(ready, _)| *ready <= now) {
                let (_, item) = queue.pop_front().expect("the queue has a front");
                let back = now + (1 + stream.below(self.delay));
                match item {
                    LaneItem::Access(LaneAccess { token, line, bytes, writes, mut tray, .. }) => {
                        let at = line.0 as usize * LINE_BYTES;
                        for (byte, to) in tray.0.iter_mut().enumerate() {
                            match (writes, bytes.0 >> byte & 1 == 1) {
                                (true, true) => memory[at + byte] = *to,
                                (false, true) => *to = memory[at + byte],
                                // What is not asked for is garbage.
                                (_, false) => *to = 0xee,
                            }
                        }
                        self.returning.push((back, token, tray));
                    }
                    LaneItem::Pass(request) => pass(request, memory)?,
                }
            }
        }
        Ok(())
    }

    /// A tray that returns now.
    pub fn returned(&mut self, now: Cycle) -> Option<(u32, Tray)> {
        let at = self.returning.iter().position(|(ready, ..)| *ready <= now)?;
        let (_, token, tray) = self.returning.remove(at);
        Some((token, tray))
    }

    /// Whether nothing is on its way.
    pub fn is_idle(&self) -> bool {
        self.returning.is_empty() && self.queues.iter().all(VecDeque::is_empty)
    }
}
