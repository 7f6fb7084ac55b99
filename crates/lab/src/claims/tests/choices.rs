//! Systems that are chosen for each workload.

use super::*;
use crate::repro::{Part, Selection};

#[test]
fn the_best_of_several_is_found_for_each_workload() {
    let text = "pick = { best_of = [\"old\", \"new\"], least = \"cycles\" }\n[measured]\n\
                a = { kind = \"level\", metric = \"cycles\", system = \"pick\" }\n\
                b = { kind = \"change\", metric = \"cycles\", system = \"pick\", over = \"new\" }\n\
                c = { kind = \"level\", metric = \"cycles\", system = \"pick\", over = \"old\", \
                reduce = \"count-below-one\" }\n";
    let paper = Paper::parse(Path::new("p.toml"), &format!("{TWO}{text}")).unwrap();
    let folder = Folder::new("best");
    let runs = [("old", "saxpy", 100), ("old", "gemm", 300), ("new", "saxpy", 50), ("new", "gemm", 450)];
    let store = store_of(&folder, &paper, &runs);
    let measure = |id: &str, sets: &Sets| {
        let measurement = Measurement::with(&paper, &paper.measured[id], sets).unwrap();
        measurement.value(&mut Answers::new(&store, Size::Test))
    };
    // saxpy on new and gemm on old.
    assert_eq!(measure("a", &Sets::new()), Ok(175.0));
    let change = measure("b", &Sets::new()).unwrap();
    assert!((change - 100.0 * ((1.0 + 300.0 / 450.0) / 2.0 - 1.0)).abs() < 1e-9, "{change}");
    assert_eq!(measure("c", &Sets::new()), Ok(1.0));
    // Overrides reach the machines to choose from, which have not run with them.
    let sets = Sets::from([("new".to_owned(), vec!["l1d.ways=32".to_owned()])]);
    let error = measure("a", &sets).unwrap_err();
    assert!(error.contains("`pick` chooses from `new with l1d.ways=32`: not run yet"), "{error}");
    assert!(paper.variant("pick", None).unwrap_err().contains("best of several"));
}

#[test]
fn a_search_finds_the_best_value_for_each_workload() {
    let text = "found = { search = { key = \"l1d.ways\", values = [1, 2] }, least = \"cycles\" }\n[metrics.ways]\n\
                title = \"t\"\nunit = \"ways\"\nexpression = \"machine.l1d.sram.ways\"\n[measured]\n\
                a = { kind = \"level\", metric = \"cycles\", system = \"found\" }\n\
                b = { kind = \"level\", metric = \"ways\", system = \"found\" }\n";
    let paper = Paper::parse(Path::new("p.toml"), &format!("{TWO}{text}")).unwrap();
    let folder = Folder::new("search");
    let Setup::Best(best) = paper.setup("found", None).unwrap() else { panic!("a search is a choice") };
    for (variant, runs) in
        best.of.iter().zip([[("saxpy", 100), ("gemm", 30)], [("saxpy", 100), ("gemm", 20)]])
    {
        for (workload, cycles) in runs {
            put(&folder, variant, workload, cycles);
        }
    }
    let (store, _) = Store::open(&folder.0).unwrap();
    let value = |id: &str| {
        let measurement = Measurement::new(&paper, &paper.measured[id]).unwrap();
        measurement.value(&mut Answers::new(&store, Size::Test))
    };
    assert_eq!(value("a"), Ok(60.0));
    // Of equals the first: 1 way for saxpy, 2 for gemm.
    assert_eq!(value("b"), Ok(1.5));
    paper.check_names().unwrap();
}

#[test]
fn a_system_takes_over_what_another_search_chose() {
    let text = "lead = { search = { key = \"l1d.ways\", values = [1, 2] }, least = \"cycles\" }\n\
                follow = { search = { key = \"l1d.sets\", values = [64, 128] }, as = \"lead\" }\n[measured]\n\
                a = { kind = \"level\", metric = \"cycles\", system = \"follow\" }\n";
    let paper = Paper::parse(Path::new("p.toml"), &format!("{TWO}{text}")).unwrap();
    paper.check_names().unwrap();
    let selection = Selection::new(&paper, Part::All).unwrap();
    let folder = Folder::new("follow");
    let (store, _) = Store::open(&folder.0).unwrap();
    let with_sets = |jobs: &[Job]| {
        jobs.iter().filter(|job| job.overrides.iter().any(|set| set.starts_with("l1d.sets"))).count()
    };
    // What the leader chooses from comes first.
    assert_eq!(with_sets(&selection.jobs(&store, Size::Test).unwrap()), 0);
    let (Setup::Best(lead), Setup::Best(follow)) =
        (paper.setup("lead", None).unwrap(), paper.setup("follow", None).unwrap())
    else {
        panic!("searches are choices")
    };
    for (variant, runs) in
        lead.of.iter().zip([[("saxpy", 100), ("gemm", 30)], [("saxpy", 101), ("gemm", 20)]])
    {
        for (workload, cycles) in runs {
            put(&folder, variant, workload, cycles);
        }
    }
    let (store, _) = Store::open(&folder.0).unwrap();
    // One of both machines for each workload.
    assert_eq!(with_sets(&selection.jobs(&store, Size::Test).unwrap()), 2);
    put(&folder, &follow.of[0], "saxpy", 7);
    put(&folder, &follow.of[1], "gemm", 9);
    let (store, _) = Store::open(&folder.0).unwrap();
    let measurement = Measurement::new(&paper, &paper.measured["a"]).unwrap();
    assert_eq!(measurement.value(&mut Answers::new(&store, Size::Test)), Ok(8.0));
    for (leader, why) in [("old", "expected a search with `least` among 2"), ("follow", "expected a search")]
    {
        let text = text.replace("as = \"lead\"", &format!("as = \"{leader}\""));
        let paper = Paper::parse(Path::new("p.toml"), &format!("{TWO}{text}")).unwrap();
        let error = paper.setup("follow", None).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}
