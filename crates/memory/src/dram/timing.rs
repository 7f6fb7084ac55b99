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

/// The earliest DRAM cycle of every command, by level.
#[derive(Clone, Debug)]
pub(super) struct Timing {
    /// The rules by their first command.
    after: [Vec<Constraint>; COMMANDS],
    /// By command, then by bank or group.
    bank: [[u64; MAX_BANKS]; COMMANDS],
    group: [[u64; MAX_BANKS]; COMMANDS],
    channel: [u64; COMMANDS],
}

impl Timing {
    pub fn new(rules: &[Constraint]) -> Timing {
        let mut after: [Vec<Constraint>; COMMANDS] = Default::default();
        for rule in rules {
            after[rule.after as usize].push(*rule);
        }
        let none = [[0; MAX_BANKS]; COMMANDS];
        Timing { after, bank: none, group: none, channel: [0; COMMANDS] }
    }

    /// The earliest cycle at which the rules of a bank and its group allow a command.
    #[inline]
    pub fn earliest_of_bank(&self, command: Command, bank: usize, group: usize) -> u64 {
        let command = command as usize;
        self.bank[command][bank % MAX_BANKS].max(self.group[command][group % MAX_BANKS])
    }

    /// The earliest cycle at which the rules of the channel allow a command to any bank.
    #[inline]
    pub fn earliest_of_channel(&self, command: Command) -> u64 {
        self.channel[command as usize]
    }

    /// Notes that a command is issued at cycle `at`.
    #[inline]
    pub fn issue(&mut self, command: Command, bank: usize, group: usize, at: u64) {
        for rule in &self.after[command as usize] {
            let before = rule.before as usize;
            let earliest = match rule.level {
                Level::Bank => &mut self.bank[before][bank % MAX_BANKS],
                Level::BankGroup => &mut self.group[before][group % MAX_BANKS],
                Level::Channel => &mut self.channel[before],
            };
            *earliest = (*earliest).max(at + rule.cycles);
        }
    }
}
