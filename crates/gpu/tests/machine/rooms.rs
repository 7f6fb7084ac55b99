//! Dependencies between crates point only downward, as ARCHITECTURE.md draws them.

use std::collections::BTreeMap;
use std::path::Path;

/// Each crate with the crates that it may depend on, as in ARCHITECTURE.md.
const MAY_KNOW: &[(&str, &[&str])] = &[
    ("strata-engine", &[]),
    ("strata-warp", &[]),
    ("strata-ptx", &["strata-warp"]),
    ("strata-memory", &["strata-engine", "strata-warp"]),
    ("strata-sm", &["strata-engine", "strata-memory", "strata-ptx", "strata-warp"]),
    ("strata-cpu", &["strata-engine", "strata-memory", "strata-ptx", "strata-sm"]),
    ("strata-designs", &["strata-engine", "strata-memory", "strata-warp"]),
    ("strata-workloads", &[]),
    (
        "strata-gpu",
        &[
            "strata-engine",
            "strata-ptx",
            "strata-memory",
            "strata-sm",
            "strata-cpu",
            "strata-designs",
            "strata-workloads",
        ],
    ),
    ("strata-measure", &["strata-engine", "strata-gpu", "strata-workloads"]),
    ("strata-workbench", &["strata-engine", "strata-gpu", "strata-measure", "strata-workloads"]),
    ("strata-lab", &["strata-engine", "strata-gpu", "strata-measure", "strata-workloads"]),
    ("strata-serve", &["strata-lab", "strata-workloads"]),
    (
        "strata-driver",
        &["strata-abi", "strata-engine", "strata-fatbin", "strata-gpu", "strata-ptx", "strata-workloads"],
    ),
    ("strata-abi", &[]),
    ("strata-fatbin", &["strata-abi"]),
    ("strata-runtime", &["strata-abi"]),
    ("strata-cudart-11", &["strata-runtime"]),
    ("strata-cudart-12", &["strata-runtime"]),
    ("strata-cudart-13", &["strata-runtime"]),
    ("strata-nvml", &["strata-abi"]),
    ("strata-audit", &[]),
    ("strata-nvrtc", &[]),
    ("strata-nvjitlink", &["strata-ptx"]),
    ("strata-python", &["strata-gpu", "strata-lab", "strata-ptx", "strata-workloads"]),
    (
        "strata",
        &[
            "strata-engine",
            "strata-gpu",
            "strata-lab",
            "strata-ptx",
            "strata-serve",
            "strata-workbench",
            "strata-workloads",
        ],
    ),
];

#[test]
fn arrows_point_only_downward() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let may_know: BTreeMap<_, _> = MAY_KNOW.iter().copied().collect();
    let mut seen = Vec::new();
    for entry in std::fs::read_dir(crates).unwrap() {
        let manifest = entry.unwrap().path().join("Cargo.toml");
        let Ok(text) = std::fs::read_to_string(&manifest) else { continue };
        let table: toml::Table = text.parse().unwrap();
        let name = table["package"]["name"].as_str().unwrap().to_owned();
        let allowed =
            may_know.get(name.as_str()).unwrap_or_else(|| panic!("{name} has no place among the rooms"));
        for kind in ["dependencies", "build-dependencies"] {
            let Some(dependencies) = table.get(kind).and_then(|value| value.as_table()) else { continue };
            for dependency in dependencies.keys().filter(|key| key.starts_with("strata")) {
                assert!(allowed.contains(&dependency.as_str()), "{name} must not know {dependency}");
            }
        }
        seen.push(name);
    }
    assert_eq!(seen.len(), MAY_KNOW.len(), "every room is there: {seen:?}");
}
