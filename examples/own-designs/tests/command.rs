//! The designs show up wherever the command speaks of designs, and programs come out right on them.

use std::path::PathBuf;
use std::process::Command;

/// Systems, the door that each replaces, the design's name, and a counter of its own.
const OWN: [(&str, &str, &str, &str); 4] = [
    ("blocking", "l1d", "blocking", "blocking_l1d.hits"),
    ("direct-mapped", "llc", "direct-mapped", "direct_mapped_llc.fetches"),
    ("switchless", "network", "switchless", "ideal_network.request.bytes"),
    ("ported", "sm.register_file", "ported", "ported_registers.reads"),
];

fn system(name: &str) -> String {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("systems/{name}.toml"));
    file.to_str().expect("the path is text").to_owned()
}

/// Standard output of a command that ends well.
fn strata(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_own-designs")).args(arguments).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{arguments:?}: {out}{err}");
    out.into_owned()
}

#[test]
fn they_are_listed_behind_their_doors() {
    let doors: serde_json::Value = serde_json::from_str(&strata(&["list", "doors", "--json"])).unwrap();
    for (_, door, design, _) in OWN {
        let row = doors.as_array().unwrap().iter().find(|row| row["name"] == door).unwrap();
        let choices = row["choices"].as_array().unwrap();
        assert!(choices.iter().any(|choice| choice == design), "{row}");
        assert!(choices.len() >= 2, "those that come with the program are still there: {row}");
    }
}

#[test]
fn they_are_explained_with_their_counters_and_energies() {
    for (name, _, _, counter) in OWN {
        let text = strata(&["explain", counter, "--system", &system(name)]);
        assert!(text.starts_with(counter), "{text}");
        let (group, _) = counter.rsplit_once('.').unwrap();
        let energies = strata(&["explain", "energy", "--system", &system(name)]);
        assert!(energies.contains(group), "{group}: {energies}");
    }
}

#[test]
fn their_area_is_counted() {
    let text = strata(&["area", "--system", &system("blocking")]);
    assert!(text.starts_with("l1d.blocking\n"), "{text}");
    assert!(text.contains("data array"), "{text}");
}

#[test]
fn programs_come_out_right_on_each_and_on_all_together() {
    let each = OWN.map(|(name, ..)| system(name));
    let all: Vec<&str> = each.iter().map(String::as_str).collect();
    let mut choices: Vec<Vec<&str>> = all.iter().map(|name| vec![*name]).collect();
    choices.push(all);
    for machine in ["gtx480", "volta-fuse"] {
        for systems in &choices {
            let mut arguments = vec!["run", "histo", "--check", "--json", "-", "--machine", machine];
            systems.iter().for_each(|system| arguments.extend(["--system", system]));
            let result: serde_json::Value = serde_json::from_str(&strata(&arguments)).unwrap();
            assert_eq!(result["verified"], true, "{machine}, {systems:?}");
            for (_, _, _, counter) in OWN.iter().filter(|own| systems.contains(&system(own.0).as_str())) {
                let (group, name) = counter.rsplit_once('.').unwrap();
                assert!(result["statistics"][group][name].as_u64().unwrap() > 0, "{counter}: {result}");
            }
        }
    }
}

#[test]
fn policies_are_chosen_by_name() {
    for (keys, counter) in [
        (["l1d.replacement=evict-latest", "llc.replacement=evict-latest"], "l1d.evictions"),
        (["l1d.prefetch=pair", "llc.prefetch=pair"], "l1d_prefetch.issued"),
    ] {
        let mut arguments = vec!["run", "histo", "--check", "--json", "-"];
        keys.iter().for_each(|key| arguments.extend(["--set", key]));
        let result: serde_json::Value = serde_json::from_str(&strata(&arguments)).unwrap();
        assert_eq!(result["verified"], true, "{keys:?}");
        let (group, name) = counter.rsplit_once('.').unwrap();
        assert!(result["statistics"][group][name].as_u64().unwrap() > 0, "{counter}: {result}");
    }
}

#[test]
fn an_array_of_counters_is_a_line_for_readers_and_every_counter_in_json() {
    let system = system("ported");
    let json: serde_json::Value =
        serde_json::from_str(&strata(&["run", "histo", "--system", &system, "--json", "-"])).unwrap();
    let count = |group: &str, name: &str| json["statistics"][group][name].as_u64().unwrap();
    let reads: u64 = (0..6).map(|port| count("register_ports", &format!("read_{port:02}"))).sum();
    let writes: u64 = (0..2).map(|port| count("register_ports", &format!("write_{port:02}"))).sum();
    assert!(writes > 0);
    assert_eq!((reads, writes), (count("ported_registers", "reads"), count("ported_registers", "writes")));

    let summary = strata(&["run", "histo", "--system", &system]);
    let ports = summary.split_once(" register ports\n").expect("a section of its own").1;
    let lines: Vec<&str> = ports.lines().take(2).collect();
    assert!(lines[0].starts_with("  read    ") && lines[0].ends_with("; 6 counters"), "{summary}");
    assert!(lines[1].starts_with("  write   ") && lines[1].ends_with("; 2 counters"), "{summary}");

    let text = strata(&["explain", "register_ports", "--system", &system]);
    let lines = [
        "register_ports.read_00 to read_05 [rows]: Rows read through the port.",
        "register_ports.write_00 to write_01 [rows]: Rows written through the port.",
        "",
    ];
    assert_eq!(text, lines.join("\n"));
}

#[test]
fn the_scheduler_is_a_policy_like_any_other() {
    let policies: serde_json::Value = serde_json::from_str(&strata(&["list", "policies", "--json"])).unwrap();
    let row = policies.as_array().unwrap().iter().find(|row| row["name"] == "reads-first").unwrap();
    assert_eq!(
        (&row["key"], &row["value"]),
        (&"dram.scheduler".into(), &"{ reads-first = { writes = ... } }".into())
    );
    let text = strata(&["explain", "reads-first"]);
    assert!(
        text.contains("Reads before writes") && text.contains("`writes`: Writes that make a bank"),
        "{text}"
    );

    let cycles = |scheduler: &str| {
        let set = format!("dram.scheduler={scheduler}");
        // One channel and a small cache, so that reads and writes wait for the same banks.
        let busy = ["--set", "gpu.channels=1", "--set", "llc.sets=8"];
        let arguments = [&["run", "transpose", "--check", "--json", "-", "--set", &set], &busy[..]].concat();
        let result: serde_json::Value = serde_json::from_str(&strata(&arguments)).unwrap();
        assert_eq!(result["verified"], true, "{scheduler}");
        result["cycles"].as_u64().unwrap()
    };
    assert_ne!(cycles("{ reads-first = { writes = 8 } }"), cycles("fr-fcfs-cap"));

    let output = Command::new(env!("CARGO_BIN_EXE_own-designs"))
        .args(["run", "saxpy", "--set", "dram.scheduler={ reads-first = { writes = 0 } }"])
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("dram: scheduler: found writes = 0, expected at least 1"), "{error}");
}

#[test]
fn the_warp_scheduler_is_a_policy_like_any_other() {
    let policies: serde_json::Value = serde_json::from_str(&strata(&["list", "policies", "--json"])).unwrap();
    let row = policies.as_array().unwrap().iter().find(|row| row["name"] == "youngest-first").unwrap();
    assert_eq!((&row["key"], &row["value"]), (&"sm.scheduling".into(), &"youngest-first".into()));

    let cycles = |scheduling: &str| {
        let set = format!("sm.scheduling={scheduling}");
        let result: serde_json::Value =
            serde_json::from_str(&strata(&["run", "atax", "--check", "--json", "-", "--set", &set])).unwrap();
        assert_eq!(result["verified"], true, "{scheduling}");
        result["cycles"].as_u64().unwrap()
    };
    assert_ne!(cycles("youngest-first"), cycles("greedy-then-oldest"));
}

#[test]
fn two_for_one_door_are_refused_by_name() {
    let output = Command::new(env!("CARGO_BIN_EXE_own-designs"))
        .args(["run", "saxpy", "--system", "dy-fuse", "--system", &system("blocking")])
        .output()
        .unwrap();
    assert!(!output.status.success());
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("`l1d` is replaced by the system `dy-fuse` already"), "{error}");
}
