mod packs;
mod sweeps;

use std::fs::{self, File};

use super::file::TEMPORARY;
use super::*;
use crate::job::Job;
use crate::record::{Row, Value};
use crate::variant::Variant;
use strata_workloads::Size;

/// A temporary folder that is removed when dropped.
pub(crate) struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("strata-store-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn record(cycles: u64) -> Record {
    let variant =
        Variant { name: "m".into(), base: "gtx480".into(), system: None, sets: vec![], version: None };
    let row = |launch, group: &str, counter: &str, value| Row {
        launch,
        group: group.into(),
        counter: counter.into(),
        value,
    };
    let rows = vec![
        row(None, "run", "cycles", Value::Count(cycles)),
        row(None, "run", "hash", Value::Count(u64::MAX)),
        row(None, "energy", "pj", Value::Real(-0.25)),
        row(Some(0), "kernel", "cycles", Value::Count(u64::MAX - 1)),
    ];
    Record { job: Job::timing("saxpy", Size::Test, &variant).unwrap(), rows }
}

fn passed_over(findings: &Findings) -> Vec<&PathBuf> {
    findings.passed_over.iter().map(|finding| &finding.path).collect()
}

#[test]
fn a_record_comes_back_as_it_was() {
    let record = record(7);
    let bytes = columns::encode(&record);
    assert_eq!(bytes, columns::encode(&record));
    assert_eq!(columns::decode(bytes).unwrap(), record);
}

#[test]
fn what_was_put_is_found_and_putting_it_again_changes_nothing() {
    let folder = Folder::new("again");
    let record = record(7);
    let path = put(&folder.0, &record).unwrap();
    assert_eq!(put(&folder.0, &record).unwrap(), path);
    let (store, findings) = Store::open(&folder.0).unwrap();
    assert_eq!(findings, Findings::default());
    assert_eq!(store.keys().collect::<Vec<_>>(), [&record.job.key()]);
    assert_eq!(store.get(&record.job.key()).unwrap(), Some(record));
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
}

#[test]
fn no_byte_of_a_file_can_change_unseen() {
    let folder = Folder::new("corrupt");
    let path = put(&folder.0, &record(7)).unwrap();
    let whole = fs::read(&path).unwrap();
    for place in (0..whole.len()).step_by(97).chain([whole.len() - 1]) {
        let mut bytes = whole.clone();
        bytes[place] ^= 1;
        fs::write(&path, &bytes).unwrap();
        let (store, findings) = Store::open(&folder.0).unwrap();
        assert_eq!(passed_over(&findings), [&path], "byte {place}");
        assert_eq!(store.keys().count(), 0);
        findings.clean().unwrap();
        assert_eq!(fs::read(&path).unwrap(), bytes, "only its job's new result replaces it");
    }
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(passed_over(&Store::open(&folder.0).unwrap().1), [&path]);
    let mut asked = record(7);
    asked.job.command = vec!["another".into()];
    let new = put(&folder.0, &asked).unwrap();
    assert!(new != path && !path.exists());
    assert_eq!(Store::open(&folder.0).unwrap().1, Findings::default());
}

#[test]
fn a_file_that_changes_after_opening_is_not_read() {
    let folder = Folder::new("later");
    let record = record(7);
    let path = put(&folder.0, &record).unwrap();
    let (store, _) = Store::open(&folder.0).unwrap();
    fs::write(&path, b"PAR1").unwrap();
    let error = store.get(&record.job.key()).unwrap_err();
    assert!(error.ends_with("its bytes are not those of its checksum"), "{error}");
}

#[test]
fn leftovers_of_the_dead_are_removed_and_those_of_the_living_are_not() {
    let folder = Folder::new("leftovers");
    let name = format!("{}-{}.parquet", record(7).job.key(), digest(b""));
    let dead = folder.0.join(format!("{name}.1{TEMPORARY}"));
    let alive = folder.0.join(format!("{name}.2.0{TEMPORARY}"));
    let somebody_s = folder.0.join(format!("notes{TEMPORARY}"));
    fs::write(&dead, b"half").unwrap();
    fs::write(&somebody_s, b"mine").unwrap();
    let writer = File::create(&alive).unwrap();
    writer.lock().unwrap();
    let (_, findings) = Store::open(&folder.0).unwrap();
    assert_eq!(findings.leftovers, [dead]);
    findings.clean().unwrap();
    drop(writer);
    assert_eq!(Store::open(&folder.0).unwrap().1.leftovers, [alive]);
    assert!(somebody_s.exists());
}

#[test]
fn of_two_results_of_one_job_none_is_shown() {
    let folder = Folder::new("two");
    let (one, two) = (put(&folder.0, &record(7)).unwrap(), put(&folder.0, &record(8)).unwrap());
    let other = Job { size: Size::Small, ..record(9).job };
    put(&folder.0, &Record { job: other.clone(), rows: vec![] }).unwrap();
    let (store, findings) = Store::open(&folder.0).unwrap();
    let mut both = [&one, &two];
    both.sort();
    let mut found = passed_over(&findings);
    found.sort();
    assert_eq!(found, both);
    assert_eq!(store.keys().collect::<Vec<_>>(), [&other.key()]);
    let reason = store.why_missing(&record(7).job);
    assert!(reason.contains("another result of the same job"), "{reason}");
    let error = finished(&folder.0, &record(7).job.key()).unwrap_err();
    assert!(error.contains("are different results of one job, expected one"), "{error}");
}

#[test]
fn the_same_numbers_of_one_job_may_be_there_twice() {
    let folder = Folder::new("same");
    let mine = record(7);
    let mut yours = mine.clone();
    yours.job.command = vec!["strata".into(), "compare".into()];
    assert_ne!(put(&folder.0, &mine).unwrap(), put(&folder.0, &yours).unwrap());
    let (store, findings) = Store::open(&folder.0).unwrap();
    assert_eq!((findings, store.runs().count()), (Findings::default(), 1));
}

#[test]
fn other_files_are_left_alone() {
    let folder = Folder::new("others");
    for name in ["notes.txt", "host.log", "notes.tmp"] {
        fs::write(folder.0.join(name), b"mine").unwrap();
    }
    let (store, findings) = Store::open(&folder.0).unwrap();
    assert_eq!((store.keys().count(), findings), (0, Findings::default()));
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 3);
}

#[test]
fn a_folder_that_is_not_there_is_an_empty_store_and_stays_away() {
    let path = std::env::temp_dir().join("strata-store-never");
    let (store, _) = Store::open(&path).unwrap();
    assert_eq!(store.keys().count(), 0);
    assert!(!path.exists());
}

#[test]
fn another_version_s_results_are_looked_up_when_asked_for() {
    use crate::question::Answers;
    let folder = Folder::new("version");
    let (here, mut there) = (record(7), record(9));
    there.job.simulator = "0.0.1-older".into();
    put(&folder.0, &there).unwrap();
    let variant =
        Variant { name: "m".into(), base: "gtx480".into(), system: None, sets: vec![], version: None };
    let common = crate::metric::common();
    let cycles = &common["cycles"];
    let answer = |store: &Store| Answers::new(store, Size::Test).value(cycles, "saxpy", &variant);
    let mut store = Store::open(&folder.0).unwrap().0;
    assert_eq!(answer(&store), Err("not run yet".into()));
    store.look_up("any").unwrap();
    assert_eq!(answer(&store), Ok(9.0));
    put(&folder.0, &here).unwrap();
    store.refresh().unwrap();
    assert_eq!(answer(&store), Ok(7.0), "this version's come first");
    store.look_up("0.0.1-older").unwrap();
    assert_eq!((store.simulators(), answer(&store)), (&["0.0.1-older".to_owned()][..], Ok(9.0)));
    let error = store.look_up("0.0.2").unwrap_err();
    let expected = format!("found `0.0.2`, expected `any` or what the store holds: 0.0.1-older, {SIMULATOR}");
    assert!(error.ends_with(&expected), "{error}");
}

#[test]
fn a_system_that_had_other_values_is_found_by_name_only_when_asked() {
    let folder = Folder::new("by-name");
    let system = |ways: u32| {
        let sets = vec![format!("l1d.ways={ways}")];
        Variant { name: "m".into(), base: "gtx480".into(), system: None, sets, version: None }
    };
    let job = |ways| Job::timing("saxpy", Size::Test, &system(ways)).unwrap();
    let then = Job { simulator: "0.0.1+older".into(), ..job(8) };
    put(&folder.0, &Record { job: then.clone(), rows: vec![] }).unwrap();
    let (mut store, _) = Store::open(&folder.0).unwrap();
    store.look_up("any").unwrap();
    assert_eq!(store.find(&job(8)), Some(then.key()));
    assert_eq!(store.find(&job(16)), None);
    store.look_up_by_name();
    assert_eq!(store.find(&job(16)), Some(then.key()));
    let other = Job { variant: "n".into(), ..job(16) };
    assert_eq!(store.find(&other), None, "another machine");
    assert_eq!(store.find(&Job { size: Size::Small, ..job(16) }), None, "another size");
}

#[test]
fn names_are_those_of_machine_and_system() {
    let folder = Folder::new("names");
    let of = |sms: u32, system: Option<&str>| {
        let (system, sets) = (system.map(str::to_owned), vec![format!("gpu.sms={sms}")]);
        let variant = Variant { name: "m".into(), base: "gtx480".into(), system, sets, version: None };
        Job::timing("saxpy", Size::Test, &variant).unwrap()
    };
    let then = Job { simulator: "0.0.1+older".into(), ..of(8, Some("l1-sram")) };
    put(&folder.0, &Record { job: then.clone(), rows: vec![] }).unwrap();
    let (mut store, _) = Store::open(&folder.0).unwrap();
    store.look_up("any").unwrap();
    store.look_up_by_name();
    assert_eq!(store.find(&of(16, Some("l1-sram"))), Some(then.key()));
    assert_eq!(store.find(&of(16, Some("fa-sram"))), None, "another system");
    assert_eq!(store.find(&of(16, None)), None, "no system");
    assert_eq!(store.find_same(&of(16, Some("l1-sram"))), None, "other values");
    // Older records do not say which system was laid over their machine.
    let silent = Job { simulator: "0.0.2+older".into(), system: None, ..then };
    put(&folder.0, &Record { job: silent.clone(), rows: vec![] }).unwrap();
    store.refresh().unwrap();
    store.look_up("0.0.2+older").unwrap();
    store.look_up_by_name();
    assert_eq!(store.find(&of(16, Some("l1-sram"))), Some(silent.key()));
}

/// A record of an older version, whose machine or program was another.
fn of_then(change: impl FnOnce(&mut Job, &mut toml::Table)) -> Record {
    let mut then = record(9);
    then.job.simulator = "0.0.1+older".into();
    let mut machine = toml::Table::clone(then.job.machine.as_ref().unwrap());
    change(&mut then.job, &mut machine);
    then.job.machine = Some(machine.into());
    then
}

#[test]
fn numbers_of_runs_found_by_name_say_what_has_come_and_changed_since() {
    use crate::question::Answers;
    let variant =
        Variant { name: "m".into(), base: "gtx480".into(), system: None, sets: vec![], version: None };
    let common = crate::metric::common();
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    let lacks_a_value = of_then(|_, machine| {
        let sram = machine["l1d"]["sram"].as_table_mut().unwrap();
        sram.remove("ways").expect("L1Ds have ways");
    });
    let another = of_then(|job, machine| {
        machine["lsu"]["queue"]["value"] = 1000.into();
        machine["lsu"].as_table_mut().unwrap().insert("gone".into(), 1.into());
        job.ptx.push('x');
        job.inputs.push('x');
    });
    for (record, lacking, changed) in [
        (lacks_a_value, names(&["l1d.sram.ways"]), names(&[])),
        (another, names(&[]), names(&["PTX of saxpy", "inputs of saxpy", "lsu.gone", "lsu.queue"])),
    ] {
        let folder = Folder::new("since");
        put(&folder.0, &record).unwrap();
        let mut store = Store::open(&folder.0).unwrap().0;
        store.look_up("any").unwrap();
        let ask = |answers: &mut Answers<'_>| answers.value(&common["cycles"], "saxpy", &variant);
        assert_eq!(ask(&mut Answers::new(&store, Size::Test)), Err("not run yet".into()));
        store.look_up_by_name();
        let mut answers = Answers::new(&store, Size::Test);
        for _ in 0..2 {
            assert_eq!(ask(&mut answers), Ok(9.0));
            let origin = answers.take_origin();
            assert_eq!(origin.versions, names(&["0.0.1+older"]));
            assert_eq!(origin.difference, Difference { lacking: lacking.clone(), changed: changed.clone() });
            assert_eq!(origin.sentences().len(), 1);
        }
    }
}

#[test]
fn a_run_of_the_same_machine_is_not_found_by_name() {
    use crate::question::Answers;
    let folder = Folder::new("same");
    let variant =
        Variant { name: "m".into(), base: "gtx480".into(), system: None, sets: vec![], version: None };
    put(&folder.0, &of_then(|_, _| {})).unwrap();
    let mut store = Store::open(&folder.0).unwrap().0;
    store.look_up("any").unwrap();
    store.look_up_by_name();
    let mut answers = Answers::new(&store, Size::Test);
    assert_eq!(answers.value(&crate::metric::common()["cycles"], "saxpy", &variant), Ok(9.0));
    let origin = answers.take_origin();
    assert_eq!((origin.difference.clone(), origin.sentences()), (Difference::default(), vec![]));
}

#[test]
fn a_job_has_one_runner_at_a_time() {
    let folder = Folder::new("claims");
    let key = record(7).job.key();
    let mine = claim(&folder.0, &key, false).unwrap().expect("nobody else runs it");
    assert!(claim(&folder.0, &key, false).unwrap().is_none());
    assert_eq!(Store::open(&folder.0).unwrap().1, Findings::default(), "its runner is alive");
    let waiting = std::thread::spawn({
        let (folder, key) = (folder.0.clone(), key.clone());
        move || claim(&folder, &key, true).unwrap().is_some()
    });
    drop(mine);
    assert!(waiting.join().unwrap());
    assert!(claim(&folder.0, &key, false).unwrap().is_some());
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 0, "claims leave nothing behind");
}

#[test]
fn a_store_that_cannot_be_written_is_found_before_any_job_runs() {
    let folder = Folder::new("unwritable");
    check_writable(&folder.0).unwrap();
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 0);
    let file = folder.0.join("file");
    fs::write(&file, "").unwrap();
    let error = check_writable(&file.join("store")).unwrap_err();
    assert!(error.ends_with("expected a folder that results can be added to"), "{error}");
}

#[test]
fn a_failure_is_told_until_its_job_succeeds() {
    let folder = Folder::new("failure");
    let record = record(7);
    let reason = format!("its results are wrong: {}", "€".repeat(10_000));
    fail(&folder.0, &record.job, "first").unwrap();
    fail(&folder.0, &record.job, &reason).unwrap();
    let (store, findings) = Store::open(&folder.0).unwrap();
    assert_eq!(findings, Findings::default());
    let said = store.why_missing(&record.job);
    assert!(said.starts_with("failed: its results are wrong: €") && said.len() < 10_000, "{said}");
    let jobs: Vec<&str> = store.failures().map(|failure| failure.job.as_str()).collect();
    assert_eq!((jobs, store.has(&record.job.key())), (vec!["saxpy (test) on m"], false));
    put(&folder.0, &record).unwrap();
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
    assert_eq!(Store::open(&folder.0).unwrap().0.failures().count(), 0);
}

#[test]
fn a_claim_that_was_given_back_is_not_kept_by_who_waited_for_it() {
    let folder = Folder::new("given-back");
    let key = record(7).job.key();
    let path = folder.0.join(format!("{key}.claim"));
    let mine = claim(&folder.0, &key, false).unwrap().unwrap();
    fs::remove_file(&path).unwrap();
    let yours = claim(&folder.0, &key, false).unwrap().unwrap();
    drop(mine);
    assert!(path.exists(), "the file is the next one's");
    assert!(claim(&folder.0, &key, false).unwrap().is_none());
    drop(yours);
    assert!(!path.exists());
}
