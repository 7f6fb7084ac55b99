//! How full queues and MSHRs are during launches, and how many credits of links are in use: gauges that watch them, whatever the designs are. Nothing
//! of it is there unless it is asked for.

mod l1d;
mod llc;

use std::sync::{Arc, Mutex, PoisonError};

use strata_engine::statistics::Group;
use strata_engine::{ClockRatio, Cycle, Gauge, Used};

use crate::machine::Machine;
use crate::makers::{Makers, Way};
use crate::observed::{ObservedL1d, ObservedLlc};
use crate::results::queue_groups;
use l1d::L1dGauges;
use llc::LlcGauges;

/// The kinds of links, whose credits are counted, as data go.
pub const LINKS: [&str; 4] = ["SM to network", "network to LLC", "LLC to network", "network to SM"];

/// Gauges of the queues of one kind, as the parts that have them are built.
#[derive(Clone, Debug, Default)]
struct Gauges(Arc<Mutex<Vec<Arc<Gauge>>>>);

impl Gauges {
    /// One more.
    fn add(&self) -> Arc<Gauge> {
        let gauge = Gauge::new();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(gauge.clone());
        gauge
    }

    fn all(&self) -> Vec<Arc<Gauge>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The queues of a machine that are watched.
pub struct Queues {
    lsu: Gauges,
    l1d_mshrs: Gauges,
    l1d_requests: Gauges,
    llc_mshrs: Gauges,
    dram: Gauges,
    /// Of each kind of [`LINKS`], with the clock of its senders.
    credits: [(Gauges, Option<ClockRatio>); LINKS.len()],
    slices: ClockRatio,
}

impl Queues {
    /// Those of a machine, and its makers, whose parts are watched.
    ///
    /// # Errors
    /// What is wrong with the machine.
    pub fn new<'a>(machine: &Machine, makers: Makers<'a>) -> Result<(Queues, Makers<'a>), String> {
        let file = machine.file();
        let compute = file.gpu.compute_sms();
        let map = file.address_map()?;
        let queues = Queues {
            lsu: Gauges::default(),
            l1d_mshrs: Gauges::default(),
            l1d_requests: Gauges::default(),
            llc_mshrs: Gauges::default(),
            dram: Gauges::default(),
            credits: [None, Some(file.clocks.network()), Some(file.clocks.l2()), Some(file.clocks.network())]
                .map(|clock| (Gauges::default(), clock)),
            slices: file.clocks.l2(),
        };
        let slices = 0..*file.gpu.channels * *file.gpu.slices_per_channel;
        let sms = compute.start as u16..compute.end as u16;
        let ends =
            [(Way::FromSm, &sms), (Way::ToSlice, &slices), (Way::FromSlice, &slices), (Way::ToSm, &sms)];
        let links = ends.into_iter().zip(&queues.credits);
        let credits = links.flat_map(|((way, numbers), (gauges, _))| {
            numbers.clone().map(move |number| ((way, number), gauges.add()))
        });
        let credits = credits.collect();
        let (mshrs, requests) = (queues.l1d_mshrs.clone(), queues.l1d_requests.clone());
        let (slice_mshrs, mut build_l1d, mut build_llc) = (queues.llc_mshrs.clone(), makers.l1d, makers.llc);
        let channels: Vec<Arc<Gauge>> = (0..*file.gpu.channels).map(|_| queues.dram.add()).collect();
        let watched = compute.clone();
        let makers = Makers {
            queues: compute.map(|sm| (sm as u16, queues.lsu.add())).collect(),
            credits,
            l1d: Box::new(move |design, site| {
                let is_watched = watched.contains(&usize::from(site.node.0));
                let l1d = build_l1d(design, site)?;
                if !is_watched {
                    return Ok(l1d);
                }
                let gauges = L1dGauges::new(&*l1d, &mshrs, &requests);
                Ok(Box::new(ObservedL1d::new(l1d, gauges)))
            }),
            llc: Box::new(move |design, site| {
                let (channel, _) = map.channel_of(site.slice);
                let llc = build_llc(design, site)?;
                let gauges = LlcGauges::new(&*llc, &slice_mshrs, channels[usize::from(channel)].clone());
                Ok(Box::new(ObservedLlc::new(llc, gauges)))
            }),
            ..makers
        };
        Ok((queues, makers))
    }

    /// Each kind, with the clock of its queues if that is not the SMs'.
    fn kinds(&self) -> impl Iterator<Item = (&'static str, &Gauges, Option<ClockRatio>)> {
        let parts = [
            ("LSU queues", &self.lsu, None),
            ("L1D MSHRs", &self.l1d_mshrs, None),
            ("L1D requests", &self.l1d_requests, None),
            ("LLC MSHRs", &self.llc_mshrs, Some(self.slices)),
            ("DRAM queues", &self.dram, Some(self.slices)),
        ];
        parts
            .into_iter()
            .chain(LINKS.into_iter().zip(&self.credits).map(|(name, (gauges, clock))| (name, gauges, *clock)))
    }

    /// A launch begins in a core cycle.
    pub fn begin(&self, start: Cycle) {
        for (_, gauges, clock) in self.kinds() {
            let start = local(clock, start);
            gauges.all().iter().for_each(|gauge| gauge.begin(start));
        }
    }

    /// What was counted of each kind of queue that the machine has, in a launch that ended before a core cycle.
    pub fn end(&self, end: Cycle) -> Vec<(&'static str, Vec<Group>)> {
        let mut parts = Vec::new();
        for (name, gauges, clock) in self.kinds() {
            let (end, gauges) = (local(clock, end), gauges.all());
            let mut used = Used::default();
            gauges.iter().for_each(|gauge| used.merge(&gauge.end(end)));
            if !gauges.is_empty() {
                parts.push((name, queue_groups(&used)));
            }
        }
        parts
    }
}

/// The first cycle of a clock that is simulated in a core cycle or later.
fn local(clock: Option<ClockRatio>, core: Cycle) -> Cycle {
    clock.map_or(core, |clock| Cycle(clock.first_in(core)))
}
