//! Explanations of measured numbers: sentences whose numbers are computed from the runs.
//!
//! An explanation is a template in which every number is either measured or sourced.
//!
//! `{METRIC SYSTEM[/OVER] [with=KEY=VALUE]... [@WORKLOADS] [HOW] [>N] [<N]}` is a measured number: the metric on a system over
//! the named workloads (a set of the paper's, or names joined by `+`; `all` by default), divided by the
//! metric on OVER where given. HOW is `range` (the default: smallest to largest), `mean`, `least`, `greatest`
//! or `sum` (divided by OVER's sum); add `change` for percent less 100, or `percent` to multiply by 100.
//! `with=KEY=VALUE` is an experiment: SYSTEM, and not OVER, has this value. `on=MACHINE` selects another machine. `>N` and `<N` give the bounds within which the sentence holds.
//!
//! `{= PHRASE | SOURCE}` is a number that is not measured, with its source.

use std::fmt::Write;

use crate::grid::divide;
use crate::metric::Metric;
use crate::paper::{FigureJob, Paper};
use crate::question::{Answers, Cell};
use crate::setup::{Sets, Setup};

/// A parsed explanation template.
pub struct Template<'a>(Vec<Piece<'a>>);

enum Piece<'a> {
    Words(String),
    Quote(Box<Quote<'a>>),
}

/// An explanation with its numbers filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// The sentences, with numbers.
    pub text: String,
    /// Numbers that are missing, or outside the bounds that the sentences need.
    pub problems: Vec<String>,
}

impl<'a> Template<'a> {
    /// Parses a template.
    ///
    /// # Errors
    /// A number that is neither measured nor sourced, an unknown name, or a template without any measured
    /// number.
    pub fn parse(paper: &'a Paper, text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((words, after)) = rest.split_once('{') {
            let (inside, after) =
                after.split_once('}').ok_or_else(|| format!("`{{{after}`: found the end, expected `}}`"))?;
            pieces.push(Piece::Words(plain(words)?));
            pieces.push(match inside.strip_prefix('=') {
                Some(given) => Piece::Words(sourced(given)?),
                None => {
                    let quote = Quote::parse(paper, inside);
                    Piece::Quote(Box::new(quote.map_err(|error| format!("`{{{inside}}}`: {error}"))?))
                }
            });
            rest = after;
        }
        pieces.push(Piece::Words(plain(rest)?));
        if !pieces.iter().any(|piece| matches!(piece, Piece::Quote(_))) {
            return Err(format!("`{text}`: found no measured number, expected one"));
        }
        Ok(Template(pieces))
    }

    /// The jobs that measure the template's numbers.
    #[must_use]
    pub fn jobs(&self) -> Vec<FigureJob<'_>> {
        self.quotes().flat_map(Quote::jobs).collect()
    }

    fn quotes(&self) -> impl Iterator<Item = &Quote<'a>> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Quote(quote) => Some(&**quote),
            Piece::Words(_) => None,
        })
    }

    /// Fills in the numbers from a store. Each entry of `answers` is one size; a number missing at the first
    /// size is taken from the next, and the text then names that size.
    pub fn fill(&self, answers: &mut [Answers<'_>]) -> Explanation {
        let mut explanation = Explanation::default();
        for piece in &self.0 {
            match piece {
                Piece::Words(words) => explanation.text += words,
                Piece::Quote(quote) => quote.fill(answers, &mut explanation),
            }
        }
        explanation
    }
}

/// Text between numbers. Digits may appear in it only as part of a name.
fn plain(words: &str) -> Result<String, String> {
    let mut before = "";
    for word in words.split_whitespace() {
        let has = |test: fn(char) -> bool| word.chars().any(test);
        let is_reference = matches!(before, "Fig." | "Figs." | "Table");
        if has(|c| c.is_ascii_digit()) && !has(char::is_alphabetic) && !is_reference {
            return Err(format!(
                "`{}`: found `{word}`, expected a measured number, as in {{ipc dy-fuse/l1-sram @all mean}}, or \
                 {{= {word} | its source}}",
                words.trim()
            ));
        }
        before = word.trim_start_matches('(');
    }
    Ok(words.to_owned())
}

/// A phrase with a named source.
fn sourced(given: &str) -> Result<String, String> {
    match given.split_once('|') {
        Some((phrase, source)) if !phrase.trim().is_empty() && !source.trim().is_empty() => {
            Ok(phrase.trim().to_owned())
        }
        _ => Err(format!("`{{={given}}}`: expected {{= phrase | source}}")),
    }
}

/// A measured number within a sentence.
struct Quote<'a> {
    text: String,
    metric: &'a Metric,
    system: Setup,
    over: Option<Setup>,
    workloads: Vec<String>,
    how: How,
    scale: Scale,
    above: Option<f64>,
    below: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Range,
    Mean,
    Geometric,
    Least,
    Greatest,
    Sum,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scale {
    Plain,
    Change,
    Percent,
}

impl<'a> Quote<'a> {
    fn parse(paper: &'a Paper, text: &str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let expected = "expected METRIC SYSTEM[/OVER] [with=KEY=VALUE]... [@WORKLOADS] [HOW] [>N] [<N]";
        let (Some(metric), Some(systems)) = (words.next(), words.next()) else {
            return Err(expected.into());
        };
        let (mut set, mut how, mut scale, mut machine) = ("all", How::Range, Scale::Plain, None);
        let (mut above, mut below) = (None, None);
        let mut changed: Vec<String> = Vec::new();
        let number = |text: &str| text.parse().map_err(|_| format!("found `{text}`, expected a number"));
        for word in words {
            match word {
                "range" => how = How::Range,
                "mean" => how = How::Mean,
                "geometric" => how = How::Geometric,
                "least" => how = How::Least,
                "greatest" => how = How::Greatest,
                "sum" => how = How::Sum,
                "change" => scale = Scale::Change,
                "percent" => scale = Scale::Percent,
                _ => match word.split_at(1) {
                    ("@", name) => set = name,
                    (">", limit) => above = Some(number(limit)?),
                    ("<", limit) => below = Some(number(limit)?),
                    _ => match word.split_once('=') {
                        Some(("on", name)) => machine = Some(name),
                        Some(("with", assignment)) => changed.push(assignment.to_owned()),
                        _ => return Err(format!("found `{word}`, {expected}")),
                    },
                },
            }
        }
        let (system, over) = systems.split_once('/').map_or((systems, None), |(one, two)| (one, Some(two)));
        let sets = Sets::from([(system.to_owned(), changed)]);
        Ok(Quote {
            text: text.to_owned(),
            metric: paper.metric(metric)?,
            system: paper.setup_with(system, machine, &sets)?,
            over: over.map(|over| paper.setup(over, machine)).transpose()?,
            workloads: workloads(paper, set)?,
            how,
            scale,
            above,
            below,
        })
    }

    fn jobs(&self) -> impl Iterator<Item = FigureJob<'_>> {
        let setups = || std::iter::once(&self.system).chain(&self.over);
        self.workloads
            .iter()
            .flat_map(move |workload| setups().flat_map(|setup| setup.jobs(self.metric.kind, workload)))
    }

    fn fill(&self, answers: &mut [Answers<'_>], explanation: &mut Explanation) {
        let mut reason = String::new();
        for (place, answers) in answers.iter_mut().enumerate() {
            match self.numbers(answers) {
                Err(lacks) if reason.is_empty() => reason = lacks,
                Err(_) => {}
                Ok(numbers) => {
                    explanation.text += &self.written(&numbers);
                    if place > 0 {
                        write!(explanation.text, " (at {})", answers.size()).expect("a string grows");
                    }
                    let outside = numbers.iter().find(|number| {
                        self.above.is_some_and(|limit| **number <= limit)
                            || self.below.is_some_and(|limit| **number >= limit)
                    });
                    if let Some(number) = outside {
                        explanation.problems.push(format!(
                            "{{{}}}: found {}, so the sentence does not hold",
                            self.text,
                            short(*number)
                        ));
                    }
                    return;
                }
            }
        }
        explanation.text += "(not measured)";
        explanation.problems.push(format!("{{{}}}: {reason}", self.text));
    }

    /// The numbers to show: one, or the smallest and the largest.
    fn numbers(&self, answers: &mut Answers<'_>) -> Result<Vec<f64>, String> {
        let mut of = |setup: &Setup| -> Result<Vec<f64>, String> {
            let value = |workload: &String| setup.value(answers, self.metric, workload);
            self.workloads.iter().map(value).collect()
        };
        let numbers = of(&self.system)?;
        let over = self.over.as_ref().map(&mut of).transpose()?;
        let sum = |numbers: &[f64]| numbers.iter().sum::<f64>();
        let ratios = || -> Result<Vec<f64>, String> {
            match &over {
                None => Ok(numbers.clone()),
                Some(over) => {
                    numbers.iter().zip(over).map(|(one, over)| divide(Ok(*one), &Ok(*over))).collect()
                }
            }
        };
        let fold =
            |start: f64, of: fn(f64, f64) -> f64| -> Cell { Ok(ratios()?.into_iter().fold(start, of)) };
        let found = match self.how {
            How::Sum => vec![match &over {
                None => sum(&numbers),
                Some(over) => divide(Ok(sum(&numbers)), &Ok(sum(over)))?,
            }],
            How::Mean => vec![sum(&ratios()?) / numbers.len() as f64],
            How::Geometric => {
                let logarithms: Vec<f64> = ratios()?.into_iter().map(f64::ln).collect();
                vec![(sum(&logarithms) / numbers.len() as f64).exp()]
            }
            How::Least => vec![fold(f64::INFINITY, f64::min)?],
            How::Greatest => vec![fold(f64::NEG_INFINITY, f64::max)?],
            How::Range => vec![fold(f64::INFINITY, f64::min)?, fold(f64::NEG_INFINITY, f64::max)?],
        };
        Ok(found.into_iter().map(|number| self.scale.of(number)).collect())
    }

    fn written(&self, numbers: &[f64]) -> String {
        let sign = |number: &f64| if self.scale == Scale::Change && *number > 0.0 { "+" } else { "" };
        let mut texts: Vec<String> =
            numbers.iter().map(|number| format!("{}{}", sign(number), short(*number))).collect();
        texts.dedup();
        texts.join(" to ")
    }
}

impl Scale {
    fn of(self, number: f64) -> f64 {
        match self {
            Scale::Plain => number,
            Scale::Change => 100.0 * (number - 1.0),
            Scale::Percent => 100.0 * number,
        }
    }
}

/// The workloads of a named set of the paper, or of names joined by `+`.
fn workloads(paper: &Paper, set: &str) -> Result<Vec<String>, String> {
    if let Ok(workloads) = paper.workloads(set) {
        return Ok(workloads.to_vec());
    }
    let all = paper.workloads("all")?;
    let known = |name: &str| match all.iter().any(|known| known == name) {
        true => Ok(name.to_owned()),
        false => Err(format!("found `{name}`, expected a set of workloads or workloads joined by `+`")),
    };
    set.split('+').map(known).collect()
}

/// Formats a number for a sentence: three significant digits, and whole numbers with their digits in groups.
fn short(value: f64) -> String {
    match value.abs() {
        magnitude if magnitude >= 1000.0 => grouped(value),
        magnitude if magnitude >= 99.95 => format!("{value:.0}"),
        magnitude if magnitude >= 9.995 => format!("{value:.1}"),
        magnitude if magnitude >= 0.01 || magnitude == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.1e}"),
    }
}

fn grouped(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = if value < 0.0 { String::from("-") } else { String::new() };
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}
