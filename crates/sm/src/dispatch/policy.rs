//! What a dispatch policy is: it says which SM gets the next CTA of a grid.

use std::fmt;

/// A dispatch policy: it says which SM gets the next CTA of a grid. Each grid has one of its own.
///
/// The dispatcher hands CTAs out in grid order, at most one a cycle to an SM, and asks the policy for each. What it
/// guarantees, whatever a policy does: an SM never has more CTAs than fit, and the CTAs of a cluster go to the SM that the
/// first of them went to.
///
/// What a policy must keep: its picks depend on nothing but what it has been shown. One that picks no SM in a cycle in which
/// some take a CTA is asked again when a CTA of the grid has ended. So it picks one while no CTA of the grid runs.
///
/// The type is also the policy's section of a machine file: its fields are the keys.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use strata_sm::dispatch::{Dispatch, SmView};
///
/// /// The last SM that takes it.
/// #[derive(Clone, Debug, Deserialize, JsonSchema)]
/// #[serde(deny_unknown_fields)]
/// struct LastFirst {}
///
/// impl Dispatch for LastFirst {
///     fn pick(&mut self, sms: &[SmView]) -> Option<usize> {
///         sms.iter().rposition(|sm| sm.takes)
///     }
/// }
/// ```
pub trait Dispatch: Clone + fmt::Debug + Send + Sync + 'static {
    /// Checks the parameters.
    ///
    /// # Errors
    /// What was found and what was expected.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// The most CTAs of a grid that an SM has at a time, of `fit` that fit. At least one cluster is always allowed.
    fn most_per_sm(&self, fit: u32) -> u32 {
        fit
    }

    /// Learns of its grid, before anything else.
    fn start(&mut self, site: &GridSite) {
        let _ = site;
    }

    /// The SM that gets the next CTA, one that takes it; `None` if none should. An answer of `None` changes nothing.
    fn pick(&mut self, sms: &[SmView]) -> Option<usize>;
}

/// The grid that a policy hands out.
#[derive(Clone, Copy, Debug)]
pub struct GridSite {
    /// Its CTAs.
    pub ctas: u64,
    /// CTAs of a cluster, which go to one SM; 1 without clusters.
    pub cluster: u32,
    /// SMs that it runs on.
    pub sms: usize,
    /// The most of its CTAs that an SM has at a time.
    pub most_per_sm: u32,
}

/// An SM as a dispatch policy sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SmView {
    /// CTAs of the grid on it.
    pub resident: u32,
    /// CTAs that it can have in addition.
    pub room: u32,
    /// Whether it has room for the next CTA, and for all of a cluster where one begins.
    pub fits: bool,
    /// Whether it takes the next CTA in this cycle: the CTA fits, and the SM has not got another in this cycle.
    pub takes: bool,
}

/// A dispatch policy with its parameters, of any type.
pub trait DispatchPolicy: fmt::Debug + Send + Sync {
    /// Checks the parameters.
    ///
    /// # Errors
    /// What was found and what was expected.
    fn check(&self) -> Result<(), String>;

    /// The most CTAs of a grid that an SM has at a time, of `fit` that fit.
    fn most_per_sm(&self, fit: u32) -> u32;

    /// A policy of the same parameters for a grid that begins.
    fn begin(&self, site: &GridSite) -> Box<dyn Picks>;
}

/// A dispatch policy at work on a grid.
pub trait Picks: Send {
    /// The SM that gets the next CTA ([`Dispatch::pick`]).
    fn pick(&mut self, sms: &[SmView]) -> Option<usize>;
}

impl<D: Dispatch> DispatchPolicy for D {
    fn check(&self) -> Result<(), String> {
        Dispatch::check(self)
    }

    fn most_per_sm(&self, fit: u32) -> u32 {
        Dispatch::most_per_sm(self, fit)
    }

    fn begin(&self, site: &GridSite) -> Box<dyn Picks> {
        let mut policy = self.clone();
        policy.start(site);
        Box::new(policy)
    }
}

impl<D: Dispatch> Picks for D {
    fn pick(&mut self, sms: &[SmView]) -> Option<usize> {
        Dispatch::pick(self, sms)
    }
}

/// What unit tests of policies need.
#[cfg(test)]
pub(super) mod script {
    use super::{Dispatch, DispatchPolicy, GridSite, SmView};

    /// What happens to the SMs of a script.
    pub enum Step {
        /// A cycle in which CTAs are handed out.
        Cycle,
        /// A CTA ends on this SM.
        End(usize),
    }

    /// Lets a policy hand out a grid of `ctas` CTAs, of which `fit` fit on each of `sms` SMs. Returns the SMs that it picked, a
    /// list for each cycle.
    pub fn picks(
        policy: impl Dispatch,
        (ctas, sms, fit): (u64, usize, u32),
        steps: &[Step],
    ) -> Vec<Vec<usize>> {
        let most_per_sm = DispatchPolicy::most_per_sm(&policy, fit);
        let mut policy = policy.begin(&GridSite { ctas, cluster: 1, sms, most_per_sm });
        let mut views = vec![SmView { room: most_per_sm, ..SmView::default() }; sms];
        let (mut left, mut cycles) = (ctas, Vec::new());
        for step in steps {
            match *step {
                Step::End(sm) => {
                    views[sm].resident -= 1;
                    views[sm].room += 1;
                }
                Step::Cycle => {
                    let mut picked = Vec::new();
                    for view in &mut views {
                        (view.fits, view.takes) = (view.room > 0, view.room > 0);
                    }
                    while left > 0
                        && let Some(sm) = policy.pick(&views)
                    {
                        let view = &mut views[sm];
                        assert!(view.takes, "SM {sm} takes none");
                        let (resident, room) = (view.resident + 1, view.room - 1);
                        *view = SmView { resident, room, fits: room > 0, takes: false };
                        left -= 1;
                        picked.push(sm);
                    }
                    cycles.push(picked);
                }
            }
        }
        cycles
    }
}
