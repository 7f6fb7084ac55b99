//! Checks the documentation: every `strata` command in a block marked `console` runs, every link to a file of
//! the project resolves, and every page is in the book.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use strata_gpu::critical_path::Cause;

/// How the pages invoke the command.
const PREFIX: &str = "cargo run --release -- ";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project has a root")
}

/// The pages in a folder.
fn pages_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a folder of pages").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths
}

/// All pages: those of the project, of docs, of the crates and of the folders beside them, as path and text.
fn pages() -> Vec<(PathBuf, String)> {
    let crates = std::fs::read_dir(root().join("crates")).expect("crates is there");
    let mut folders: Vec<PathBuf> = crates.map(|entry| entry.expect("a crate's folder").path()).collect();
    folders.extend(["", "docs", "probe", "results"].map(|name| root().join(name)));
    let mut paths: Vec<PathBuf> = folders.iter().flat_map(|folder| pages_in(folder)).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a page can be read");
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

/// The lines of blocks marked `console`.
fn console_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.lines().filter(move |line| {
        if line.starts_with("```") {
            inside = *line == "```console";
            return false;
        }
        inside
    })
}

#[test]
fn only_commands_stand_in_console_blocks() {
    let text =
        "a\n```console\ncargo one\n```\ncargo two\n```sh\ncargo three\n```\n```console\ncargo four\n```\n";
    assert_eq!(console_lines(text).collect::<Vec<_>>(), ["cargo one", "cargo four"]);
}

#[test]
fn commands_in_the_documentation_work() {
    let pages = pages();
    // Run in page order, because a command may use what an earlier one wrote.
    let mut seen = BTreeSet::new();
    let commands: Vec<&str> = pages
        .iter()
        .flat_map(|(_, text)| console_lines(text))
        .filter_map(|line| line.strip_prefix(PREFIX))
        .filter(|command| seen.insert(*command))
        .collect();
    assert!(commands.len() >= 10, "the pages show how the command is used: {commands:?}");
    let mut problems = Vec::new();
    for command in commands {
        let output = Command::new(env!("CARGO_BIN_EXE_strata"))
            .args(command.split_whitespace())
            .current_dir(root())
            .output()
            .expect("the command starts");
        if !output.status.success() || output.stdout.is_empty() {
            problems.push(format!("strata {command}: {}", String::from_utf8_lossy(&output.stderr)));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn links_in_the_documentation_lead_somewhere() {
    let mut problems = Vec::new();
    for (page, text) in pages() {
        let folder = page.parent().expect("a page is in a folder");
        // Text between backquotes contains no links.
        let prose: String = text.split('`').step_by(2).collect::<Vec<_>>().join("` `");
        for link in prose.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(link, _)| link)) {
            let file = link.split('#').next().unwrap_or_default();
            if !link.contains("://") && !file.is_empty() && !folder.join(file).exists() {
                problems.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(problems.is_empty(), "links that lead nowhere:\n{}", problems.join("\n"));
}

#[test]
fn every_page_is_in_the_book() {
    let docs = root().join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).expect("the book's contents");
    let listed = |page: &Path| {
        let name = page.strip_prefix(&docs).expect("it was found there").to_string_lossy();
        name == "SUMMARY.md" || summary.contains(&format!("]({name})"))
    };
    let missing: Vec<PathBuf> = [pages_in(&docs), pages_in(&docs.join("book"))]
        .concat()
        .into_iter()
        .filter(|page| !listed(page))
        .collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md lacks {missing:?}");
}

#[test]
fn the_table_of_registers_names_workloads_that_there_are() {
    let page = std::fs::read_to_string(root().join("docs/registers.md")).expect("the page of registers");
    let rows: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next()).collect();
    assert!(rows.len() > 100, "a row for each kernel: {}", rows.len());
    for name in rows.iter().filter(|name| **name != "workload") {
        assert!(
            strata_workloads::find(name).is_some(),
            "docs/registers.md has `{name}`: scripts/registers.py"
        );
    }
}

#[test]
fn the_readme_shows_the_prefetcher_that_strata_new_writes() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).expect("it is there");
    let (readme, template) = (read("README.md"), read("crates/cli/src/new/prefetch/lib.rs"));
    let (_, rest) = readme.split_once("```rust\n").expect("README shows code");
    let (shown, _) = rest.split_once("```").expect("a block ends");
    assert!(shown.lines().count() <= 20, "a policy of at most 20 lines");
    let mut lines = template.lines();
    for shown in shown.lines() {
        assert!(lines.any(|line| line == shown), "README.md: `{shown}` is not in the template");
    }
}

#[test]
fn the_page_of_critical_paths_has_every_cause() {
    let page = std::fs::read_to_string(root().join("docs/critical-path.md")).unwrap();
    let rows = Cause::ALL
        .iter()
        .map(|cause| format!("| `{}` | {} | {} |", cause.name(), cause.level().name(), cause.meaning()));
    let found: Vec<&str> =
        page.lines().filter(|line| line.starts_with("| `") && line.matches(" | ").count() == 2).collect();
    assert_eq!(found, rows.collect::<Vec<String>>());
}
