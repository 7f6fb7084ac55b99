//! The policies that a machine file can name. Each takes one line here.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::choice::{Family, Parameters, PolicyKind};
use super::controller::{Control, Controller, Shape};
use super::pages::{Closed, Open, PagePolicy, Timeout};
use super::refreshes::{AllBank, NoRefresh, PerBank, RefreshPolicy};
use super::schedulers::{Fcfs, FrFcfs, FrFcfsCap, Scheduler};
use super::upkeep::Housekeeping;

/// The policies of DRAM channels.
pub struct Policies {
    schedulers: Family<SchedulerPolicy>,
    pages: Family<dyn PagePolicy>,
    refreshes: Family<dyn RefreshPolicy>,
}

impl Default for Policies {
    /// Those that come with the program.
    fn default() -> Policies {
        let none = Policies {
            schedulers: Family::default(),
            pages: Family::default(),
            refreshes: Family::default(),
        };
        none.with_scheduler::<Fcfs>("fcfs")
            .with_scheduler::<FrFcfs>("fr-fcfs")
            .with_scheduler::<FrFcfsCap>("fr-fcfs-cap")
            .with_page::<Open>("open")
            .with_page::<Closed>("closed")
            .with_page::<Timeout>("timeout")
            .with_refresh::<NoRefresh>("none")
            .with_refresh::<AllBank>("all-bank")
            .with_refresh::<PerBank>("per-bank")
    }
}

impl Policies {
    /// Adds a scheduler.
    ///
    /// # Panics
    /// Panics if another scheduler has the name.
    #[must_use]
    pub fn with_scheduler<S: Scheduler + DeserializeOwned + JsonSchema>(
        mut self,
        name: &'static str,
    ) -> Self {
        self.schedulers.add::<S>(name);
        self
    }

    /// Adds a page policy.
    ///
    /// # Panics
    /// Panics if another page policy has the name.
    #[must_use]
    pub fn with_page<P: PagePolicy + DeserializeOwned + JsonSchema + 'static>(
        mut self,
        name: &'static str,
    ) -> Self {
        self.pages.add::<P>(name);
        self
    }

    /// Adds a refresh policy.
    ///
    /// # Panics
    /// Panics if another refresh policy has the name.
    #[must_use]
    pub fn with_refresh<R: RefreshPolicy + DeserializeOwned + JsonSchema + 'static>(
        mut self,
        name: &'static str,
    ) -> Self {
        self.refreshes.add::<R>(name);
        self
    }

    /// The schedulers.
    pub fn schedulers(&self) -> &Family<SchedulerPolicy> {
        &self.schedulers
    }

    /// The page policies.
    pub fn pages(&self) -> &Family<dyn PagePolicy> {
        &self.pages
    }

    /// The refresh policies.
    pub fn refreshes(&self) -> &Family<dyn RefreshPolicy> {
        &self.refreshes
    }
}

static POLICIES: OnceLock<Policies> = OnceLock::new();

/// Every policy that machine files of this process can name.
pub fn policies() -> &'static Policies {
    POLICIES.get_or_init(Policies::default)
}

/// Replaces the built-in policies by others, which usually are those and more, for the whole process.
///
/// # Panics
/// Panics if a machine file has been read or policies have been replaced before: the meaning of a name never
/// changes while a process runs.
pub fn use_policies(policies: Policies) {
    let is_first = POLICIES.set(policies).is_ok();
    assert!(is_first, "policies are added before the first machine file is read, and once");
}

/// A scheduler with its parameters, which can make controllers.
pub struct SchedulerPolicy {
    shown: String,
    make: Box<dyn Fn(Option<Housekeeping>, Shape) -> AnyController + Send + Sync>,
    check: Box<dyn Fn() -> Result<(), String> + Send + Sync>,
}

impl SchedulerPolicy {
    fn new<S: Scheduler>(scheduler: S) -> SchedulerPolicy {
        let checked = scheduler.clone();
        SchedulerPolicy {
            shown: format!("{scheduler:?}"),
            check: Box::new(move || checked.check()),
            make: Box::new(move |upkeep, shape| match upkeep {
                Some(upkeep) => {
                    AnyController::Other(Box::new(Controller::new(scheduler.clone(), upkeep, shape)))
                }
                None => AnyController::without_upkeep(Controller::new(scheduler.clone(), (), shape)),
            }),
        }
    }

    /// The scheduler of machines that name none.
    pub(super) fn usual() -> Arc<SchedulerPolicy> {
        Arc::new(SchedulerPolicy::new(FrFcfsCap::default()))
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// What was found and what was expected.
    pub(super) fn check(&self) -> Result<(), String> {
        (self.check)()
    }

    pub(super) fn controller(&self, upkeep: Option<Housekeeping>, shape: Shape) -> AnyController {
        (self.make)(upkeep, shape)
    }
}

impl fmt::Debug for SchedulerPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// A controller of any kind. That of most machines is known by its type, so that calls of it are direct.
#[derive(Debug)]
pub(super) enum AnyController {
    /// FR-FCFS with a cap, rows that stay open, no refresh.
    Usual(Box<Usual>),
    Other(Box<dyn Control>),
}

type Usual = Controller<FrFcfsCap, ()>;

impl AnyController {
    fn without_upkeep<S: Scheduler>(controller: Controller<S, ()>) -> AnyController {
        let mut controller = Some(controller);
        let usual = (&mut controller as &mut dyn Any).downcast_mut::<Option<Usual>>();
        if let Some(usual) = usual.and_then(Option::take) {
            return AnyController::Usual(Box::new(usual));
        }
        AnyController::Other(Box::new(controller.expect("nobody took it")))
    }
}

impl PolicyKind for SchedulerPolicy {
    fn family() -> &'static Family<Self> {
        policies().schedulers()
    }
}

impl<S: Scheduler + DeserializeOwned + JsonSchema> Parameters<SchedulerPolicy> for S {
    fn into_policy(self) -> Arc<SchedulerPolicy> {
        Arc::new(SchedulerPolicy::new(self))
    }
}

impl PolicyKind for dyn PagePolicy {
    fn family() -> &'static Family<Self> {
        policies().pages()
    }
}

impl<P: PagePolicy + DeserializeOwned + JsonSchema + 'static> Parameters<dyn PagePolicy> for P {
    fn into_policy(self) -> Arc<dyn PagePolicy> {
        Arc::new(self)
    }
}

impl PolicyKind for dyn RefreshPolicy {
    fn family() -> &'static Family<Self> {
        policies().refreshes()
    }
}

impl<R: RefreshPolicy + DeserializeOwned + JsonSchema + 'static> Parameters<dyn RefreshPolicy> for R {
    fn into_policy(self) -> Arc<dyn RefreshPolicy> {
        Arc::new(self)
    }
}
