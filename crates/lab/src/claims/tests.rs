use std::path::Path;

use super::*;
use crate::job::Job;
use crate::record::{Record, Value};
use crate::store::{self, tests::Folder};
use Verdict::{Contradicted, Direction, Reproduced};

/// A number this much past a boundary is past it.
const STEP: f64 = 1e-6;

#[test]
fn a_change_is_reproduced_up_to_a_quarter_of_the_published_change() {
    for (published, measured, expected) in [
        (217.0, 217.0, Reproduced),
        (217.0, 217.0 * 1.25, Reproduced),
        (217.0, 217.0 * 1.25 + STEP, Direction),
        (217.0, 217.0 * 0.75, Reproduced),
        (217.0, 217.0 * 0.75 - STEP, Direction),
        (217.0, STEP, Direction),
        (217.0, 0.0, Contradicted),
        (217.0, -1.0, Contradicted),
        (-32.0, -24.0, Reproduced),
        (-32.0, -40.0, Reproduced),
        (-32.0, -24.0 + STEP, Direction),
        (-32.0, -40.0 - STEP, Direction),
        (-32.0, 1.0, Contradicted),
        (0.0, 1.0, Reproduced),
        (0.0, -1.0, Reproduced),
        (0.0, 1.0 + STEP, Contradicted),
    ] {
        assert_eq!(judge(Kind::Change, None, published, measured), expected, "{published} {measured}");
    }
}

#[test]
fn a_ratio_is_reproduced_up_to_a_quarter_of_its_distance_from_1() {
    for (published, measured, expected) in [
        (6.0, 7.25, Reproduced),
        (6.0, 7.25 + STEP, Direction),
        (6.0, 4.75, Reproduced),
        (6.0, 4.75 - STEP, Direction),
        (6.0, 1.0 + STEP, Direction),
        (6.0, 1.0, Contradicted),
        (1.57, 1.57 + 0.1425, Reproduced),
        (1.57, 1.57 + 0.1425 + STEP, Direction),
        (0.6, 0.5, Reproduced),
        (0.6, 0.5 - STEP, Direction),
        (0.6, 1.1, Contradicted),
        (1.0, 1.01, Reproduced),
        (1.0, 1.02, Contradicted),
    ] {
        assert_eq!(judge(Kind::Ratio, None, published, measured), expected, "{published} {measured}");
    }
}

#[test]
fn a_share_is_reproduced_up_to_a_quarter_of_itself_on_its_side_of_one_half() {
    for (published, measured, expected) in [
        (75.0, 93.75, Reproduced),
        (75.0, 93.75 + STEP, Direction),
        (75.0, 56.25, Reproduced),
        (75.0, 56.25 - STEP, Direction),
        (75.0, 50.0, Contradicted),
        (60.0, 50.0, Contradicted),
        (3.0, 3.75, Reproduced),
        (3.0, 3.75 + STEP, Direction),
        (3.0, 51.0, Contradicted),
    ] {
        assert_eq!(judge(Kind::Share, None, published, measured), expected, "{published} {measured}");
    }
}

#[test]
fn a_level_is_near_or_it_is_not() {
    for (published, measured, expected) in [
        (2.0, 2.5, Reproduced),
        (2.0, 2.5 + STEP, Contradicted),
        (0.5, 0.5, Reproduced),
        (0.5, 0.75, Contradicted),
    ] {
        assert_eq!(judge(Kind::Level, None, published, measured), expected, "{published} {measured}");
    }
}

#[test]
fn bounds_have_a_right_side() {
    use Bound::{AtLeast, AtMost};
    for (kind, bound, published, measured, expected) in [
        (Kind::Change, AtLeast, 39.0, 400.0, Reproduced),
        (Kind::Change, AtLeast, 39.0, 29.25, Reproduced),
        (Kind::Change, AtLeast, 39.0, 29.25 - STEP, Direction),
        (Kind::Change, AtLeast, 39.0, -1.0, Contradicted),
        // Within 2 percent, at worst.
        (Kind::Change, AtMost, -2.0, -0.1, Reproduced),
        (Kind::Change, AtMost, -2.0, 3.0, Reproduced),
        (Kind::Change, AtMost, -2.0, -2.5, Reproduced),
        (Kind::Change, AtMost, -2.0, -2.5 - STEP, Contradicted),
        (Kind::Level, AtMost, 2.0, 1.0, Reproduced),
        (Kind::Level, AtMost, 2.0, 2.6, Contradicted),
    ] {
        assert_eq!(judge(kind, Some(bound), published, measured), expected, "{published} {measured}");
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
        let claims: Vec<Claim> = all().into_iter().filter(|claim| claim.paper == name).collect();
        for claim in &claims {
            let text =
                paper.measured.get(&claim.id).unwrap_or_else(|| panic!("{} is not measured", claim.id));
            let signed = claim.published.starts_with(['+', '-']);
            assert_eq!(signed, text.kind == Kind::Change, "{}: a sign makes a change", claim.id);
            assert_eq!(claim.unit == "ratio", text.kind == Kind::Ratio, "{}", claim.id);
        }
        for id in paper.measured.keys() {
            assert!(claims.iter().any(|claim| claim.id == *id), "{id} is no claim");
        }
    }
}

#[test]
fn explanations_are_of_claims() {
    let claims = all();
    for (id, text) in explanations() {
        assert!(claims.iter().any(|claim| claim.id == id), "{id} is no claim");
        assert!(text.split_whitespace().count() >= 5, "{id}: an explanation is a sentence");
    }
}

#[test]
fn what_is_measured_and_not_reproduced_needs_an_explanation() {
    let row = |verdict, explanation: Option<&str>| Row {
        claim: all().remove(0),
        size: Size::Test,
        measured: Some(1.0),
        verdict,
        explanation: explanation.map(str::to_owned),
    };
    assert!(row(Direction, None).lacks_explanation());
    assert!(row(Contradicted, None).lacks_explanation());
    assert!(!row(Contradicted, Some("because")).lacks_explanation());
    assert!(!row(Reproduced, None).lacks_explanation());
    assert!(!row(Verdict::NotMeasured, Some("not run yet")).lacks_explanation());
}

/// Two systems' stalls on two workloads, over a third system's.
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
    let alone =
        text("").replace(", over = \"old\"", ", bars = { system = \"base\" }").replace("change", "level");
    let error = Paper::parse(Path::new("p.toml"), &alone).unwrap_err();
    assert!(error.contains("a figure's bars are compared with each other: expected `over`"), "{error}");
}

#[test]
fn a_workload_without_such_a_number_is_left_out_when_told_so() {
    let text = |measured: &str| {
        format!(
            "name = \"p\"\ntitle = \"t\"\nmachine = \"gtx480\"\nmean = \"arithmetic\"\n\
             [workloads]\nall = [\"saxpy\", \"gemm\"]\n[systems]\nbase = {{}}\n\
             [metrics.accuracy]\ntitle = \"Accuracy\"\nunit = \"%\"\n\
             expression = \"100 * run.right / (run.right + run.wrong)\"\n\
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
}
