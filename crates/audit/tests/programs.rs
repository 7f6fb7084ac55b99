//! A program that loads a compiler and a linker by their paths, with the stand-ins before them and without.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Where cargo puts the libraries that tests are built with.
fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test is a file");
    let path = test.with_file_name(name);
    assert!(path.exists(), "{}", path.display());
    path
}

fn compile(source: &str, to: &Path, options: &[&str]) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    let mut cc = Command::new("cc");
    let ran = cc.arg(source).arg("-o").arg(to).args(options).arg("-ldl").status();
    assert!(ran.is_ok_and(|status| status.success()), "{cc:?}");
}

/// A program, the vendor's libraries, and a folder of stand-ins.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        compile("client.c", &place.path("client"), &[]);
        for library in ["a/libnvrtc.so.12", "b/libnvrtc.so.13", "a/libnvJitLink.so.12"] {
            compile("vendor.c", &place.path(library), &["-shared", "-fPIC"]);
        }
        std::fs::create_dir(place.path("ours")).unwrap();
        for (name, stand_in) in
            [("libnvrtc.so", "libstrata_nvrtc.so"), ("libnvJitLink.so", "libstrata_nvjitlink.so")]
        {
            std::os::unix::fs::symlink(built(stand_in), place.path("ours").join(name)).unwrap();
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, libraries: &[&str], is_audited: bool) -> Output {
        let mut program = Command::new(self.path("client"));
        program.args(libraries.iter().map(|library| self.path(library)));
        if is_audited {
            program.env("LD_AUDIT", built("libstrata_audit.so")).env("STRATA_AUDIT", self.path("ours"));
            program.env("STRATA_AUDIT_LOG", self.path("log"));
        }
        program.output().unwrap()
    }

    fn says(&self, libraries: &[&str], is_audited: bool) -> String {
        let output = self.run(libraries, is_audited);
        let said = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        said
    }
}

#[test]
fn machine_code_is_asked_for_and_ptx_is_handed_out() {
    let place = Place::new();
    let alone =
        "nvrtc 12.9\n-arch=sm_80: 5 bytes of a cubin, machine code\n-arch=compute_80: 0 bytes of a cubin, \n";
    let before = "nvrtc 12.9\n-arch=sm_80: 37 bytes of a cubin, .version 8.0 // -arch=compute_80 -G \n\
        -arch=compute_80: 0 bytes of a cubin, \n";
    assert_eq!(place.says(&["a/libnvrtc.so.12"], false), alone);
    assert_eq!(place.says(&["a/libnvrtc.so.12"], true), before);
    // Only the first of two has a stand-in.
    assert_eq!(place.says(&["a/libnvrtc.so.12", "b/libnvrtc.so.13"], true), format!("{before}{alone}"));
    let log = std::fs::read_to_string(place.path("log")).unwrap();
    let ours = place.path("ours/libnvrtc.so").display().to_string();
    let line = format!("\treplaced\t{}\t{ours}\n", place.path("a/libnvrtc.so.12").display());
    assert!(log.contains(&line) && log.contains(&format!("\tloaded\t{ours}\n")), "{log}");
}

#[test]
fn texts_are_linked_with_what_the_linker_makes() {
    let place = Place::new();
    let said = place.says(&["a/libnvJitLink.so.12"], true);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "added 0, linked the text and LTO-IR", "{said}");
    assert!(lines[1].starts_with("added 0, error 4, ") && lines[1].contains("`f`"), "{said}");
    // The vendor's takes no text here.
    assert!(place.says(&["a/libnvJitLink.so.12"], false).starts_with("added 1, "));
}

#[test]
fn what_is_not_there_is_not_found() {
    let place = Place::new();
    let output = place.run(&["c/libnvrtc.so.12"], true);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(!output.status.success() && said.contains("nvrtcVersion: "), "{said}");
}
