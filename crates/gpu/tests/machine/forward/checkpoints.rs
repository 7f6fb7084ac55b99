//! Runs from checkpoints.

use std::collections::BTreeMap;
use std::sync::Arc;

use strata_gpu::checkpoint::Checkpoint;
use strata_gpu::machine::Machine;
use strata_gpu::position::Position;
use strata_gpu::region::Region;
use strata_workloads::launch_file::{LaunchFile, Package, read_package};
use strata_workloads::{HostProgram, Size, find};

use super::{Part, for_ctas, from, instructions, small, three};

fn bfs() -> Box<dyn HostProgram> {
    find("bfs").unwrap().program(Size::Test).unwrap()
}

/// A checkpoint through its file's bytes.
fn through_file(checkpoint: &Checkpoint) -> Arc<Checkpoint> {
    Arc::new(Checkpoint::from_bytes(&checkpoint.to_bytes()).unwrap())
}

#[test]
fn one_checkpoint_serves_every_machine_as_the_run_before_it_would() {
    let bfs = bfs();
    let program = bfs.as_ref();
    for (launch, cta) in [(4, 0), (6, 3)] {
        let region = from(launch, cta);
        let checkpoint = through_file(&Part::of(program, &small(), region.clone()).saved());
        assert_eq!(checkpoint.at, Position { launch, cta });
        assert!(!checkpoint.answers.is_empty(), "the host reads a flag between launches");
        let systems =
            ["l1-sram", "dy-fuse"].map(|system| Machine::load_with("gtx480", &[system], &[]).unwrap());
        for machine in systems.into_iter().chain([small(), Machine::load("stash-apu", &[]).unwrap()]) {
            let before = Part::of(program, &machine, region.clone()).verified();
            for threads in [1, 2] {
                let start = Some(checkpoint.clone());
                let after =
                    Part { start, threads, ..Part::of(program, &machine, Region::default()) }.verified();
                assert_eq!(after.statistics_hash(), before.statistics_hash(), "{}", machine.name());
                assert_eq!((after.began, after.region.clone()), (before.began, before.region.clone()));
                assert_eq!(after.outputs, before.outputs);
            }
        }
    }
}

#[test]
fn a_run_goes_on_from_a_checkpoint_to_a_later_place() {
    let bfs = bfs();
    let (program, machine) = (bfs.as_ref(), small());
    let checkpoint = Part::of(program, &machine, from(2, 3)).saved();
    let regions = [
        Region { warm_ctas: 1, ..from(2, 4) },
        from(7, 2),
        Region { most: for_ctas(4), finish: true, ..from(5, 0) },
        Region { from_instruction: Some(200_000), ..Region::default() },
    ];
    for region in regions {
        let plain = Part::of(program, &machine, region.clone()).verified();
        let start = Some(checkpoint.clone());
        let result = Part { start: start.clone(), ..Part::of(program, &machine, region.clone()) }.verified();
        assert_eq!(result.statistics_hash(), plain.statistics_hash(), "{region:?}");
        assert_eq!(result.began, plain.began, "{region:?}");
        // So does a checkpoint that is made from a checkpoint.
        if region.warm_ctas == 0 {
            let place = Region { most: Default::default(), finish: false, ..region.clone() };
            let later = Part { start, ..Part::of(program, &machine, place.clone()) }.saved();
            let at_once = Part::of(program, &machine, place).saved();
            assert_eq!(later, at_once, "{region:?}");
        }
    }
}

#[test]
fn warm_begins_at_the_checkpoint() {
    let (program, machine) = (three(), small());
    let start = Some(Part::of(&program, &machine, from(1, 6)).saved());
    let region = Region { warm: true, ..from(2, 5) };
    let result = Part { start, ..Part::of(&program, &machine, region) }.verified();
    assert_eq!(result.thread_instructions(), instructions(0, 3));
    let began = result.began.unwrap();
    assert_eq!(began.skipped.thread_instructions, instructions(10, 0));
    assert_eq!((began.at, began.is_warm, began.warm_ctas), (Position { launch: 2, cta: 5 }, true, 5));
}

#[test]
fn memory_is_compared_from_the_checkpoint_on() {
    let bfs = bfs();
    let (program, machine) = (bfs.as_ref(), small());
    let start = Some(Part::of(program, &machine, from(9, 1)).saved());
    let part = Part { start, check: true, ..Part::of(program, &machine, Region::default()) };
    assert_eq!(part.verified().checked.map(|checked| checked.launches), Some(14 - 9));
}

#[test]
fn a_checkpoint_of_something_else_is_refused() {
    let (program, machine) = (three(), small());
    let checkpoint = Part::of(&program, &machine, from(1, 4)).saved();
    let with = |change: &dyn Fn(&mut Checkpoint), region: Region| {
        let mut changed = (*checkpoint).clone();
        change(&mut changed);
        Part { start: Some(Arc::new(changed)), ..Part::of(&program, &machine, region) }.refused()
    };
    assert_eq!(
        with(&|checkpoint| checkpoint.of.inputs = "others".into(), Region::default()),
        "the checkpoint is of three with PTX ptx and inputs others, expected three with PTX ptx and inputs inputs"
    );
    assert_eq!(
        with(&|_| (), from(1, 3)),
        "the run begins at launch 1, CTA 3, expected no place before the checkpoint's, launch 1, CTA 4"
    );
    assert_eq!(
        with(&|_| (), Region { from_instruction: Some(7), ..Region::default() }),
        "--from-instruction 7: expected at least 1024, those before the checkpoint"
    );
    assert_eq!(
        with(&|_| (), Region { warm_ctas: 3, ..from(1, 6) }),
        "cannot launch `index`: --warm-ctas 3: 2 CTAs lie between the checkpoint and CTA 6"
    );
    // Whoever forges the names of the program still has to bring what its host did.
    let host = "cannot launch `index`: the host does not do what it did when the checkpoint was made: ";
    let others = with(&|checkpoint| checkpoint.image.buffers[0].1 += 4, Region::default());
    assert!(others.starts_with(host), "{others}");
    let outside = with(&|checkpoint| checkpoint.image.pieces[0].0 = 0, Region::default());
    assert_eq!(outside, format!("{host}its memory lies outside its buffers"));
    let beyond = with(&|checkpoint| checkpoint.at.cta = 9, Region::default());
    assert_eq!(beyond, "cannot launch `index`: the checkpoint: CTA 9: launch 1 has 8, counted from 0");
    let later = with(&|checkpoint| checkpoint.at.launch = 9, Region::default());
    assert!(later.contains("--from-launch 9: the program makes 3 launches"), "{later}");
}

#[test]
fn a_host_that_reads_something_else_is_refused() {
    let bfs = bfs();
    let (program, machine) = (bfs.as_ref(), small());
    let checkpoint = Part::of(program, &machine, from(6, 0)).saved();
    let with = |change: &dyn Fn(&mut Checkpoint)| {
        let mut changed = (*checkpoint).clone();
        change(&mut changed);
        Part { start: Some(Arc::new(changed)), ..Part::of(program, &machine, Region::default()) }.refused()
    };
    for reason in [
        with(&|checkpoint| checkpoint.answers[0].at += 4),
        with(&|checkpoint| checkpoint.answers.truncate(1)),
        with(&|checkpoint| checkpoint.answers.clear()),
        with(&|checkpoint| checkpoint.answers.push(checkpoint.answers[0].clone())),
    ] {
        assert!(
            reason.contains("the host does not do what it did when the checkpoint was made: it had read "),
            "{reason}"
        );
    }
}

/// A launch, a host phase of four threads that add up what it left, and the launch again.
fn with_a_phase() -> LaunchFile {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/cpu-cores/");
    let read = |name: &str| std::fs::read_to_string(format!("{folder}{name}")).unwrap();
    let again =
        "\n[[launch]]\nkernel = \"square\"\ngrid = [4]\nblock = [256]\narguments = [{ buffer = \"x\" }]\n";
    let files = BTreeMap::from([("phases.ptx".to_owned(), read("phases.ptx").into_bytes())]);
    let text = read("launch.toml") + again;
    read_package(&Package { path: "phase.toml".into(), text, files }).unwrap()
}

#[test]
fn a_host_phase_before_the_place_is_executed_or_in_the_checkpoint() {
    let program = with_a_phase();
    let region = from(1, 2);
    let checkpoint = through_file(&Part::of(&program, &small(), region.clone()).saved());
    for machine in [small(), Machine::load("stash-apu", &[]).unwrap()] {
        let before = Part::of(&program, &machine, region.clone()).verified();
        assert!(before.phases.is_empty() && before.launches.len() == 1, "{}", machine.name());
        let start = Some(checkpoint.clone());
        let after = Part { start, ..Part::of(&program, &machine, Region::default()) }.verified();
        assert_eq!(after.statistics_hash(), before.statistics_hash(), "{}", machine.name());
        // Behind the part, it is executed: the first launch ends in its middle.
        let region = Region { most: for_ctas(2), finish: true, ..Region::default() };
        let finished = Part::of(&program, &machine, region).verified();
        assert!(finished.phases.is_empty() && finished.ended == Some(Position { launch: 0, cta: 2 }));
    }
}
