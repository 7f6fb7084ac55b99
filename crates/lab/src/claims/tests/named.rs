//! Programs that a paper does not name, and what its text says of those that it names.

use super::*;
use crate::claims::sensitivity::sensitivities;
use crate::claims::statement::{jobs, statements};

/// Five workloads on two systems: their numbers on `new` over those on `old` are 0.5, 3, 1, 2 and 4.
const FIVE: &str = "name = \"p\"\ntitle = \"t\"\nmachine = \"gtx480\"\nmean = \"arithmetic\"\n\
                    [workloads]\nall = [\"saxpy\", \"gemm\"]\nknown = [\"saxpy\"]\n\
                    candidates = [\"bfs\", \"gather\", \"nw\", \"gemm\"]\n\
                    five = [\"saxpy\", \"bfs\", \"gather\", \"nw\", \"gemm\"]\n\
                    [systems]\nold = { sets = [\"l1d.ways=8\"] }\nnew = { sets = [\"l1d.ways=16\"] }\n";

fn store(folder: &Folder, paper: &Paper) -> Store {
    let times = [("saxpy", 1), ("bfs", 6), ("gather", 2), ("nw", 4), ("gemm", 8)];
    let runs = times.iter().flat_map(|(name, cycles)| [("old", *name, 2), ("new", *name, *cycles)]);
    store_of(folder, paper, &runs.collect::<Vec<_>>())
}

#[test]
fn any_choice_of_workloads_lies_between_the_least_and_the_greatest() {
    let measured = |more: &str| {
        format!(
            "{FIVE}[measured]\n\"hiend.ipc\" = {{ kind = \"change\", metric = \"cycles\", system = \"new\", over = \"old\"{more} }}\n\
             [[sensitivities]]\nid = \"a\"\ntitle = \"a\"\nsource = \"s\"\nclaims = [\"hiend.ipc\"]\nchosen = \"one of them\"\n\
             any = {{ count = 2, of = \"candidates\", beside = \"known\" }}\n"
        )
    };
    let numbers = |text: &str| {
        let paper = Paper::parse(Path::new("p.toml"), text).unwrap();
        let folder = Folder::new("any");
        let store = store(&folder, &paper);
        let found = sensitivities(&paper, &mut Answers::new(&store, Size::Test)).unwrap();
        let rows = found[0].choices.iter().map(|choice| (choice.label.clone(), choice.results[0].clone()));
        rows.collect::<Vec<_>>()
    };
    let found = numbers(&measured(""));
    // All: 0.5 and 4. With the others: 0.5, 1 and 2, or 0.5, 3 and 4.
    let expected = [
        ("one of them", 100.0 * (2.25 - 1.0)),
        ("least of any choice", 100.0 * (3.5 / 3.0 - 1.0)),
        ("greatest of any choice", 100.0 * (7.5 / 3.0 - 1.0)),
    ];
    for ((label, value), (name, number)) in found.iter().zip(expected) {
        assert_eq!(label, name);
        assert!((value.as_ref().unwrap() - number).abs() < 1e-9, "{label}: {value:?}, {number}");
    }
    // Those below 1: of more others there may be none more.
    let counts = numbers(&measured(", reduce = \"count-below-one\""));
    assert_eq!(counts[1].1, counts[2].1);
    // A ratio of sums is not a mean of the programs' numbers.
    let sums = numbers(&measured(", definition = \"ratio-of-sums\""));
    assert!(sums[1].1.as_ref().unwrap_err().contains("expected a mean"), "{sums:?}");
    let few = measured("").replace("count = 2", "count = 5");
    let error = check(&Paper::parse(Path::new("p.toml"), &few).unwrap()).unwrap_err();
    assert!(error.contains("sensitivity a: any: found 4 workloads in `candidates`, expected 5"), "{error}");
}

#[test]
fn values_may_have_names() {
    let text = |labels: &str| {
        format!(
            "{FIVE}[measured]\n\"hiend.ipc\" = {{ kind = \"change\", metric = \"cycles\", system = \"new\", over = \"old\" }}\n\
             [[sensitivities]]\nid = \"a\"\ntitle = \"a\"\nsource = \"s\"\nclaims = [\"hiend.ipc\"]\nvalues = [4, 16]\n\
             labels = {labels}\nkeys = {{ new = [\"l1d.ways\"] }}\n"
        )
    };
    let paper = Paper::parse(Path::new("p.toml"), &text("[\"few\", \"many\"]")).unwrap();
    let folder = Folder::new("labels");
    let store = store(&folder, &paper);
    let found = sensitivities(&paper, &mut Answers::new(&store, Size::Test)).unwrap();
    let labels: Vec<&str> = found[0].choices.iter().map(|choice| choice.label.as_str()).collect();
    assert_eq!(labels, ["many", "few"], "ours first");
    let error = check(&Paper::parse(Path::new("p.toml"), &text("[\"few\"]")).unwrap()).unwrap_err();
    assert!(error.contains("labels: found 1, expected one for each of 2 values"), "{error}");
    let error = check(&Paper::parse(Path::new("p.toml"), &text("[\"few\", \"few\"]")).unwrap()).unwrap_err();
    assert!(error.contains("labels: found two values called `few`"), "{error}");
}

#[test]
fn a_sentence_of_the_text_agrees_with_a_program_or_does_not() {
    let text = |limit: &str| {
        format!(
            "{FIVE}[[statements]]\nsays = \"They lose.\"\nsource = \"V\"\nprograms = \"all\"\nmetric = \"cycles\"\n\
             system = \"new\"\nover = \"old\"\nothers = \"five\"\n{limit}\n"
        )
    };
    let found = |limit: &str| {
        let paper = Paper::parse(Path::new("p.toml"), &text(limit)).unwrap();
        check(&paper).unwrap();
        let folder = Folder::new("statements");
        let store = store(&folder, &paper);
        let found = statements(&paper, &mut Answers::new(&store, Size::Test)).unwrap();
        let programs = found[0].programs.iter();
        programs
            .map(|of| (of.value.clone().unwrap(), of.limit.clone().unwrap(), of.verdict()))
            .collect::<Vec<_>>()
    };
    // The others are bfs, gather and nw.
    assert_eq!(found("above = \"others\""), [(0.5, 2.0, "disagrees"), (4.0, 2.0, "agrees")]);
    assert_eq!(found("below = 0.5"), [(0.5, 0.5, "disagrees"), (4.0, 0.5, "disagrees")]);
    let paper = |limit| Paper::parse(Path::new("p.toml"), &text(limit)).unwrap();
    let with = paper("above = \"others\"");
    assert_eq!(jobs(&with, &with.statements[0]).unwrap().len(), 10);
    let error = check(&paper("above = 1\nbelow = 2")).unwrap_err();
    assert!(error.contains("statement `They lose.`: expected one of `above` and `below`"), "{error}");
    let folder = Folder::new("nothing");
    let (empty, _) = Store::open(&folder.0).unwrap();
    let lacking = statements(&with, &mut Answers::new(&empty, Size::Test)).unwrap();
    assert_eq!(lacking[0].programs[0].verdict(), "not measured");
}
