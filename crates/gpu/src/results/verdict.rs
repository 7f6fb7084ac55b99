//! How a run ended, and whether its results were right.

use serde_json::{Value, json};

/// How a run ended, and whether its results were right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It ended, every comparison that the program asks for was made, and all passed; so did the reference executor's,
    /// where asked for.
    Verified,
    /// It ended and something differs; one sentence for each difference.
    Wrong(Vec<String>),
    /// It ended, and the program asks for no comparison.
    Unchecked,
    /// It ended after the last launch that was asked for, before the program's own comparisons.
    Cut,
    /// It did not end. Numbers are of the time until then, and the last launch may be a part of one.
    NotFinished {
        /// Why.
        reason: String,
        /// What differed until then, a sentence each.
        problems: Vec<String>,
    },
}

impl Verdict {
    /// A run that did not finish, of which nothing was found wrong.
    pub fn not_finished(reason: impl Into<String>) -> Verdict {
        Verdict::NotFinished { reason: reason.into(), problems: Vec::new() }
    }

    /// The verdict of a run that ended: `compares` says whether it was compared with anything.
    pub fn of_ended(problems: Vec<String>, compares: bool) -> Verdict {
        match compares {
            _ if !problems.is_empty() => Verdict::Wrong(problems),
            true => Verdict::Verified,
            false => Verdict::Unchecked,
        }
    }

    /// Why the run did not finish; `None` for one that ended.
    pub fn stopped(&self) -> Option<&str> {
        match self {
            Verdict::NotFinished { reason, .. } => Some(reason),
            _ => None,
        }
    }

    /// What was found wrong, a sentence each.
    pub fn problems(&self) -> &[String] {
        match self {
            Verdict::Wrong(problems) | Verdict::NotFinished { problems, .. } => problems,
            Verdict::Verified | Verdict::Unchecked | Verdict::Cut => &[],
        }
    }

    /// One word or two, for JSON: `verified`, `wrong`, `not checked`, `not compared` or `not finished`.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Verified => "verified",
            Verdict::Wrong(_) => "wrong",
            Verdict::Unchecked => "not checked",
            Verdict::Cut => "not compared",
            Verdict::NotFinished { .. } => "not finished",
        }
    }

    /// `true` only for a verified run, `false` where something differs, and null where nothing can be said.
    pub(super) fn verified(&self) -> Value {
        match self {
            Verdict::Verified => true.into(),
            _ if !self.problems().is_empty() => false.into(),
            _ => Value::Null,
        }
    }

    /// As a summary's first line says it.
    pub(super) fn sentence(&self) -> String {
        match self {
            Verdict::Verified => "results verified".to_owned(),
            Verdict::Wrong(problems) => format!("RESULTS WRONG ({})", problems.len()),
            Verdict::Unchecked => "results not checked".to_owned(),
            Verdict::Cut => "results not compared, the run ended with its region".to_owned(),
            Verdict::NotFinished { problems, .. } if problems.is_empty() => "NOT FINISHED".to_owned(),
            Verdict::NotFinished { problems, .. } => {
                format!("NOT FINISHED, and WRONG until then ({})", problems.len())
            }
        }
    }
}

/// What the reference executor was compared with: all of memory, after each of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Launches.
    pub launches: u64,
    /// Host phases.
    pub phases: u64,
}

impl Checked {
    pub(super) fn to_json(self) -> Value {
        json!({ "launches": self.launches, "host_phases": self.phases })
    }

    /// Whether anything was compared.
    pub fn any(self) -> bool {
        self != Checked::default()
    }

    /// As a summary says it.
    pub(super) fn sentence(self) -> String {
        let launches = count(self.launches, "launch", "launches");
        match self.phases {
            0 if self.launches == 0 => "nothing compared".to_owned(),
            0 => format!("memory compared after {launches}"),
            phases => {
                format!("memory compared after {launches} and {}", count(phases, "host phase", "host phases"))
            }
        }
    }
}

fn count(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_run_that_ended_and_was_compared_is_verified() {
        let wrong = || vec!["c differs".to_owned()];
        let stopped = |problems| Verdict::NotFinished { reason: "the cycle limit".into(), problems };
        for (verdict, name, verified) in [
            (Verdict::of_ended(vec![], true), "verified", Value::Bool(true)),
            (Verdict::of_ended(vec![], false), "not checked", Value::Null),
            (Verdict::of_ended(wrong(), true), "wrong", Value::Bool(false)),
            (Verdict::of_ended(wrong(), false), "wrong", Value::Bool(false)),
            (Verdict::Cut, "not compared", Value::Null),
            (stopped(vec![]), "not finished", Value::Null),
            (stopped(wrong()), "not finished", Value::Bool(false)),
        ] {
            assert_eq!((verdict.name(), verdict.verified()), (name, verified), "{verdict:?}");
            assert_eq!(verdict.sentence().contains("verified"), name == "verified", "{verdict:?}");
        }
        assert_eq!(
            Checked { launches: 1, phases: 2 }.sentence(),
            "memory compared after 1 launch and 2 host phases"
        );
        assert_eq!(Checked::default().sentence(), "nothing compared");
    }
}
