//! Names that programs and parts can have.

use strata_gpu::machine;

/// Longest name.
const LENGTH: usize = 100;

/// Checks the name of a program.
///
/// # Errors
/// What was found and what was expected.
pub fn of_program(name: &str) -> Result<(), String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > LENGTH || !name.chars().all(allowed) || name.starts_with('-') {
        return Err(format!(
            "found \"{}\", expected a name of letters, digits, `-` and `_`",
            name.escape_debug()
        ));
    }
    Ok(())
}

/// Checks the name of a part, which is a crate's, too. `taken` are the names of its like, which are called `what`.
///
/// # Errors
/// What was found and what was expected.
pub fn of_part(name: &str, what: &str, taken: &[String]) -> Result<(), String> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
    if !begins || name.len() > LENGTH || !name.chars().all(allowed) {
        return Err(format!(
            "found \"{}\", expected a name of small letters, digits, `-` and `_` that begins with a letter",
            name.escape_debug()
        ));
    }
    if taken.iter().any(|taken| taken == name) {
        return Err(format!("`{name}` is a built-in {what}, expected another name"));
    }
    if machine::builtin().iter().chain(machine::system::builtin()).any(|builtin| builtin.name == name) {
        return Err(format!("`{name}` is a built-in machine or system, expected another name"));
    }
    let identifier = name.replace('-', "_");
    if KEYWORDS.contains(&identifier.as_str()) || CRATES.contains(&identifier.as_str()) {
        return Err(format!("`{name}` means something to Rust or to cargo, expected another name"));
    }
    if identifier.starts_with("strata") {
        return Err(format!("`{name}` begins as Strata's own crates do, expected another name"));
    }
    Ok(())
}

/// Words that no crate can be called by (the Rust reference, keywords of the edition 2024, strict and reserved).
const KEYWORDS: [&str; 52] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static",
    "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual",
    "where", "while", "yield", "union",
];

/// Crates that are there in any case, folders of cargo, and those that the new crate depends on.
const CRATES: [&str; 13] = [
    "alloc",
    "build",
    "core",
    "deps",
    "examples",
    "incremental",
    "proc_macro",
    "schemars",
    "serde",
    "serde_json",
    "std",
    "test",
    "target",
];

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::super::own::Part;
    use super::*;

    fn of(kind: Kind, name: &str) -> Result<(), String> {
        let part = Part::of(kind).expect("a crate");
        of_part(name, part.what, &part.taken())
    }

    #[test]
    fn a_name_is_a_crates_and_no_other_parts() {
        for name in ["mine", "my-lru", "l1d2", "not_lru", "lru2"] {
            assert_eq!(of(Kind::Replacement, name), Ok(()), "{name}");
        }
        for (kind, name, expected) in [
            (Kind::Replacement, "lru", "`lru` is a built-in replacement policy, expected another name"),
            (Kind::Prefetch, "stride", "`stride` is a built-in prefetch policy, expected another name"),
            (Kind::DramScheduler, "fcfs", "`fcfs` is a built-in DRAM scheduler, expected another name"),
            (Kind::WarpScheduler, "ccws", "`ccws` is a built-in warp scheduler, expected another name"),
            (Kind::L1d, "fuse", "`fuse` is a built-in L1 data cache, expected another name"),
            (Kind::Llc, "morpheus", "`morpheus` is a built-in last-level cache, expected another name"),
            (Kind::Network, "mesh", "`mesh` is a built-in network, expected another name"),
            (Kind::RegisterFile, "sram", "`sram` is a built-in register file, expected another name"),
            (Kind::L1d, "gtx480", "`gtx480` is a built-in machine or system, expected another name"),
            (Kind::L1d, "l1-sram", "`l1-sram` is a built-in machine or system, expected another name"),
            (Kind::L1d, "match", "`match` means something to Rust or to cargo, expected another name"),
            (
                Kind::L1d,
                "serde-json",
                "`serde-json` means something to Rust or to cargo, expected another name",
            ),
            (
                Kind::L1d,
                "strata-mine",
                "`strata-mine` begins as Strata's own crates do, expected another name",
            ),
        ] {
            assert_eq!(of(kind, name).unwrap_err(), expected);
        }
        for name in ["", "Mine", "-mine", "1st", "a.b", "a/b", "..", "é", "a b", &"a".repeat(101)] {
            let error = of(Kind::L1d, name).unwrap_err();
            assert!(error.contains("expected a name of small letters"), "{name}: {error}");
        }
        // What is taken elsewhere is free here.
        assert_eq!(of(Kind::L1d, "lru"), Ok(()));
    }
}
