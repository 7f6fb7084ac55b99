use super::*;
use crate::job::Kind as JobKind;
use crate::question::Answers;
use crate::store::Store;
use strata_workloads::Size;

#[test]
fn every_paper_that_comes_along_can_be_read_under_its_name() {
    for name in names() {
        assert_eq!(Paper::load(name).unwrap().name, name);
    }
}

#[test]
fn mistakes_are_named() {
    let good = "name = \"p\"\ntitle = \"t\"\nmachine = \"gtx480\"\nmean = \"geometric\"\n\
                [workloads]\nall = [\"saxpy\"]\n[systems]\nbase = {}\nother = { sets = [\"l1d.ways=8\"] }\n\
                [[figures]]\nid = \"1\"\ntitle = \"f\"\ndrawing = \"grouped-bars\"\nmetrics = [\"ipc\"]\n\
                systems = [\"base\", \"other\"]\nnormalise = { system = \"base\" }\n\
                [measured]\na = { kind = \"change\", metric = \"ipc\", system = \"other\", over = \"base\" }\n";
    let parse = |text: &str| Paper::parse(Path::new("p.toml"), text);
    assert_eq!(parse(good).unwrap().figures.len(), 1);
    for (from, to, expected) in [
        (
            "metrics = [\"ipc\"]",
            "metrics = [\"ipcc\"]",
            "p.toml: figure 1: no metric `ipcc` (did you mean `ipc`?), expected one of ",
        ),
        (
            "[\"base\", \"other\"]",
            "[\"bass\"]",
            "p.toml: figure 1: no system `bass` (did you mean `base`?), expected one of base, other",
        ),
        (
            "{ system = \"base\" }",
            "{ system = \"x\" }",
            "p.toml: figure 1: normalise: no system `x` in the figure, expected one of base, other",
        ),
        ("[\"ipc\"]", "[\"ipc\", \"cycles\"]", "p.toml: figure 1: metrics: found 2, expected 1, or several"),
        ("id = \"1\"", "id = \"1\"\nworkloads = \"few\"", "p.toml: figure 1: no set of workloads `few`"),
        (
            "id = \"1\"",
            "id = \"1\"\nclaims = [\"b\"]",
            "p.toml: claim `b` is shown, expected `measured` to say",
        ),
        ("id = \"1\"", "idd = \"1\"", "p.toml:11:1: unknown field `idd`"),
        ("base = {}", "base = { best = [\"other\"] }", "p.toml:8:10: unknown field `best`"),
        (
            "base = {}",
            "base = { best_of = [\"other\"] }",
            "p.toml: figure 1: `base`: expected `system` and `sets`, these with `search` and `least` or `as`, or",
        ),
        (
            "base = {}",
            "base = { search = { key = \"gpu.sms\", values = [] }, least = \"ipc\" }",
            "p.toml: figure 1: `base`: expected `system` and `sets`, these with `search`",
        ),
        (
            "base = {}",
            "base = { best_of = [\"base\", \"other\"], least = \"ipc\" }",
            "p.toml: figure 1: `base` chooses from `base`, which is a choice itself",
        ),
    ] {
        let error = parse(&good.replacen(from, to, 1)).unwrap_err();
        assert!(error.starts_with(expected), "{from} -> {to}: {error}");
    }
    let error = Paper::load("fuze").unwrap_err();
    assert_eq!(
        error,
        "no paper `fuze` (did you mean `fuse`?), expected one of fuse, hi-end, morpheus, stash, tinycache or a file (*.toml)"
    );
}

/// A paper whose names all exist.
const WHOLE: &str = r#"
name = "p"
title = "t"
machine = "gtx480"
mean = "geometric"
[workloads]
all = ["saxpy"]
[systems]
base = {}
other = { sets = ["l1d.ways=8"] }
laid = { system = "l1-sram" }
[metrics]
fills = { title = "fills", expression = "l1d.fills / run.cycles" }
[[figures]]
id = "1"
title = "f"
drawing = "grouped-bars"
metrics = ["fills"]
systems = ["base", "other"]
[[lists]]
id = "I"
title = "l"
workload = "saxpy"
rows = [{ name = "cells", system = "base", expression = "area.data_array", published = 1.0 }]
[measured]
a = { kind = "change", metric = "ipc", system = "other", over = "base" }
[[sensitivities]]
id = "ways"
title = "w"
source = "s"
claims = ["a"]
keys = { other = ["l1d.ways"] }
values = [4, 8]
"#;

#[test]
fn names_outside_a_paper_are_checked_before_it_runs() {
    let check = |from: &str, to: &str| {
        assert!(WHOLE.contains(from), "{from}");
        Paper::parse(Path::new("p.toml"), &WHOLE.replacen(from, to, 1))?.check_names()
    };
    assert_eq!(check("saxpy", "saxpy"), Ok(()));
    for (from, to, expected) in [
        (
            "l1d.ways=8",
            "l1d.wayz=8",
            "p.toml: systems.other: --set l1d.wayz=8: unknown key `l1d.wayz` (did you mean `l1d.sram.ways`?)",
        ),
        (
            "\"l1-sram\"",
            "\"l1-sran\"",
            "p.toml: systems.laid: l1-sran: no such system (did you mean `l1-sram`",
        ),
        ("\"gtx480\"", "\"gtx48\"", "p.toml: machine: gtx48: no such machine (did you mean `gtx480`?)"),
        ("[\"saxpy\"]", "[\"saxpi\"]", "p.toml: workloads.all: no workload `saxpi` (did you mean `saxpy`"),
        ("[\"saxpy\"]", "[\"a/launch.toml\"]", "p.toml: workloads.all: a/launch.toml: "),
        ("= \"saxpy\"", "= \"sax\"", "p.toml: table I: workload: no workload `sax`"),
        ("l1d.fills", "l1d.fillz", "p.toml: metrics.fills: no counter `l1d.fillz` (did you mean `fills`"),
        (
            "l1d.fills",
            "l1e.fills",
            "p.toml: metrics.fills: no counter `l1e.fills`: found the group `l1e` (did you mean `l1d`",
        ),
        (
            "area.data_array",
            "area.date_array",
            "p.toml: table I: cells: no counter `area.date_array` (did you",
        ),
        ("id = \"1\"", "id = \"1\"\nmachine = \"volta\"", "p.toml: figure 1: volta: no such machine"),
        (
            "[\"l1d.ways\"]",
            "[\"l1d.sides\"]",
            "p.toml: sensitivity ways: --set l1d.sides=4: unknown key `l1d.sides`",
        ),
    ] {
        let error = check(from, to).unwrap_err();
        assert!(error.starts_with(expected), "{from} -> {to}: {error}");
    }
    let paper = Paper::parse(Path::new("p.toml"), WHOLE).unwrap();
    assert_eq!(paper.check_size(Size::Test), Ok(()));
    let error = paper.check_size(Size::Stash).unwrap_err();
    assert!(
        error.starts_with("p.toml: workloads.all: `saxpy` has no size `stash`, expected one of test"),
        "{error}"
    );
}

/// A system's version is part of the program's name in its jobs, and in no other system's.
#[test]
fn a_system_runs_workloads_in_its_version() {
    let text = WHOLE.replace("saxpy", "lud").replace("other = {", "other = { version = \"cache\",");
    let paper = Paper::parse(Path::new("p.toml"), &text).unwrap();
    assert_eq!(paper.check_names(), Ok(()));
    let folder = std::env::temp_dir().join(format!("strata-versions-{}", std::process::id()));
    let (store, _) = Store::open(&folder).unwrap();
    let mut answers = Answers::new(&store, Size::Test);
    let mut job = |system: &str, workload: &str| {
        answers.job(JobKind::Timing, workload, &paper.variant(system, None).unwrap())
    };
    let (base, cached) = (job("base", "lud").unwrap(), job("other", "lud").unwrap());
    assert_eq!((base.workload.as_str(), cached.workload.as_str()), ("lud", "lud@cache"));
    assert_ne!(base.ptx, cached.ptx);
    let error = job("other", "saxpy").unwrap_err();
    assert!(error.starts_with("no workload `saxpy@cache`"), "{error}");

    let wrong = text.replace("\"cache\"", "\"cash\"");
    assert_eq!(
        Paper::parse(Path::new("p.toml"), &wrong).unwrap().check_names().unwrap_err(),
        "p.toml: systems.other: version: none of the paper's workloads has a version `cash`"
    );
}

#[test]
fn papers_that_come_along_name_only_what_exists() {
    for name in names() {
        assert_eq!(Paper::load(name).unwrap().check_names(), Ok(()));
    }
}

/// `micro` are microbenchmarks that stand beside a paper's applications.
#[test]
fn workloads_name_the_papers_that_run_them() {
    let run_by = |paper: &str| {
        let paper = Paper::load(paper).unwrap();
        ["all", "micro"].map(|group| paper.workloads(group).unwrap_or_default().to_vec()).concat()
    };
    let papers: Vec<_> = names().into_iter().map(|name| (name, run_by(name))).collect();
    for workload in strata_workloads::all() {
        let runs = papers.iter().filter(|(_, run)| run.iter().any(|name| name == workload.name));
        assert_eq!(workload.papers, runs.map(|(name, _)| *name).collect::<Vec<_>>(), "{}", workload.name);
    }
}

/// Workloads that a paper names but that do not exist yet are shown as not measured; this test lists them.
#[test]
fn fuse_names_every_workload_of_its_table_ii() {
    let paper = Paper::load("fuse").unwrap();
    let all = paper.workloads("all").unwrap();
    assert_eq!(all.len(), 21);
    let published = include_str!("../../data/papers/fuse-table-ii.csv");
    let table = &paper.tables[0];
    for line in published.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        assert!(all.iter().any(|name| name == fields[0]), "{line}");
        for (column, field) in [("APKI", 2), ("Bypass ratio", 3)] {
            let expected: f64 = fields[field].parse().unwrap();
            assert_eq!(table.columns[column].published[fields[0]], expected, "{line}");
        }
    }
    let known = all.iter().filter(|name| strata_workloads::find(name).is_some()).count();
    assert!(known >= 12, "{known}");
}

#[test]
fn fuse_shows_every_figure_of_its_evaluation() {
    let paper = Paper::load("fuse").unwrap();
    let ids: Vec<&str> = paper.figures.iter().map(|figure| figure.id.as_str()).collect();
    assert_eq!(
        ids,
        ["1a", "1b", "3a", "3b", "6", "7b", "13", "14", "15", "16", "17", "18a", "18b", "19", "20a", "20b"]
    );
}

/// A column of a table has the measured numbers alone where nothing is published.
#[test]
fn a_column_without_published_numbers_is_one() {
    let paper = Paper::load("morpheus").unwrap();
    let folder = std::env::temp_dir().join(format!("strata-columns-{}", std::process::id()));
    let (store, _) = Store::open(&folder).unwrap();
    let mut answers = Answers::new(&store, Size::Test);
    let mut grid_of = |id: &str| {
        let table = paper.tables.iter().find(|table| table.id == id).unwrap();
        Table::new(&paper, table).unwrap().grid(&mut answers)
    };
    let inputs = grid_of("inputs");
    assert_eq!((inputs.columns.len(), inputs.rows.len(), inputs.means.len()), (3, 14, 0));
    let sms = grid_of("3");
    assert_eq!((sms.columns.len(), sms.rows.len(), sms.means.len()), (9, 17, 1));
    assert_eq!(sms.columns[..2], ["IBL, published", "IBL, measured"]);
    assert!(sms.cells.iter().all(|row| row.len() == 9 && row[0].is_ok() && row[1].is_err()));
}
