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
