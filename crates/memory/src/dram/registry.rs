//! The schedulers that a machine file can name. Each takes one line here.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::controller::{Control, Controller, Shape};
use super::schedulers::{Fcfs, FrFcfs, FrFcfsCap, Scheduler};
use super::unlimited::{self, Unlimited};
use super::upkeep::Housekeeping;
use crate::policy::{Family, Member, PolicyKind};

static SCHEDULERS: Family<SchedulerPolicy> = Family::new(|| {
    vec![
        member::<Fcfs>("fcfs"),
        member::<FrFcfs>("fr-fcfs"),
        member::<FrFcfsCap>("fr-fcfs-cap"),
        Member::new("unlimited", |ideal: Unlimited| Arc::new(SchedulerPolicy::ideal(ideal))),
    ]
});

fn member<S: Scheduler + DeserializeOwned + JsonSchema>(name: &'static str) -> Member<SchedulerPolicy> {
    Member::new(name, |scheduler: S| Arc::new(SchedulerPolicy::new(scheduler)))
}

impl PolicyKind for SchedulerPolicy {
    fn family() -> &'static Family<Self> {
        &SCHEDULERS
    }
}

/// Adds a scheduler, for the whole process; `S` is its section of a machine file, whose documentation gives its meaning.
///
/// # Panics
/// Panics if another scheduler has the name, or if a machine file has been read.
pub fn add_scheduler<S: Scheduler + DeserializeOwned + JsonSchema>(name: &'static str) {
    SCHEDULERS.add(member::<S>(name));
}

/// A scheduler with its parameters, which can make controllers.
pub struct SchedulerPolicy {
    shown: String,
    make: Box<dyn Fn(Option<Housekeeping>, Shape) -> AnyController + Send + Sync>,
    check: Box<dyn Fn() -> Result<(), String> + Send + Sync>,
    /// Whether a request opens its row within its latency, and not by commands of the controller.
    pub(super) is_unlimited: bool,
}

impl SchedulerPolicy {
    pub(super) fn new<S: Scheduler>(scheduler: S) -> SchedulerPolicy {
        let checked = scheduler.clone();
        SchedulerPolicy {
            is_unlimited: false,
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

    /// The ideal, in place of a scheduler.
    fn ideal(ideal: Unlimited) -> SchedulerPolicy {
        SchedulerPolicy {
            is_unlimited: true,
            shown: format!("{ideal:?}"),
            check: Box::new(|| Ok(())),
            make: Box::new(|_, shape| AnyController::Other(Box::new(unlimited::Controller::new(&shape)))),
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
