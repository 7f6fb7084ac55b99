//! Results packed into a few files.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

/// Records of different jobs.
fn records(count: u64) -> Vec<Record> {
    let first = record(0);
    (0..count).map(|number| numbered(&first, number)).collect()
}

fn numbered(record: &Record, number: u64) -> Record {
    let mut record = record.clone();
    record.job.inputs = format!("{number:032x}");
    record.rows[0].value = Value::Count(number);
    record
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The contents of a folder's files, by name.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    names(folder).into_iter().map(|name| (name.clone(), fs::read(folder.join(name)).unwrap())).collect()
}

/// Checks that a store holds exactly these records and nothing else.
fn check(folder: &Path, expected: &[Record]) {
    let (store, findings) = Store::open(folder).unwrap();
    assert_eq!(findings.passed_over, []);
    assert_eq!(store.keys().count(), expected.len());
    let runs: BTreeMap<&Key, &Run> = store.runs().collect();
    for record in expected {
        let key = record.job.key();
        assert!(store.has(&key));
        assert_eq!(store.get(&key).unwrap().as_ref(), Some(record));
        assert_eq!(runs[&key], &Run::of(record));
        assert_eq!(finished(folder, &key).unwrap().unwrap().1, *record);
    }
}

#[test]
fn packed_results_are_those_that_were_there_byte_by_byte() {
    let folder = Folder::new("packed");
    let records = records(300);
    records.iter().for_each(|record| drop(put(&folder.0, record).unwrap()));
    let before = files(&folder.0);
    let done = compact(&folder.0).unwrap();
    assert_eq!((done.moved, done.results, done.packs), (300, 300, 1));
    let [pack]: [String; 1] = names(&folder.0).try_into().unwrap();
    check(&folder.0, &records);
    // Any archiver unpacks it into the store that it was.
    let mut archive = zip::ZipArchive::new(File::open(folder.0.join(&pack)).unwrap()).unwrap();
    archive.extract(folder.0.join("unpacked")).unwrap();
    let mut unpacked = files(&folder.0.join("unpacked"));
    unpacked.retain(|name, _| name.ends_with(".parquet"));
    assert!(unpacked == before);
    fs::remove_dir_all(folder.0.join("unpacked")).unwrap();
    // Again there is nothing to do.
    let done = compact(&folder.0).unwrap();
    assert_eq!((done.moved, done.results, done.packs), (0, 300, 1));
    assert_eq!(names(&folder.0), [pack]);
}

#[test]
fn new_results_join_the_packed_ones_and_duplicates_go() {
    let folder = Folder::new("joined");
    let records = records(50);
    for (done, part) in records.chunks(10).enumerate() {
        part.iter().for_each(|record| drop(put(&folder.0, record).unwrap()));
        // A job that is packed already, asked for by another command.
        let mut again = records[0].clone();
        again.job.command = vec![format!("asked {done} times")];
        put(&folder.0, &again).unwrap();
        assert_eq!(compact(&folder.0).unwrap().packs, 1);
        assert_eq!(names(&folder.0).len(), 1);
        let (store, findings) = Store::open(&folder.0).unwrap();
        assert_eq!((store.keys().count(), findings), ((done + 1) * 10, Findings::default()));
    }
    let (store, _) = Store::open(&folder.0).unwrap();
    for record in &records {
        assert_eq!(store.get(&record.job.key()).unwrap().unwrap().rows, record.rows);
    }
}

#[test]
fn a_compaction_that_is_killed_at_any_moment_loses_nothing() {
    let folder = Folder::new("killed");
    let records = records(12);
    records[..6].iter().for_each(|record| drop(put(&folder.0, record).unwrap()));
    compact(&folder.0).unwrap();
    records[6..].iter().for_each(|record| drop(put(&folder.0, record).unwrap()));
    let before = files(&folder.0);
    compact(&folder.0).unwrap();
    let after = files(&folder.0);
    let [(pack, bytes)]: [(&String, &Vec<u8>); 1] = after.iter().collect::<Vec<_>>().try_into().unwrap();
    // It writes half a pack under a temporary name, renames it when it is whole, and removes the old files one by one:
    // results first, then the old pack.
    let mut states = vec![];
    for cut in [0, 1, bytes.len() / 2, bytes.len()] {
        let mut state = before.clone();
        state.insert(format!("{pack}.1.0{TEMPORARY}"), bytes[..cut].to_vec());
        states.push(state);
    }
    let mut state = before.clone();
    state.insert(pack.clone(), bytes.clone());
    states.push(state.clone());
    for name in before.keys() {
        state.remove(name);
        states.push(state.clone());
    }
    assert_eq!(states.last(), Some(&after));
    for state in states {
        for name in names(&folder.0) {
            fs::remove_file(folder.0.join(name)).unwrap();
        }
        for (name, bytes) in &state {
            fs::write(folder.0.join(name), bytes).unwrap();
        }
        check(&folder.0, &records);
        assert_eq!(files(&folder.0), state, "reading changes nothing");
        Store::open(&folder.0).unwrap().1.clean().unwrap();
        compact(&folder.0).unwrap();
        assert_eq!(files(&folder.0), after);
    }
}

#[test]
fn no_byte_of_a_pack_can_change_unseen() {
    let folder = Folder::new("pack-damage");
    let records = records(4);
    records.iter().for_each(|record| drop(put(&folder.0, record).unwrap()));
    compact(&folder.0).unwrap();
    let [pack]: [String; 1] = names(&folder.0).try_into().unwrap();
    let path = folder.0.join(pack);
    let whole = fs::read(&path).unwrap();
    let (mut passed_over, mut lost) = (0, 0);
    let mut check = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let (store, findings) = Store::open(&folder.0).unwrap();
        passed_over += findings.passed_over.len();
        for record in &records {
            let key = record.job.key();
            match store.get(&key) {
                Ok(Some(found)) => assert_eq!((found, store.has(&key)), (record.clone(), true)),
                Ok(None) => assert!(!store.has(&key)),
                Err(error) => {
                    lost += 1;
                    assert!(!store.has(&key) && error.contains("is damaged"), "{error}");
                }
            }
        }
    };
    for place in (0..whole.len()).step_by(331).chain(whole.len() - 30..whole.len()) {
        let mut bytes = whole.clone();
        bytes[place] ^= 1;
        check(&bytes);
    }
    for cut in [0, 21, 22, whole.len() / 2, whole.len() - 1] {
        check(&whole[..cut]);
    }
    assert!(passed_over > 20 && lost > 20, "{passed_over} {lost}");
}

#[test]
fn a_damaged_result_in_a_pack_is_replaced_by_its_job_s_new_one() {
    let folder = Folder::new("pack-replaced");
    let records = records(4);
    records.iter().for_each(|record| drop(put(&folder.0, record).unwrap()));
    let one = columns::encode(&records[2]);
    compact(&folder.0).unwrap();
    let [pack]: [String; 1] = names(&folder.0).try_into().unwrap();
    let whole = fs::read(folder.0.join(&pack)).unwrap();
    let mut bytes = whole.clone();
    let at = bytes.windows(one.len()).position(|window| window == one).expect("it is stored as it is");
    bytes[at + one.len() / 2] ^= 1;
    fs::write(folder.0.join(&pack), &bytes).unwrap();
    // It is the only copy, and who knows what can be saved of it.
    let done = compact(&folder.0).unwrap();
    assert_eq!((done.findings.passed_over.len(), names(&folder.0)), (1, vec![pack.clone()]));
    let (store, _) = Store::open(&folder.0).unwrap();
    assert!(!store.has(&records[2].job.key()), "its job runs again");
    put(&folder.0, &records[2]).unwrap();
    check(&folder.0, &records);
    assert_eq!(compact(&folder.0).unwrap().packs, 1);
    check(&folder.0, &records);
    assert!(files(&folder.0) == BTreeMap::from([(pack, whole)]), "the pack is whole again");
}

#[test]
fn writers_and_readers_go_on_beside_a_compaction() {
    let folder = Folder::new("beside");
    let records = records(60);
    let (first, later) = records.split_at(20);
    first.iter().for_each(|record| drop(put(&folder.0, record).unwrap()));
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            later.iter().for_each(|record| drop(put(&folder.0, record).unwrap()));
            is_done.store(true, Ordering::Release);
        });
        scope.spawn(|| {
            while !is_done.load(Ordering::Acquire) {
                let (store, findings) = Store::open(&folder.0).unwrap();
                assert_eq!(findings.passed_over, []);
                for record in first {
                    assert_eq!(store.get(&record.job.key()).unwrap().as_ref(), Some(record));
                }
            }
        });
        while !is_done.load(Ordering::Acquire) {
            compact(&folder.0).unwrap();
        }
    });
    compact(&folder.0).unwrap();
    check(&folder.0, &records);
    assert_eq!(names(&folder.0).len(), 1);
}

#[test]
fn one_process_at_a_time_compacts_a_store() {
    let folder = Folder::new("locked");
    let lock = File::open(&folder.0).unwrap();
    lock.lock().unwrap();
    let error = compact(&folder.0).unwrap_err();
    assert!(error.ends_with("another process compacts this store"), "{error}");
}
