//! Jobs of launch files: what decides their keys.

use std::path::PathBuf;

use super::*;

const PTX: &str =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) {\nret;\n}\n";
const FILE: &str = "name = \"mine\"\nmodule = \"k.ptx\"\n[[buffer]]\nname = \"b\"\ntype = \"u32\"\ncount = 4\n\
                    [[launch]]\nkernel = \"k\"\ngrid = [1]\nblock = [32]\narguments = [{ buffer = \"b\" }]\n\
                    [[check]]\nbuffer = \"b\"\nexpected = { constant = 0 }\n";

/// A folder with a launch file, which goes when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, file: &str, ptx: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("strata-program-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("f.toml"), file).unwrap();
        std::fs::write(folder.join("k.ptx"), ptx).unwrap();
        Folder(folder)
    }

    fn job(&self) -> Job {
        Job::profile(self.0.join("f.toml").to_str().unwrap(), Size::Test).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_launch_files_key_hashes_what_it_does_and_not_how_it_is_written() {
    let plain = Folder::new("plain", FILE, PTX);
    let job = plain.job();
    assert_eq!((job.workload.as_str(), job.launch_file.is_some()), ("mine", true));
    assert_eq!(Job::read("a.toml", &job.pack().unwrap().text()).unwrap().unpacked(), job);
    let commented = FILE.replace("count = 4", "count    = 4 # four").replace("\"mine\"", "\"yours\"");
    assert_eq!(Folder::new("commented", &commented, PTX).job().key(), job.key());
    for (what, file, ptx) in [
        ("ptx", FILE.to_owned(), PTX.replace("ret;", "exit;")),
        ("count", FILE.replace("count = 4", "count = 8"), PTX.to_owned()),
        ("block", FILE.replace("[32]", "[64]"), PTX.to_owned()),
        ("check", FILE.replace("constant = 0", "constant = 1"), PTX.to_owned()),
        ("contents", FILE.replace("count = 4", "count = 4\ncontents = { constant = 1 }"), PTX.to_owned()),
    ] {
        assert_ne!(Folder::new(what, &file, &ptx).job().key(), job.key(), "{what}");
    }
}

#[test]
fn a_job_whose_launch_file_has_changed_is_refused() {
    let folder = Folder::new("changed", FILE, PTX);
    let job = folder.job();
    let packed = job.pack().unwrap().text();
    std::fs::write(folder.0.join("f.toml"), FILE.replace("[32]", "[64]")).unwrap();
    let error = Job::read("a.toml", &job.pack().unwrap().text()).unwrap_err();
    assert!(error.starts_with("a.toml: inputs: found `"), "{error}");
    assert!(Job::read("a.toml", &packed).is_ok(), "what was packed before is what it was");
    let error = Job::read("a.toml", &job.text()).unwrap_err();
    assert!(error.starts_with("a.toml: package: expected the launch file"), "{error}");
}
