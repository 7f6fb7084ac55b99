//! The accounts of one kind.

use std::collections::BTreeMap;

use strata_engine::statistics::Statistics;
use strata_memory::{Address, LINE_BYTES, LineAddress};

use super::account::Account;
use super::event::At;
use super::key::Key;
use super::latency::Latencies;
use super::served::{InFlight, Source};
use crate::launch::Launch;
use crate::lsu::LsuStatistics;

/// The accounts of one kind that a launch has left.
#[derive(Clone, Debug)]
pub struct Accounts {
    /// What they are of.
    pub key: Key,
    /// By index.
    pub of: BTreeMap<u64, Box<Account>>,
    /// What belongs to none of them.
    pub rest: Box<Account>,
    /// Where accounts are kept of nothing: accesses by latency.
    pub latencies: Option<Box<Latencies>>,
}

impl Accounts {
    /// Adds the accounts of another SM.
    pub fn merge(&mut self, other: &Accounts) {
        for (index, account) in &other.of {
            self.of.entry(*index).or_default().merge(account);
        }
        self.rest.merge(&other.rest);
        if let (Some(mine), Some(theirs)) = (&mut self.latencies, &other.latencies) {
            mine.merge(theirs);
        }
    }
}

/// Accounts of one kind during a launch.
#[derive(Debug)]
pub(super) struct Table {
    key: Key,
    /// Of instructions and buffers: by index.
    accounts: Vec<Option<Box<Account>>>,
    /// Of CTAs: by index. Few are resident at a time.
    ctas: BTreeMap<u64, Box<Account>>,
    rest: Box<Account>,
    latencies: Option<Box<Latencies>>,
    allocations: Vec<(u64, u64)>,
}

impl Table {
    pub fn new(key: Key) -> Table {
        Table {
            key,
            accounts: Vec::new(),
            ctas: BTreeMap::new(),
            rest: Box::default(),
            latencies: (key == Key::Whole).then(Box::default),
            allocations: Vec::new(),
        }
    }

    pub fn begin(&mut self, launch: &Launch) {
        *self = Table { allocations: std::mem::take(&mut self.allocations), ..Table::new(self.key) };
        let accounts = match self.key {
            Key::Instruction => launch.kernel.code.len(),
            Key::Cta | Key::Whole => 0,
            Key::Buffer => {
                self.allocations.clone_from(&launch.allocations);
                self.allocations.len()
            }
        };
        self.accounts.resize_with(accounts, || None);
    }

    /// The accounts. What the load/store unit has counted beside them belongs to none.
    pub fn take(&mut self, counted: &LsuStatistics) -> Accounts {
        let mut of = std::mem::take(&mut self.ctas);
        let indexed = (0..).zip(self.accounts.drain(..));
        of.extend(indexed.filter_map(|(index, account)| Some((index, account?))));
        let mut charged = LsuStatistics::default();
        of.values().for_each(|account| charged.merge(&account.lsu));
        let mut rest = std::mem::take(&mut self.rest);
        rest.lsu = counted.since(&charged);
        Accounts { key: self.key, of, rest, latencies: self.latencies.as_mut().map(std::mem::take) }
    }

    /// The account of what happens at an instruction; `None` if it is no access and accounts are kept of buffers.
    #[inline(always)]
    pub fn of_event(&mut self, at: Option<At>) -> Option<&mut Account> {
        Some(match (self.key, at) {
            (Key::Instruction, Some(at)) => self.indexed(at.pc as usize),
            (Key::Cta, Some(at)) => self.ctas.entry(at.cta).or_default(),
            (Key::Buffer, Some(_)) => return None,
            (Key::Whole, Some(_)) | (_, None) => &mut self.rest,
        })
    }

    /// The account of an access to a line; without a line, to no memory that buffers are in. `None` if it belongs to none.
    #[inline(always)]
    pub fn of_access(&mut self, at: At, line: Option<LineAddress>) -> Option<&mut Account> {
        match self.key {
            Key::Instruction => Some(self.indexed(at.pc as usize)),
            Key::Cta => Some(self.ctas.entry(at.cta).or_default()),
            Key::Whole => None,
            Key::Buffer => {
                let index = self.buffer(line?)?;
                Some(self.indexed(index))
            }
        }
    }

    /// Completes an access, which somebody served after so many cycles, if somebody did.
    #[inline(always)]
    pub fn complete(&mut self, access: &InFlight, served: Option<(Source, u64)>) {
        match self.of_access(access.at, Some(access.line)) {
            Some(account) => account.complete(access.bytes, served),
            None => self.rest.complete(access.bytes, served),
        }
        if let (Some(latencies), Some((source, cycles))) = (&mut self.latencies, served) {
            latencies.count(source, cycles);
        }
    }

    #[inline(always)]
    fn indexed(&mut self, index: usize) -> &mut Account {
        self.accounts[index].get_or_insert_default()
    }

    /// The allocation that a line is in; of several, the last.
    fn buffer(&self, line: LineAddress) -> Option<usize> {
        let Address(start) = line.base();
        let end = start + LINE_BYTES as u64;
        let before = self.allocations.partition_point(|(first, _)| *first < end);
        let (place, (_, past)) = self.allocations[..before].iter().enumerate().next_back()?;
        (*past > start).then_some(place)
    }
}
