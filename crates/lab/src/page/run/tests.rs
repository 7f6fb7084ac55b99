//! The page of a run that has just ended, of a kernel in which one line is to blame.

use strata_gpu::machine::Machine;
use strata_gpu::results::RunResult;
use strata_gpu::{Progress, RunRequest, run};
use strata_workloads::{Arg, Device, DeviceError, DevicePtr, HostProgram, Module, Outcome, Shape};

use super::*;
use crate::fresh::BY;
use crate::timeline::Timeline;

/// One lane follows pointers through lines that are in no cache, and adds up what it finds.
const TEXT: &str = ".version 7.0\n.target sm_70\n.address_size 64\n\
    .visible .entry k(.param .u64 chain, .param .u64 out) {\n\
    .reg .b64 %a, %o;\n.reg .b32 %n, %s, %v;\n.reg .pred %p;\n\
    ld.param.u64 %a, [chain];\nmov.u32 %n, 64;\nmov.u32 %s, 0;\n\
    LOOP:\nld.global.u64 %a, [%a];\ncvt.u32.u64 %v, %a;\nadd.u32 %s, %s, %v;\n\
    sub.u32 %n, %n, 1;\nsetp.ne.u32 %p, %n, 0;\n@%p bra LOOP;\n\
    ld.param.u64 %o, [out];\nst.global.u32 [%o], %s;\nret;\n}\n";

const LINKS: u64 = 64;

#[derive(Debug)]
struct Chase;

impl HostProgram for Chase {
    fn name(&self) -> &'static str {
        "chase"
    }

    fn module(&self) -> Module<'_> {
        Module { name: "chase.ptx", text: TEXT }
    }

    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        let chain = device.alloc("chain", (LINKS + 1) * 4096)?;
        let out = device.alloc("out", 4)?;
        for link in 0..LINKS {
            let next = chain.0 + 4096 * (link + 1);
            device.upload(DevicePtr(chain.0 + 4096 * link), &next.to_le_bytes())?;
        }
        for _ in 0..2 {
            device.launch("k", Shape::new([1, 1, 1], [1, 1, 1]), &[Arg::Ptr(chain), Arg::Ptr(out)])?;
        }
        Ok(Outcome::default())
    }
}

fn origin() -> Origin {
    Origin { date: "2020-02-02".into(), command: "strata run chase.toml --out page.html".into() }
}

/// A run of the chase with so many threads, and its page.
fn chased(machine: &Machine, threads: usize) -> (RunResult, String) {
    let mut timeline = Timeline::new();
    let mut watch = |progress: &Progress| timeline.add(progress);
    let mut so_far = |_: &mut dyn FnMut() -> RunResult| ();
    let plain = RunRequest::plain(&Chase, machine, &mut watch, &mut so_far);
    let request = RunRequest { by: &BY, sample_cycles: Some(1000), threads, ..plain };
    let result = run(request).unwrap_or_else(|error| panic!("{error}"));
    let fresh = Fresh::new((&result, machine), (None, vec!["strata".into()]), &timeline, TEXT);
    let page = super::fresh(&fresh, &origin());
    (result, page)
}

fn line_of(instruction: &str) -> usize {
    TEXT.lines().position(|line| line.contains(instruction)).expect("the text has it") + 1
}

/// The row of the annotated kernel with a class.
fn row<'p>(page: &'p str, class: &str) -> &'p str {
    let rows = page.split("<tr class=\"").skip(1);
    let mut found =
        rows.filter(|row| row.split('"').next().is_some_and(|all| all.split(' ').any(|one| one == class)));
    let row = found.next().unwrap_or_else(|| panic!("no row is {class}"));
    assert!(found.next().is_none(), "several rows are {class}");
    row.split("</tr>").next().unwrap()
}

#[test]
fn the_line_to_blame_is_marked() {
    let machine = Machine::load("gtx480", &[]).unwrap();
    let (_, page) = chased(&machine, 1);
    let (load, user) = (line_of("ld.global.u64"), line_of("cvt.u32.u64"));
    let blamed = row(&page, "blamed");
    assert!(blamed.contains(&format!("<td>{load}</td>")) && blamed.contains("ld.global.u64"), "{blamed}");
    // It is issued once for each link, in both launches.
    assert!(blamed.contains("data-value=\"128\">128</td>"), "{blamed}");
    let waits = row(&page, "waits");
    let of = |line: usize| waits.contains(&format!("<td>{line}</td>"));
    assert!(of(user) || of(load), "{waits}");
    assert!(page.contains(&format!("waiting for <b>line {load}</b>")));
}

#[test]
fn numbers_are_those_of_the_json() {
    let machine = Machine::load("gtx480", &[]).unwrap();
    let (result, page) = chased(&machine, 1);
    let json = result.to_json();
    let sections: Vec<&str> = page.split("<details class=\"system\" id=\"group-").collect();
    let mut compared = 0;
    for (group, counters) in json["statistics"].as_object().unwrap() {
        let begins = format!("{}\"", word(group));
        let section = sections.iter().find(|section| section.starts_with(&begins));
        let section = section.unwrap_or_else(|| panic!("{group} is missing"));
        for (counter, value) in counters.as_object().unwrap() {
            assert!(
                section.contains(&format!("<td>{counter}</td><td data-value=\"{value}\">")),
                "{group}.{counter}"
            );
            compared += 1;
        }
    }
    assert!(compared > 200, "{compared}");
    for line in json["by"]["line"].as_array().unwrap() {
        let Some((_, number)) = line["part"].as_str().unwrap().split_once(':') else { continue };
        let slots = &line["statistics"]["sm"]["issue_slots"];
        let cells = format!("<td>{number}</td><td data-value=\"{slots}\">");
        assert!(page.contains(&cells), "line {number}: {slots}");
    }
    let cycles = json["cycles"].as_u64().unwrap();
    assert!(page.contains(&format!("{} cycles</span>", grouped(cycles))), "the spans cover the run");
}

#[test]
fn a_page_is_the_same_on_any_number_of_threads_and_loads_nothing() {
    let machine = Machine::load("gtx480", &[]).unwrap();
    let (result, page) = chased(&machine, 1);
    assert!(chased(&machine, 2).1 == page, "the pages differ");
    for loads in ["src=", "<link", "@import", "url(", "http://", "https://"] {
        assert!(!page.replace("http://www.w3.org/2000/svg", "").contains(loads), "{loads}");
    }
    let mut so_far = |_: &mut dyn FnMut() -> RunResult| ();
    let plain = run(RunRequest::plain(&Chase, &machine, &mut |_| (), &mut so_far)).unwrap();
    assert_eq!(plain.statistics_hash(), result.statistics_hash(), "a page costs no cycle");
    for anchor in [
        "slots",
        "time",
        "kernels",
        "memory",
        "bandwidth",
        "buffers",
        "by-sm",
        "by-slice",
        "by-channel",
        "energy",
    ] {
        assert!(page.contains(&format!("<section id=\"{anchor}\"")), "{anchor}");
    }
}

/// A stored run has what its record has, drawn alike.
#[test]
fn a_stored_run_has_the_parts_that_its_record_has() {
    let machine = Machine::load("gtx480", &[]).unwrap();
    let (result, page) = chased(&machine, 1);
    let timeline = Timeline::new();
    let fresh = Fresh::new((&result, &machine), (None, vec![]), &timeline, TEXT);
    let stored = super::run(&fresh.record, &fresh.key().unwrap(), 0, &|_| String::new()).document();
    let part = |page: &str, anchor: &str| {
        let begins = format!("<section id=\"{anchor}\"");
        let at = page.find(&begins).unwrap_or_else(|| panic!("no {anchor}"));
        page[at..].split("</section>").next().unwrap().to_owned()
    };
    for anchor in ["slots", "memory", "bandwidth", "energy", "launches", "counters"] {
        assert_eq!(part(&stored, anchor), part(&page, anchor), "{anchor}");
    }
    for absent in ["time", "kernels", "buffers", "by-sm"] {
        assert!(!stored.contains(&format!("<section id=\"{absent}\"")), "{absent}");
    }
}

/// Each design's levels are drawn as far as they are counted.
#[test]
fn levels_are_those_of_the_design() {
    for (machine, systems, levels) in [
        ("gtx480", &[][..], &["L1D", "LLC", "DRAM"][..]),
        ("fermi-apu", &["tcbase"], &["tinyCaches", "L1D", "LLC", "DRAM"]),
        ("gtx480", &["hi-end"], &["Register cache", "L1D", "LLC", "DRAM"]),
    ] {
        let machine = Machine::load_with(machine, systems, &[]).unwrap_or_else(|error| panic!("{error}"));
        let (_, page) = chased(&machine, 1);
        let memory = page.split("<section id=\"memory\"").nth(1).unwrap().split("</section>").next().unwrap();
        let places: Vec<usize> = levels
            .iter()
            .map(|level| memory.find(&format!("<h3>{level}</h3>")).unwrap_or_else(|| panic!("no {level}")))
            .collect();
        assert!(places.is_sorted(), "{places:?}");
    }
}
