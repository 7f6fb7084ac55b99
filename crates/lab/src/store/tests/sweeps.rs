//! Sweeps that are announced in a store, and how far they are.

use std::time::Duration;

use super::*;

/// Jobs that differ in a value.
fn jobs(count: usize) -> Vec<Job> {
    let one = |number: usize| {
        let sets = vec![format!("l1d.mshr_entries={}", 8 << number)];
        let name = format!("m{number}");
        let variant = Variant { name, base: "gtx480".into(), system: None, sets, version: None };
        Job::timing("saxpy", Size::Test, &variant).unwrap()
    };
    (0..count).map(one).collect()
}

fn put_result(folder: &Folder, job: &Job) {
    put(&folder.0, &Record { job: job.clone(), ..record(7) }).unwrap();
}

#[test]
fn a_sweep_is_seen_while_it_lives_and_leaves_nothing() {
    let folder = Folder::new("announced");
    let jobs = jobs(3);
    put_result(&folder, &jobs[0]);
    let command = ["strata".to_owned(), "a \"b\"\n".to_owned()];
    let finished = jobs[0].key();
    let announcement = announce(&folder.0, &command, jobs.iter(), |key| *key == finished).unwrap();
    let (mut store, findings) = Store::open(&folder.0).unwrap();
    assert_eq!(findings, Findings::default());
    let sweep = store.sweeps().next().unwrap().clone();
    assert_eq!((sweep.command.as_slice(), sweep.process), (command.as_slice(), std::process::id()));
    assert_eq!(sweep.jobs.iter().filter(|planned| planned.finished).count(), 1);
    assert_eq!(sweep.jobs[1].job, "saxpy (test) on m1");
    let standing = store.standing(&sweep);
    assert_eq!((standing.finished, standing.before, standing.ended()), (1, 1, 0));
    assert_eq!(standing.remaining(Duration::from_secs(9)), None);

    put_result(&folder, &jobs[1]);
    store.refresh().unwrap();
    let standing = store.standing(&sweep);
    assert_eq!((standing.finished, standing.ended()), (2, 1));
    let left = standing.remaining(Duration::from_secs(9)).unwrap();
    assert!((left.as_secs_f64() - 9.0).abs() < 1e-6, "one of two equal jobs is left: {left:?}");

    fail(&folder.0, &jobs[2], "it trapped").unwrap();
    store.refresh().unwrap();
    let standing = store.standing(&sweep);
    assert_eq!(standing.failed[0].1.reason, "it trapped");
    assert_eq!((standing.ended(), standing.remaining(Duration::from_secs(9))), (2, Some(Duration::ZERO)));

    assert!(sweep.is_alive());
    drop(announcement);
    assert!(!sweep.is_alive());
    store.refresh().unwrap();
    assert_eq!(store.sweeps().count(), 0);
    assert!(
        fs::read_dir(&folder.0).unwrap().all(|entry| entry.unwrap().path().extension().unwrap() != "sweep")
    );
}

#[test]
fn a_failure_of_before_is_not_one_of_the_sweep() {
    let folder = Folder::new("announced-before");
    let jobs = jobs(1);
    fail(&folder.0, &jobs[0], "of another day").unwrap();
    let note = folder.0.join(format!("{}.failed", jobs[0].key()));
    let before = std::time::SystemTime::now() - Duration::from_secs(60);
    File::options().write(true).open(&note).unwrap().set_modified(before).unwrap();
    let _announcement = announce(&folder.0, &[], jobs.iter(), |_| false).unwrap();
    let (mut store, _) = Store::open(&folder.0).unwrap();
    let sweep = store.sweeps().next().unwrap().clone();
    assert!(store.standing(&sweep).failed.is_empty());
    fail(&folder.0, &jobs[0], "again").unwrap();
    store.refresh().unwrap();
    assert_eq!(store.standing(&sweep).failed[0].1.reason, "again");
}

#[test]
fn the_note_of_a_killed_sweep_is_cleaned_up_and_nobody_else_s_file_is() {
    let folder = Folder::new("announced-killed");
    let announcement = announce(&folder.0, &[], jobs(1).iter(), |_| false).unwrap();
    let alive = fs::read_dir(&folder.0).unwrap().next().unwrap().unwrap().path();
    let id = |letter: &str| folder.0.join(format!("{}.sweep", letter.repeat(32)));
    let (dead, somebody_s, named) = (id("a"), id("b"), folder.0.join("notes.sweep"));
    fs::copy(&alive, &dead).unwrap();
    fs::write(&somebody_s, "my notes").unwrap();
    fs::write(&named, "my notes").unwrap();
    let (store, findings) = Store::open(&folder.0).unwrap();
    assert_eq!(store.sweeps().count(), 1);
    assert_eq!(findings.leftovers, std::slice::from_ref(&dead));
    assert_eq!(passed_over(&findings), [&somebody_s, &named]);
    findings.clean().unwrap();
    assert!(alive.exists() && !dead.exists() && somebody_s.exists() && named.exists());
    drop(announcement);
    assert!(!alive.exists());
}

#[test]
fn a_held_note_that_says_something_else_is_passed_over() {
    let folder = Folder::new("announced-wrong");
    let job = jobs(1).remove(0);
    let announcement = announce(&folder.0, &[], std::iter::once(&job), |_| false).unwrap();
    let path = fs::read_dir(&folder.0).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&path).unwrap();
    for (from, to, expected) in [
        (job.key().to_string(), "x".to_owned(), "key: found `x`, expected the note of a sweep"),
        ("process = ".into(), "process = -".into(), "expected the note of a sweep"),
        ("host = ".into(), "hast = ".into(), "expected the note of a sweep"),
    ] {
        // Written in place: the file that is held.
        fs::write(&path, text.replacen(&from, &to, 1)).unwrap();
        let (store, findings) = Store::open(&folder.0).unwrap();
        assert_eq!(store.sweeps().count(), 0);
        assert!(findings.passed_over[0].reason.ends_with(expected), "{}", findings.passed_over[0]);
    }
    drop(announcement);
}
