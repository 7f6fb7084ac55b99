//! The parts that can be ideal, and how a machine gets each.

use std::fmt;
use std::path::Path;

use strata_gpu::machine::{Machine, System};
use toml::{Table, Value};

/// A part of a machine that can be ideal. What that means, exactly, is in `docs/limits.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Instructions are always there.
    Fetch,
    /// Words of shared memory never conflict in a bank.
    Banks,
    /// DRAM answers as soon as its bus has moved the bytes.
    DramLatency,
    /// DRAM serves any number of requests at a time.
    DramBandwidth,
    /// The last-level cache always hits.
    Llc,
    /// Packets never wait for each other.
    Network,
    /// Caches have as many MSHRs as there is use for.
    Mshrs,
    /// Everything that reaches the L1D costs what a hit costs.
    L1d,
}

/// Source of the values of an ideal part.
const IDEAL: &str = "ideal: no machine has it";

/// Largest value of keys that count MSHRs, entries, flits and the like.
const MOST: i64 = 4096;

/// The highest clock of a machine file, in MHz.
const MOST_MHZ: i64 = 100_000;

impl Part {
    /// All, in the order in which they become ideal together: from the front of an SM, then from DRAM up.
    pub const ALL: [Part; 8] = [
        Part::Fetch,
        Part::Banks,
        Part::DramLatency,
        Part::DramBandwidth,
        Part::Llc,
        Part::Network,
        Part::Mshrs,
        Part::L1d,
    ];

    /// Its name on a command line and in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Part::Fetch => "fetch",
            Part::Banks => "banks",
            Part::DramLatency => "dram-latency",
            Part::DramBandwidth => "dram-bandwidth",
            Part::Llc => "llc",
            Part::Network => "network",
            Part::Mshrs => "mshrs",
            Part::L1d => "l1d",
        }
    }

    /// What is ideal about it, in a few words.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Part::Fetch => "instructions always there",
            Part::Banks => "no bank conflicts in shared memory",
            Part::DramLatency => "DRAM of no latency",
            Part::DramBandwidth => "DRAM of any bandwidth",
            Part::Llc => "LLC that always hits",
            Part::Network => "network without contention",
            Part::Mshrs => "no MSHR limit",
            Part::L1d => "L1D that always hits",
        }
    }

    /// The part with a name.
    ///
    /// # Errors
    /// What was found and what was expected.
    pub fn named(name: &str) -> Result<Part, String> {
        let found = Part::ALL.into_iter().find(|part| part.name() == name);
        found.ok_or_else(|| format!("found {name}, expected one of {}", Part::ALL.map(Part::name).join(", ")))
    }

    /// A machine with this part ideal, and all else as it is.
    ///
    /// # Errors
    /// Why the machine cannot have it.
    pub fn over(self, machine: &Machine) -> Result<Machine, String> {
        match self {
            Part::Fetch => lay(self, machine, within("instruction_cache", ideal("perfect", true))),
            Part::Banks => lay(self, machine, within("lsu.shared", ideal("conflict_free", true))),
            Part::DramLatency => lay(self, machine, no_dram_latency(machine)),
            Part::DramBandwidth => {
                let mut dram = ideal("scheduler", "unlimited");
                dram.extend(ideal("return_entries", MOST.max(number(machine, "dram.return_entries")?)));
                lay(self, machine, within("dram", dram))
            }
            Part::Llc => lay(self, machine, llc_that_hits(machine)?),
            Part::Network => first_that_fits(&[MOST, 1024, 256], |packets| {
                lay(self, machine, network_without_contention(machine, packets)?)
            }),
            Part::Mshrs => without_mshr_limit(machine),
            // A hit needs no translation either.
            Part::L1d => first_that_fits(&[MOST, 1024, 256], |packets| {
                let layer = l1d_that_hits(machine, packets)?;
                lay_without(self, machine, layer, &["energy", "endurance", "translation"])
            }),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Lays values over a machine. Energies and lifetimes are left out: they are of the parts that were there.
fn lay(part: Part, machine: &Machine, layer: Table) -> Result<Machine, String> {
    lay_without(part, machine, layer, &["energy", "endurance"])
}

fn lay_without(part: Part, machine: &Machine, mut layer: Table, without: &[&str]) -> Result<Machine, String> {
    let name = format!("ideal-{part}");
    layer.insert("name".into(), name.clone().into());
    layer.insert("description".into(), part.meaning().into());
    let system = System::parse(Path::new(&name), &layer.to_string()).map_err(|error| error.message)?;
    machine.under(&system, without).map_err(|error| error.message)
}

/// A key with a value that no machine has.
fn ideal(key: &str, value: impl Into<Value>) -> Table {
    let cited = [("value".to_owned(), value.into()), ("source".to_owned(), IDEAL.into())];
    [(key.to_owned(), Value::Table(cited.into_iter().collect()))].into_iter().collect()
}

/// Keys within a section, given by its path.
fn within(path: &str, keys: Table) -> Table {
    path.rsplit('.').fold(keys, |inner, name| [(name.to_owned(), Value::Table(inner))].into_iter().collect())
}

/// What a machine has at a path.
fn at<'a>(machine: &'a Machine, path: &str) -> Option<&'a Value> {
    let mut parts = path.split('.');
    let first = machine.table().get(parts.next()?)?;
    parts.try_fold(first, |value, part| value.get(part))
}

/// A number of a machine, by the path of its key.
fn number(machine: &Machine, path: &str) -> Result<i64, String> {
    let found = at(machine, path).and_then(|cited| cited.get("value")).and_then(Value::as_integer);
    found.ok_or_else(|| format!("{path}: found no number, expected one"))
}

/// The name and the keys of the design behind a door.
fn design<'a>(machine: &'a Machine, door: &str) -> Result<(&'a str, &'a Table), String> {
    let (name, keys) = at(machine, door)
        .and_then(Value::as_table)
        .and_then(|designs| designs.iter().next())
        .ok_or_else(|| format!("{door}: found no design"))?;
    Ok((name, keys.as_table().ok_or_else(|| format!("{door}.{name}: found no table"))?))
}

/// The keys of the design behind a door, which must be one of these.
fn expect<'a>(
    machine: &'a Machine,
    door: &str,
    designs: &[&str],
    why: &str,
) -> Result<(&'a str, &'a Table), String> {
    let (name, keys) = design(machine, door)?;
    if designs.contains(&name) {
        return Ok((name, keys));
    }
    let expected: Vec<String> = designs.iter().map(|design| format!("{door}.{design}")).collect();
    Err(format!("found {door}.{name}, expected {}: {why}", expected.join(" or ")))
}

/// The keys of these names that a design has.
fn some(keys: &Table, names: &[&str]) -> Table {
    names.iter().filter_map(|name| Some(((*name).to_owned(), keys.get(*name)?.clone()))).collect()
}

fn no_dram_latency(machine: &Machine) -> Table {
    // Rows take a command to open and one to close, a cycle each. What is between bursts on the bus stays: CCD and CCDL.
    const LEAST: [(&str, i64); 14] = [
        ("rrd", 0),
        ("rrd_l", 0),
        ("faw", 0),
        ("rcd", 1),
        ("ras", 0),
        ("rp", 1),
        ("rc", 0),
        ("cl", 0),
        ("wl", 0),
        ("cdlr", 0),
        ("cdlr_l", 0),
        ("wr", 0),
        ("rtp", 0),
        ("turnaround", 0),
    ];
    let mut timing = Table::new();
    for (key, least) in LEAST {
        if at(machine, &format!("dram.timing.{key}")).is_some() {
            timing.extend(ideal(key, least));
        }
    }
    let mut dram = within("timing", timing);
    dram.extend(ideal("controller_latency_cycles", 0));
    if at(machine, "dram.refresh").is_some() {
        dram.extend(within("refresh", ideal("policy", "none")));
    }
    within("dram", dram)
}

fn llc_that_hits(machine: &Machine) -> Result<Table, String> {
    let why = "an ideal slice has the latencies and queues of a conventional one";
    let (_, keys) = expect(machine, "llc", &["conventional"], why)?;
    let kept = [
        "request_queue",
        "rop_latency_cycles",
        "hit_latency_cycles",
        "reply_queue",
        "atomic_cycles",
        "data_bytes_per_cycle",
    ];
    Ok(within("llc.ideal", some(keys, &kept)))
}

fn network_without_contention(machine: &Machine, packets: i64) -> Result<Table, String> {
    let why = "an ideal network has one latency between any two nodes";
    let (name, keys) = expect(machine, "network", &["multistage", "crossbar"], why)?;
    let hop = number(machine, &format!("network.{name}.hop_latency_cycles"))?;
    let stages = keys
        .get("topology")
        .and_then(|topology| topology.get("value")?.get("butterfly")?.get("stages")?.as_integer())
        .unwrap_or(1);
    let mut network = some(keys, &["hop_latency_cycles", "flit_bytes"]);
    network.extend(ideal("inner_latency_cycles", (stages - 1) * hop));
    network.extend(ideal("room_packets", packets));
    Ok(within("network.ideal", network))
}

/// The machine for the first of some numbers with which there is one: the largest that this simulator's bound on memory allows.
fn first_that_fits<T: Copy>(
    numbers: &[T],
    make: impl Fn(T) -> Result<Machine, String>,
) -> Result<Machine, String> {
    let mut first_error = None;
    for number in numbers {
        match make(*number) {
            Ok(machine) => return Ok(machine),
            Err(error) => _ = first_error.get_or_insert(error),
        }
    }
    Err(first_error.unwrap_or_default())
}

/// As many MSHRs as there can be accesses, and as many accesses in each as can be.
fn without_mshr_limit(machine: &Machine) -> Result<Machine, String> {
    let entries = number(machine, "lsu.accesses")?.min(MOST);
    // Entries of L1D and LLC, and accesses in each of either: an entry of the LLC may have a request of every SM.
    let sizes = [
        ((entries, MOST), (1024, 1024)),
        ((entries, MOST), (128, 1024)),
        ((entries, 1024), (64, 1024)),
        ((entries, 1024), (64, 256)),
        ((1024, 1024), (32, 256)),
        ((512, 512), (16, 128)),
        ((1, 512), (16, 16)),
    ];
    first_that_fits(&sizes, |(entries, merges)| {
        let mut layer = Table::new();
        for (door, entries, merges) in [("l1d", entries.0, merges.0), ("llc", entries.1, merges.1)] {
            let (name, keys) = design(machine, door)?;
            let mut more = keys.clone();
            for (key, most) in
                [("mshr_entries", entries), ("mshr_merges", merges), ("bypass_entries", entries)]
            {
                if keys.contains_key(key) {
                    let found = number(machine, &format!("{door}.{name}.{key}"))?;
                    more.extend(ideal(key, found.max(most)));
                }
            }
            if keys.contains_key("mshr_entries") {
                layer.extend(within(&format!("{door}.{name}"), more));
            }
        }
        match layer.is_empty() {
            true => Err("found no MSHRs behind l1d or llc, expected a design with some".into()),
            false => lay(Part::Mshrs, machine, layer),
        }
    })
}

fn l1d_that_hits(machine: &Machine, packets: i64) -> Result<Table, String> {
    let why = "in other designs what a hit costs depends on where it hits";
    let (_, keys) = expect(machine, "l1d", &["sram"], why)?;
    expect(machine, "llc", &["conventional", "ideal"], "what stands below must answer at once")?;
    if !machine.file().gpu.helper_sms().is_empty() {
        return Err("found SMs in cache mode, expected none: blocks are in their L1Ds".into());
    }
    let (hit, core_mhz) =
        (number(machine, "l1d.sram.hit_latency_cycles")?, number(machine, "clocks.core_mhz")?);
    // Below everything is so fast that it is hidden: a slice takes a request of each SM in a core cycle, as far as clocks go.
    let faster = i64::from(*machine.file().gpu.sms).min(MOST_MHZ / core_mhz).max(1);
    // Four hops and the slice's two cycles take about half of a hit's latency.
    let hop = (hit / 8).clamp(1, 10_000 / faster);
    let mut l1d = some(keys, &["hit_latency_cycles", "accesses_per_cycle"]);
    l1d.extend(ideal("entries", number(machine, "lsu.accesses")?));
    let network = [
        ("hop_latency_cycles", hop * faster),
        ("inner_latency_cycles", 0),
        ("flit_bytes", 1024),
        ("room_packets", packets),
    ];
    let llc = [
        ("request_queue", MOST),
        ("rop_latency_cycles", 1),
        ("hit_latency_cycles", 1),
        ("reply_queue", MOST),
        ("atomic_cycles", 1),
    ];
    let clocks = [("network_mhz", faster * core_mhz), ("l2_mhz", faster * core_mhz)];
    let all =
        |keys: &[(&str, i64)]| keys.iter().flat_map(|(key, value)| ideal(key, *value)).collect::<Table>();
    let mut layer = within("l1d.ideal", l1d);
    layer.extend(within("network.ideal", all(&network)));
    layer.extend(within("llc.ideal", all(&llc)));
    layer.extend(within("clocks", all(&clocks)));
    Ok(layer)
}
