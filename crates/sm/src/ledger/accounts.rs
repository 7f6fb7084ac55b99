//! The accounts of one kind.

use std::collections::BTreeMap;

use strata_memory::{Address, LINE_BYTES, LineAddress};

use super::account::Account;
use super::event::At;
use super::key::Key;
use super::latency::Latencies;
use super::served::Source;
use crate::launch::Launch;

/// The accounts of one kind that a launch has left.
#[derive(Clone, Debug)]
pub struct Accounts {
    /// What they are of.
    pub key: Key,
    /// By index.
    pub of: BTreeMap<u64, Account>,
    /// What belongs to none of them.
    pub rest: Account,
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
        self.take();
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

    pub fn take(&mut self) -> Accounts {
        let indexed = (0..).zip(self.accounts.drain(..));
        let mut of: BTreeMap<u64, Account> =
            indexed.filter_map(|(index, account)| Some((index, *account?))).collect();
        of.extend(std::mem::take(&mut self.ctas).into_iter().map(|(index, account)| (index, *account)));
        Accounts {
            key: self.key,
            of,
            rest: *std::mem::take(&mut self.rest),
            latencies: self.latencies.as_mut().map(std::mem::take),
        }
    }

    /// The account of what happens at an instruction; `None` if it is no access and accounts are kept of buffers.
    #[inline]
    pub fn of_event(&mut self, at: Option<At>) -> Option<&mut Account> {
        Some(match (self.key, at) {
            (Key::Instruction, Some(at)) => self.indexed(at.pc as usize),
            (Key::Cta, Some(at)) => self.ctas.entry(at.cta).or_default(),
            (Key::Buffer, Some(_)) => return None,
            (Key::Whole, Some(_)) | (_, None) => &mut self.rest,
        })
    }

    /// The account of an access to a line; without a line, to no memory that buffers are in.
    #[inline]
    pub fn of_access(&mut self, at: At, line: Option<LineAddress>) -> &mut Account {
        match self.key {
            Key::Instruction => self.indexed(at.pc as usize),
            Key::Cta => self.ctas.entry(at.cta).or_default(),
            Key::Whole => &mut self.rest,
            Key::Buffer => match line.and_then(|line| self.buffer(line)) {
                Some(index) => self.indexed(index),
                None => &mut self.rest,
            },
        }
    }

    /// An access of which somebody served what it reads is complete.
    #[inline]
    pub fn served(&mut self, source: Source, cycles: u64) {
        if let Some(latencies) = &mut self.latencies {
            latencies.count(source, cycles);
        }
    }

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
