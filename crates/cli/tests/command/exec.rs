//! `strata exec`, with shell scripts as programs and text files as drivers.

use crate::{Ran, folder, json, refused, strata, well};

/// The lines that a driver would write about a program that does what a run did: those of launches, and the whole run's.
fn driver_lines(run: &str) -> (String, String) {
    let mut whole = json(run);
    let mut lines = String::new();
    let launches = whole["launches"].take();
    for (number, launch) in launches.as_array().unwrap().iter().enumerate() {
        let mut launch = launch.clone();
        launch["launch"] = number.into();
        lines += &format!("{launch}\n");
    }
    whole["launch_count"] = launches.as_array().unwrap().len().into();
    (lines, format!("{whole}\n"))
}

#[test]
fn exec_stores_what_a_whole_program_cost() {
    let folder = folder("exec_store", &[("libcuda.so", "")]);
    let path = |name: &str| folder.join(name).display().to_string();
    let _ = std::fs::remove_dir_all(folder.join("store"));
    let (launches, whole) = driver_lines(&well(&["run", "saxpy", "--set", "gpu.sms=2", "--json", "-"]));
    let write = |name: &str, launches: &str, whole: Option<&str>| {
        let _ = std::fs::remove_dir_all(folder.join(name));
        std::fs::create_dir(folder.join(name)).unwrap();
        std::fs::write(folder.join(name).join("0.launches"), launches).unwrap();
        whole.into_iter().for_each(|whole| std::fs::write(folder.join(name).join("0.run"), whole).unwrap());
    };
    write("whole", &launches, Some(&whole));
    write("part", &launches, None);
    let (driver, store) = (path("libcuda.so"), path("store"));
    let run = |lines: &str, status: &str| {
        let script = "cp \"$0\"/* \"$STRATA_RESULTS\" && exit $1";
        strata(&[
            "exec",
            "--driver",
            &driver,
            "--set",
            "gpu.sms=2",
            "--store",
            &store,
            "--",
            "sh",
            "-c",
            script,
            &path(lines),
            status,
        ])
    };
    let stored = || {
        let names = std::fs::read_dir(folder.join("store")).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".parquet")).count()
    };
    let part = run("part", "0");
    assert_eq!(part.status, 2, "{}", part.err);
    assert!(part.err.contains("error: sh: not stored: found no results of the whole run"), "{}", part.err);
    let failed = run("whole", "3");
    assert_eq!((failed.status, stored()), (3, 0));
    assert!(failed.err.ends_with("sh: not stored: exit status: 3, expected 0\n"), "{}", failed.err);
    for _ in 0..2 {
        let Ran { status, err, .. } = run("whole", "0");
        assert_eq!((status, stored()), (0, 1), "{err}");
        let file = err.lines().last().unwrap().strip_prefix("sh: stored in ").expect("it says where");
        let record = strata_lab::store::columns::decode(std::fs::read(file).unwrap()).unwrap();
        assert_eq!(record.job.variant, "gtx480 with gpu.sms=2");
        assert_eq!(record.job.command[1], "exec");
        let cycles = |row: &&strata_lab::record::Row| row.launch == Some(0) && row.counter == "cycles";
        let cycles = record.rows.iter().find(cycles).unwrap().value;
        assert_eq!(json(launches.lines().next().unwrap())["cycles"].as_f64(), Some(cycles.as_f64()));
    }
    let listed = json(&well(&["list", "runs", "saxpy", "--store", &store, "--json"]));
    assert_eq!(listed[0]["program"], "CUDA program");
    assert_eq!(listed[0]["cycles"], json(&whole)["cycles"]);
    let table = well(&["list", "runs", "--store", &store]);
    assert!(table.starts_with("NAME   SIZE  PROGRAM"), "{table}");
    let others = launches.replace("\"registers_per_thread\":", "\"registers_per_thread\":1");
    write("other", &others, Some(&whole));
    let other = run("other", "0");
    assert_eq!((other.status, stored()), (2, 1));
    assert!(other.err.contains("has other numbers for it"), "{}", other.err);
    assert!(
        refused(&["exec", "--functional", "--store", &store, "--", "true"]).contains("cannot be used with")
    );
}

#[test]
fn exec_runs_a_program_with_its_environment() {
    let folder = std::env::temp_dir().join(format!("strata-exec-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let library = folder.join("libcuda.so");
    for name in ["libcuda.so", "libcudart_12.so"] {
        std::fs::write(folder.join(name), name).unwrap();
    }
    // The driver and the runtimes must appear under the names that programs look for; missing runtimes are
    // left out.
    let script = "cd \"${LD_LIBRARY_PATH%%:*}\" && echo $(ls) $(cat libcuda.so.1 libcudart.so.12) \
                  && echo $STRATA_MACHINE $STRATA_SET $STRATA_MODE && exit $0";
    let run = |status: &str, set: &str| {
        let driver = library.to_str().unwrap();
        strata(&["exec", "--driver", driver, "--functional", "--set", set, "--", "sh", "-c", script, status])
    };
    let well = run("0", "gpu.sms=2");
    let expected =
        "libcuda.so libcuda.so.1 libcudart.so.12 libcuda.solibcudart_12.so\ngtx480 gpu.sms=2 functional\n";
    assert_eq!((well.status, well.out.as_str()), (0, expected), "{}", well.err);
    assert_eq!(well.err, "sh: made no CUDA call, so there are no results\n");
    assert_eq!(run("3", "gpu.sms=2").status, 3, "the program's own status");
    let driver = library.to_str().unwrap();
    for (signal, status) in [("KILL", 128 + 9), ("SEGV", 128 + 11), ("TERM", 128 + 15)] {
        let script = format!("kill -s {signal} $$");
        let killed = strata(&["exec", "--driver", driver, "--", "sh", "-c", &script]);
        assert_eq!((killed.status, killed.err.as_str()), (status, well.err.as_str()), "as a shell gives it");
    }
    assert!(run("0", "gpu.sm=2").err.contains("unknown key `gpu.sm` (did you mean `gpu.sms`?)"));
    std::fs::remove_dir_all(&folder).unwrap();
}
