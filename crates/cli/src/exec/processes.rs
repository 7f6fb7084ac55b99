//! What the driver wrote about the processes of a run, each in files of its own (docs/driver.md).

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// A process that initialised the driver.
pub struct Process {
    /// Its number: processes are numbered in the order in which they initialised the driver.
    pub number: u64,
    /// Lines of its launches.
    launches: String,
    /// The line of its whole run, as far as it has come; null where nothing is known of it.
    whole: Value,
    /// The launch that runs, if one does.
    pub now: Option<Value>,
}

/// Reads what there is of all processes, in their order.
pub fn read(folder: &Path) -> Vec<Process> {
    let text = |number: u64, kind: &str| fs::read_to_string(folder.join(format!("{number}.{kind}"))).ok();
    let line = |number, kind| serde_json::from_str(&text(number, kind)?).ok();
    let process = |number| {
        let mut launches = text(number, "launches")?;
        // The last line of a process that goes on may be a part of one.
        launches.truncate(launches.rfind('\n').map_or(0, |end| end + 1));
        // The driver adds a launch to `launches` before it takes it from `now`.
        let count = launches.lines().count() as u64;
        let now = line(number, "now").filter(|now: &Value| now["launch"].as_u64() >= Some(count));
        let whole = line(number, "run").unwrap_or_default();
        Some(Process { number, launches, whole, now })
    };
    (0..).map_while(process).collect()
}

/// The processes in which a launch runs: who they are.
pub fn launching(folder: &Path) -> BTreeSet<u32> {
    read_pids(folder, "now")
}

/// All processes that have initialised the driver.
pub fn pids(folder: &Path) -> BTreeSet<u32> {
    read_pids(folder, "run")
}

fn read_pids(folder: &Path, kind: &str) -> BTreeSet<u32> {
    let path = |number: u64| folder.join(format!("{number}.{kind}"));
    let count = (0..).take_while(|number| folder.join(format!("{number}.launches")).exists());
    let lines = count.filter_map(|number| fs::read_to_string(path(number)).ok());
    lines.filter_map(|line| pid(&serde_json::from_str(&line).ok()?)).collect()
}

fn pid(line: &Value) -> Option<u32> {
    line["pid"].as_u64().and_then(|pid| pid.try_into().ok())
}

/// What launches cost.
#[derive(Default)]
struct Cost {
    launches: u64,
    cycles: u64,
    instructions: u64,
    untimed: bool,
}

impl Cost {
    fn sentence(&self) -> String {
        let Cost { launches, cycles, instructions, untimed } = self;
        let cycles = if *untimed { String::new() } else { format!("{cycles} cycles, ") };
        format!("{launches} launches, {cycles}{instructions} warp instructions")
    }
}

impl Process {
    /// The process's number for the host.
    pub fn pid(&self) -> Option<u32> {
        pid(&self.whole)
    }

    /// Its lines as the driver writes them to one file: the launches, then the whole run.
    pub fn lines(&self) -> String {
        match &self.whole {
            Value::Null => self.launches.clone(),
            whole => format!("{}{whole}\n", self.launches),
        }
    }

    /// Whether it launched anything.
    pub fn launched(&self) -> bool {
        !self.launches.is_empty() || self.now.is_some()
    }

    /// Notes that the run did not finish, unless the driver has said so.
    pub fn stop(&mut self, reason: &str) {
        if self.whole.is_object() && self.whole["stopped"].is_null() {
            self.whole["stopped"] = reason.into();
            self.whole["verdict"] = "not finished".into();
            if self.problems().next().is_none() {
                self.whole["verified"] = Value::Null;
            }
        }
    }

    /// The launch that runs, in words.
    pub fn runs(&self) -> Option<String> {
        let now = self.now.as_ref()?;
        Some(format!("launch {} (`{}`)", now["launch"], now["kernel"].as_str()?))
    }

    /// What was found wrong, a sentence each.
    pub fn problems(&self) -> impl Iterator<Item = &str> {
        self.whole["problems"].as_array().into_iter().flatten().filter_map(Value::as_str)
    }

    fn cost(&self) -> Cost {
        let mut cost = Cost::default();
        for launch in self.launches.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            cost.launches += 1;
            cost.cycles += launch["cycles"].as_u64().unwrap_or(0);
            cost.instructions += launch["warp_instructions"].as_u64().unwrap_or(0);
            cost.untimed |= launch["cycles"].is_null();
        }
        cost
    }

    /// Why the run is a part of one; `None` for a whole one.
    fn stopped(&self) -> Option<String> {
        match &self.whole["stopped"] {
            Value::String(reason) => Some(format!(" until it was stopped: {reason}")),
            _ if self.whole["launch_count"].is_u64() => None,
            _ => Some(" until it was stopped".to_owned()),
        }
    }

    fn sentence(&self) -> String {
        format!("{}{}", self.cost().sentence(), self.stopped().unwrap_or_default())
    }
}

/// What a run cost, in words: a line, and one more for each process where there are several.
pub fn summary(processes: &[Process]) -> String {
    let [process] = processes else {
        let mut all = Cost::default();
        for cost in processes.iter().map(Process::cost) {
            all.launches += cost.launches;
            all.cycles += cost.cycles;
            all.instructions += cost.instructions;
            all.untimed |= cost.untimed;
        }
        let each = processes.iter().map(|process| {
            let Process { number, whole, .. } = process;
            let program = whole["program"].as_str().unwrap_or("a program");
            format!("\n  process {number}, {program} (pid {}): {}", whole["pid"], process.sentence())
        });
        let head = format!("{} in {} processes", all.sentence(), processes.len());
        return std::iter::once(head).chain(each).collect();
    };
    process.sentence()
}
