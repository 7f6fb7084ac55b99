mod choices;
mod named;

use std::path::Path;

use super::*;
use crate::job::Job;
use crate::paper::Bound;
use crate::question::Cell;
use crate::record::{Record, Value};
use crate::setup::{Sets, Setup};
use crate::store::{self, tests::Folder};
use crate::variant::Variant;
use Verdict::{Contradicted, Direction, Far, Reproduced};

/// Distance past a boundary that counts as past it.
const STEP: f64 = 1e-6;

#[test]
fn a_change_is_judged_by_its_multiple_of_the_published_change() {
    for (published, measured, expected) in [
        (217.0, 217.0, Reproduced),
        (217.0, 217.0 * 1.25, Reproduced),
        (217.0, 217.0 * 1.25 + STEP, Direction),
        (217.0, 217.0 * 2.0, Direction),
        (217.0, 217.0 * 2.0 + STEP, Far),
        (217.0, 217.0 * 0.75, Reproduced),
        (217.0, 217.0 * 0.75 - STEP, Direction),
        (217.0, 217.0 * 0.5, Direction),
        (217.0, 217.0 * 0.5 - STEP, Far),
        (217.0, STEP, Far),
        (217.0, 0.0, Contradicted),
        (217.0, -1.0, Contradicted),
        (-32.0, -24.0, Reproduced),
        (-32.0, -40.0, Reproduced),
        (-32.0, -24.0 + STEP, Direction),
        (-32.0, -40.0 - STEP, Direction),
        (-32.0, -64.0 - STEP, Far),
        (-32.0, -16.0 + STEP, Far),
        (-32.0, 1.0, Contradicted),
        // What is left: 4.02 % of it, and three quarters, five quarters, half and twice as much.
        (-95.98, -95.98, Reproduced),
        (-95.98, -96.985, Reproduced),
        (-95.98, -94.975, Reproduced),
        (-95.98, -94.975 + STEP, Direction),
        (-95.98, -91.96, Direction),
        (-95.98, -91.96 + STEP, Far),
        (-95.98, -75.3, Far),
        (-95.98, -100.0, Far),
        (-53.0, -40.0, Direction),
        (0.0, 1.0, Reproduced),
        (0.0, -1.0, Reproduced),
        (0.0, 1.0 + STEP, Contradicted),
    ] {
        assert_eq!(judge(Kind::Change, None, published, measured), expected, "{published} {measured}");
    }
}

#[test]
fn points_are_judged_as_changes_are() {
    for (published, measured, expected) in [
        (-0.7, -0.6, Reproduced),
        (-0.7, -1.4, Direction),
        (-0.7, -1.4 - STEP, Far),
        (4.0, 8.05, Far),
        (4.0, 7.5, Direction),
        (-0.7, 0.1, Contradicted),
    ] {
        assert_eq!(judge(Kind::Points, None, published, measured), expected, "{published} {measured}");
    }
}

#[test]
fn a_ratio_is_judged_by_its_distance_from_1() {
    for (published, measured, expected) in [
        (6.0, 7.25, Reproduced),
        (6.0, 7.25 + STEP, Direction),
        (6.0, 11.0, Direction),
        (6.0, 11.0 + STEP, Far),
        (6.0, 48.0, Far),
        (6.0, 4.75, Reproduced),
        (6.0, 4.75 - STEP, Direction),
        (6.0, 3.5 - STEP, Far),
        (6.0, 1.0, Contradicted),
        (1.57, 1.57 + 0.1425, Reproduced),
        (1.57, 1.57 + 0.1425 + STEP, Direction),
        (0.6, 0.5, Reproduced),
        (0.6, 0.5 - STEP, Direction),
        (0.6, 0.2 - STEP, Far),
        (0.1, 0.125, Reproduced),
        (0.1, 0.2, Direction),
        (0.1, 0.25, Far),
        (0.6, 1.1, Contradicted),
        (1.0, 1.01, Reproduced),
        (1.0, 1.02, Contradicted),
    ] {
        assert_eq!(judge(Kind::Ratio, None, published, measured), expected, "{published} {measured}");
    }
}

#[test]
fn a_share_is_judged_by_its_multiple_on_its_side_of_one_half() {
    for (published, measured, expected) in [
        // A quarter is left: from 18.75 to 31.25 %, from 12.5 to 50 %.
        (75.0, 81.25, Reproduced),
        (75.0, 81.25 + STEP, Direction),
        (75.0, 87.5 + STEP, Far),
        (75.0, 68.75, Reproduced),
        (75.0, 68.75 - STEP, Direction),
        (75.0, 50.0 + STEP, Direction),
        (75.0, 50.0, Contradicted),
        (95.0, 80.0, Far),
        (100.0, 90.0, Reproduced),
        (60.0, 50.0, Contradicted),
        (71.0, 21.8, Contradicted),
        (3.0, 3.75, Reproduced),
        (3.0, 6.0, Direction),
        (3.0, 6.0 + STEP, Far),
        (7.0, 0.5, Far),
        (7.0, 0.0, Contradicted),
        (3.0, 51.0, Contradicted),
    ] {
        assert_eq!(judge(Kind::Share, None, published, measured), expected, "{published} {measured}");
    }
}

#[test]
fn a_level_is_judged_by_its_multiple() {
    for (published, measured, expected) in [
        (2.0, 2.5, Reproduced),
        (2.0, 2.5 + STEP, Direction),
        (2.0, 4.0 + STEP, Far),
        (0.92, 0.0, Contradicted),
    ] {
        assert_eq!(judge(Kind::Level, None, published, measured), expected, "{published} {measured}");
    }
}

#[test]
fn bounds_have_a_right_side() {
    use Bound::{AtLeast, AtMost};
    for (kind, bound, published, measured, expected) in [
        (Kind::Change, AtLeast, 39.0, 78.0, Reproduced),
        // The bound holds, but the number behind it is a different one.
        (Kind::Change, AtLeast, 39.0, 78.0 + STEP, Far),
        (Kind::Change, AtLeast, 39.0, 1246.0, Far),
        (Kind::Change, AtLeast, 39.0, 39.0, Reproduced),
        (Kind::Change, AtLeast, 39.0, 39.0 - STEP, Direction),
        (Kind::Change, AtLeast, 39.0, 19.5, Direction),
        (Kind::Share, AtLeast, 80.0, 62.9, Direction),
        (Kind::Change, AtLeast, 39.0, 19.5 - STEP, Far),
        (Kind::Change, AtLeast, 39.0, -1.0, Contradicted),
        // The bound "within 2 percent".
        (Kind::Change, AtMost, -2.0, -0.1, Reproduced),
        (Kind::Change, AtMost, -2.0, 3.0, Reproduced),
        (Kind::Change, AtMost, -2.0, -2.0, Reproduced),
        (Kind::Change, AtMost, -2.0, -2.0 - STEP, Direction),
        (Kind::Change, AtMost, -2.0, -2.5, Direction),
        (Kind::Change, AtMost, -2.0, -2.5 - STEP, Contradicted),
        (Kind::Level, AtMost, 2.0, 1.0, Reproduced),
        (Kind::Level, AtMost, 2.0, 2.6, Contradicted),
    ] {
        assert_eq!(judge(kind, Some(bound), published, measured), expected, "{published} {measured}");
    }
}

#[test]
fn a_choice_needs_a_lead() {
    for (published_best, others, expected) in [
        (1.4, [1.0, 1.2], Reproduced),
        // A quarter of the way from 1.0 to 1.4.
        (1.4, [1.0, 1.3], Reproduced),
        (1.4, [1.0, 1.3 + STEP], Direction),
        (1.344, [1.0, 1.330], Direction),
        (1.330, [1.0, 1.344], Direction),
        (1.2, [1.0, 1.4], Contradicted),
        (1.0, [1.0, 1.0], Direction),
    ] {
        assert_eq!(judge_choice(published_best, &others), expected, "{published_best} {others:?}");
    }
}

#[test]
fn every_published_number_is_a_number_and_has_one_name() {
    let claims = all();
    assert!(claims.len() > 100, "{}", claims.len());
    let mut ids: Vec<&str> = claims.iter().map(|claim| claim.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), claims.len());
    for claim in &claims {
        claim.value().unwrap();
    }
}

#[test]
fn every_claim_of_a_paper_that_comes_along_says_how_it_is_measured_and_of_what_kind_it_is() {
    for name in crate::paper::names() {
        let paper = Paper::load(name).unwrap();
        check(&paper).unwrap();
        let claims: Vec<Claim> = all().into_iter().filter(|claim| claim.paper == name).collect();
        for claim in &claims {
            let text =
                paper.measured.get(&claim.id).unwrap_or_else(|| panic!("{} is not measured", claim.id));
            let signed = claim.published.starts_with(['+', '-']);
            // No change has no sign.
            let is_change = matches!(text.kind, Kind::Change | Kind::Points) && claim.published != "0";
            assert_eq!(signed, is_change, "{}: a sign", claim.id);
            assert_eq!(claim.unit == "ratio", text.kind == Kind::Ratio, "{}", claim.id);
        }
        for id in paper.measured.keys() {
            assert!(claims.iter().any(|claim| claim.id == *id), "{id} is not a claim");
        }
    }
}

#[test]
fn each_number_of_a_tables_column_is_a_claim_of_one_workload() {
    let paper = Paper::load("fuse").unwrap();
    let mut shown = 0;
    for column in paper.tables.iter().flat_map(|table| table.columns.values()) {
        let prefix = column.claims.as_deref().unwrap();
        for (workload, published) in &column.published {
            let id = format!("{prefix}.{workload}");
            let claim = all().into_iter().find(|claim| claim.id == id).unwrap_or_else(|| panic!("{id}"));
            assert_eq!(claim.value().unwrap(), *published, "{id}");
            let text = &paper.measured[&id];
            assert_eq!(
                (text.kind, paper.workloads(&text.workloads)),
                (Kind::Level, Ok([workload.clone()].as_slice()))
            );
            shown += 1;
        }
    }
    assert_eq!(shown, 42);
}

#[test]
fn every_choice_has_the_value_of_the_systems_among_its_own() {
    let folder = Folder::new("choices");
    let (store, _) = Store::open(&folder.0).unwrap();
    let paper = Paper::load("fuse").unwrap();
    let all = sensitivity::sensitivities(&paper, &mut Answers::new(&store, Size::Test)).unwrap();
    for of in &all {
        assert_ne!(of.choices[0].label, "as in the systems' files", "{}: no machine has its key", of.id);
        assert!(of.choices.len() > 1, "{}", of.id);
        assert_eq!(of.moves(), None, "{}: nothing was run", of.id);
    }
    let ids: Vec<&str> = all.iter().map(|of| of.id.as_str()).collect();
    for wanted in ["inputs", "set-index", "sampled-requests", "slots", "allocation", "constant-power"] {
        assert!(ids.contains(&wanted), "{wanted}: {ids:?}");
    }
}

#[test]
fn a_choice_bears_on_all_claims_whose_ids_begin_so_and_a_reading_leaves_what_a_claim_says_itself() {
    let paper = Paper::load("fuse").unwrap();
    let mean = paper.sensitivities.iter().find(|text| text.id == "mean").unwrap();
    for id in ["fuse.fig13.hybrid", "fuse.fig17.dy", "fuse.fig19.base"] {
        assert!(mean.claims.iter().any(|claim| claim == id), "{id}");
    }
    let of = |id: &str| &paper.sensitivities.iter().find(|text| text.id == id).unwrap().readings[0];
    let admits = |id: &str, choice: &str| paper.measured[id].admits(of(choice));
    assert!(admits("fuse.fig13.hybrid", "inputs") && admits("fuse.fig13.hybrid", "mean"));
    assert!(!admits("fuse.fig13.bynvm.write", "inputs"), "of the write-intensive ones");
    assert!(!admits("fuse.fig7.approx", "mean"), "the least of all");
}

#[test]
fn claims_that_a_choice_moves_are_counted_apart() {
    use sensitivity::Dependence::{self, Firm, Open, Unvaried};
    let claim = |id: &str| all().into_iter().find(|claim| claim.id == id).unwrap();
    let claims = || vec![claim("fuse.ipc"), claim("fuse.outgoing"), claim("fuse.energy")];
    let choice = |results: Vec<Cell>| sensitivity::Choice { label: String::new(), results };
    let missing = || Err("not run yet".to_owned());
    let of = |id, others| {
        let ours = choice(vec![Ok(217.0), Ok(-32.0), missing()]);
        sensitivity::Sensitivity::new(id, claims(), vec![21.7, 3.2, 5.3], vec![ours, choice(others)])
    };
    let still = of("a", vec![Ok(230.0), Ok(-33.0), Ok(-1.0)]);
    let moving = of("b", vec![Ok(100.0), Ok(-34.0), Ok(-2.0)]);
    assert_eq!([0, 1, 2].map(|place| moving.moves_claim(place)), [Some(true), Some(false), None]);
    let both = [still, moving];
    for (id, expected) in
        [("fuse.ipc", Open), ("fuse.outgoing", Firm), ("fuse.energy", Unvaried), ("fuse.area", Unvaried)]
    {
        assert_eq!(Dependence::of(id, &both), expected, "{id}");
    }
}

#[test]
fn explanations_are_of_claims_or_of_a_tables_column() {
    let claims = all();
    let papers: Vec<Paper> =
        crate::paper::names().into_iter().map(|name| Paper::load(name).unwrap()).collect();
    for (id, _) in explanations() {
        let in_column = |claim: &Claim| papers.iter().any(|paper| paper.column_of(&claim.id) == Some(&id));
        assert!(claims.iter().any(|claim| claim.id == id || in_column(claim)), "{id} is not a claim");
    }
}

#[test]
fn an_explanation_without_a_measurement_is_refused() {
    let paper = Paper::load("fuse").unwrap();
    for (text, expected) in [
        ("The inputs differ.", "found no measured number, expected one"),
        ("It gains 26.7 times, {ipc dy-fuse @all}.", "found `26.7`, expected a measured number"),
        ("{ipc dy-fuse @all} of {= 64 sets}", "expected {= phrase | source}"),
        ("{ipc dy-fuse @all} of {= 64 sets | }", "expected {= phrase | source}"),
        ("{ipcc dy-fuse}", "no metric `ipcc`"),
        ("{ipc dy-fuze}", "no system `dy-fuze`"),
        ("{ipc dy-fuse @saxpy}", "found `saxpy`, expected a set of workloads"),
        ("{ipc dy-fuse median}", "found `median`, expected METRIC"),
        ("{ipc dy-fuse >x}", "found `x`, expected a number"),
        ("{ipc dy-fuse with}", "found `with`, expected METRIC"),
        ("{ipc}", "expected METRIC SYSTEM"),
        ("{ipc dy-fuse", "found the end, expected `}`"),
    ] {
        let error = Template::parse(&paper, text).err().unwrap_or_else(|| panic!("{text} is taken"));
        assert!(error.contains(expected), "{text}: {error}");
    }
    let names = "2DCONV and 3MM of Fig. 18b and Table III: {ipc dy-fuse @2dconv} {= 64 sets | Table I}";
    assert!(Template::parse(&paper, names).is_ok());
}

#[test]
fn what_is_measured_and_not_reproduced_needs_an_explanation_that_fits() {
    let row = |verdict, explanation: Option<&[&str]>| Row {
        claim: all().remove(0),
        size: Size::Test,
        measured: match verdict {
            Verdict::NotMeasured => Err("not run yet".into()),
            _ => Ok(Measured {
                value: 1.0,
                kind: Kind::Change,
                definition: "mean of ratios".into(),
                readings: vec![],
            }),
        },
        verdict,
        explanation: explanation.map(|problems| Explanation {
            text: "because".into(),
            problems: problems.iter().map(|problem| (*problem).to_owned()).collect(),
        }),
        origin: Origin::default(),
    };
    assert_eq!(row(Direction, None).problems(), ["fuse.ipc: direction at size test, and no explanation"]);
    assert_eq!(row(Far, None).problems().len(), 1);
    assert_eq!(row(Contradicted, None).problems().len(), 1);
    assert!(row(Contradicted, Some(&[])).problems().is_empty());
    assert!(row(Reproduced, None).problems().is_empty());
    assert!(row(Verdict::NotMeasured, None).problems().is_empty());
    let stale = row(Reproduced, Some(&["{ipc a}: found 1.00, so the sentence does not hold"]));
    assert_eq!(
        stale.problems(),
        ["fuse.ipc: explanation: {ipc a}: found 1.00, so the sentence does not hold"]
    );
}

/// Stalls of two systems on two workloads, divided by those of a third system.
#[test]
fn a_claim_of_bars_compares_means_and_one_of_quotients_takes_their_mean() {
    let text = |measured: &str| {
        format!(
            "name = \"p\"\ntitle = \"t\"\nmachine = \"gtx480\"\nmean = \"arithmetic\"\n\
             [workloads]\nall = [\"saxpy\", \"gemm\"]\n\
             [systems]\nbase = {{}}\nold = {{ sets = [\"l1d.ways=8\"] }}\nnew = {{ sets = [\"l1d.ways=16\"] }}\n\
             [measured]\na = {{ kind = \"change\", metric = \"cycles\", system = \"new\", over = \"old\"{measured} }}\n"
        )
    };
    let quotients = Paper::parse(Path::new("p.toml"), &text("")).unwrap();
    let bars = Paper::parse(Path::new("p.toml"), &text(", bars = { system = \"base\" }")).unwrap();
    let folder = Folder::new("bars");
    for (system, saxpy, gemm) in [("base", 100, 1000), ("old", 1, 500), ("new", 50, 250)] {
        for (workload, cycles) in [("saxpy", saxpy), ("gemm", gemm)] {
            let job = Job::timing(workload, Size::Test, &bars.variant(system, None).unwrap()).unwrap();
            let (group, counter, value) = ("run".into(), "cycles".into(), Value::Count(cycles));
            let rows = vec![crate::record::Row { launch: None, group, counter, value }];
            store::put(&folder.0, &Record { job, rows }).unwrap();
        }
    }
    let (store, _) = Store::open(&folder.0).unwrap();
    let measured = |paper: &Paper| {
        let measurement = Measurement::new(paper, &paper.measured["a"]).unwrap();
        measurement.value(&mut Answers::new(&store, Size::Test)).unwrap()
    };
    // 50 / 1 and 250 / 500; (0.5 + 0.25) / 2 over (0.01 + 0.5) / 2.
    assert!((measured(&quotients) - 100.0 * (25.25 - 1.0)).abs() < 1e-9);
    assert!((measured(&bars) - 100.0 * (0.75 / 0.51 - 1.0)).abs() < 1e-9);
}

#[test]
fn mistakes_in_how_a_claim_is_measured_are_named() {
    let text = |measured: &str| {
        format!(
            "name = \"p\"\ntitle = \"t\"\nmachine = \"gtx480\"\nmean = \"arithmetic\"\n\
             [workloads]\nall = [\"saxpy\", \"gemm\"]\n[systems]\nbase = {{}}\nnew = {{}}\n\
             [measured]\na = {{ metric = \"cycles\", {measured} }}\n"
        )
    };
    for (measured, expected) in [
        ("kind = \"change\", system = \"new\"", "a change, ratio or difference is over something"),
        ("kind = \"change\", over = \"base\"", "expected one of `system`, `systems` and `best_of`"),
        ("kind = \"choice\", system = \"new\"", "expected `best_of` for kind `choice`"),
        ("kind = \"level\", best_of = [[\"new\", 1.0]]", "expected `best_of` for kind `choice`"),
        (
            "kind = \"level\", system = \"new\", bars = { system = \"base\" }",
            "a figure's bars are compared with each other: expected `over`",
        ),
        (
            "kind = \"change\", system = \"new\", over = \"base\", definition = \"points\"",
            "expected definition `points` for kind `points`",
        ),
        ("kind = \"level\", system = \"old\"", "no system `old`, expected one of base, new"),
        (
            "kind = \"level\", system = \"new\", also = [{ name = \"x\", metric = \"cycle\" }]",
            "no metric `cycle`",
        ),
    ] {
        let paper = Paper::parse(Path::new("p.toml"), &text(measured)).unwrap();
        let error = check(&paper).unwrap_err();
        let expected = format!("p.toml: measured.\"a\": {expected}");
        assert!(error.starts_with(&expected), "{measured}: {error}");
    }
}

/// A store of runs that count only cycles: system, workload, cycles.
fn store_of(folder: &Folder, paper: &Paper, runs: &[(&str, &str, u64)]) -> Store {
    for (system, workload, cycles) in runs {
        put(folder, &paper.variant(system, None).unwrap(), workload, *cycles);
    }
    Store::open(&folder.0).unwrap().0
}

/// Puts the run of a workload that took so many cycles into a store.
fn put(folder: &Folder, variant: &Variant, workload: &str, cycles: u64) {
    let job = Job::timing(workload, Size::Test, variant).unwrap();
    let (group, counter, value) = ("run".into(), "cycles".into(), Value::Count(cycles));
    let rows = vec![crate::record::Row { launch: None, group, counter, value }];
    store::put(&folder.0, &Record { job, rows }).unwrap();
}

const TWO: &str = "name = \"p\"\ntitle = \"t\"\nmachine = \"gtx480\"\nmean = \"arithmetic\"\n\
                   [workloads]\nall = [\"saxpy\", \"gemm\"]\none = [\"gemm\"]\n\
                   [systems]\nold = { sets = [\"l1d.ways=8\"] }\nnew = { sets = [\"l1d.ways=16\"] }\n";

#[test]
fn a_claim_names_its_definition_and_shows_the_other_one_beside_it() {
    let text = "[measured]\n\
                a = { kind = \"change\", metric = \"cycles\", system = \"new\", over = \"old\" }\n\
                b = { kind = \"points\", metric = \"cycles\", system = \"new\", over = \"old\" }\n\
                c = { kind = \"ratio\", metric = \"cycles\", system = \"new\", over = \"old\", workloads = \"one\" }\n\
                d = { kind = \"level\", metric = \"cycles\", system = \"new\", reduce = \"harmonic\" }\n";
    let paper = Paper::parse(Path::new("p.toml"), &format!("{TWO}{text}")).unwrap();
    let folder = Folder::new("definitions");
    let runs = [("old", "saxpy", 100), ("old", "gemm", 300), ("new", "saxpy", 50), ("new", "gemm", 450)];
    let store = store_of(&folder, &paper, &runs);
    let mut answers = Answers::new(&store, Size::Test);
    let mut measure = |paper: &Paper, id: &str| {
        let text = &paper.measured[id];
        let measurement = Measurement::new(paper, text).unwrap();
        let mut all = vec![(measurement.definition(), measurement.value(&mut answers).unwrap())];
        for reading in measurement.readings() {
            let other = Measurement::new(paper, &text.read_as(&reading)).unwrap();
            all.push((other.definition(), other.value(&mut answers).unwrap()));
        }
        all
    };
    let named = |name: &str, value: f64| (name.to_owned(), value);
    assert_eq!(measure(&paper, "a"), [named("mean of ratios", 0.0), named("ratio of sums", 25.0)]);
    assert_eq!(measure(&paper, "b"), [named("points", 50.0)]);
    assert_eq!(measure(&paper, "c"), [named("ratio", 1.5)]);
    // 2 / (1 / 50 + 1 / 450)
    assert_eq!(measure(&paper, "d"), [named("harmonic mean", 90.0)]);
    // Sums do not depend on the mean: (1 / 2 x 3 / 2)^(1 / 2) - 1, and (50 + 450) / (100 + 300) - 1.
    let geometric = format!("{}{text}", TWO.replace("arithmetic", "geometric"));
    let geometric = Paper::parse(Path::new("p.toml"), &geometric).unwrap();
    let [mean, sum] = measure(&geometric, "a").try_into().unwrap();
    assert_eq!(mean.0, "geometric mean of ratios");
    assert!((mean.1 - 100.0 * (0.75_f64.sqrt() - 1.0)).abs() < 1e-9, "{mean:?}");
    assert_eq!(sum, named("ratio of sums", 25.0));
}

#[test]
fn an_explanation_takes_its_numbers_from_the_runs_and_says_when_they_do_not_fit() {
    let paper = Paper::parse(Path::new("p.toml"), TWO).unwrap();
    let folder = Folder::new("explanations");
    let runs = [("old", "saxpy", 100), ("old", "gemm", 300), ("new", "saxpy", 50), ("new", "gemm", 450)];
    let store = store_of(&folder, &paper, &runs);
    let fill = |text: &str, sizes: &[Size]| {
        let mut answers: Vec<Answers<'_>> = sizes.iter().map(|size| Answers::new(&store, *size)).collect();
        Template::parse(&paper, text).unwrap().fill(&mut answers)
    };
    let here = [Size::Test];
    for (quote, expected) in [
        ("{cycles new/old}", "0.50 to 1.50"),
        ("{cycles new/old mean}", "1.00"),
        ("{cycles new/old sum change}", "+25.0"),
        ("{cycles new/old @saxpy change}", "-50.0"),
        ("{cycles new/old @one percent}", "150"),
        ("{cycles new @saxpy+gemm greatest}", "450"),
        ("{cycles new @saxpy least}", "50.0"),
    ] {
        let text = fill(quote, &here);
        assert_eq!((text.text.as_str(), text.problems.len()), (expected, 0), "{quote}");
    }
    let elsewhere = fill("{cycles new @saxpy}", &[Size::Small, Size::Test]);
    assert_eq!((elsewhere.text.as_str(), elsewhere.problems.len()), ("50.0 (at test)", 0));
    assert!(fill("{cycles new/old >0.4 <1.6}", &here).problems.is_empty());
    assert_eq!(
        fill("{cycles new/old >1}", &here).problems,
        ["{cycles new/old >1}: found 0.50, so the sentence does not hold"]
    );
    let experiment = Template::parse(&paper, "{cycles new/old with=l1d.ways=2 @one}").unwrap();
    let names: Vec<String> = experiment.jobs().iter().map(|job| job.variant.name.clone()).collect();
    assert_eq!(names.iter().filter(|name| name.contains("l1d.ways=2")).count(), 1, "of the first: {names:?}");
    let missing = fill("{cycles new @one} and {cycles new @one}", &[Size::Small]);
    assert_eq!(missing.text, "(not measured) and (not measured)");
    assert!(missing.problems[0].contains("not run yet"), "{:?}", missing.problems);
}

#[test]
fn a_choice_moves_a_claim_when_it_moves_it_by_more_than_a_tenth_of_what_is_published() {
    let result = |values: &[f64]| sensitivity::Choice {
        label: "x".into(),
        results: values.iter().map(|value| Ok(*value)).collect(),
    };
    let fuse_ipc = all().into_iter().find(|claim| claim.id == "fuse.ipc").unwrap();
    let of = |one: f64, two: f64| {
        sensitivity::Sensitivity::new(
            "s",
            vec![fuse_ipc.clone()],
            vec![21.7],
            vec![result(&[one]), result(&[two])],
        )
    };
    assert_eq!(of(225.0, 225.0 - 21.7).moves(), Some(false));
    assert_eq!(of(225.0, 225.0 - 21.8).moves(), Some(true));
    assert_eq!(of(225.0, 225.0 + 21.8).moves(), Some(true));
}

#[test]
fn a_workload_without_such_a_number_is_left_out_when_told_so() {
    let text = |measured: &str| {
        format!(
            "name = \"p\"\ntitle = \"t\"\nmachine = \"gtx480\"\nmean = \"arithmetic\"\n\
             [workloads]\nall = [\"saxpy\", \"gemm\"]\n[systems]\nbase = {{}}\n\
             [metrics.accuracy]\ntitle = \"Accuracy\"\nunit = \"%\"\n\
             expression = \"100 * run.right / (run.right + run.wrong)\"\n\
             [metrics.mistakes]\ntitle = \"Mistakes\"\nunit = \"lines\"\nexpression = \"run.wrong\"\n\
             [measured]\na = {{ kind = \"share\", metric = \"accuracy\", system = \"base\"{measured} }}\n"
        )
    };
    let folder = Folder::new("undefined");
    let paper = |measured: &str| Paper::parse(Path::new("p.toml"), &text(measured)).unwrap();
    let put = |workload: &str, right, wrong| {
        let job = Job::timing(workload, Size::Test, &paper("").variant("base", None).unwrap()).unwrap();
        let row = |counter: &str, count| {
            let (group, counter, value) = ("run".into(), counter.into(), Value::Count(count));
            crate::record::Row { launch: None, group, counter, value }
        };
        store::put(&folder.0, &Record { job, rows: vec![row("right", right), row("wrong", wrong)] }).unwrap();
    };
    let measured = |paper: &Paper| {
        let (store, _) = Store::open(&folder.0).unwrap();
        Measurement::new(paper, &paper.measured["a"]).unwrap().value(&mut Answers::new(&store, Size::Test))
    };
    let told = paper(", where_defined = true");
    put("saxpy", 3, 1);
    assert!(measured(&told).unwrap_err().contains("gemm on base: not run yet"), "missing is not undefined");
    put("gemm", 0, 0);
    assert!(measured(&paper("")).unwrap_err().contains("divides by zero"));
    assert_eq!(measured(&told), Ok(75.0));
    // Over a metric that is 0 for one of them.
    let over = |more: &str| {
        let text = text("").replace(
            "kind = \"share\", metric = \"accuracy\", system = \"base\"",
            &format!("kind = \"ratio\", metric = \"mistakes\", system = \"base\", over = \"base\"{more}"),
        );
        measured(&Paper::parse(Path::new("p.toml"), &text).unwrap())
    };
    assert!(over("").unwrap_err().contains("the base of the ratio is 0"));
    assert_eq!(over(", where_defined = true"), Ok(1.0));
}
