//! Timing rules between commands, kept as data.

use super::parameters::{DramParameters, MAX_BANKS};

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
}

pub(super) const COMMANDS: usize = 5;

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

/// Makes all timing rules of a channel.
pub(super) fn constraints(parameters: &DramParameters) -> Vec<Constraint> {
    use Command::{Act, Pre, Rd, Ref, Wr};
    use Level::{Bank, BankGroup, Channel};
    let t = &parameters.timing;
    let burst = *parameters.burst_cycles;
    // Bursts never overlap on the data bus, whatever CCD says.
    let ccd = (*t.ccd).max(burst);
    // The data bus changes its direction between the end of one burst and the beginning of the other.
    let read_to_write = (*t.cl + burst + *t.turnaround).saturating_sub(*t.wl).max(1);
    let write_to_read = *t.wl + burst + *t.cdlr;
    let rule = |level, after, before, cycles| Constraint { level, after, before, cycles };
    let mut rules = vec![
        rule(Bank, Act, Act, *t.rc),
        rule(Bank, Act, Rd, *t.rcd),
        rule(Bank, Act, Wr, *t.rcd),
        rule(Bank, Act, Pre, *t.ras),
        rule(Bank, Pre, Act, *t.rp),
        rule(Bank, Rd, Pre, *t.rtp),
        rule(Bank, Wr, Pre, *t.wl + burst + *t.wr),
        rule(BankGroup, Rd, Rd, *t.ccd_l),
        rule(BankGroup, Wr, Wr, *t.ccd_l),
        rule(Channel, Rd, Rd, ccd),
        rule(Channel, Wr, Wr, ccd),
        rule(Channel, Rd, Wr, read_to_write),
        rule(Channel, Wr, Rd, write_to_read),
        rule(Channel, Act, Act, *t.rrd),
    ];
    if let Some(refresh) = &parameters.refresh {
        rules.push(rule(Channel, Pre, Ref, *t.rp));
        rules.push(rule(Channel, Ref, Act, *refresh.rfc));
        rules.push(rule(Channel, Ref, Ref, *refresh.rfc));
    }
    rules
}

/// For each command, the earliest cycles of the banks, those of the groups behind them and that of the channel.
const GROUPS_AT: usize = MAX_BANKS;
const CHANNEL_AT: usize = 2 * MAX_BANKS;
const PLACES: usize = CHANNEL_AT + 1;

/// The earliest DRAM cycle of every command, by level.
#[derive(Clone, Debug)]
pub(super) struct Timing {
    /// The rules by their first command.
    after: [Vec<Rule>; COMMANDS],
    earliest: Box<[u64; COMMANDS * PLACES]>,
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
    pub fn new(rules: &[Constraint]) -> Timing {
        let mut after: [Vec<Rule>; COMMANDS] = Default::default();
        for rule in rules {
            let first = (rule.before as usize * PLACES) as u16;
            let cycles = rule.cycles.try_into().expect("distances between commands are checked to be short");
            after[rule.after as usize].push(Rule { first, level: rule.level as u8, cycles });
        }
        Timing { after, earliest: Box::new([0; COMMANDS * PLACES]) }
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
}
