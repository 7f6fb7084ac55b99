//! What a run would gain from more threads, in results: host figures, which differ from run to run.

use std::time::Duration;

use serde_json::{Map, Value, json};
use strata_engine::Schedule;
use strata_engine::schedule::Span;

use super::rows::Page;

/// What each part of the machine cost the host, and what more threads would gain.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSchedule {
    /// Island by island.
    pub schedule: Schedule,
    /// The islands of a kind together.
    pub parts: Vec<PartWork>,
}

/// What the islands of a kind cost the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartWork {
    /// The kind.
    pub kind: &'static str,
    /// How many there are.
    pub islands: usize,
    /// Host time of all of them.
    pub work: Duration,
}

impl RunSchedule {
    /// How much of the work is the longest island of each window.
    fn longest_share(&self) -> f64 {
        share(self.schedule.longest, self.schedule.work)
    }

    pub(super) fn to_json(&self) -> Value {
        let schedule = &self.schedule;
        let parts: Map<String, Value> = self
            .parts
            .iter()
            .map(|part| {
                let PartWork { kind, islands, work } = *part;
                let values = json!({
                    "islands": islands,
                    "seconds": work.as_secs_f64(),
                    "share": share(work, schedule.work),
                });
                (kind.to_owned(), values)
            })
            .collect();
        let span = |span: &Span| {
            json!({
                "threads": span.threads,
                "speed_up": schedule.speed_up(span),
                "seconds": span.seconds(),
                "seconds_per_window": span.overhead.seconds,
                "is_measured": span.overhead.is_measured,
            })
        };
        json!({
            "windows": schedule.windows,
            "seconds": schedule.work.as_secs_f64(),
            "parts": parts,
            "longest_seconds": schedule.longest.as_secs_f64(),
            "longest_share": self.longest_share(),
            "threads": schedule.spans.iter().map(span).collect::<Vec<_>>(),
        })
    }

    pub(super) fn rows(&self, page: &mut Page) {
        let schedule = &self.schedule;
        let part =
            |part: &PartWork| format!("{:.1} % {}", 100.0 * share(part.work, schedule.work), part.kind);
        page.row(
            "work",
            &format!(
                "{:.2} s in {} windows: {}",
                schedule.work.as_secs_f64(),
                super::rows::group(schedule.windows),
                self.parts.iter().map(part).collect::<Vec<_>>().join(", ")
            ),
        );
        page.row("longest island of a window", &format!("{:.1} % of the work", 100.0 * self.longest_share()));
        let gain = |span: &Span| format!("{:.2} on {}", schedule.speed_up(span), span.threads);
        let gains: Vec<String> = schedule.spans[1..].iter().map(gain).collect();
        page.row("computed speed-up", &format!("{} threads", gains.join(", ")));
    }
}

/// Part of a whole; 0 if there is none.
fn share(part: Duration, whole: Duration) -> f64 {
    if whole.is_zero() { 0.0 } else { part.as_secs_f64() / whole.as_secs_f64() }
}
