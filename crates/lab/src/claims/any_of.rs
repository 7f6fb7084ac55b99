//! A claim over programs of which a paper names only some: the least and the greatest number that any choice of the others gives.

use super::measurement::Measurement;
use crate::paper::{AnyText, FigureJob, MeasurementText, Paper};
use crate::question::{Answers, Cell};

/// A claim over some workloads and any so many of others.
pub struct AnyOf<'a> {
    named: Measurement<'a>,
    others: Measurement<'a>,
    /// How many of the others there are, and how many count.
    candidates: usize,
    count: usize,
}

impl<'a> AnyOf<'a> {
    /// Resolves the names.
    ///
    /// # Errors
    /// An unknown name, or fewer candidates than count.
    pub fn new(paper: &'a Paper, text: &MeasurementText, any: &AnyText) -> Result<AnyOf<'a>, String> {
        let candidates = paper.workloads(&any.of)?.len();
        if candidates < any.count {
            let AnyText { of, count, .. } = any;
            return Err(format!("any: found {candidates} workloads in `{of}`, expected {count} or more"));
        }
        let over = |set: &String| {
            Measurement::new(paper, &MeasurementText { workloads: set.clone(), ..text.clone() })
        };
        Ok(AnyOf { named: over(&any.beside)?, others: over(&any.of)?, candidates, count: any.count })
    }

    /// The jobs that it needs.
    pub fn jobs(&self) -> Vec<FigureJob<'a>> {
        [&self.named, &self.others].into_iter().flat_map(Measurement::jobs).collect()
    }

    /// The least and the greatest number.
    pub fn ends(&self, answers: &mut Answers<'_>) -> [Cell; 2] {
        match self.all(answers) {
            Ok(numbers) => [f64::INFINITY, f64::NEG_INFINITY].map(|start| {
                let pick = if start > 0.0 { f64::min } else { f64::max };
                Ok(numbers.iter().copied().fold(start, pick))
            }),
            Err(reason) => [Err(reason.clone()), Err(reason)],
        }
    }

    /// The numbers of the choices among which both ends are. Every way to reduce numbers to one goes up, or goes down, with each of
    /// them: the candidates with the smallest and with the largest numbers make the ends. Candidates without such a number may be
    /// among those chosen, and then fewer count.
    fn all(&self, answers: &mut Answers<'_>) -> Result<Vec<f64>, String> {
        let named = self.named.of_workloads(answers)?;
        let mut others = self.others.of_workloads(answers)?;
        others.sort_by(f64::total_cmp);
        let undefined = self.candidates - others.len();
        let mut numbers = Vec::new();
        for count in self.count.saturating_sub(undefined)..=self.count.min(others.len()) {
            for chosen in [&others[..count], &others[others.len() - count..]] {
                numbers.push(self.named.reduced(&[named.as_slice(), chosen].concat())?);
            }
        }
        Ok(numbers)
    }
}
