//! The tag queue: commands that wait for the STT-MRAM bank, in order (IV-A, Fig. 10).

use strata_engine::{Cycle, Ring};
use strata_memory::LineAddress;
use strata_memory::cache::FrameId;
use strata_memory::doors::Access;

/// A command that waits for the STT-MRAM bank.
#[derive(Clone, Debug)]
pub(super) enum Command {
    /// A load that waits to be resolved.
    Read(Access),
    /// "F": the line in this register of the swap buffer moves to STT-MRAM.
    Migrate(FrameId, LineAddress),
}

/// A command, and the first cycle in which its tags have been searched.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub command: Command,
    pub searched: Cycle,
}

/// A queue of commands, oldest first.
#[derive(Clone, Debug)]
pub(super) struct TagQueue {
    commands: Ring<Waiting>,
    /// Number of commands by the low bits of their lines: shows at a glance that no command names most lines.
    named: [u16; 64],
}

impl Command {
    fn line(&self) -> LineAddress {
        match self {
            Command::Read(access) => access.line,
            Command::Migrate(_, line) => *line,
        }
    }
}

impl TagQueue {
    pub fn new(entries: usize) -> TagQueue {
        TagQueue { commands: Ring::new(entries), named: [0; 64] }
    }

    #[inline]
    pub fn push(&mut self, command: Command, searched: Cycle) {
        self.named[(command.line().0 % 64) as usize] += 1;
        self.commands.push(Waiting { command, searched }).expect("room in the tag queue was checked");
    }

    #[inline]
    pub fn pop(&mut self) -> Option<Waiting> {
        let waiting = self.commands.pop()?;
        self.named[(waiting.command.line().0 % 64) as usize] -= 1;
        Some(waiting)
    }

    #[inline]
    pub fn front(&self) -> Option<&Waiting> {
        self.commands.front()
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.commands.len()
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    #[inline]
    pub fn is_full(&self) -> bool {
        self.commands.is_full()
    }

    /// Whether a command for the line waits.
    #[inline]
    pub fn names(&self, line: LineAddress) -> bool {
        self.named[(line.0 % 64) as usize] > 0
            && self.commands.iter().any(|waiting| waiting.command.line() == line)
    }
}
