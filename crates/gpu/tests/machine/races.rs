//! Which workloads race: the table in docs/races.md.

use std::collections::BTreeSet;
use std::path::Path;

use strata_gpu::find_races;
use strata_gpu::machine::Machine;
use strata_workloads::{Size, all, find};

/// The cells of the table's rows.
fn rows() -> Vec<Vec<String>> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/races.md");
    let page = std::fs::read_to_string(page).expect("the page of races");
    let (_, table) = page.split_once("## Workloads that race").expect("the page has the table");
    let lines = table.lines().filter(|line| line.starts_with("| `"));
    lines.map(|line| line.split('|').map(|cell| cell.trim().replace('`', "")).skip(1).collect()).collect()
}

#[test]
fn workloads_race_where_the_page_says() {
    let rows = rows();
    assert!(rows.iter().all(|row| find(&row[0]).is_some() && row.len() == 6), "{rows:?}");
    let rows = rows.iter().filter(|row| row[1] == "test");
    let told: BTreeSet<_> = rows.map(|row| (row[0].clone(), row[2].clone(), row[3].clone())).collect();
    let machine = Machine::load("gtx480", &[]).expect("a built-in machine");
    let mut found = BTreeSet::new();
    for workload in all() {
        let program = workload.program(Size::Test).expect("every workload has it");
        let raced = find_races(program.as_ref(), &machine).expect("its module is right");
        assert!(raced.outcome.expect("it finishes").passed(), "{}", workload.name);
        for placed in raced.races.races {
            let buffer = placed.buffer.map_or("shared memory".into(), |(name, _)| name);
            found.insert((workload.name.to_owned(), placed.race.later.kernel, buffer));
        }
    }
    assert_eq!(found, told);
}
