//! A run over time, as a CSV file: one line for each span of a launch, one column for each counter and for
//! each structure's energy.

use std::path::Path;

use strata_gpu::energy::StructureEnergy;
use strata_gpu::results::{LaunchResult, RunResult, Sample};

/// Writes a run's samples to `path`.
///
/// # Errors
/// If the file cannot be written.
pub fn write(path: &Path, result: &RunResult) -> Result<(), String> {
    let failed = |error: csv::Error| format!("{}: {error}", path.display());
    let mut file = csv::Writer::from_path(path).map_err(failed)?;
    let mut spans = result
        .launches
        .iter()
        .enumerate()
        .flat_map(|(number, launch)| launch.samples.iter().map(move |sample| (number, launch, sample)));
    if let Some(first) = spans.next() {
        file.write_record(header(first.2)).map_err(failed)?;
        for (number, launch, sample) in std::iter::once(first).chain(spans) {
            file.write_record(line(number, launch, sample)).map_err(failed)?;
        }
    }
    file.flush().map_err(|error| format!("{}: {error}", path.display()))
}

fn header(sample: &Sample) -> Vec<String> {
    let place = ["launch", "kernel", "from_cycle", "to_cycle"].map(str::to_owned);
    let counters = sample.counted.iter().flat_map(|group| {
        group.definitions.iter().map(|definition| format!("{}.{}", group.name, definition.name))
    });
    let energies = structures(sample).flat_map(|structure| {
        ["dynamic_pj", "leakage_pj"].map(|kind| format!("energy.{}.{kind}", structure.name))
    });
    place.into_iter().chain(counters).chain(energies).collect()
}

fn line(number: usize, launch: &LaunchResult, sample: &Sample) -> Vec<String> {
    let place = [number.to_string(), launch.kernel.clone(), sample.from.to_string(), sample.to.to_string()];
    let counters = sample.counted.iter().flat_map(|group| group.values.iter().map(u64::to_string));
    let energies = structures(sample)
        .flat_map(|structure| [structure.dynamic_pj(), structure.leakage_pj].map(|pj| pj.to_string()));
    place.into_iter().chain(counters).chain(energies).collect()
}

fn structures(sample: &Sample) -> impl Iterator<Item = &StructureEnergy> {
    sample.energy.iter().flat_map(|energy| &energy.structures)
}
