//! Sensitivity of the headline result: claims measured under each value of a choice that the paper leaves
//! open.

use strata_workloads::Size;

use super::any_of::AnyOf;
use super::measurement::Measurement;
use super::{Claim, effect};
use crate::job::Job;
use crate::origin::Origin;
use crate::paper::{FigureJob, MeasurementText, Paper, SensitivityText};
use crate::question::{Answers, Cell};
use crate::setup::{Sets, assignment, written};

/// A choice, and the claims measured under each of its values.
#[derive(Clone, Debug)]
pub struct Sensitivity {
    /// Identifier of the choice.
    pub id: String,
    /// What is chosen, for readers.
    pub title: String,
    /// What the paper says about it, and why the default was chosen.
    pub source: String,
    /// The claims that are measured.
    pub claims: Vec<Claim>,
    /// The values; the default first.
    pub choices: Vec<Choice>,
    /// The runs behind the measured numbers.
    pub origin: Origin,
    /// A tenth of each claim's published effect.
    tenths: Vec<f64>,
}

/// One value of a choice, with results.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Label of the value, for readers.
    pub label: String,
    /// The measured number of each claim, in the order of [`Sensitivity::claims`].
    pub results: Vec<Cell>,
}

impl Sensitivity {
    /// Makes one from measured numbers, for tests.
    #[cfg(test)]
    pub(super) fn new(id: &str, claims: Vec<Claim>, tenths: Vec<f64>, choices: Vec<Choice>) -> Sensitivity {
        let (title, source) = (id.to_owned(), id.to_owned());
        let origin = Origin::default();
        Sensitivity { id: id.to_owned(), title, source, claims, choices, origin, tenths }
    }

    /// Whether any value moves any claim by more than a tenth of its published effect; `None` if a number is
    /// missing.
    #[must_use]
    pub fn moves(&self) -> Option<bool> {
        any((0..self.claims.len()).map(|place| self.moves_claim(place)))
    }

    /// Whether any value moves the claim at this place by more than a tenth of its published effect; `None` if a number is
    /// missing.
    #[must_use]
    pub fn moves_claim(&self, place: usize) -> Option<bool> {
        let (ours, others) = self.choices.split_first()?;
        any(others.iter().map(|other| match (&ours.results[place], &other.results[place]) {
            (Ok(one), Ok(two)) => Some((one - two).abs() > self.tenths[place]),
            _ => None,
        }))
    }
}

/// Whether any is true; `None` if that is unknown.
fn any(all: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let mut any = Some(false);
    for one in all {
        match one {
            Some(true) => return Some(true),
            Some(false) => {}
            None => any = None,
        }
    }
    any
}

/// How a claim's number stands to the choices that its paper leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dependence {
    /// None of those that were varied moves it by more than a tenth of the published effect.
    Firm,
    /// One of them does.
    Open,
    /// None that bears on it was varied.
    Unvaried,
}

impl Dependence {
    /// All of them, the firmest first.
    pub const ALL: [Dependence; 3] = [Dependence::Firm, Dependence::Open, Dependence::Unvaried];

    /// What is said of claims that are so, after their number.
    #[must_use]
    pub fn said(self) -> &'static str {
        match self {
            Dependence::Firm => "depend on no choice that was varied",
            Dependence::Open => "depend on a choice that the paper leaves open",
            Dependence::Unvaried => "were not varied",
        }
    }

    /// That of a claim.
    #[must_use]
    pub fn of(id: &str, all: &[Sensitivity]) -> Dependence {
        let place = |of: &Sensitivity| of.claims.iter().position(|claim| claim.id == id);
        let moved = all.iter().filter_map(|of| of.moves_claim(place(of)?));
        match moved.max() {
            Some(true) => Dependence::Open,
            Some(false) => Dependence::Firm,
            None => Dependence::Unvaried,
        }
    }
}

/// One value of a choice, with the measurements to make.
struct Way {
    label: String,
    sets: Sets,
    texts: Vec<MeasurementText>,
}

/// The ways to make a choice; the default first.
fn ways(paper: &Paper, text: &SensitivityText) -> Result<Vec<Way>, String> {
    let texts: Vec<MeasurementText> =
        text.claims.iter().map(|id| measured(paper, id).cloned()).collect::<Result<_, _>>()?;
    if !text.labels.is_empty() && text.labels.len() != text.values.len() {
        let (labels, values) = (text.labels.len(), text.values.len());
        return Err(format!("labels: found {labels}, expected one for each of {values} values"));
    }
    let way = |label: String, sets: Sets| Way { label, sets, texts: texts.clone() };
    let mut ways = Vec::new();
    match (&text.chosen, text.values.is_empty()) {
        (Some(chosen), _) => {
            ways.push(way(chosen.clone(), Sets::new()));
            let values = text.values.iter().enumerate();
            ways.extend(values.map(|(place, value)| way(label(text, place), sets(text, value))));
        }
        (None, false) => {
            let ours = text.values.iter().position(|value| is_ours(paper, text, value));
            let of_ours = ours.map_or("as in the systems' files".into(), |ours| label(text, ours));
            ways.push(way(of_ours, Sets::new()));
            for place in (0..text.values.len()).filter(|place| Some(*place) != ours) {
                ways.push(way(label(text, place), sets(text, &text.values[place])));
            }
        }
        _ => return Err("expected `keys` with `values`, or `chosen` with `readings`".into()),
    }
    for reading in &text.readings {
        let read =
            |text: &MeasurementText| if text.admits(reading) { text.read_as(reading) } else { text.clone() };
        let texts = texts.iter().map(read).collect();
        ways.push(Way { label: reading.name.clone(), sets: Sets::new(), texts });
    }
    let twice = |(place, way): (usize, &Way)| ways[..place].iter().any(|other| other.label == way.label);
    if let Some(place) = ways.iter().enumerate().position(twice) {
        let label = &ways[place].label;
        return Err(format!(
            "labels: found two values called `{label}`, expected names that tell them apart"
        ));
    }
    Ok(ways)
}

/// Whether the systems already have this value, so that setting it would make the same machine.
fn is_ours(paper: &Paper, text: &SensitivityText, value: &toml::Value) -> bool {
    let workload = paper.workloads("all").ok().and_then(|all| all.first());
    let machine = |system: &str, sets: &Sets| {
        let setup = paper.setup_with(system, None, sets)?;
        let job = Job::timing(workload.ok_or("no workload")?, Size::Test, setup.one())?;
        Ok::<_, String>(job.machine_values().to_vec())
    };
    let with_value = sets(text, value);
    with_value.keys().all(|system| {
        let (ours, other) = (machine(system, &Sets::new()), machine(system, &with_value));
        matches!((ours, other), (Ok(ours), Ok(other)) if ours == other)
    })
}

/// What a choice is called: as the text says, or by its value, of several the first.
fn label(text: &SensitivityText, place: usize) -> String {
    let value = &text.values[place];
    let by_value = || written(value.as_array().and_then(|values| values.first()).unwrap_or(value));
    text.labels.get(place).cloned().unwrap_or_else(by_value)
}

/// The claims over any choice of the workloads that the paper does not name, if the text asks for it.
fn over_any<'a>(paper: &'a Paper, text: &SensitivityText) -> Result<Vec<AnyOf<'a>>, String> {
    let any = text.any.iter().flat_map(|any| text.claims.iter().map(move |claim| (any, claim)));
    any.map(|(any, claim)| AnyOf::new(paper, measured(paper, claim)?, any)).collect()
}

fn measured<'a>(paper: &'a Paper, id: &String) -> Result<&'a MeasurementText, String> {
    let found = paper.measured.get(id);
    found.ok_or_else(|| format!("claim `{id}`: expected `measured` to say how it is measured"))
}

/// The overrides that set a value in each system.
fn sets(text: &SensitivityText, value: &toml::Value) -> Sets {
    let of_key = |number: usize| value.as_array().map_or(Some(value), |values| values.get(number));
    let assign = |keys: &Vec<String>| {
        let keys = keys.iter().enumerate();
        keys.filter_map(|(number, key)| Some(assignment(key, of_key(number)?))).collect()
    };
    text.keys.iter().map(|(system, keys)| (system.clone(), assign(keys))).collect()
}

/// The jobs that a choice needs.
///
/// # Errors
/// An unknown name.
pub fn jobs<'a>(paper: &'a Paper, text: &SensitivityText) -> Result<Vec<FigureJob<'a>>, String> {
    let mut jobs = Vec::new();
    for way in ways(paper, text)? {
        for text in &way.texts {
            jobs.extend(Measurement::with(paper, text, &way.sets)?.jobs());
        }
    }
    jobs.extend(over_any(paper, text)?.iter().flat_map(AnyOf::jobs));
    Ok(jobs)
}

/// The sensitivity of a paper's headline, computed from a store.
///
/// # Errors
/// A paper or claims whose data is wrong.
pub fn sensitivities(paper: &Paper, answers: &mut Answers<'_>) -> Result<Vec<Sensitivity>, String> {
    let all = super::all();
    let mut found = Vec::new();
    answers.take_origin();
    for text in &paper.sensitivities {
        let of = |error: String| format!("{}: sensitivity {}: {error}", paper.file, text.id);
        let claim = |id: &String| all.iter().find(|claim| claim.id == *id).cloned();
        let claims: Vec<Claim> = text.claims.iter().filter_map(claim).collect();
        if claims.len() != text.claims.len() {
            return Err(of("`claims` names one that is not in data/claims.csv".into()));
        }
        let mut choices = Vec::new();
        for way in ways(paper, text).map_err(of)? {
            let measure = |text: &MeasurementText| Measurement::with(paper, text, &way.sets);
            let measurements: Vec<_> = way.texts.iter().map(measure).collect::<Result<_, _>>().map_err(of)?;
            let results = measurements.iter().map(|measurement| measurement.value(answers)).collect();
            choices.push(Choice { label: way.label, results });
        }
        let ends: Vec<_> = over_any(paper, text).map_err(of)?.iter().map(|any| any.ends(answers)).collect();
        for (end, name) in ["least", "greatest"].into_iter().enumerate().filter(|_| !ends.is_empty()) {
            let results = ends.iter().map(|ends| ends[end].clone()).collect();
            choices.push(Choice { label: format!("{name} of any choice"), results });
        }
        let tenth = |claim: &Claim| Ok((effect(paper.measured[&claim.id].kind, claim.value()?) / 10.0).abs());
        let tenths = claims.iter().map(tenth).collect::<Result<_, String>>()?;
        let SensitivityText { id, title, source, .. } = text.clone();
        let origin = answers.take_origin();
        found.push(Sensitivity { id, title, source, claims, choices, origin, tenths });
    }
    Ok(found)
}
