//! Assumptions of machines, and what a study says of numbers that are known.

use strata_engine::seed::Stream;
use strata_measure::uncertain::Point;
use strata_measure::uncertain::morris::Trajectory;
use strata_measure::uncertain::sobol::Pair;
use strata_workloads::Size;

use super::drawn::groups;
use super::*;
use crate::paper::Paper;
use crate::variant::Variant;

fn variant(system: &str, sets: &[&str]) -> Variant {
    Variant {
        name: system.into(),
        base: "gtx480".into(),
        system: Some(system.into()),
        sets: sets.iter().map(|set| (*set).to_owned()).collect(),
        version: None,
    }
}

#[test]
fn what_is_assumed_of_several_machines_is_drawn_for_all_of_them_at_once() {
    let machines = [variant("l1-sram", &[]), variant("dy-fuse", &["lsu.queue=16"])];
    let assumptions = Assumptions::of(&machines).unwrap();
    let place = |name: &str| {
        let found = assumptions.all.iter().position(|of| of.name == name);
        found.unwrap_or_else(|| panic!("{name}: {:?}", assumptions.all))
    };
    let buffer = &assumptions.all[place("l1d.write_buffer")];
    assert_eq!(buffer.paths, ["l1d.sram.write_buffer", "l1d.fuse.write_buffer"]);
    let energies = &assumptions.all[place("energies")];
    assert!(energies.paths.len() > 20 && energies.paths.contains(&"energy.l1d.pj.fuse.swap_reads".into()));
    let mut point = vec![0.5; assumptions.all.len()];
    point[place("l1d.write_buffer")] = 1.0;
    point[place("energies")] = 0.0;
    let [sram, fuse] = [&machines[0], &machines[1]].map(|machine| assumptions.at(&point, machine));
    let has = |variant: &Variant, set: &str| variant.sets.iter().any(|of| of == set);
    assert!(has(&sram, "l1d.sram.write_buffer=64") && has(&fuse, "l1d.fuse.write_buffer=64"), "{sram:?}");
    assert!(has(&fuse, "energy.l1d.pj.fuse.swap_reads=4.5"), "{fuse:?}");
    // What is set of a machine is not drawn there.
    assert!(sram.sets.iter().any(|set| set.starts_with("lsu.queue=")));
    assert_eq!(fuse.sets.iter().filter(|set| set.starts_with("lsu.queue=")).count(), 1);
    // Names tell draws apart, and the same draw is the same machine.
    assert_eq!(assumptions.at(&point, &machines[0]), sram);
    let other: Point = point.iter().map(|place| 1.0 - place).collect();
    assert_ne!(assumptions.at(&other, &machines[0]).name, sram.name);
    assert!(sram.name.starts_with("l1-sram drawn ") && sram.machine().is_ok(), "{}", sram.name);
}

#[test]
fn a_paper_is_asked_for_its_abstracts_claims_or_its_first() {
    let fuse = Paper::load("fuse").unwrap();
    let ids = |claims: Claims<'_>| claims.numbers().into_iter().map(|number| number.id).collect::<Vec<_>>();
    assert_eq!(ids(Claims::new(&fuse, &[]).unwrap()), ["fuse.ipc", "fuse.outgoing", "fuse.energy"]);
    assert_eq!(ids(Claims::new(&fuse, &["fuse.search".into()]).unwrap()), ["fuse.search"]);
    let numbers = Claims::new(&fuse, &[]).unwrap().numbers();
    assert_eq!(
        (numbers[0].text(217.0), numbers[0].published.as_deref()),
        ("+217.0 %".into(), Some("+217 %"))
    );
    let tiny = Paper::load("tinycache").unwrap();
    let asked = ids(Claims::new(&tiny, &[]).unwrap());
    assert_eq!(asked, ["tiny.dl1g", "tiny.scratch", "tiny.energy", "tiny.ed", "tiny.ipc"]);
}

/// A study of two numbers over three assumptions: one is the second assumption's place, ten times, the other never varies. `lacking`
/// leaves the numbers of one point out.
fn drawn(lacking: bool) -> Drawn {
    let of = |point: &Point| vec![Some(10.0 * point[1]), Some(7.0)];
    let walk = |number: u64| {
        let trajectory = Trajectory::new(3, &mut Stream::new(number, "walk"));
        Walk { values: trajectory.points.iter().map(of).collect(), trajectory }
    };
    let kept = vec![1];
    let row = |pair: Pair| Row { values: pair.points(&groups(3, &kept)).iter().map(of).collect(), pair };
    let mut rows: Vec<Row> = Pair::all(3, 1024, &mut Stream::new(1, "rows")).into_iter().map(row).collect();
    if lacking {
        rows[3].values[0] = vec![None, None];
    }
    let number = |id: &str| Number { id: id.into(), signed: true, unit: " %".into(), published: None };
    let assumption = |name: &str| Assumption {
        name: name.into(),
        values: "0 to 1".into(),
        because: "a test".into(),
        paths: vec![name.into()],
    };
    Drawn {
        of: "a test".into(),
        simulator: "none".into(),
        size: Size::Test,
        seed: 1,
        numbers: ["moves", "rests"].map(number).to_vec(),
        assumptions: ["a", "b", "c"].map(assumption).to_vec(),
        modelled: vec![Some(5.0), Some(7.0)],
        refused: vec![],
        walks: (0..4).map(walk).collect(),
        kept,
        rows,
    }
}

#[test]
fn the_assumption_that_is_the_number_has_all_of_it_and_the_others_nothing() {
    let drawn = drawn(false);
    let [moves, rests] = &sureness(&drawn)[..] else { panic!("there are two numbers") };
    let first = &moves.moved[0];
    assert_eq!((first.assumption.name.as_str(), first.effect.deviation < 1e-9), ("b", true));
    assert!((first.effect.size - 10.0).abs() < 1e-9, "{:?}", first.effect);
    let index = first.index.unwrap();
    assert!((index.total.value - 1.0).abs() < 0.15 && (index.first.value - 1.0).abs() < 0.15, "{index:?}");
    assert_eq!(moves.others.map(|index| index.total.value), Some(0.0));
    assert!(moves.moved[1..].iter().all(|of| of.effect.size == 0.0 && of.index.is_none()));
    // Even from 0 to 10: the middle is 5, and nine tenths lie between 0.5 and 9.5.
    let spread = moves.spread.unwrap();
    for (found, expected) in spread.into_iter().zip([0.5, 5.0, 9.5]) {
        assert!((found - expected).abs() < 0.35, "{spread:?}");
    }
    assert_eq!((moves.draws, moves.rows, rests.spread), (2048, 1024, Some([7.0; 3])));
    assert!(
        rests.moved.iter().all(|of| of.effect.size == 0.0 && of.index.is_none()) && rests.others.is_none()
    );
}

#[test]
fn what_is_missing_is_left_out_and_counted() {
    let drawn = drawn(true);
    let moves = &sureness(&drawn)[0];
    assert_eq!((moves.draws, moves.rows, drawn.lacking()), (2047, 1023, 2));
    let lines: Vec<String> = csv(&drawn).lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 1 + 3 + 1 + 3);
    assert!(lines[1].starts_with("moves,%,,5,"), "{}", lines[1]);
    assert!(lines[4].contains(",all others,,,,,"), "{}", lines[4]);
    assert_eq!(json(&drawn)["lacking"], 2);
}

#[test]
fn a_kept_study_is_the_same_again_and_one_that_does_not_fit_is_refused() {
    let kept = drawn(true);
    assert_eq!(kept.check(), Ok(()));
    let again: Drawn = serde_json::from_str(&serde_json::to_string(&kept).unwrap()).unwrap();
    assert_eq!(again, kept);
    type Change = fn(&mut Drawn);
    let changes: [(Change, &str); 5] = [
        (|of| _ = of.modelled.pop(), "modelled: found 1, expected 2"),
        (|of| of.kept.push(3), "kept: found 3, expected less than 3"),
        (|of| drop(of.walks[1].values.pop()), "walks: values: found 3, expected 4"),
        (|of| _ = of.rows[0].values[1].pop(), "values of a point: found 1, expected 2"),
        (|of| of.walks[0].trajectory.order[0] = 9, "walks: order: found 9, expected less than 3"),
    ];
    for (change, expected) in changes {
        let mut other = kept.clone();
        change(&mut other);
        assert_eq!(other.check(), Err(expected.to_owned()));
    }
}
