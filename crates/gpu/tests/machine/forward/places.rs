//! Where runs begin and end.

use strata_gpu::position::Position;
use strata_gpu::region::{Most, Region};
use strata_gpu::results::{RunResult, Verdict};
use strata_workloads::{Size, find};

use super::{Part, for_ctas, from, instructions, small, three};

/// Thread instructions that were measured, and those before them that the reference executor executed.
fn counted(result: &RunResult) -> (u64, u64) {
    (result.thread_instructions(), result.began.map_or(0, |began| began.skipped.thread_instructions))
}

#[test]
fn the_model_counts_the_ctas_from_the_first_on_and_no_others() {
    let (program, machine) = (three(), small());
    let whole = Part::of(&program, &machine, Region::default()).verified();
    assert_eq!(counted(&whole), (instructions(12, 8), 0));
    for cta in 0..8 {
        let result = Part::of(&program, &machine, from(1, cta)).verified();
        assert_eq!(counted(&result), (instructions(8 - cta, 8), instructions(4 + cta, 0)), "CTA {cta}");
        let began = result.began.unwrap();
        assert_eq!((began.at, began.is_warm), (Position { launch: 1, cta }, false));
        assert_eq!(result.launches.len(), 2);
        assert_eq!(result.launches[0].thread_instructions, instructions(8 - cta, 0));
        assert_eq!(result.launches[0].grid, [8, 1, 1], "the grid keeps its shape");
    }
}

#[test]
fn ctas_before_the_first_warm_caches_and_are_not_counted() {
    let (program, machine) = (three(), small());
    let hits = |result: &RunResult| result.counter("l2", "load_hits").unwrap_or(0);
    let cold = Part::of(&program, &machine, from(2, 6)).verified();
    for (warm_ctas, warmed) in [(1, 1), (6, 6), (100, 6)] {
        let region = Region { warm_ctas, ..from(2, 6) };
        let result = Part::of(&program, &machine, region).verified();
        assert_eq!(counted(&result), (instructions(0, 2), instructions(12, 6 - warmed)));
        assert_eq!(result.began.map(|began| (began.is_warm, began.warm_ctas)), Some((true, warmed)));
        assert!(result.cycles() < cold.cycles(), "code and data are there: {}", result.cycles());
        assert!(hits(&result) >= hits(&cold));
    }
    let result = Part::of(&program, &machine, Region { warm: true, ..from(2, 6) }).verified();
    assert_eq!(counted(&result), (instructions(0, 2), 0), "all before ran on the machine");
    assert_eq!(result.began.map(|began| (began.is_warm, began.warm_ctas)), Some((true, 6)));
    assert_eq!(result.launches.len(), 1);
}

#[test]
fn a_run_begins_with_the_first_cta_after_so_many_instructions() {
    let (program, machine) = (three(), small());
    let index = instructions(1, 0);
    for (instructions, place) in [
        (0, (0, 0)),
        (1, (0, 1)),
        (index, (0, 1)),
        (index + 1, (0, 2)),
        (4 * index, (1, 0)),
        (4 * index + 1, (1, 1)),
        (11 * index + 1, (2, 0)),
        (12 * index + 1, (2, 1)),
    ] {
        let region = Region { from_instruction: Some(instructions), ..Region::default() };
        let result = Part::of(&program, &machine, region).verified();
        let (launch, cta) = place;
        let at = result.began.map_or(Position::START, |began| began.at);
        assert_eq!(at, Position { launch, cta }, "{instructions}");
        let same = Part::of(&program, &machine, from(launch, cta)).verified();
        assert_eq!(result.statistics_hash(), same.statistics_hash());
        assert_eq!(counted(&result), counted(&same));
    }
    let region = Region { from_instruction: Some(5 * index), warm_ctas: 3, ..Region::default() };
    let result = Part::of(&program, &machine, region).verified();
    assert_eq!(
        counted(&result),
        (super::instructions(7, 8), 4 * index),
        "only one CTA of its launch comes before it"
    );
}

#[test]
fn a_run_ends_after_so_many_ctas_and_can_be_finished() {
    let (program, machine) = (three(), small());
    for (ctas, index, twice, ended) in
        [(1, 1, 0, (1, 4)), (5, 5, 0, (1, 8)), (7, 5, 2, (2, 2)), (99, 5, 8, (2, 8))]
    {
        let region = Region { most: for_ctas(ctas), ..from(1, 3) };
        let cut = Part::of(&program, &machine, region.clone()).run().unwrap();
        let at = Position { launch: ended.0, cta: ended.1 };
        assert_eq!((cut.thread_instructions(), cut.ended), (instructions(index, twice), Some(at)), "{ctas}");
        let whole = ctas >= 13;
        assert_eq!(cut.verdict, if whole { Verdict::Verified } else { Verdict::Cut });
        let finished =
            Part { check: true, ..Part::of(&program, &machine, Region { finish: true, ..region }) };
        let finished = finished.verified();
        assert_eq!(finished.statistics_hash(), cut.statistics_hash(), "what comes behind is not counted");
        assert_eq!(finished.checked.map(|checked| checked.launches), Some(3));
    }
    let region = Region { to: Some(0), finish: true, ..Region::default() };
    let finished = Part::of(&program, &machine, region).verified();
    assert_eq!(counted(&finished), (instructions(4, 0), 0));
}

#[test]
fn a_run_ends_with_the_ctas_that_run_after_so_many_cycles_or_instructions() {
    let program = find("gemm").unwrap().program(Size::Test).unwrap();
    let machine = small();
    let whole = Part::of(program.as_ref(), &machine, Region::default()).verified();
    let run = |most: Most, threads: usize| {
        let region = Region { most, finish: true, ..Region::default() };
        Part { threads, ..Part::of(program.as_ref(), &machine, region) }.verified()
    };
    let cycles = |cycles| Most { cycles: Some(cycles), ..Most::default() };
    let executed = |instructions| Most { instructions: Some(instructions), ..Most::default() };
    // 24 CTAs, of which six fit on each SM.
    let early = run(cycles(1000), 1);
    assert_eq!(early.ended, Some(Position { launch: 0, cta: 12 }));
    let half = run(executed(whole.thread_instructions() / 2), 1);
    let ended = half.ended.unwrap();
    assert!((13..24).contains(&ended.cta), "{ended}");
    assert!(half.thread_instructions() * 2 >= whole.thread_instructions() && half.cycles() < whole.cycles());
    for most in [cycles(1000), cycles(30_000), executed(1), executed(whole.thread_instructions() / 2)] {
        assert_eq!(run(most, 1).statistics_hash(), run(most, 3).statistics_hash(), "{most:?}");
    }
    let never = run(executed(u64::MAX), 1);
    assert_eq!(never.statistics_hash(), whole.statistics_hash());
}

#[test]
fn every_place_of_a_program_leaves_the_right_results() {
    // The host reads a flag between launches, and both kernels have five CTAs.
    let program = find("bfs").unwrap().program(Size::Test).unwrap();
    let machine = small();
    for (launch, cta) in [(0, 1), (3, 4), (4, 2), (13, 0), (13, 4)] {
        let region = Region { warm_ctas: cta / 2, most: for_ctas(6), finish: true, ..from(launch, cta) };
        let part = || Part { check: true, ..Part::of(program.as_ref(), &machine, region.clone()) };
        let result = part().verified();
        let again = Part { threads: 2, ..part() }.verified();
        assert_eq!(result.statistics_hash(), again.statistics_hash(), "launch {launch}, CTA {cta}");
    }
}

#[test]
fn parts_of_a_run_add_up_to_what_was_measured() {
    use strata_gpu::results::By;
    use strata_gpu::{RunRequest, run};
    let (program, machine) = (three(), small());
    let region = Region { warm_ctas: 2, ..from(1, 5) };
    let by = [By::Cta, By::Sm, By::Launch];
    let result = run(RunRequest {
        region,
        by: &by,
        ..RunRequest::plain(&program, &machine, &mut |_| (), &mut |_| ())
    });
    let result = result.unwrap();
    let issued = |groups: &[strata_engine::statistics::Group]| {
        groups.iter().find(|group| group.name == "sm").and_then(|group| group.get("thread_instructions"))
    };
    let all = instructions(3, 8);
    for breakdown in &result.breakdowns {
        let parts: u64 = breakdown.parts.iter().filter_map(|part| issued(&part.groups)).sum();
        assert!(breakdown.by == By::Cta || parts == all, "{}: {parts} of {all}", breakdown.by);
    }
    let ctas = result.breakdowns.iter().find(|breakdown| breakdown.by == By::Cta).unwrap();
    let names: Vec<&str> = ctas.parts.iter().map(|part| part.name.as_str()).take(3).collect();
    assert_eq!(names, ["launch 1 (index) cta 5", "launch 1 (index) cta 6", "launch 1 (index) cta 7"]);
}
