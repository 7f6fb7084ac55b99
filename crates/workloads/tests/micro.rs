//! Microbenchmarks as launch files: what is written can be read, and every figure can be found in what is run.

use std::collections::BTreeSet;
use std::path::PathBuf;

use strata_workloads::micro::{self, Benchmark, CLOCKS, FIGURES, Reading, Scale, Target};
use strata_workloads::{HostProgram, launch_file};

const TARGET: Target = Target { sms: 4, capability: 90, l2_bytes: 1 << 20 };

/// A folder that goes when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        Folder(std::env::temp_dir().join(format!("strata-micro-{}-{name}", std::process::id())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn an_exported_set_is_read_back_as_it_is_run() {
    let folder = Folder::new("set");
    let all = micro::all(Scale::Small, TARGET);
    micro::export(&all, &folder.0).unwrap();
    let mut files = BTreeSet::new();
    for benchmark in &all {
        let name = format!("{}-{}.toml", benchmark.family, benchmark.name);
        let file = launch_file::read(&folder.0.join(&name)).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(file.module().text, benchmark.text.ptx, "{name}");
        assert_eq!(file.plan(), benchmark.plan(), "{name}");
        assert!(files.insert(name.clone()), "{name} twice");
    }
    let table = std::fs::read_to_string(folder.0.join(FIGURES)).unwrap();
    let figures: usize = all.iter().map(|benchmark| benchmark.figures.len()).sum();
    assert_eq!(table.lines().count(), 1 + figures);
    let columns = table.lines().next().unwrap().split(',').count();
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(fields.len(), columns, "{line}");
        assert!(files.contains(fields[0]), "{line}");
    }
}

#[test]
fn every_figure_lies_within_what_its_benchmark_runs() {
    for scale in [Scale::Small, Scale::Full] {
        let mut cases = BTreeSet::new();
        for benchmark in micro::all(scale, TARGET) {
            check(&benchmark);
            for figure in &benchmark.figures {
                // Two series share their last point.
                let is_shared = benchmark.family == "bandwidth" && figure.case.ends_with("-t2048");
                let is_new = cases.insert((benchmark.family, figure.case.clone()));
                assert!(is_new || is_shared, "{} {} twice", benchmark.family, figure.case);
            }
        }
    }
}

fn check(benchmark: &Benchmark) {
    let name = format!("{} {}", benchmark.family, benchmark.name);
    let known = |buffer: &str| buffer == CLOCKS || benchmark.buffers.iter().any(|of| of.name == buffer);
    for launch in &benchmark.launches {
        let entry = format!(".entry {}(", launch.kernel);
        assert!(benchmark.text.ptx.contains(&entry), "{name}: no kernel {}", launch.kernel);
        assert!(launch.block <= 1024 && launch.grid > 0 && launch.repeat > 0, "{name}");
        for argument in &launch.arguments {
            if let micro::Argument::Address(buffer, _) = argument {
                assert!(known(buffer), "{name}: no buffer {buffer}");
            }
        }
    }
    for figure in &benchmark.figures {
        assert!(figure.work > 0.0, "{name}");
        for span in figure.short.iter().chain([&figure.long]) {
            assert!(span.launch < benchmark.launches.len(), "{name}");
            assert!(span.pair + span.pairs <= benchmark.pairs, "{name}");
            let is_of_clocks = !matches!(figure.reading, Reading::TimePerWork | Reading::WorkPerTime);
            assert!(!is_of_clocks || span.pairs > 0, "{name} {}", figure.case);
        }
    }
}
