//! `--report`: what a program found, from the list that its processes wrote (docs/driver.md).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::front::Front;

/// What a program loaded and called.
#[derive(Default)]
struct Found {
    /// Each library's file, with the names by which it was asked for where another stands before them.
    libraries: BTreeMap<PathBuf, BTreeSet<String>>,
    /// Each tool, with what it did and how often.
    tools: BTreeMap<(String, String), u32>,
    /// Names that were looked up in the driver and are not there.
    absent: BTreeSet<String>,
    /// Functions of the driver that were called and do nothing.
    unsupported: BTreeSet<String>,
    /// Targets of PTX that are not for the reported device.
    targets: BTreeSet<String>,
}

impl Found {
    fn read(list: &str) -> Found {
        let mut found = Found::default();
        let mut asked: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for line in list.lines() {
            let parts: Vec<&str> = line.split('\t').skip(1).collect();
            match parts[..] {
                ["replaced", name, instead] => {
                    asked.entry(instead).or_default().insert(name.to_owned());
                }
                ["loaded", path] => {
                    found.libraries.entry(path.into()).or_default();
                }
                ["ran", tool, what] => {
                    *found.tools.entry((tool.to_owned(), what.to_owned())).or_default() += 1
                }
                ["absent", name] => {
                    found.absent.insert(name.to_owned());
                }
                ["unsupported", name] => {
                    found.unsupported.insert(name.to_owned());
                }
                ["target", name] => {
                    found.targets.insert(name.to_owned());
                }
                _ => {}
            }
        }
        for (path, names) in &mut found.libraries {
            *names = path.to_str().and_then(|path| asked.remove(path)).unwrap_or_default();
        }
        found
    }

    /// The libraries in two lists: those of a folder, and the program's own.
    fn text(&self, folder: &Path) -> String {
        let mut text = String::new();
        let is_ours = |path: &&PathBuf| path.parent() == Some(folder);
        let _ = writeln!(text, "libraries before the program's own:");
        for (path, names) in self.libraries.iter().filter(|(path, _)| is_ours(path)) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let asked = if names.is_empty() { "its own name".to_owned() } else { names.join(", ") };
            let _ = writeln!(text, "  {name} for {asked}");
        }
        let _ = writeln!(text, "the program's own of CUDA:");
        for path in self.libraries.keys().filter(|path| !is_ours(path)) {
            let _ = writeln!(text, "  {}", path.display());
        }
        let _ = writeln!(text, "tools:");
        for ((tool, what), times) in &self.tools {
            let _ = writeln!(text, "  {tool}, {times} times: {what}");
        }
        let lists = [
            ("not in the driver", &self.absent),
            ("of the driver, called and not supported", &self.unsupported),
            ("PTX for other devices", &self.targets),
        ];
        for (title, names) in lists.into_iter().filter(|(_, names)| !names.is_empty()) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let _ = writeln!(text, "{title}: {}", names.join(", "));
        }
        text
    }
}

/// What a program found and what it did not, in lines.
pub fn text(front: &Front) -> String {
    let list = std::fs::read(&front.log).unwrap_or_default();
    let mut text = Found::read(&String::from_utf8_lossy(&list)).text(&front.folder);
    for missing in &front.missing {
        let _ = writeln!(text, "missing: {missing}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_what_stood_before_what() {
        let list = "7\treplaced\tlibcuda.so\t/ours/libcuda.so\n7\tloaded\t/ours/libcuda.so\n\
            7\treplaced\t/v/libcudart.so.13\t/ours/libcudart.so.13\n8\tloaded\t/v/libcublas.so.13\n\
            9\tran\tptxas\ta.ptx\n9\tran\tptxas\ta.ptx\n7\tabsent\tcuNew\n8\tunsupported\tcuOld\n\
            8\ttarget\tsm_90a where 8.0 is reported\n7\tabsent\tcuNew\nhalf a li";
        let expected = "libraries before the program's own:\n  libcuda.so for libcuda.so\n\
            the program's own of CUDA:\n  /v/libcublas.so.13\ntools:\n  ptxas, 2 times: a.ptx\n\
            not in the driver: cuNew\nof the driver, called and not supported: cuOld\n\
            PTX for other devices: sm_90a where 8.0 is reported\n";
        assert_eq!(Found::read(list).text(Path::new("/ours")), expected);
    }
}
