//! Fills a store with many results, to measure how it is opened and packed.
//!
//! ```console
//! cargo run -p strata-lab --example large_store -- FOLDER COUNT RESULT.parquet
//! ```
//!
//! Each is a copy of a given result for a job with other inputs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use strata_gpu::machine::identity::digest;
use strata_lab::job::Job;
use strata_lab::store::columns;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let filled = match arguments.as_slice() {
        [folder, count, result] => match count.parse() {
            Ok(count) => fill(Path::new(folder), count, Path::new(result)),
            Err(error) => Err(format!("{count}: {error}, expected a number")),
        },
        _ => Err("expected FOLDER COUNT RESULT.parquet".into()),
    };
    match filled {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn fill(folder: &Path, count: u64, result: &Path) -> Result<(), String> {
    let named = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let mut bytes = std::fs::read(result).map_err(|error| named(result, error))?;
    let job = columns::decode(bytes.clone()).map_err(|error| format!("{}: {error}", result.display()))?.job;
    // The job stands in the file as text, so that its inputs can be replaced there.
    let places: Vec<usize> = bytes
        .windows(job.inputs.len())
        .enumerate()
        .filter(|(_, window)| *window == job.inputs.as_bytes())
        .map(|(at, _)| at)
        .collect();
    std::fs::create_dir_all(folder).map_err(|error| named(folder, error))?;
    for number in 0..count {
        let inputs = format!("{number:0width$x}", width = job.inputs.len());
        for at in &places {
            bytes[*at..at + inputs.len()].copy_from_slice(inputs.as_bytes());
        }
        let key = Job { inputs, ..job.clone() }.key();
        let path: PathBuf = folder.join(format!("{key}-{}.parquet", digest(&bytes)));
        std::fs::write(&path, &bytes).map_err(|error| named(&path, error))?;
    }
    Ok(())
}
