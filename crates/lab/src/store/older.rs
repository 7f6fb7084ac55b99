//! Finds results of older versions of the simulator, whose machines had fewer values.
//!
//! Machine files gain values as the simulator learns to model more, so the machines of older versions lack
//! some. An older result stands for a job if everything else agrees: workload, size, PTX, inputs, every value
//! that the older machine has, exactly the same values behind each door, because a system is also defined
//! by what it leaves out, and every value that the job itself sets, because it asks for that one. A list that is a set of names gains a value when it gains a name.

use std::collections::{BTreeMap, BTreeSet};

use strata_gpu::machine::{doors, sets};

use crate::job::{Job, Key};

/// Finished jobs, keyed by everything that must match exactly.
#[derive(Debug, Default)]
pub struct Older(BTreeMap<String, Vec<Finished>>);

#[derive(Debug)]
struct Finished {
    /// The machine's values outside the doors.
    values: BTreeSet<String>,
    key: Key,
}

impl Older {
    /// Adds a finished job.
    pub fn add(&mut self, job: &Job) {
        let (same, values) = parts(job);
        self.0.entry(same).or_default().push(Finished { values, key: job.key() });
    }

    /// A finished job that can stand for `job`, in the version that `job` names, and the number of machine
    /// values that agree. If several qualify, the one with the most agreement is returned.
    pub fn find(&self, job: &Job) -> Option<(usize, &Key)> {
        let (same, values) = parts(job);
        let asked: BTreeSet<&String> = values.iter().filter(|value| job.sets(value)).collect();
        let stands = |finished: &&Finished| {
            finished.values.is_subset(&values) && asked.iter().all(|value| finished.values.contains(*value))
        };
        let finished = self.0.get(&same)?.iter().filter(stands);
        finished.map(|finished| (finished.values.len(), &finished.key)).max()
    }
}

/// Splits a job into what must match exactly and the machine's other values.
fn parts(job: &Job) -> (String, BTreeSet<String>) {
    let (behind_doors, others): (Vec<String>, Vec<String>) =
        job.machine_values().iter().cloned().partition(|value| is_behind_a_door(value));
    let task = Job { machine: None, ..job.clone() }.key();
    (format!("{task}\n{}", behind_doors.concat()), others.into_iter().filter_map(without_place).collect())
}

/// Drops the position of a value in a list that is a set. Returns `None` for the length of such a list.
pub(super) fn without_place(value: String) -> Option<String> {
    let is_set = |path: &str| sets().iter().any(|set| path.ends_with(set));
    match value.split_once(' ') {
        Some((path, rest)) if is_set(path) && rest.starts_with("has ") => None,
        Some((path, rest)) => match path.rsplit_once('[') {
            Some((list, _)) if is_set(list) => Some(format!("{list}[] {rest}")),
            _ => Some(value),
        },
        None => Some(value),
    }
}

fn is_behind_a_door(value: &str) -> bool {
    doors()
        .iter()
        .any(|door| value.strip_prefix(door.name).is_some_and(|rest| rest.starts_with(['.', ' ', '['])))
}

#[cfg(test)]
mod tests {
    use strata_workloads::Size;
    use toml::{Table, Value};

    use super::*;
    use crate::variant::Variant;

    fn job(system: Option<&str>) -> Job {
        let system = system.map(str::to_owned);
        let variant =
            Variant { name: "m".into(), base: "gtx480".into(), system, sets: vec![], version: None };
        Job { simulator: "0.0.1-older".into(), ..Job::timing("saxpy", Size::Test, &variant).unwrap() }
    }

    fn edit(job: &mut Job, path: &[&str], edit: impl FnOnce(&mut Table)) {
        let mut machine = Table::clone(job.machine.as_ref().unwrap());
        edit(path.iter().fold(&mut machine, |table, key| table[*key].as_table_mut().unwrap()));
        job.machine = Some(machine.into());
    }

    fn without(path: &[&str], key: &str) -> Job {
        let mut job = job(None);
        edit(&mut job, path, |section| drop(section.remove(key).unwrap()));
        job
    }

    fn found(finished: &[&Job], wanted: &Job) -> Option<Key> {
        let mut older = Older::default();
        finished.iter().for_each(|job| older.add(job));
        older.find(wanted).map(|(_, key)| key.clone())
    }

    #[test]
    fn a_machine_that_lacks_values_stands_for_the_one_that_has_them() {
        let wanted = job(None);
        let lacks = without(&["lsu"], "texture");
        assert_ne!(lacks.key(), wanted.key());
        assert_eq!(found(&[&lacks], &wanted), Some(lacks.key()));
        assert_eq!(found(&[&wanted], &lacks), None, "an older machine has values that this one lacks");
    }

    #[test]
    fn of_several_the_one_that_agrees_in_most_values_is_taken() {
        let wanted = job(None);
        let less = without(&["lsu"], "texture");
        let mut least = less.clone();
        edit(&mut least, &["sm", "timing"], |timing| drop(timing.remove("matrix_f64").unwrap()));
        assert_eq!(found(&[&less, &least], &wanted), Some(less.key()));
        assert_eq!(found(&[&least, &less], &wanted), Some(less.key()));
    }

    #[test]
    fn a_value_that_differs_is_another_machine() {
        let mut differs = without(&["lsu"], "texture");
        edit(&mut differs, &["lsu"], |lsu| lsu["queue"]["value"] = Value::Integer(1000));
        assert_eq!(found(&[&differs], &job(None)), None);
    }

    #[test]
    fn a_value_that_the_job_sets_is_one_that_it_asks_for() {
        let lacks = job(None);
        let mut wanted = job(None);
        edit(&mut wanted, &["lsu"], |lsu| {
            let value =
                Table::from_iter([("value".into(), "as-global".into()), ("source".into(), "x".into())]);
            lsu.insert("read_only".into(), Value::Table(value));
        });
        assert_eq!(found(&[&lacks], &wanted), Some(lacks.key()), "as the machine's file has it");
        wanted.overrides = vec!["lsu.read_only=as-global".into()];
        assert_eq!(found(&[&lacks], &wanted), None);
        assert_eq!(found(&[&lacks, &wanted], &wanted), Some(wanted.key()));
    }

    #[test]
    fn behind_a_door_nothing_may_be_missing() {
        assert_eq!(found(&[&without(&["l1d", "sram"], "ways")], &job(None)), None);
        assert_eq!(found(&[&job(Some("fa-fuse"))], &job(Some("dy-fuse"))), None);
        assert_eq!(found(&[&job(Some("dy-fuse"))], &job(Some("fa-fuse"))), None);
    }

    #[test]
    fn a_set_of_names_may_have_gained_some() {
        let wanted = job(None);
        for (change, expected) in [
            ((|names| drop(names.remove(0))) as fn(&mut Vec<Value>), true),
            (|names| names.reverse(), true),
            (|names| names.push("dp".into()), false),
        ] {
            let mut other = wanted.clone();
            edit(&mut other, &["sm"], |sm| {
                let pools = sm["collectors"].as_array_mut().unwrap();
                change(pools[1]["serves"].as_array_mut().unwrap());
            });
            assert_eq!(found(&[&other], &wanted).is_some(), expected);
        }
    }

    #[test]
    fn another_task_or_version_is_another_job() {
        let wanted = job(None);
        let changes: [fn(&mut Job); 4] = [
            |job| job.simulator.push('x'),
            |job| job.ptx.push('x'),
            |job| job.inputs.push('x'),
            |job| job.size = Size::Small,
        ];
        for change in changes {
            let mut other = without(&["lsu"], "texture");
            change(&mut other);
            assert_eq!(found(&[&other], &wanted), None);
        }
    }
}
