//! Sweeps: the store ends up the same whatever happened on the way, and the commands that run and read sweeps
//! work.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// A temporary folder that is removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("strata-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

fn strata(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strata"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn output(arguments: &[&str]) -> Output {
    strata(arguments).output().expect("the command starts")
}

fn stdout(arguments: &[&str]) -> String {
    let output = output(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(arguments: &[&str]) -> String {
    let output = output(arguments);
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8(output.stderr).unwrap()
}

/// Every file of a store except its log, by name. Files that a running job renames meanwhile are skipped.
fn results(folder: &str) -> BTreeMap<String, Vec<u8>> {
    let Ok(entries) = std::fs::read_dir(folder) else { return BTreeMap::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let file = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        match std::fs::read(path) {
            Ok(bytes) => Some((name, bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => panic!("{name}: {error}"),
        }
    };
    paths.filter(|path| path.file_name().unwrap() != "host.log").filter_map(file).collect()
}

/// The numbers in a store's files, by key. The command that asked for a run is in its file, too, and may differ.
fn numbers(files: &BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Vec<strata_lab::record::Row>> {
    let record = |(name, bytes): (&String, &Vec<u8>)| {
        let record = strata_lab::store::columns::decode(bytes.clone()).unwrap();
        assert_eq!(name.split_once('-').unwrap().0, record.job.key().to_string());
        assert!(record.job.command.len() > 2, "{name}");
        if record.job.variant == "l1-sram" {
            assert_eq!(record.job.system.as_deref(), Some("l1-sram"), "{name}");
        }
        (record.job.key().to_string(), record.rows)
    };
    files.iter().map(record).collect()
}

/// Removes a store to which jobs may still be writing.
fn remove(folder: &Path) {
    while let Err(error) = std::fs::remove_dir_all(folder) {
        match error.kind() {
            ErrorKind::DirectoryNotEmpty => {}
            ErrorKind::NotFound => return,
            _ => panic!("{}: {error}", folder.display()),
        }
    }
}

/// The contents of a store after the jobs of killed sweeps have ended, which they do on their own. Opening
/// the store removes their temporary files.
fn settled(folder: &str) -> BTreeMap<String, Vec<u8>> {
    loop {
        stdout(&["compare", "saxpy", "--no-run", "--store", folder]);
        let found = results(folder);
        if found.keys().all(|name| name.ends_with(".parquet")) {
            return found;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Number of times the sweep is killed at work.
const KILLS: u32 = 50;

/// Waits until a store's files have changed so many times, or a sweep has ended.
fn changes(folder: &str, count: u32, child: &mut Child) {
    let listing = || -> BTreeSet<_> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| (entry.file_name(), entry.metadata().map_or(0, |file| file.len()))).collect()
    };
    let mut before = listing();
    for _ in 0..count {
        while listing() == before && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        before = listing();
    }
}

#[test]
fn a_sweep_that_is_killed_again_and_again_ends_with_the_same_store() {
    let folder = Folder::new("killed");
    let (undisturbed, killed) = (folder.path("undisturbed"), folder.path("killed"));
    let kernels = own_kernel(&folder);
    let sweep = |store: &str| {
        let programs = ["compare", "saxpy", "gather", &kernels];
        let how = ["--sweep", "l1d.ways=1,2,4", "--jobs", "2", "--store", store];
        strata(&[&programs[..], &how].concat())
    };
    let whole = sweep(&undisturbed).output().unwrap();
    assert!(whole.status.success(), "{}", String::from_utf8_lossy(&whole.stderr));
    let expected = results(&undisturbed);
    assert_eq!(expected.len(), 9);

    // Kill the sweep after its store has changed between zero times, which is at once, and seven.
    let (mut started, mut interrupted) = (0, 0);
    while interrupted < KILLS {
        let mut child = sweep(&killed).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        changes(&killed, started * 5 % 8, &mut child);
        started += 1;
        child.kill().unwrap();
        interrupted += u32::from(!child.wait().unwrap().success());
        if results(&killed).len() >= expected.len() {
            // All jobs are done; start over, so that there is something to kill.
            remove(Path::new(&killed));
        }
    }

    let resumed = sweep(&killed).output().unwrap();
    assert!(resumed.status.success(), "{}", String::from_utf8_lossy(&resumed.stderr));
    assert_eq!(resumed.stdout, whole.stdout);
    let found = settled(&killed);
    assert!(numbers(&found) == numbers(&expected), "the numbers differ");
    let mut left = std::fs::read_dir(&killed).unwrap().map(|entry| entry.unwrap().path());
    assert!(left.all(|path| path.extension().is_none_or(|of| of != "sweep")), "no sweep goes on any more");
}

#[test]
fn what_a_store_holds_is_not_run_again_unless_it_is_corrupt() {
    let folder = Folder::new("once");
    let store = folder.path("store");
    let sweep = ["compare", "saxpy", "--sweep", "l1d.ways=2,4", "--store", &store];
    let first = stdout(&sweep);
    let log = || std::fs::read_to_string(Path::new(&store).join("host.log")).unwrap().lines().count();
    assert_eq!(log(), 2);
    assert_eq!(stdout(&sweep), first);
    assert_eq!(log(), 2);

    let name = results(&store).into_keys().next().unwrap();
    std::fs::write(Path::new(&store).join(&name), b"PAR1 and nothing more").unwrap();
    let again = output(&sweep);
    assert_eq!(String::from_utf8_lossy(&again.stdout), first);
    assert!(String::from_utf8_lossy(&again.stderr).contains(&format!("{name}: is damaged")));
    assert_eq!(log(), 3);
}

#[test]
fn a_scheduler_can_run_the_jobs_of_a_sweep() {
    let folder = Folder::new("scheduler");
    let (store, jobs, here) = (folder.path("store"), folder.path("jobs"), folder.path("here"));
    let question = ["compare", "saxpy", "gather", "--systems", "l1-sram"];
    let ask = |more: &[&str]| stdout(&[&question, more].concat());
    ask(&["--store", &store, "--write-jobs", &jobs]);
    let files: Vec<PathBuf> = std::fs::read_dir(&jobs).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 2);
    let log = || std::fs::read_to_string(Path::new(&store).join("host.log")).unwrap().lines().count();
    for (run, file) in (1..).zip(&files) {
        let job = ["job", file.to_str().unwrap(), "--store", &store];
        let first = stdout(&job);
        let kept = results(&store);
        assert_eq!((kept.len(), log()), (run, run), "{first}");
        // Repeating is safe: nothing runs, and no byte of the store changes.
        let again = stdout(&job);
        assert_eq!(again, first);
        assert!(results(&store) == kept, "the bytes differ");
        assert_eq!(log(), run, "the job ran again");
    }
    assert_eq!(ask(&["--store", &store, "--no-run"]), ask(&["--store", &here]));
    assert!(numbers(&results(&store)) == numbers(&results(&here)), "the numbers differ");
}

#[test]
fn a_paper_s_page_stands_alone_and_says_what_is_not_measured() {
    let folder = Folder::new("page");
    let (store, page, paper) = (folder.path("store"), folder.path("page.html"), folder.path("p.toml"));
    let text = "name = \"p\"\ntitle = \"P\"\nmachine = \"gtx480\"\nmean = \"arithmetic\"\n\
         [workloads]\nall = [\"saxpy\", \"gather\", \"unrun\"]\n\
         [systems]\nbase = {}\nmore = { sets = [\"l1d.ways=8\"] }\nother = { sets = [\"l1d.ways=2\"] }\n\
         [[figures]]\nid = \"1\"\ntitle = \"IPC\"\ndrawing = \"grouped-bars\"\nmetrics = [\"ipc\"]\n\
         systems = [\"base\", \"more\"]\nnormalise = { system = \"base\" }\n\
         [[figures]]\nid = \"2\"\ntitle = \"None\"\ndrawing = \"grouped-bars\"\nmetrics = [\"ipc\"]\n\
         systems = [\"other\"]\n";
    std::fs::write(&paper, text.replace(", \"unrun\"", "")).unwrap();
    let repro = ["repro", &paper, "--store", &store, "--out", &page];
    let said = stdout(&[&repro[..], &["--figure", "1"]].concat());
    assert!(said.starts_with("4 of 4 jobs are in "), "{said}");
    std::fs::write(&paper, text.replace("unrun", "histo")).unwrap();
    let said = stdout(&[&repro[..], &["--no-run"]].concat());
    assert!(said.starts_with("4 of 9 jobs are in "), "{said}");
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.contains("<svg") && !text.contains("src=") && !text.contains("<link"));
    // Both figures and the runs.
    assert!(text.matches("href=").count() == 3 && text.contains("<a href=\"#figure-1\">Fig. 1</a>"));
    assert!(text.contains("<section id=\"figure-1\">"));
    assert!(
        text.contains(&format!("<dd>strata repro {paper} --store")) && text.contains("<dt>Made</dt><dd>20")
    );
    assert!(text.contains("arithmetic mean of 2 of 3"));
    assert!(text.contains("not run yet"));
    assert!(text.contains("<p class=\"not-measured\">Not measured.</p>"));
    let error = refused(&["repro", &paper, "--figure", "3", "--store", &store]);
    assert_eq!(error, "error: p has no figure or table `3`, expected one of 1, 2\n");
}

#[test]
fn what_a_headline_depends_on_is_run_and_shown_with_both_values() {
    let folder = Folder::new("depends-on");
    let (store, page, paper) = (folder.path("store"), folder.path("page.html"), folder.path("p.toml"));
    std::fs::write(
        &paper,
        "name = \"p\"\ntitle = \"P\"\nmachine = \"gtx480\"\nmean = \"arithmetic\"\n\
         [workloads]\nall = [\"gather\"]\n\
         [systems]\nbase = { sets = [\"l1d.ways=2\"] }\nmore = { sets = [\"l1d.ways=8\"] }\n\
         [measured]\n\"fuse.ipc\" = { kind = \"change\", metric = \"ipc\", system = \"more\", over = \"base\" }\n\
         [[sensitivities]]\nid = \"s\"\ntitle = \"Sets\"\nsource = \"Nobody says.\"\nclaims = [\"fuse.ipc\"]\n\
         keys = { base = [\"l1d.sets\"], more = [\"l1d.sets\"] }\nvalues = [64, 4]\n",
    )
    .unwrap();
    let said = stdout(&["repro", &paper, "--sensitivity", "--store", &store, "--out", &page]);
    assert!(said.starts_with("4 of 4 jobs are in "), "{said}");
    let text = std::fs::read_to_string(&page).unwrap();
    for expected in [
        "What the headline depends on",
        "<span class=\"what\">Sets</span>",
        "<td>64<span class=\"note\"> (ours)</span></td>",
        "<td>4</td>",
        "<td>published</td><td>+217 %</td>",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let error = refused(&["repro", &paper, "--sensitivity", "--figure", "1", "--store", &store]);
    assert!(error.contains("cannot be used with"), "{error}");
}

#[test]
fn claims_as_json_are_what_a_program_reads() {
    let folder = Folder::new("claims");
    let none = folder.path("none");
    std::fs::create_dir(&none).unwrap();
    let text = stdout(&["claims", "fuse", "--json", "--store", &none]);
    let rows: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    assert!(rows.len() >= 40);
    for row in rows {
        let keys: Vec<&String> = row.as_object().unwrap().keys().collect();
        for key in [
            "definition",
            "explanation",
            "id",
            "measured",
            "published",
            "readings",
            "size",
            "verdict",
            "versions",
            "lacking",
            "changed",
        ] {
            assert!(keys.contains(&&key.to_owned()), "{key}: {keys:?}");
        }
        assert!(row["id"].is_string() && row["published"].is_number() && row["measured"].is_null());
        assert_eq!(row["verdict"], "not measured");
        assert!(!row["explanation"].as_str().unwrap().is_empty());
    }
}

#[test]
fn parts_of_claims_come_one_by_one_or_together() {
    let folder = Folder::new("claims-parts");
    let none = folder.path("none");
    std::fs::create_dir(&none).unwrap();
    let read = |shown: &str| -> serde_json::Value {
        let text =
            stdout(&["claims", "stash", "--json", "--size", "test", "--store", &none, "--show", shown]);
        serde_json::from_str(&text).unwrap()
    };
    let together = read("claims,tables,figures,sensitivity,statements");
    for part in ["claims", "tables", "figures", "sensitivity", "statements"] {
        assert_eq!(read(part), together[part], "{part}");
    }
    assert!(
        ["claims", "tables", "sensitivity"].iter().all(|part| !together[part].as_array().unwrap().is_empty())
    );
    let error = refused(&["claims", "stash", "--show", "claims,table", "--store", &none]);
    assert!(error.contains("invalid value 'table'"), "{error}");
}

#[test]
fn mistakes_name_what_there_is() {
    let folder = Folder::new("mistakes");
    let store = folder.path("store");
    for (arguments, expected) in [
        (vec!["compare", "sacspy"], "error: no workload `sacspy` (did you mean `saxpy`"),
        (vec!["compare", "saxpy", "--systems", "fuze"], "error: fuze: no such system, expected one of "),
        (vec!["compare", "saxpy", "--metric", "speed"], "error: no metric `speed`, expected one of "),
        (
            vec!["compare", "saxpy", "--size", "huge"],
            "error: --size: no size is called `huge`: expected test, ",
        ),
        (
            vec!["compare", "saxpy", "--sweep", "l1d.way=1"],
            "error: --set l1d.way=1: unknown key `l1d.way` (did you mean `l1d.sram.ways`?), expected one",
        ),
        (
            vec!["repro", "fuze"],
            "error: no paper `fuze` (did you mean `fuse`?), expected one of fuse, hi-end, morpheus, stash, tinycache or a file (*.toml)",
        ),
        (vec!["repro", "fuse", "--resume"], "error: --resume: no store in "),
        (
            vec!["claims", "fuze"],
            "error: no claims of a paper `fuze` (did you mean `fuse`?), expected one of fuse, tinycache, ",
        ),
    ] {
        let error = refused(&[arguments.as_slice(), &["--store", &store]].concat());
        assert!(error.starts_with(expected), "{error}");
    }
}

/// A launch file of one's own, with its PTX, in a folder.
fn own_kernel(folder: &Folder) -> String {
    let ptx = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry fill(.param .u64 to) {\n\
               .reg .b32 %r<4>; .reg .b64 %rd<4>;\nld.param.u64 %rd0, [to];\nmov.u32 %r0, %tid.x;\n\
               mul.wide.u32 %rd1, %r0, 4;\nadd.s64 %rd1, %rd0, %rd1;\nst.global.u32 [%rd1], 7;\nret;\n}\n";
    let file = "name = \"mine\"\nmodule = \"fill.ptx\"\n[[buffer]]\nname = \"to\"\ntype = \"u32\"\ncount = 32\n\
                [[launch]]\nkernel = \"fill\"\ngrid = [1]\nblock = [32]\narguments = [{ buffer = \"to\" }]\n\
                [[check]]\nbuffer = \"to\"\nexpected = { constant = 7 }\n";
    let kernels = folder.path("kernels");
    std::fs::create_dir_all(&kernels).unwrap();
    std::fs::write(Path::new(&kernels).join("fill.ptx"), ptx).unwrap();
    std::fs::write(Path::new(&kernels).join("fill.toml"), file).unwrap();
    kernels
}

/// The kernel writes the thread's number and an address of two registers, whose lower one grows by four a lane and whose
/// upper one is the same in all lanes: one register without deltas, and two with deltas of a byte.
#[test]
fn registers_of_one_s_own_kernel_are_profiled() {
    let folder = Folder::new("registers");
    let file = Path::new(&own_kernel(&folder)).join("fill.toml").display().to_string();
    for (sets, reuses) in [(vec![], true), (vec!["--set", "sm.register_allocation=separate"], false)] {
        let profile = stdout(&[vec!["workload", "profile", &file], sets].concat());
        let profile: serde_json::Value = serde_json::from_str(&profile).unwrap();
        let registers = &profile["registers"];
        assert_eq!((&registers["reads"], &registers["writes"]), (&3.into(), &3.into()), "{registers}");
        let by_width = registers["compression"].as_array().unwrap();
        let by_width: Vec<&serde_json::Value> = by_width.iter().map(|of| &of["writes"]).collect();
        assert_eq!(by_width, [1, 2, 0, 0], "{registers}");
        assert_eq!(profile["kernels"][0]["reuses_registers"], reuses);
    }
    let metrics = ["--metric", "compressible-register-writes", "--metric", "top5-ptx-register-reads"];
    let rest = ["--csv", "-", "--store", &folder.path("store")];
    let csv = stdout(&[&["compare", &file, "--systems", "gtx480"], &metrics[..], &rest].concat());
    let values: Vec<&str> = csv.lines().skip(1).filter_map(|line| line.split(',').nth(3)).collect();
    assert_eq!(values, ["100", "100"], "{csv}");
}

#[test]
fn one_s_own_kernel_stands_beside_workloads() {
    let folder = Folder::new("own");
    let (kernels, store) = (own_kernel(&folder), folder.path("store"));
    let sweep = ["compare", &kernels, "saxpy", "--systems", "gtx480,dy-fuse", "--store", &store];
    let shown = stdout(&sweep);
    assert!(shown.lines().any(|line| line.trim_start().starts_with("mine ")), "{shown}");
    let files = results(&store);
    assert_eq!(files.len(), 4);
    let file = Path::new(&kernels).join("fill.toml").display().to_string();
    let again = ["compare", &file, "saxpy", "--systems", "gtx480,dy-fuse", "--no-run", "--store", &store];
    assert_eq!(stdout(&again), shown, "by its path it is the same program");
    let profile = stdout(&["workload", "profile", &file]);
    let profile: serde_json::Value = serde_json::from_str(&profile).unwrap();
    assert_eq!(profile["workload"], "mine");
    // Written differently it is the same program; with another block it is not.
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("# Mine.\n{text}")).unwrap();
    stdout(&again);
    assert_eq!(results(&store).len(), 4);
    std::fs::write(
        &file,
        text.replace("[32]", "[16]").replace("constant = 7 }", "constant = 7 }\ncount = 16"),
    )
    .unwrap();
    stdout(&sweep);
    assert_eq!(results(&store).len(), 6);
}

#[test]
fn two_sweeps_share_the_work_of_one_store() {
    let folder = Folder::new("shared");
    let store = folder.path("store");
    let sweep = ["compare", "saxpy", "gather", "2dconv", "--sweep", "l1d.ways=1,2,4", "--store", &store];
    let mut both: Vec<_> = (0..2).map(|_| strata(&sweep).spawn().unwrap()).collect();
    assert!(both.iter_mut().all(|one| one.wait().unwrap().success()));
    let log = std::fs::read_to_string(Path::new(&store).join("host.log")).unwrap();
    assert_eq!(log.lines().count(), 9, "each job ran once:\n{log}");
    assert_eq!(results(&store).len(), 9);
    assert!(!std::fs::read_dir(&store).unwrap().any(|entry| entry.unwrap().path().ends_with(".claim")));
}

#[test]
fn reading_changes_nothing_and_a_missing_store_is_named() {
    let folder = Folder::new("reading");
    let store = folder.path("store");
    let sweep = ["compare", "saxpy", "--store", &store];
    stdout(&sweep);
    let name = results(&store).into_keys().next().unwrap();
    std::fs::write(Path::new(&store).join(&name), b"PAR1 and nothing more").unwrap();
    let before = results(&store);
    let read = output(&[&sweep[..], &["--no-run"]].concat());
    assert!(read.status.success());
    assert!(String::from_utf8_lossy(&read.stderr).contains(&format!("{name}: is damaged")));
    assert!(results(&store) == before, "the damaged file stays");
    let error = refused(&["repro", "fuse", "--no-run", "--store", &folder.path("nope")]);
    assert!(error.ends_with("nope: found no store, expected a folder of results\n"), "{error}");
    let file = folder.path("file");
    std::fs::write(&file, "").unwrap();
    let error = refused(&["compare", "saxpy", "--store", &format!("{file}/store")]);
    assert!(error.contains("Not a directory (os error 20), expected a folder"), "{error}");
}
