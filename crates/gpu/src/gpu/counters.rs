//! The counters of a GPU: in all, and of each of its parts.

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_sm::{Accounts, SmPath};

use super::Gpu;
use crate::queues::Queues;
use crate::results::{By, Counted, merge_groups, modes};

impl Gpu {
    /// All counters, summed over the parts of each kind. SMs in cache mode have groups of their own, which come last.
    pub fn statistics(&mut self) -> Vec<Group> {
        let (mut groups, mut helpers) = (Vec::new(), Vec::new());
        let in_cache_mode = self.helper_sms.clone();
        for (index, part) in self.simulation.islands_mut().enumerate() {
            if in_cache_mode.contains(&index) {
                merge_groups(&mut helpers, modes::in_cache_mode(part.statistics()));
            } else {
                merge_groups(&mut groups, part.statistics());
            }
        }
        groups.extend(helpers);
        groups
    }

    /// The counters of each SM, slice or channel; of nothing else.
    pub fn parts(&mut self, by: By) -> Vec<Counted> {
        let count = match by {
            By::Sm => self.islands.sms.len(),
            By::Slice => self.map.slice_map().slices().into(),
            By::Channel => self.channels(),
            _ => 0,
        };
        (0..count).map(|number| Counted::new(format!("{by} {number}"), self.part(by, number))).collect()
    }

    /// Takes what the SMs that run programs have charged since the launch began.
    pub fn take_accounts(&mut self) -> Vec<Accounts> {
        let mut all: Vec<Accounts> = Vec::new();
        for sm in self.compute_sms.clone() {
            for accounts in self.sm(sm).take_accounts() {
                match all.iter_mut().find(|others| others.key == accounts.key) {
                    Some(others) => others.merge(&accounts),
                    None => all.push(accounts),
                }
            }
        }
        all
    }

    /// Has the SMs remember the steps of later launches for their critical paths, or not any more.
    pub fn follow(&mut self, follows: bool) {
        self.follows = follows;
    }

    /// Counts how full queues are during later launches. The machine has the parts that [`Queues::new`] makes.
    pub fn watch_queues(&mut self, queues: Queues) {
        self.queues = Some(queues);
    }

    /// Counts them from a cycle on.
    pub(super) fn begin_queues(&self, now: Cycle) {
        if let Some(queues) = &self.queues {
            queues.begin(now);
        }
    }

    /// How full each kind of queue was during the launch that has just ended; nothing unless that is asked for.
    pub fn queues(&self) -> Vec<(&'static str, Vec<Group>)> {
        self.queues.as_ref().map_or_else(Vec::new, |queues| queues.end(self.now()))
    }

    /// Takes the steps of the last launch, by SM.
    pub(crate) fn take_paths(&mut self) -> Vec<SmPath> {
        let sms = self.compute_sms.clone();
        sms.filter_map(|sm| self.sm(sm).take_path()).collect()
    }

    fn part(&mut self, by: By, number: usize) -> Vec<Group> {
        match by {
            By::Sm => {
                let groups = self.simulation.island_mut(number).statistics();
                let is_helper = self.helper_sms.contains(&number);
                if is_helper { modes::in_cache_mode(groups) } else { groups }
            }
            By::Slice => {
                let (channel, place) = self.map.channel_of(number as u16);
                self.partition(channel.into()).slice_statistics(place)
            }
            By::Channel => self.partition(number).statistics(),
            _ => {
                unreachable!("{by} is no part of a machine")
            }
        }
    }
}
