//! Timing rules between commands, kept as data.

/// Most banks: the controller works on masks of this width.
pub(super) const MAX_BANKS: usize = 32;

/// A command on the command bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Open a row of a bank.
    Act,
    /// Read a burst of the open row.
    Rd,
    /// Write a burst of the open row.
    Wr,
    /// Close the open row.
    Pre,
    /// Refresh all banks; every row is closed.
    Ref,
    /// Refresh one bank, whose row is closed.
    RefBank,
}

pub(super) const COMMANDS: usize = 6;

/// The scope of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// Between commands to one bank.
    Bank,
    /// Between commands to one bank group.
    BankGroup,
    /// Between any commands of the channel.
    Channel,
}

/// A rule: `before` may be issued no earlier than `cycles` DRAM cycles after `after`, within `level`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// Scope of the rule.
    pub level: Level,
    /// Command that starts the waiting time.
    pub after: Command,
    /// Command that has to wait.
    pub before: Command,
    /// Minimum distance in DRAM cycles.
    pub cycles: u64,
}

/// For each command, the earliest cycles of the banks, those of the groups behind them and that of the channel.
const GROUPS_AT: usize = MAX_BANKS;
const CHANNEL_AT: usize = 2 * MAX_BANKS;
const PLACES: usize = CHANNEL_AT + 1;

/// Commands that open rows, of which a window of `cycles` holds at most as many as there are in `last`.
#[derive(Clone, Copy, Debug)]
struct ActivateWindow {
    cycles: u64,
    /// When the last ones were issued, and which is the oldest of them.
    last: [Option<u64>; ACTIVATES_IN_WINDOW],
    oldest: usize,
}

/// Activates in a window (FAW: four activate window).
const ACTIVATES_IN_WINDOW: usize = 4;

/// The earliest DRAM cycle of every command, by level.
#[derive(Clone, Debug)]
pub(super) struct Timing {
    /// The rules by their first command.
    after: [Vec<Rule>; COMMANDS],
    earliest: Box<[u64; COMMANDS * PLACES]>,
    activates: Option<ActivateWindow>,
}

/// What is left of a constraint whose first command is known.
#[derive(Clone, Copy, Debug)]
struct Rule {
    /// Where the cycles of the command that has to wait begin.
    first: u16,
    level: u8,
    cycles: u32,
}

impl Timing {
    /// Timing by rules between two commands and, if there is a window for activates, its length.
    pub fn new(rules: &[Constraint], activate_window: Option<u64>) -> Timing {
        let mut after: [Vec<Rule>; COMMANDS] = Default::default();
        for rule in rules {
            let first = (rule.before as usize * PLACES) as u16;
            let cycles = rule.cycles.try_into().expect("distances between commands are checked to be short");
            after[rule.after as usize].push(Rule { first, level: rule.level as u8, cycles });
        }
        let window = |cycles| ActivateWindow { cycles, last: [None; ACTIVATES_IN_WINDOW], oldest: 0 };
        Timing { after, earliest: Box::new([0; COMMANDS * PLACES]), activates: activate_window.map(window) }
    }

    /// The earliest cycle at which the rules of a bank and its group allow a command.
    #[inline]
    pub fn earliest_of_bank(&self, command: Command, bank: usize, group: usize) -> u64 {
        let first = command as usize * PLACES;
        self.earliest[first + bank % MAX_BANKS].max(self.earliest[first + GROUPS_AT + group % MAX_BANKS])
    }

    /// The earliest cycle at which the rules of the channel allow a command to any bank.
    #[inline]
    pub fn earliest_of_channel(&self, command: Command) -> u64 {
        self.earliest[command as usize * PLACES + CHANNEL_AT]
    }

    /// Notes that a command is issued at cycle `at`.
    #[inline]
    pub fn issue(&mut self, command: Command, bank: usize, group: usize, at: u64) {
        // By level.
        let places = [bank % MAX_BANKS, GROUPS_AT + group % MAX_BANKS, CHANNEL_AT, CHANNEL_AT];
        for rule in &self.after[command as usize] {
            let place = places[usize::from(rule.level) % places.len()];
            let earliest = &mut self.earliest[usize::from(rule.first) + place];
            *earliest = (*earliest).max(at + u64::from(rule.cycles));
        }
    }

    /// Notes that the command at cycle `at` opens a row, for the window.
    #[inline]
    pub fn activate(&mut self, at: u64) {
        if self.activates.is_some() {
            self.activate_in_window(at);
        }
    }

    #[inline(never)]
    fn activate_in_window(&mut self, at: u64) {
        let Some(window) = &mut self.activates else { return };
        window.last[window.oldest] = Some(at);
        window.oldest = (window.oldest + 1) % ACTIVATES_IN_WINDOW;
        if let Some(oldest) = window.last[window.oldest] {
            for command in [Command::Act, Command::RefBank] {
                let earliest = &mut self.earliest[command as usize * PLACES + CHANNEL_AT];
                *earliest = (*earliest).max(oldest + window.cycles);
            }
        }
    }
}
