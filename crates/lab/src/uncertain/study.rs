//! A study, part by part: its draws, the jobs that they take, and the numbers that a store has of them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use strata_engine::seed::Stream;
use strata_measure::uncertain::Point;
use strata_measure::uncertain::morris::{Trajectory, effects};
use strata_measure::uncertain::sobol::Pair;
use strata_workloads::Size;

use super::drawn::{Drawn, Refused, Row, Values, Walk, groups};
use super::{Asked, Assumptions};
use crate::SIMULATOR;
use crate::job::{Job, Key};
use crate::question::{Answers, Machines, resolve};
use crate::store::Store;
use crate::variant::Variant;

/// How much is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Pairs of points of the second part.
    pub rows: usize,
    /// Trajectories of the first part.
    pub trajectories: usize,
    /// Most assumptions that are looked at one by one in the second part.
    pub most: usize,
    /// What the draws come from.
    pub seed: u64,
}

/// How often a draw is made again.
const TRIES: usize = 50;

/// The part of an assumption's effect on a number, of the largest one's, from which on it is looked at by itself.
const COUNTS: f64 = 0.05;

/// A study of some numbers.
pub struct Study<'a> {
    asked: &'a dyn Asked,
    of: String,
    size: Size,
    options: Options,
    assumptions: Assumptions,
    machines: Vec<Variant>,
    refused: Vec<Refused>,
    trajectories: Vec<Trajectory>,
    /// Machines of draws, each built once.
    built: RefCell<Machines>,
}

/// A study whose first part has numbers.
pub struct Screened<'s, 'a> {
    study: &'s Study<'a>,
    modelled: Values,
    walks: Vec<Walk>,
    kept: Vec<usize>,
    groups: Vec<Vec<usize>>,
    pairs: Vec<Pair>,
    refused: Vec<Refused>,
}

impl<'a> Study<'a> {
    /// Makes the draws. `of` says what is asked, for readers.
    ///
    /// # Errors
    /// A machine that cannot be built; nothing that is assumed has a range; or no draw of many is one that the machines take.
    pub fn new(asked: &'a dyn Asked, of: String, size: Size, options: Options) -> Result<Study<'a>, String> {
        let mut machines = asked.machines();
        let mut names = BTreeSet::new();
        machines.retain(|machine| names.insert(machine.name.clone()));
        let assumptions = Assumptions::of(&machines)?;
        let count = assumptions.all.len();
        if count == 0 {
            let names: Vec<&str> = machines.iter().map(|machine| machine.name.as_str()).collect();
            return Err(format!(
                "{}: found no assumed value with a range, expected one (`range = {{ times = [0.5, 2], because = \"...\" }}` beside a \
                 value whose source says ASSUMED)",
                names.join(", ")
            ));
        }
        let mut study = Study {
            asked,
            of,
            size,
            options,
            assumptions,
            machines,
            refused: vec![],
            trajectories: vec![],
            built: RefCell::default(),
        };
        let (seed, mut refused) = (options.seed, Vec::new());
        for number in 0..options.trajectories {
            let name = format!("trajectory {number}");
            let make =
                |again: usize| Trajectory::new(count, &mut Stream::new(seed, &format!("{name}.{again}")));
            let points = |trajectory: &Trajectory| trajectory.points.clone();
            let drawn = study.first_taken(&name, make, points, &mut refused)?;
            study.trajectories.push(drawn);
        }
        study.refused = refused;
        Ok(study)
    }

    /// The first of some draws whose points all machines take.
    fn first_taken<T>(
        &self,
        name: &str,
        make: impl Fn(usize) -> T,
        points: impl Fn(&T) -> Vec<Point>,
        refused: &mut Vec<Refused>,
    ) -> Result<T, String> {
        for again in 0..TRIES {
            let drawn = make(again);
            match points(&drawn).iter().try_for_each(|point| self.take(point)) {
                Ok(()) => return Ok(drawn),
                Err(reason) => refused.push(Refused { draw: name.to_owned(), reason }),
            }
        }
        let reason = &refused.last().expect("it was refused").reason;
        Err(format!("{name}: found no draw of {TRIES} that the machines take, the last because {reason}"))
    }

    /// Whether all machines take a point.
    fn take(&self, point: &[f64]) -> Result<(), String> {
        let mut built = self.built.borrow_mut();
        self.machines.iter().try_for_each(|machine| {
            let drawn = self.assumptions.at(point, machine);
            let known = built.entry(drawn.name.clone()).or_insert_with(|| resolve(&drawn));
            known.as_ref().map(drop).map_err(String::clone)
        })
    }

    /// What is assumed.
    #[must_use]
    pub fn assumptions(&self) -> &Assumptions {
        &self.assumptions
    }

    /// How many points the first part has, and the second with so many assumptions by themselves at most.
    #[must_use]
    pub fn points(&self) -> (usize, usize) {
        let count = self.assumptions.all.len();
        let kept = count.min(self.options.most);
        let groups = kept + usize::from(count > kept);
        (1 + self.options.trajectories * (count + 1), self.options.rows * (2 + groups))
    }

    /// The jobs of the first part, the machines as they are modelled among them.
    ///
    /// # Errors
    /// A machine that cannot be built.
    pub fn jobs(&self, store: &Store) -> Result<Vec<Job>, String> {
        let points = self.trajectories.iter().flat_map(|trajectory| &trajectory.points);
        let modelled = self.asked.jobs(&Variant::clone, &mut Answers::new(store, self.size))?;
        Ok(merged(modelled.into_iter().chain(self.jobs_at(points, store)?)))
    }

    fn jobs_at<'p>(
        &self,
        points: impl Iterator<Item = &'p Point>,
        store: &Store,
    ) -> Result<Vec<Job>, String> {
        self.asking(store, |answers| {
            let mut jobs = Vec::new();
            for point in points {
                jobs.extend(self.asked.jobs(&|variant| self.assumptions.at(point, variant), answers)?);
                answers.forget_runs();
            }
            Ok(merged(jobs))
        })
    }

    /// Asks a store with the machines that were built before.
    fn asking<T>(&self, store: &Store, ask: impl FnOnce(&mut Answers<'_>) -> T) -> T {
        let mut answers = Answers::new(store, self.size).knowing(self.built.take());
        let found = ask(&mut answers);
        self.built.replace(answers.into_machines());
        found
    }

    fn values_at(&self, points: &[Point], answers: &mut Answers<'_>) -> Vec<Values> {
        let mut at = |point: &Point| {
            let cells = self.asked.values(&|variant| self.assumptions.at(point, variant), answers);
            answers.forget_runs();
            cells.into_iter().map(Result::ok).collect()
        };
        points.iter().map(&mut at).collect()
    }

    /// Looks the first part's numbers up, chooses the assumptions of the second, and makes its draws.
    ///
    /// # Errors
    /// The first part has no number; or no draw of many is one that the machines take.
    pub fn screened<'s>(&'s self, store: &Store) -> Result<Screened<'s, 'a>, String> {
        let (modelled, walks) = self.asking(store, |answers| {
            let modelled = self.asked.values(&Variant::clone, answers);
            let walk = |trajectory: &Trajectory| Walk {
                values: self.values_at(&trajectory.points, answers),
                trajectory: trajectory.clone(),
            };
            let walks: Vec<Walk> = self.trajectories.iter().map(walk).collect();
            if walks.iter().flat_map(|walk| &walk.values).flatten().all(Option::is_none) {
                return Err(format!("{}: {}", store.folder().display(), self.why_missing(answers)));
            }
            let modelled: Values = modelled.into_iter().map(Result::ok).collect();
            Ok((modelled, walks))
        })?;
        let count = self.assumptions.all.len();
        let kept = kept(count, modelled.len(), &walks, self.options.most);
        let groups = groups(count, &kept);
        let (mut pairs, mut refused) = (Vec::new(), self.refused.clone());
        let spread = Pair::all(count, self.options.rows, &mut Stream::new(self.options.seed, "rows"));
        for (number, pair) in spread.into_iter().enumerate() {
            let name = format!("row {number}");
            let make = |again: usize| match again {
                0 => pair.clone(),
                _ => Pair::new(count, &mut Stream::new(self.options.seed, &format!("{name}.{again}"))),
            };
            pairs.push(self.first_taken(&name, make, |pair| pair.points(&groups), &mut refused)?);
        }
        Ok(Screened { study: self, modelled, walks, kept, groups, pairs, refused })
    }

    /// Why the first number at the first point is missing.
    fn why_missing(&self, answers: &mut Answers<'_>) -> String {
        let point = &self.trajectories[0].points[0];
        let cells = self.asked.values(&|variant| self.assumptions.at(point, variant), answers);
        cells.into_iter().find_map(Result::err).unwrap_or_else(|| "not run yet".into())
    }
}

impl Screened<'_, '_> {
    /// The jobs of the second part.
    ///
    /// # Errors
    /// A machine that cannot be built.
    pub fn jobs(&self, store: &Store) -> Result<Vec<Job>, String> {
        let points: Vec<Point> = self.pairs.iter().flat_map(|pair| pair.points(&self.groups)).collect();
        self.study.jobs_at(points.iter(), store)
    }

    /// Looks the second part's numbers up.
    #[must_use]
    pub fn drawn(&self, store: &Store) -> Drawn {
        let study = self.study;
        let rows = study.asking(store, |answers| {
            let row = |pair: &Pair| Row {
                values: study.values_at(&pair.points(&self.groups), answers),
                pair: pair.clone(),
            };
            self.pairs.iter().map(row).collect()
        });
        Drawn {
            of: study.of.clone(),
            simulator: SIMULATOR.to_owned(),
            size: study.size,
            seed: study.options.seed,
            numbers: study.asked.numbers(),
            assumptions: study.assumptions.all.clone(),
            modelled: self.modelled.clone(),
            refused: self.refused.clone(),
            rows,
            walks: self.walks.clone(),
            kept: self.kept.clone(),
        }
    }
}

/// The assumptions that count for some number, by number: at most so many, those that move a number most, next to what moves it most of
/// all.
fn kept(assumptions: usize, numbers: usize, walks: &[Walk], most: usize) -> Vec<usize> {
    let mut largest = vec![0.0_f64; assumptions];
    for number in 0..numbers {
        let of = walks.iter().map(|walk| {
            let values = walk.values.iter().map(|values| values[number]).collect();
            (&walk.trajectory, values)
        });
        let effects = effects(assumptions, &of.collect::<Vec<_>>());
        let greatest = effects.iter().map(|effect| effect.size).fold(0.0, f64::max);
        for (largest, effect) in largest.iter_mut().zip(&effects).filter(|_| greatest > 0.0) {
            *largest = largest.max(effect.size / greatest);
        }
    }
    let mut order: Vec<usize> = (0..assumptions).filter(|number| largest[*number] >= COUNTS).collect();
    order.sort_by(|one, other| largest[*other].total_cmp(&largest[*one]));
    order.truncate(most);
    order.sort_unstable();
    order
}

/// Jobs, each once.
fn merged(jobs: impl IntoIterator<Item = Job>) -> Vec<Job> {
    let all: BTreeMap<Key, Job> = jobs.into_iter().map(|job| (job.key(), job)).collect();
    all.into_values().collect()
}
