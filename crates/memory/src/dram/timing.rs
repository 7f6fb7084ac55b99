//! Timing rules between commands, kept as data.

/// Most banks: the controller works on masks of this width.
pub(super) const MAX_BANKS: usize = 32;

/// A command on the command bus.
// Those that requests need first: they fill half a [`Row`].
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

impl Command {
    /// Whether it transfers a burst.
    #[inline]
    pub(super) fn is_burst(self) -> bool {
        matches!(self, Command::Rd | Command::Wr)
    }
}

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

/// Cycles, or distances in cycles, of the commands that requests need and of those that only refreshes need.
type Row = [Half; 2];

/// Those of four commands. Short and aligned, so that few vector instructions go through all of them.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Half([i64; 4]);

const ROW: Row = [Half([0; 4]); 2];

/// The distance to a command that does not have to wait: no cycle is so early.
const NONE: i64 = i64::MIN / 2;

impl Half {
    /// Puts off what has to wait for a command at cycle `at`.
    #[inline(always)]
    fn put_off(&mut self, distances: Half, at: u64) {
        let mut later = self.0;
        for (later, distance) in later.iter_mut().zip(distances.0) {
            *later = (*later).max(at as i64 + distance);
        }
        self.0 = later;
    }
}

/// The place of a command in a row.
#[inline]
const fn place(command: Command) -> (usize, usize) {
    (command as usize / 4, command as usize % 4)
}

#[inline]
fn entry(row: &Row, command: Command) -> i64 {
    let (half, place) = place(command);
    row[half].0[place]
}

#[inline]
fn entry_mut(row: &mut Row, command: Command) -> &mut i64 {
    let (half, place) = place(command);
    &mut row[half].0[place]
}

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
    /// By first command and level, the distances to the commands that have to wait.
    distances: Box<[[Row; LEVELS]; COMMANDS]>,
    has_refreshes: bool,
    banks: Box<[Row; MAX_BANKS]>,
    groups: Box<[Row; MAX_BANKS]>,
    channel: Row,
    activates: Option<ActivateWindow>,
}

const LEVELS: usize = 3;

impl Timing {
    /// Timing by rules between two commands and, if there is a window for activates, its length.
    pub fn new(rules: &[Constraint], activate_window: Option<u64>) -> Timing {
        let mut distances = Box::new([[[Half([NONE; 4]); 2]; LEVELS]; COMMANDS]);
        for rule in rules {
            let distance = entry_mut(&mut distances[rule.after as usize][rule.level as usize], rule.before);
            *distance = (rule.cycles as i64).max(*distance);
        }
        let is_refresh = |command: Command| place(command).0 > 0;
        let window = |cycles| ActivateWindow { cycles, last: [None; ACTIVATES_IN_WINDOW], oldest: 0 };
        Timing {
            distances,
            has_refreshes: rules.iter().any(|rule| is_refresh(rule.after) || is_refresh(rule.before)),
            banks: Box::new([ROW; MAX_BANKS]),
            groups: Box::new([ROW; MAX_BANKS]),
            channel: ROW,
            activates: activate_window.map(window),
        }
    }

    /// The earliest cycle at which the rules of a bank and its group allow a command.
    #[inline]
    pub fn earliest_of_bank(&self, command: Command, bank: usize, group: usize) -> u64 {
        (entry(&self.banks[bank % MAX_BANKS], command) as u64).max(self.earliest_of_group(command, group))
    }

    /// The earliest cycle at which the rules of a group allow a command to any of its banks.
    #[inline]
    pub fn earliest_of_group(&self, command: Command, group: usize) -> u64 {
        entry(&self.groups[group % MAX_BANKS], command) as u64
    }

    /// The earliest cycle at which the rules of the channel allow a command to any bank.
    #[inline]
    pub fn earliest_of_channel(&self, command: Command) -> u64 {
        entry(&self.channel, command) as u64
    }

    /// Notes that a command is issued at cycle `at`.
    #[inline]
    pub fn issue(&mut self, command: Command, bank: usize, group: usize, at: u64) {
        let [of_bank, of_group, of_channel] = &self.distances[command as usize];
        let (bank, group) = (&mut self.banks[bank % MAX_BANKS], &mut self.groups[group % MAX_BANKS]);
        bank[0].put_off(of_bank[0], at);
        group[0].put_off(of_group[0], at);
        self.channel[0].put_off(of_channel[0], at);
        if self.has_refreshes {
            bank[1].put_off(of_bank[1], at);
            group[1].put_off(of_group[1], at);
            self.channel[1].put_off(of_channel[1], at);
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
                let earliest = entry_mut(&mut self.channel, command);
                *earliest = (*earliest).max((oldest + window.cycles) as i64);
            }
        }
    }
}
