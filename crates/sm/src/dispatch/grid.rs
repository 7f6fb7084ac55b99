//! A grid on its way to SMs.

use std::ops::Range;

use strata_engine::Cycle;

use super::links::{Command, Sm};
use super::policy::{DispatchPolicy, GridSite, Picks, SmView};

/// A grid and the SMs that it runs on.
pub(super) struct Grid {
    pub sms: Range<usize>,
    /// When its first CTA may start.
    from: Cycle,
    /// The first of its CTAs that it does not hand out: their number, unless it ends early.
    pub ctas: u64,
    /// CTAs from this one on wait until it is told to go on.
    pub held: u64,
    /// CTAs that go to an SM together: clusters follow each other.
    cluster: u32,
    /// The most of its CTAs that an SM has at a time.
    most_per_sm: u32,
    pub next: u64,
    pub done: u64,
    /// Says where CTAs go; none while there is no grid.
    policy: Option<Box<dyn Picks>>,
    /// The SM that the first CTA of a cluster went to, until the last one has, counted from the first.
    begun: Option<usize>,
    /// By SM.
    views: Vec<SmView>,
    /// Whether the policy wants to wait for the end of a CTA.
    declined: bool,
}

impl Grid {
    /// No CTAs, on these SMs.
    pub fn none(sms: Range<usize>) -> Grid {
        Grid {
            sms,
            from: Cycle::ZERO,
            ctas: 0,
            held: u64::MAX,
            cluster: 1,
            most_per_sm: 0,
            next: 0,
            done: 0,
            policy: None,
            begun: None,
            views: Vec::new(),
            declined: false,
        }
    }

    /// A grid of some CTAs, in clusters of `cluster`, the first not before `from`; `per_sm` fit on each of its SMs.
    pub fn begin(
        sms: Range<usize>,
        (ctas, cluster, per_sm): (Range<u64>, u32, u32),
        from: Cycle,
        policy: &dyn DispatchPolicy,
    ) -> Grid {
        let cluster = cluster.max(1);
        let most_per_sm = policy.most_per_sm(per_sm).max(cluster).min(per_sm);
        let site = GridSite { ctas: ctas.end - ctas.start, cluster, sms: sms.len(), most_per_sm };
        let (policy, views) = (Some(policy.begin(&site)), vec![SmView::default(); sms.len()]);
        let (next, done, ctas) = (ctas.start, ctas.start, ctas.end);
        Grid { from, ctas, cluster, most_per_sm, next, done, policy, views, ..Grid::none(sms) }
    }

    /// Hands out no more than the cluster that has begun.
    pub fn end_early(&mut self) {
        self.ctas = self.next.next_multiple_of(self.cluster.into()).min(self.ctas);
    }

    /// The first CTA that may not go to an SM yet.
    fn limit(&self) -> u64 {
        self.ctas.min(self.held)
    }

    /// The most of its CTAs that an SM has at a time.
    pub fn most_per_sm(&self) -> u32 {
        self.most_per_sm
    }

    /// A CTA has ended.
    pub fn end_cta(&mut self) {
        self.done += 1;
        self.declined = false;
    }

    /// Room that an SM must have for the next CTA.
    fn room_needed(&self) -> u32 {
        if self.begun.is_some() { 1 } else { self.cluster }
    }

    /// Sends CTAs to SMs with room, at most one each. Returns how many.
    pub fn hand_out(&mut self, sms: &mut [Sm], now: Cycle) -> u64 {
        let limit = self.limit();
        if now < self.from || self.next == limit || self.declined {
            return 0;
        }
        let sms = &mut sms[self.sms.clone()];
        let needed = self.room_needed();
        let mut some_fit = false;
        for (view, sm) in self.views.iter_mut().zip(&mut *sms) {
            let (room, fits) = (sm.room, sm.room >= needed);
            let takes = fits && sm.links.commands.has_credit(1, now);
            *view = SmView { resident: self.most_per_sm - room, room, fits, takes };
            some_fit |= fits;
        }
        let before = self.next;
        while some_fit
            && self.next < limit
            && let Some(index) = self.pick()
        {
            let sm = &mut sms[index];
            let sent = sm.links.commands.send(Command::StartCta(self.next), 1, now);
            sent.expect("an SM that takes a CTA has credit for it");
            sm.room -= 1;
            self.next += 1;
            self.sent_to(index);
        }
        // If links have no credit, a policy could not have picked their SMs.
        let could = some_fit && self.views.iter().all(|view| view.takes == view.fits);
        self.declined = could && self.next == before && self.begun.is_none();
        self.next - before
    }

    /// The SM that gets the next CTA now. The rest of a cluster goes where its first CTA went.
    fn pick(&mut self) -> Option<usize> {
        if let Some(index) = self.begun {
            return self.views[index].takes.then_some(index);
        }
        let index = self.policy.as_mut()?.pick(&self.views)?;
        assert!(self.views[index].takes, "a dispatch policy picked SM {index}, which takes no CTA now");
        Some(index)
    }

    /// The SM got a CTA, and gets no other in this cycle.
    fn sent_to(&mut self, index: usize) {
        let view = &mut self.views[index];
        (view.resident, view.room, view.takes) = (view.resident + 1, view.room - 1, false);
        let is_within_cluster = !self.next.is_multiple_of(self.cluster.into());
        self.begun = is_within_cluster.then_some(index);
        let needed = self.room_needed();
        let is_over = !is_within_cluster && self.cluster > 1;
        for (place, view) in self.views.iter_mut().enumerate() {
            if place == index || is_over {
                view.fits = view.room >= needed;
                view.takes &= view.fits;
            }
        }
    }

    /// When a CTA can start, if one waits and an SM has room for it.
    pub fn next_start(&self, sms: &[Sm], now: Cycle) -> Cycle {
        let needed = self.room_needed();
        let has_room = || sms[self.sms.clone()].iter().any(|sm| sm.room >= needed);
        let can_start = self.next < self.limit() && !self.declined && has_room();
        if can_start { self.from.max(now) } else { Cycle::NEVER }
    }
}
