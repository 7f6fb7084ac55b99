//! What a controller does without a request: closing rows that nobody wants, and refreshes.

use std::fmt;
use std::sync::Arc;

use strata_engine::statistics::{Group, Statistics};

use super::pages::PagePolicy;
use super::queue::{Bank, NO_ROW};
use super::refreshes::{RefreshPolicy, RefreshTarget};
use super::timing::{Command, MAX_BANKS, Timing};
use crate::bits::members;

strata_engine::statistics! {
    /// Rows that the page policy of a DRAM channel closed.
    pub struct PageStatistics: "dram.rows" {
        /// Rows closed because no request in the queue wanted them.
        closed: "commands",
        /// Of these, rows that were the next to be opened in their bank.
        reopened: "commands",
    }
    laws {
        "reopened <= closed": |s| s.reopened <= s.closed,
    }
}

/// What is done to the rows of a channel without a request. A controller is told of it by its type, so where nothing is done
/// nothing is asked.
pub(super) trait Upkeep: fmt::Debug + Send {
    /// Whether nothing is ever done.
    const DOES_NOTHING: bool = false;

    /// Whether a refresh is due.
    #[inline]
    fn is_refresh_due(&self, _at: u64) -> bool {
        false
    }

    /// The next command of a refresh that is due: its earliest cycle, the command and the bank.
    fn refresh(&self, _timing: &Timing, _banks: &[Bank]) -> Option<(u64, Command, usize)> {
        None
    }

    /// Whether a refresh that is due is of all banks.
    fn holds_all(&self) -> bool {
        false
    }

    /// Keeps a bank from serving requests until it is refreshed; false if it is kept already.
    fn hold(&mut self, _bank: usize) -> bool {
        false
    }

    /// Whether a bank serves no requests, since it is about to be refreshed.
    #[inline]
    fn holds(&self, _bank: usize) -> bool {
        false
    }

    /// A refresh was commanded.
    fn refreshed(&mut self) {}

    /// A bank whose row may be closed at `at`.
    #[inline]
    fn closable(&self, _timing: &Timing, _banks: &[Bank], _at: u64) -> Option<usize> {
        None
    }

    /// The earliest cycle after `at` at which something may be done.
    #[inline]
    fn next(&self, _timing: &Timing, _banks: &[Bank], _at: u64) -> u64 {
        u64::MAX
    }

    /// The last request of a bank has left, its last burst commanded at `at`.
    #[inline]
    fn unwanted(&mut self, _bank: usize, _at: u64) {}

    /// The first request of a bank has come.
    #[inline]
    fn wanted(&mut self, _bank: usize) {}

    /// A row was opened.
    #[inline]
    fn opened(&mut self, _bank: usize, _row: u32) {}

    /// A row was closed, perhaps because nobody wanted it.
    #[inline]
    fn closed(&mut self, _bank: usize, _row: u32, _was_unwanted: bool) {}

    /// A cycle before which nothing was left undone.
    fn resting_since(&self) -> u64 {
        u64::MAX
    }

    /// With all rows closed, leaves out refreshes of which nothing can be seen at `until`; their number.
    fn skip_refreshes(&mut self, _until: u64) -> u64 {
        0
    }

    /// Counters of the page policy, unless rows stay open.
    fn page_statistics(&self) -> Option<Group> {
        None
    }
}

/// Rows stay open, and nothing is refreshed.
impl Upkeep for () {
    const DOES_NOTHING: bool = true;
}

/// A page policy and a refresh policy at work.
#[derive(Debug)]
pub(super) struct Housekeeping {
    page: Arc<dyn PagePolicy>,
    /// Whether the page policy ever closes a row.
    closes: bool,
    /// Banks whose row is open without a request in the queue, and from when on it may be closed.
    closing: u32,
    closes_from: [u64; MAX_BANKS],
    /// The row that the page policy closed last in each bank, if none was opened since.
    closed_row: [u32; MAX_BANKS],
    refresh: Option<Refreshing>,
    /// The cycle after the last burst.
    resting_since: u64,
    statistics: PageStatistics,
}

/// Refreshes and their times.
#[derive(Debug)]
struct Refreshing {
    policy: Arc<dyn RefreshPolicy>,
    banks: usize,
    interval: u64,
    /// Refreshes that have an effect on commands of later cycles.
    overlapping: u64,
    /// When the next is due, its number and what it is of.
    next: u64,
    number: u64,
    target: RefreshTarget,
    held: Option<usize>,
}

impl Refreshing {
    /// Goes on by some refreshes.
    fn advance(&mut self, count: u64) {
        self.next += count * self.interval;
        self.number += count;
        self.target = self.policy.target(self.number, self.banks);
    }
}

/// The parameters of refreshes.
#[derive(Clone, Debug)]
pub(super) struct RefreshShape {
    pub policy: Arc<dyn RefreshPolicy>,
    pub banks: usize,
    pub refi: u64,
    pub rfc: u64,
}

impl Housekeeping {
    /// What there is to do; `None` if rows stay open and nothing is refreshed.
    pub fn new(page: Arc<dyn PagePolicy>, refresh: Option<RefreshShape>) -> Option<Housekeeping> {
        let closes = page.closes_rows();
        let refresh = refresh.and_then(|RefreshShape { policy, banks, refi, rfc }| {
            let interval = policy.interval(refi, banks)?;
            let (overlapping, target) = (rfc / interval + 2, policy.target(0, banks));
            let number = 0;
            Some(Refreshing {
                policy,
                banks,
                interval,
                overlapping,
                next: interval,
                number,
                target,
                held: None,
            })
        });
        (closes || refresh.is_some()).then(|| Housekeeping {
            page,
            closes,
            closing: 0,
            closes_from: [0; MAX_BANKS],
            closed_row: [NO_ROW; MAX_BANKS],
            refresh,
            resting_since: 0,
            statistics: PageStatistics::default(),
        })
    }

    /// Banks whose row may be closed, each with the earliest cycle for it.
    fn closings<'a>(
        &'a self,
        timing: &'a Timing,
        banks: &'a [Bank],
    ) -> impl Iterator<Item = (u64, usize)> + 'a {
        members(u64::from(self.closing)).map(move |bank| {
            let rules = timing.earliest_of_bank(Command::Pre, bank, banks[bank].group);
            (rules.max(self.closes_from[bank]).max(timing.earliest_of_channel(Command::Pre)), bank)
        })
    }
}

impl Upkeep for Housekeeping {
    fn is_refresh_due(&self, at: u64) -> bool {
        self.refresh.as_ref().is_some_and(|refresh| refresh.next <= at)
    }

    fn refresh(&self, timing: &Timing, banks: &[Bank]) -> Option<(u64, Command, usize)> {
        let ready = |command: Command, bank: usize| {
            let rules = timing.earliest_of_bank(command, bank, banks[bank].group);
            (rules.max(timing.earliest_of_channel(command)), command, bank)
        };
        Some(match self.refresh.as_ref()?.target {
            RefreshTarget::AllBanks => (0..banks.len())
                .filter(|bank| banks[*bank].open_row != NO_ROW)
                .map(|bank| ready(Command::Pre, bank))
                .min_by_key(|(ready, _, bank)| (*ready, *bank))
                .unwrap_or((timing.earliest_of_channel(Command::Ref), Command::Ref, 0)),
            RefreshTarget::Bank(bank) if banks[bank].open_row != NO_ROW => ready(Command::Pre, bank),
            RefreshTarget::Bank(bank) => ready(Command::RefBank, bank),
        })
    }

    fn holds_all(&self) -> bool {
        self.refresh.as_ref().is_some_and(|refresh| refresh.target == RefreshTarget::AllBanks)
    }

    fn hold(&mut self, bank: usize) -> bool {
        let Some(refresh) = &mut self.refresh else { return false };
        self.closing &= !(1 << bank);
        refresh.held.replace(bank) != Some(bank)
    }

    fn holds(&self, bank: usize) -> bool {
        self.refresh.as_ref().is_some_and(|refresh| refresh.held == Some(bank))
    }

    fn refreshed(&mut self) {
        if let Some(refresh) = &mut self.refresh {
            refresh.held = None;
            refresh.advance(1);
        }
    }

    fn closable(&self, timing: &Timing, banks: &[Bank], at: u64) -> Option<usize> {
        self.closings(timing, banks).filter(|(from, _)| *from <= at).min().map(|(_, bank)| bank)
    }

    fn next(&self, timing: &Timing, banks: &[Bank], at: u64) -> u64 {
        let closing = self.closings(timing, banks).map(|(from, _)| from).min().unwrap_or(u64::MAX);
        let refresh = match &self.refresh {
            Some(refresh) if refresh.next <= at => self.refresh(timing, banks).map(|(ready, ..)| ready),
            Some(refresh) => Some(refresh.next),
            None => None,
        };
        closing.min(refresh.unwrap_or(u64::MAX))
    }

    fn unwanted(&mut self, bank: usize, at: u64) {
        self.resting_since = at + 1;
        if let Some(from) = self.page.closes_from(at).filter(|_| !self.holds(bank)) {
            self.closing |= 1 << bank;
            self.closes_from[bank] = from;
        }
    }

    fn wanted(&mut self, bank: usize) {
        self.closing &= !(1 << bank);
    }

    fn opened(&mut self, bank: usize, row: u32) {
        self.statistics.reopened += u64::from(self.closed_row[bank] == row);
        self.closed_row[bank] = NO_ROW;
    }

    fn closed(&mut self, bank: usize, row: u32, was_unwanted: bool) {
        self.closing &= !(1 << bank);
        if was_unwanted {
            self.statistics.closed += 1;
            self.closed_row[bank] = row;
        }
    }

    fn resting_since(&self) -> u64 {
        self.resting_since
    }

    fn skip_refreshes(&mut self, until: u64) -> u64 {
        let Some(refresh) = &mut self.refresh else { return 0 };
        let due = until.saturating_sub(refresh.next) / refresh.interval;
        let skipped = due.saturating_sub(refresh.overlapping);
        refresh.advance(skipped);
        skipped
    }

    fn page_statistics(&self) -> Option<Group> {
        self.closes.then(|| self.statistics.report())
    }
}
