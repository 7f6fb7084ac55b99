//! Timed launches: events, and results in a file.

#![allow(unsafe_code, reason = "a client of a C library")]

mod support;

use support::*;

/// Runs an addition and returns its time in milliseconds, measured by two events.
fn add(cuda: &Cuda, n: u32) -> f32 {
    let (_, add) = function(cuda, ADD, "add");
    let a = buffer(cuda, &vec![1.5_f32; n as usize]);
    let out = buffer(cuda, &vec![0.0_f32; n as usize]);
    let (mut start, mut end, mut elapsed) = (none(), none(), -1.0_f32);
    for event in [&mut start, &mut end] {
        assert_eq!(call!(cuda, "cuEventCreate", to(event), number(0)), SUCCESS);
    }
    assert_eq!(
        call!(cuda, "cuEventElapsedTime", to(&mut elapsed), start, end),
        INVALID_HANDLE,
        "not recorded"
    );
    assert_eq!(call!(cuda, "cuEventRecord", start, number(0)), SUCCESS);
    assert_eq!(launch(cuda, add, n.div_ceil(128), 128, &[of(&out), of(&a), of(&a), of(&n)]), SUCCESS);
    assert_eq!(call!(cuda, "cuEventRecord", end, number(0)), SUCCESS);
    assert_eq!(call!(cuda, "cuEventSynchronize", end), SUCCESS);
    assert_eq!(call!(cuda, "cuEventElapsedTime", to(&mut elapsed), start, end), SUCCESS);
    assert_eq!(contents::<f32>(cuda, out, n as usize), vec![3.0; n as usize]);
    elapsed
}

#[test]
fn time_is_simulated_and_results_are_written() {
    if std::env::var_os("STRATA_RESULTS").is_some() {
        // The client is this same test in a child process.
        let cuda = Cuda::with(&[]);
        context(cuda);
        let elapsed = [add(cuda, 256), add(cuda, 4096)];
        println!("elapsed {} {}", elapsed[0], elapsed[1]);
        return;
    }
    let folder = std::env::temp_dir().join(format!("strata-driver-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("results.jsonl");
    let client = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "time_is_simulated_and_results_are_written", "--nocapture"])
        .env("STRATA_RESULTS", &file)
        .env("STRATA_SET", "gpu.sms=2")
        .output()
        .unwrap();
    let said = String::from_utf8(client.stdout).unwrap();
    assert!(client.status.success(), "{said}{}", String::from_utf8_lossy(&client.stderr));
    let line = said.lines().find_map(|line| line.split_once("elapsed ")).expect("the client says it").1;
    let elapsed: Vec<f64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
    let lines = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3, "two launches and all of them");
    let cycles: Vec<u64> = lines.iter().map(|line| line["cycles"].as_u64().unwrap()).collect();
    assert!(cycles[0] > 200 && cycles[1] > cycles[0] && cycles[2] == cycles[0] + cycles[1], "{cycles:?}");
    for (milliseconds, cycles) in elapsed.iter().zip(&cycles) {
        // The clock is 700 MHz.
        let expected = *cycles as f64 / 700e3;
        assert!((milliseconds - expected).abs() < 1e-6, "{milliseconds} ms, {cycles} cycles");
    }
    assert_eq!((&lines[1]["kernel"], &lines[1]["launch"]), (&"add".into(), &1.into()));
    assert_eq!((&lines[2]["schema"], &lines[2]["machine"]), (&"strata-run-1".into(), &"gtx480".into()));
    assert_eq!(lines[2]["statistics"]["sm"]["ctas"], 34);
    let whole = &lines[2];
    assert_eq!((&whole["stopped"], &whole["launch_count"]), (&serde_json::Value::Null, &2.into()));
    for hash in ["ptx", "inputs"] {
        assert_eq!(whole["provenance"][hash].as_str().map(str::len), Some(32), "{hash}");
    }
}

#[test]
fn an_environment_that_means_nothing_is_complained_of() {
    if std::env::var_os("STRATA_MODE").is_some() {
        let cuda = Cuda::load();
        let mut count = 0_i32;
        assert_eq!(call!(cuda, "cuDeviceGetCount", to(&mut count)), NOT_INITIALIZED);
        assert_eq!(call!(cuda, "cuInit", number(0)), INVALID_VALUE);
        assert_eq!(call!(cuda, "cuDeviceGetCount", to(&mut count)), NOT_INITIALIZED);
        return;
    }
    let client = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "an_environment_that_means_nothing_is_complained_of", "--nocapture"])
        .env("STRATA_MODE", "fast")
        .output()
        .unwrap();
    let said = String::from_utf8(client.stderr).unwrap();
    assert!(client.status.success(), "{said}");
    assert!(said.contains("STRATA_MODE: found `fast`, expected `timing`, `check` or `functional`"), "{said}");
}
