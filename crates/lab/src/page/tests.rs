//! What a page holds, as far as it can be seen without a browser.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use strata_workloads::Size;

use super::Origin;
use crate::axes::{Axes, Base, Sweep};
use crate::compare::{self, Comparison};
use crate::job::{Job, Kind};
use crate::metric;
use crate::page;
use crate::paper::Paper;
use crate::record::{Record, Row, Value};
use crate::repro::{Part, Selection};
use crate::store::{self, Store};

/// A store's folder that is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("strata-page-{name}-{}", std::process::id()));
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Puts a made-up run of each job into a store: a number that depends on the system alone, except for one run
/// that is many times as fast.
fn filled(folder: &Folder, jobs: &[Job], fast: &str) -> Store {
    for job in jobs {
        let factor: u64 = if job.workload == fast && job.variant == "dy-fuse" { 40 } else { 1 };
        let speed = 100 + 10 * job.variant.len() as u64;
        let row = |group: &str, counter: &str, count: u64| Row {
            launch: None,
            group: group.into(),
            counter: counter.into(),
            value: Value::Count(count),
        };
        let array = (0..64).map(|bank| row("made_up", &format!("bank_{bank:02}"), bank * bank));
        let mut rows = vec![
            row("run", "cycles", 1000),
            row("run", "thread_instructions", speed * factor * 1000),
            row("sm", "issue_slots", 100),
            row("sm", "issued", 60),
            row("sm", "stall_memory", 40),
            row("sm", "stall_lsu_full", 0),
            row("sm", "stall_no_warp", 0),
            row("fuse", "stt_write_stalls", 50),
            row("fuse", "tag_search_stalls", 5),
        ];
        rows.extend(array);
        store::put(&folder.0, &Record { job: job.clone(), rows }).unwrap();
    }
    Store::open(&folder.0).unwrap().0
}

fn page(part: Part, size: Size, name: &str) -> String {
    let (paper, folder) = (Paper::load("fuse").unwrap(), Folder::new(name));
    let selection = Selection::new(&paper, part).unwrap();
    let empty = Store::open(&folder.0).unwrap().0;
    let jobs: Vec<Job> = selection.jobs(&empty, size).unwrap();
    let timed: Vec<Job> = jobs.into_iter().filter(|job| job.kind == Kind::Timing).collect();
    let store = filled(&folder, &timed, "atax");
    let origin = Origin { date: "2020-02-02".into(), command: "strata repro fuse".into() };
    selection.parts(&store, size, &origin, None).unwrap().document()
}

fn figure(number: &str) -> String {
    page(Part::Number(number.into()), Size::Test, number)
}

/// The page of Fig. 13, made once.
static FIGURE_13: LazyLock<String> = LazyLock::new(|| figure("13"));

#[test]
fn a_page_reads_on_a_telephone_and_in_the_dark_and_loads_nothing() {
    let page = &*FIGURE_13;
    assert!(page.contains("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"));
    assert!(page.contains("@media (prefers-color-scheme:dark){:root{--s-"));
    for loads in ["src=", "<link", "@import", "url("] {
        assert!(!page.contains(loads), "{loads}");
    }
    assert!(page.contains("2020-02-02") && page.contains("strata repro fuse") && page.contains("gtx480"));
}

#[test]
fn a_page_of_one_figure_counts_that_figures_claims() {
    let page = &*FIGURE_13;
    let claims = Paper::load("fuse").unwrap().figures.iter().find(|of| of.id == "13").unwrap().claims.len();
    assert!(page.contains(&format!("Of {claims} published numbers:")), "{claims}");
    assert_eq!(page.matches("<tbody id=\"claim-").count(), claims);
}

/// The colour of each system of a page, by the name in a legend. Variables of systems begin with `s-`.
fn colours(page: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (variable, rest) in page.split("<i class=\"s-").skip(1).filter_map(|key| key.split_once('"')) {
        let name = rest.split_once("</i>").unwrap().1.split('<').next().unwrap();
        let rule = format!("--s-{variable}:");
        let value = page.split(&rule).nth(1).unwrap_or_else(|| panic!("{rule} is not defined"));
        found.insert(name.to_owned(), value.split(';').next().unwrap().to_owned());
    }
    found
}

#[test]
fn a_system_has_the_same_colour_in_every_figure() {
    let all = colours(&FIGURE_13);
    assert_eq!(all.len(), 7);
    for (number, expected) in [("3b", "l1-sram"), ("7b", "fa-fuse")] {
        let others = colours(&figure(number));
        assert!(others.len() > 1 && others[expected] == all[expected], "{number}: {others:?}");
    }
}

#[test]
fn published_numbers_stand_at_the_bars_they_are_about() {
    let page = &*FIGURE_13;
    let marks: Vec<&str> = page.split("<g class=\"marks\">").nth(1).unwrap().split("</g></g>").collect();
    let text = marks[0];
    assert!(
        text.contains("mean, dy-fuse: published +217 % (dy-fuse over l1-sram: ipc, mean of 21)"),
        "{text}"
    );
    assert!(text.contains("mean, hybrid: published -23 %"));
    // A mean of two workloads is a mark at both.
    assert!(text.contains("2mm, by-nvm: published -43 %") && text.contains("3mm, by-nvm: published -43 %"));
    // What is over another system than the figure's is at no bar.
    assert!(!text.contains("+206 %"));
    assert!(page.contains("published for several"));
}

#[test]
fn a_bar_that_is_cut_off_is_broken_and_bears_its_number() {
    let page = &*FIGURE_13;
    let over =
        page.split("<g class=\"over\">").nth(1).expect("a bar is broken").split("</g>").next().unwrap();
    let breaks = page.split("<g class=\"break\">").nth(1).unwrap().split("</g>").next().unwrap();
    assert_eq!(over.matches("</text>").count(), breaks.matches("<path").count());
    // atax: (100 + 10 * 7) * 40 over 100 + 10 * 7.
    assert!(over.contains(">40.00</text>"), "{over}");
    assert!(page.contains("<title>atax, dy-fuse: 40.00 times l1-sram</title>"));
}

#[test]
fn a_page_names_the_simulator_that_ran_and_not_the_one_that_draws() {
    let (paper, folder) = (Paper::load("fuse").unwrap(), Folder::new("older"));
    let selection = Selection::new(&paper, Part::Number("13".into())).unwrap();
    let jobs = selection.jobs(&Store::open(&folder.0).unwrap().0, Size::Test).unwrap();
    let older: Vec<Job> =
        jobs.iter().map(|job| Job { simulator: "0.0.9+old".into(), ..job.clone() }).collect();
    let mut store = filled(&folder, &older, "atax");
    store.look_up("any").unwrap();
    let origin = Origin { date: "2020-02-02".into(), command: "strata repro fuse".into() };
    let page = selection.parts(&store, Size::Test, &origin, None).unwrap().document();
    let head = &page[page.find("<header>").unwrap()..page.find("</header>").unwrap()];
    assert!(head.contains("0.0.9+old"), "{head}");
    assert!(!page.contains(crate::SIMULATOR));
}

#[test]
fn claims_lead_to_their_runs() {
    let page = &*FIGURE_13;
    assert!(page.contains("<a href=\"#runs-dy-fuse\">dy-fuse</a> (21)"));
    assert!(page.contains("<details class=\"system\" id=\"runs-dy-fuse\">"));
    assert!(page.contains("<title>memory: 40.00 %</title>"));
}

#[test]
fn arrays_of_counters_are_maps_below_the_runs_of_their_system() {
    let page = comparison(&["l1d.ways=2,4"], "arrays");
    assert_eq!(page.matches("<details class=\"arrays\">").count(), 2);
    let runs = page.split("<details class=\"system\"").nth(1).unwrap();
    let map = runs.split("<div class=\"heat array\">").nth(1).unwrap();
    assert!(runs.find("<table class=\"sort\"").unwrap() < runs.find("<details class=\"arrays\">").unwrap());
    let numbers = map.split("<td>").nth(1).unwrap().split("</td>").next().unwrap();
    assert_eq!(numbers.split(' ').count(), 64);
}

#[test]
fn explanations_are_about_inputs_that_fill_the_machine() {
    let starts = "The share counts issue slots that no warp used";
    let of_size = |size: Size| page(Part::Number("1a".into()), size, size.name());
    let (test, small) = (of_size(Size::Test), of_size(Size::Small));
    assert!(!test.contains(starts) && test.contains("Inputs of size test show that everything runs."));
    assert!(small.contains(starts) && !small.contains("Inputs of size test"));
    assert!(test.contains("<svg class=\"chart\"") && !test.contains("Stacks: "));
}

#[test]
fn stacks_of_several_systems_are_numbered() {
    let page = figure("15");
    assert!(page.contains("Stacks: 1 hybrid, 2 base-fuse, 3 fa-fuse"));
    assert!(page.contains("<title>2mm, fa-fuse, tag search stalls: 0.100 times hybrid</title>"));
}

fn comparison(sweeps: &[&str], name: &str) -> String {
    comparison_over(&[], sweeps, None, name)
}

fn comparison_over(systems: &[&str], sweeps: &[&str], base: Option<&str>, name: &str) -> String {
    let sweeps: Vec<Sweep> = sweeps.iter().map(|sweep| Sweep::parse(sweep).unwrap()).collect();
    let systems = systems.iter().map(|system| (*system).to_owned()).collect();
    let axes = Axes::new("gtx480", systems, sweeps).unwrap();
    let comparison = Comparison {
        workloads: vec!["saxpy".into()],
        variants: axes.variants("gtx480", &[], &[]),
        base: base.map_or_else(|| Base::first(&axes), |base| Base::parse(base, &axes).unwrap()),
        axes,
        factors: None,
        metrics: vec![metric::find(&metric::common(), "ipc").unwrap()],
        size: Size::Test,
    };
    let folder = Folder::new(name);
    let impossible = comparison.machines(|_| Ok(())).unwrap();
    let jobs = compare::jobs(&comparison, &Store::open(&folder.0).unwrap().0, &impossible).unwrap();
    let store = filled(&folder, &jobs, "");
    let origin = Origin { date: "2020-02-02".into(), command: "strata compare saxpy".into() };
    let grids = compare::grids(&comparison, &store);
    let page = page::comparison(&comparison, &grids, (&jobs, &store), None, &origin).unwrap();
    // With an address, each workload of the runs is a link to its run, and nothing else is another.
    let linked = page::comparison(
        &comparison,
        &grids,
        (&jobs, &store),
        Some(|key| format!("runs/{key}.html")),
        &origin,
    );
    let links: Vec<String> = jobs
        .iter()
        .filter_map(|job| store.find(job))
        .map(|key| format!("<a href=\"runs/{key}.html\">"))
        .collect();
    let without = links.iter().fold(linked.unwrap(), |page, link| {
        assert_eq!(page.matches(link).count(), 1, "{link}");
        page.replace(&format!("{link}saxpy</a>"), "saxpy")
    });
    assert_eq!(without, page);
    page
}

/// The part of a page before its runs.
fn figures(page: &str) -> &str {
    &page[..page.find("id=\"runs\"").unwrap()]
}

#[test]
fn a_swept_number_is_drawn_as_lines_and_words_as_bars() {
    let page = comparison_over(&["gtx480", "l1-sram"], &["l1d.ways=2,4,8"], None, "lines");
    let page = figures(&page);
    // The metric's and the ratio's panels, of the workload and, of ratios, of their mean.
    assert_eq!(page.matches("<svg class=\"chart lines\"").count(), 3);
    assert_eq!(page.matches("<svg class=\"chart\"").count(), 0);
    assert!(page.contains("<title>saxpy, l1-sram, l1d.ways=4: "), "{page}");
    assert!(page.contains("l1d.ways (log)"));
    assert!(page.contains("<dd>gtx480</dd>") && page.contains("<dd>strata compare saxpy</dd>"));
    let page = comparison(&["l1d.replacement=lru,fifo"], "bars");
    assert!(
        figures(&page).contains("<svg class=\"chart\"")
            && !figures(&page).contains("<svg class=\"chart lines\"")
    );
}

#[test]
fn two_swept_parameters_are_lines_and_a_map() {
    let page = comparison(&["l1d.ways=2,4", "l1d.sets=16,32,64"], "map");
    let page = figures(&page);
    // The metric and its ratio: a map of each for the workload.
    assert_eq!(page.matches("style=\"--share:").count(), 12);
    assert!(page.contains("<title>saxpy, gtx480, l1d.ways=4, l1d.sets=32: "), "{page}");
    assert!(page.contains("l1d.ways") && page.contains("l1d.sets") && !page.contains("<svg class=\"chart\""));
}

#[test]
fn ratios_are_over_the_base_that_was_asked_for() {
    let page = comparison_over(&["gtx480", "l1-sram"], &[], Some("l1-sram"), "base");
    assert!(page.contains("<h3>Over l1-sram</h3>"));
    // The made-up speed is 100 + 10 for each letter of a system's name.
    assert!(figures(&page).contains("<title>saxpy, gtx480: 0.941 times l1-sram</title>"), "{page}");
}
