//! Energy of whole runs.

use crate::support::{How, gtx480, verified};
use strata_gpu::results::RunResult;
use strata_workloads::Size;

fn run(workload: &str, threads: usize) -> RunResult {
    let program = strata_workloads::find(workload).unwrap().program(Size::Test).unwrap();
    verified(&gtx480(&[]), program.as_ref(), How { threads, ..How::PLAIN }, workload)
}

/// Equal up to the rounding of a sum.
fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

#[test]
fn the_launches_add_up_to_the_run() {
    let result = run("bfs", 1);
    assert!(result.launches.len() > 2, "a program of several launches");
    let whole = result.energy.as_ref().expect("a GTX 480 has energies");
    let launches: Vec<_> = result.launches.iter().map(|launch| launch.energy.as_ref().unwrap()).collect();
    for structure in &whole.structures {
        let parts = launches.iter().map(|launch| launch.structure(&structure.name).unwrap());
        let (dynamic, leakage) =
            parts.fold((0.0, 0.0), |sums, part| (sums.0 + part.dynamic_pj(), sums.1 + part.leakage_pj));
        assert!(close(dynamic, structure.dynamic_pj()), "{}: {dynamic}", structure.name);
        assert!(close(leakage, structure.leakage_pj), "{}: {leakage}", structure.name);
        for event in &structure.events {
            assert_eq!(result.counter(event.group, event.counter), Some(event.count));
        }
    }
    let cycles: u64 = result.launches.iter().map(|launch| launch.cycles).sum();
    assert!(close(whole.seconds, cycles as f64 / 700e6));
    for name in ["execution", "register_file", "l1d", "network_replies", "l2", "dram"] {
        assert!(whole.structure(name).unwrap().dynamic_pj() > 0.0, "{name} did something");
    }
    assert!((0.0..1.0).contains(&whole.off_chip_share()));
}

#[test]
fn energy_does_not_depend_on_threads() {
    assert_eq!(run("bfs", 1).energy, run("bfs", 3).energy);
}

#[test]
fn json_has_every_structure_and_its_sums() {
    let result = run("bfs", 1);
    let json = result.to_json();
    let energy = &json["energy"];
    let total = energy["pj"].as_f64().unwrap();
    assert!(close(total, energy["dynamic_pj"].as_f64().unwrap() + energy["leakage_pj"].as_f64().unwrap()));
    let structures = energy["structures"].as_object().unwrap();
    assert!(close(total, structures.values().map(|part| part["pj"].as_f64().unwrap()).sum()));
    let read = &structures["l1d"]["events"]["l1d.data_reads"];
    assert_eq!(read["count"], json["statistics"]["l1d"]["data_reads"]);
    assert_eq!(read["pj_each"], 150.0);
    assert!(json["launches"][0]["energy"]["pj"].as_f64().unwrap() > 0.0);
    assert_eq!(energy["unknown"], serde_json::json!([]));
}
