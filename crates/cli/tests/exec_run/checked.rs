//! Options that `strata exec` shares with `strata run`.

use super::*;

#[test]
fn a_limit_of_cycles_stops_an_endless_kernel() {
    let json = folder("limit").join("results.json");
    let options = ["--max-cycles", "5000", "--json", json.to_str().unwrap()];
    let (status, err) = ran(python(&mut exec(&options), &["seven,spin"]));
    assert_eq!(status, 3, "the client's own status: {err}");
    let lines = lines(&json);
    assert_eq!(kernels(&lines), [["seven", "spin"]]);
    let whole = &lines[2];
    assert_eq!((&whole["cycles"], &whole["verdict"]), (&5000.into(), &"not finished".into()));
    assert!(whole["stopped"].as_str().unwrap().contains("reached the cycle limit"), "{whole}");
    assert_eq!(lines[0]["cycles"].as_u64().unwrap() + lines[1]["cycles"].as_u64().unwrap(), 5000);
}

#[test]
fn memory_is_compared_with_the_reference_executors() {
    let json = folder("check").join("results.json");
    let run = |words: &str| {
        let found = ran(python(&mut exec(&["--check", "--json", json.to_str().unwrap()]), &[words]));
        (found, lines(&json).pop().unwrap())
    };
    let ((status, err), whole) = run("seven,seven");
    assert_eq!(
        (status, &whole["verdict"], &whole["verified"]),
        (0, &"verified".into(), &true.into()),
        "{err}"
    );
    assert_eq!(whole["checked"], serde_json::json!({ "launches": 2, "host_phases": 0 }));
    // What a clock says differs, and is named; each difference is found once.
    let ((status, err), whole) = run("seven,clock,seven");
    assert_eq!((status, &whole["verdict"], &whole["verified"]), (1, &"wrong".into(), &false.into()), "{err}");
    let wrong: Vec<&str> = err.lines().filter(|line| line.starts_with("wrong: ")).collect();
    assert_eq!(wrong.len(), 1, "{err}");
    assert!(wrong[0].starts_with("wrong: after launch 1 (`clock`), "), "{err}");
    assert!(wrong[0].ends_with("; the kernel reads %clock64, which cannot be checked"), "{err}");
    let (status, err) = ran(python(&mut exec(&["--check", "--functional"]), &["seven"]));
    assert!(status == 2 && err.contains("cannot be used with"), "{err}");
}

#[test]
fn counters_are_broken_down_in_the_line_of_the_whole_run() {
    let json = folder("by").join("results.json");
    let options = [
        "--by",
        "line",
        "--by",
        "launch",
        "--by",
        "buffer",
        "--by",
        "queue",
        "--json",
        json.to_str().unwrap(),
    ];
    let (status, err) = ran(python(&mut exec(&options), &["seven,clock"]));
    assert_eq!(status, 0, "{err}");
    let lines = lines(&json);
    assert!(lines[..2].iter().all(|launch| launch.get("by").is_none()), "launches have lines of their own");
    let whole = &lines[2];
    let parts = |by: &str| whole["by"][by].as_array().unwrap();
    for (by, group, counter) in [
        ("line", "sm", "issued"),
        ("line", "lsu", "accesses"),
        ("launch", "lsu", "accesses"),
        ("buffer", "lsu", "accesses"),
    ] {
        let of_part = |part: &Value| part["statistics"][group][counter].as_u64().unwrap();
        let sum: u64 = parts(by).iter().map(of_part).sum();
        assert!(sum > 0 && whole["statistics"][group][counter] == sum, "{by}: {group}.{counter}: {sum}");
    }
    let of = |by: &str, name: &str| {
        let found = parts(by).iter().find(|part| part["part"] == name);
        found.unwrap_or_else(|| panic!("no {name} by {by}")).clone()
    };
    // All that both kernels access is the client's one allocation.
    let buffer = of("buffer", "allocation 1 (cuMemAlloc) (0x400000)");
    assert_eq!(buffer["statistics"]["lsu"]["accesses"], whole["statistics"]["lsu"]["accesses"]);
    assert!(buffer["energy"]["dynamic_pj"].as_f64().unwrap() > 0.0);
    // The one store of `seven`.
    assert_eq!(of("line", "seven:11")["statistics"]["lsu"]["accesses"], 1);
    assert_eq!(of("launch", "launch 0 (seven)")["statistics"]["lsu"]["accesses"], 1);
    assert_eq!(of("queue", "SM to network")["statistics"]["queue"]["most"], 1);
    for (options, expected) in [
        (&["--by", "line"][..], "--json <FILE>"),
        (&["--by", "line", "--json", "j", "--functional"], "cannot be used with"),
        (&["--by", "lines", "--json", "j"], "found `lines`, expected one of sm, slice"),
    ] {
        let (status, err) = ran(python(&mut exec(options), &["seven"]));
        assert!(status == 2 && err.contains(expected), "{err}");
    }
}

/// Whether a cell of a timeline is a number of JSON.
fn is(cell: &str, number: &Value) -> bool {
    cell.parse().ok() == number.as_u64()
}

#[test]
fn a_timeline_has_the_spans_of_every_process() {
    let folder = folder("timeline");
    let (json, csv) = (folder.join("results.json"), folder.join("spans.csv"));
    let options = ["--timeline", csv.to_str().unwrap(), "--span", "100", "--json", json.to_str().unwrap()];
    let script = "python3 \"$0\" seven,seven; python3 \"$0\" seven";
    let (status, err) = ran(shell(&mut exec(&options), script));
    assert_eq!(status, 0, "{err}");
    let mut reader = csv::Reader::from_path(&csv).unwrap();
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    assert_eq!(header[..5], ["process", "launch", "kernel", "from_cycle", "to_cycle"]);
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let stores = header.iter().position(|name| name == "sm.warp_instructions").unwrap();
    for line in lines(&json).iter().filter(|line| line["kernel"].is_string()) {
        let of_launch =
            |row: &&csv::StringRecord| is(&row[0], &line["process"]) && is(&row[1], &line["launch"]);
        let spans: Vec<&csv::StringRecord> = rows.iter().filter(of_launch).collect();
        let number = |span: &csv::StringRecord, column: usize| span[column].parse::<u64>().unwrap();
        assert!(spans.len() > 1, "{line}");
        assert_eq!(number(spans[0], 3), 0);
        assert!(spans.windows(2).all(|pair| pair[0][4] == pair[1][3]), "no span is missing");
        assert_eq!(Some(number(spans[spans.len() - 1], 4)), line["cycles"].as_u64());
        let issued: u64 = spans.iter().map(|span| number(span, stores)).sum();
        assert_eq!(Some(issued), line["warp_instructions"].as_u64());
    }
}
