//! The part is there by its name, and programs come out right on it.

use std::process::{Command, Output};

fn command(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_my-idea"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap()
}

#[test]
fn programs_come_out_right() {
    for workload in ["atax", "histo"] {
        let run = command(&["run", workload, "--check", "--json", "-", "--system", "my-idea.toml"]);
        let error = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{workload}: {error}");
        let result: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        assert_eq!(result["verified"], true, "{workload}: {result}");
    }
}

#[test]
fn it_makes_a_difference() {
    let systems = ["--systems", "gtx480,my-idea.toml"];
    let compared =
        command(&[&["compare", "DIFFERS", "--metric", "cycles", "--json", "-"][..], &systems].concat());
    let error = String::from_utf8_lossy(&compared.stderr);
    assert!(compared.status.success(), "{error}");
    let result: serde_json::Value = serde_json::from_slice(&compared.stdout).unwrap();
    assert_ne!(result["numbers"][0]["value"], result["numbers"][1]["value"], "{result}");
}
