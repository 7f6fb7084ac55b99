//! Every design of the registry under the contract of its door, with every machine file and system that comes with
//! the program, and the ideal parts, which no file names. Any other design that none of them names fails too: it would go unchecked.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use strata_engine::config::Document;
use strata_memory::doors::{Coherence, Design, L1dDesign, L1dSite, LanePathSite, LlcDesign, LlcSite};

use super::{Contract, Outcome, l1d, lane_path, llc, network, owners, register_file, scratchpad};
use crate::denovo::l1d::DenovoL1dConfig;
use crate::denovo::l2::DenovoL2Config;
use crate::ideal;
use crate::registry::{Designs, registry};

/// Machine files and systems, in order of their names.
fn shipped() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let entries = |directory: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(directory).expect("the directory comes with the program");
        entries.map(|entry| entry.expect("it can be read").path()).collect()
    };
    let mut files = entries(&crates.join("gpu/machines"));
    for paper in entries(&crates.join("designs/systems")) {
        files.extend(if paper.is_dir() { entries(&paper) } else { vec![paper] });
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
}

/// Runs `holds` on what the shipped files put behind a door; every design of the registry must be among it.
fn every<D: ?Sized + Design>(
    door: &str,
    designs: &Designs<D>,
    mut holds: impl FnMut(&D) -> Result<Outcome, String>,
) {
    let mut seen = BTreeSet::new();
    let read = |file: PathBuf| {
        let text = std::fs::read_to_string(&file).expect("the file comes with the program");
        (file, text)
    };
    let ideal = ideal::EXAMPLES.map(|(door, text)| (PathBuf::from(format!("{door}.ideal")), text.to_owned()));
    for (file, text) in shipped().into_iter().map(read).chain(ideal) {
        let mut document = Document::parse(&file, &text).unwrap_or_else(|error| panic!("{error}"));
        // A system says nothing of the doors that it leaves as they are.
        let Ok(section) = document.take(door) else { continue };
        let named = designs.read(section).unwrap_or_else(|error| panic!("{error}"));
        seen.insert(named.name);
        let outcome =
            named.design.check().map_err(|error| error.to_string()).and_then(|()| holds(&named.design));
        if let Err(fault) = outcome {
            panic!("{}: {door}.{}: {fault}", file.display(), named.name);
        }
    }
    for name in designs.names() {
        assert!(
            seen.contains(name),
            "no file that comes with the program names {door}.{name}: it is unchecked"
        );
    }
}

#[test]
fn every_registered_lane_path_keeps_the_contract() {
    use lane_path::{Contract, check_with_skips};
    every("lane_path", &registry().lane_paths, |design| {
        let mut last = Outcome { cycles: 0, hash: 0, statistics: Vec::new() };
        for contract in [Contract::dense(3), Contract::wide(4)] {
            let site = LanePathSite { accesses: 64, seed: 1 };
            if design.build(site).map_err(|error| error.to_string())?.is_some() {
                last = check_with_skips(&contract, &mut |site| {
                    design.build(site).expect("it was built").expect("there was a path")
                })?;
            }
        }
        Ok(last)
    });
}

#[test]
fn every_registered_scratchpad_keeps_the_contract() {
    use scratchpad::{Contract, check_with_skips};
    every("scratchpad", &registry().scratchpads, |design| {
        let mut last = Outcome { cycles: 0, hash: 0, statistics: Vec::new() };
        // All of an SM's shared memory: the paper's, or an RTX 3080's.
        let mut sizes = [16 << 10, 100 << 10].into_iter();
        let bytes = sizes.find(|bytes| design.check_place(*bytes, 8).is_ok()).ok_or("no size fits it")?;
        for contract in [Contract::dense(3), Contract::wide(4)] {
            if design.stands_there() {
                last = check_with_skips(&Contract { bytes, ..contract }, &mut |site| {
                    design.build(site).expect("its numbers fit").expect("it stands there")
                })?;
            }
        }
        Ok(last)
    });
}

#[test]
fn every_registered_register_file_keeps_the_contract() {
    use register_file::{Contract, check_with_skips};
    every("sm.register_file", &registry().register_files, |design| {
        let make = &mut |site| design.build(site).expect("its numbers were checked");
        // As many registers a thread as the narrowest tag names.
        check_with_skips(&Contract { rows_per_warp: 32, ..Contract::wide(1) }, make)?;
        check_with_skips(&Contract::dense(2), make)
    });
}

#[test]
fn every_registered_l1d_keeps_the_contract() {
    use l1d::{Contract, check_with_skips};
    every("l1d", &registry().l1ds, |design| {
        if design.coherence() == Coherence::Owners {
            return owners_keep_the_contract(design, &DenovoL2Config::example());
        }
        let make = &mut |node, slices| {
            design.build(L1dSite { node, slices, seed: 1, held_loads: 0 }).expect("its numbers were checked")
        };
        let access_bytes = design.line_bytes() as usize;
        let wide = Contract { lines: 1200, accesses: 2500, episodes: 2, access_bytes, ..Contract::alone(1) };
        check_with_skips(&wide, make)?;
        if design.can_resize() {
            let whole = design.capacity_bytes();
            let half = (whole / 4..=whole / 2).rev().find(|bytes| design.check_capacity(*bytes).is_ok());
            let capacities = half.map(|half| [half, whole]);
            assert!(capacities.is_some(), "no capacity but one");
            check_with_skips(
                &Contract { episodes: 4, capacities, access_bytes, ..Contract::shared(3) },
                make,
            )?;
        }
        check_with_skips(&Contract { episodes: 2, access_bytes, ..Contract::shared(2) }, make)
    });
}

#[test]
fn every_registered_network_keeps_the_contract() {
    use network::{Contract, check_with_skips};
    every("network", &registry().networks, |design| {
        check_with_skips(&Contract { packets: 90, ..Contract::crowded(1) }, design)?;
        check_with_skips(&Contract { packets: 45, ..Contract::sparse(2) }, design)
    });
}

#[test]
fn every_registered_llc_keeps_the_contract() {
    use llc::{Contract, check_with_skips};
    every("llc", &registry().llcs, |design| {
        let make = &mut || design.build(LlcSite::alone(1)).expect("its numbers were checked");
        let wide = Contract { lines: 1200, accesses: 3000, episodes: 2, ..Contract::alone(1) };
        check_with_skips(&wide, make)?;
        if design.coherence() == Coherence::Owners {
            owners_keep_the_contract(&DenovoL1dConfig::example(), design)?;
        }
        check_with_skips(&Contract::shared(2), make)
    });
}

/// An L1D and a registry, together.
fn owners_keep_the_contract(l1d: &dyn L1dDesign, llc: &dyn LlcDesign) -> Result<Outcome, String> {
    let mut make_l1d =
        |node, slices| l1d.build(L1dSite { node, slices, seed: 1, held_loads: 0 }).expect("it was checked");
    let mut make_llc =
        |slice| llc.build(LlcSite { slice, ..LlcSite::alone(1) }).expect("its numbers were checked");
    let access_bytes = l1d.line_bytes() as usize;
    let wide = Contract { lines: 900, accesses: 1500, episodes: 3, access_bytes, ..Contract::shared(4) };
    owners::check_with_skips(&wide, &mut make_l1d, &mut make_llc)?;
    let few = Contract { episodes: 6, access_bytes, ..Contract::shared(5) };
    owners::check_with_skips(&few, &mut make_l1d, &mut make_llc)
}
