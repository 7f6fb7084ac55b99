//! The roofline of a run: how near it came to what the parts of its machine can do.

use strata_gpu::machine::Machine;
use strata_gpu::results::RunResult;
use toml::Value;

/// What one part of a machine did in a run, beside the most that it can do.
#[derive(Clone, Debug, PartialEq)]
pub struct Roof {
    /// The part.
    pub name: &'static str,
    /// What is counted: `warp instructions`, `passes`, `accesses`, `flits`, `requests` or `bytes`.
    pub unit: &'static str,
    /// How much of it there was in a core cycle.
    pub moved: f64,
    /// The most that the machine's file allows in a core cycle.
    pub peak: f64,
    /// Bytes that passed the part, where it passes bytes.
    pub bytes: Option<u64>,
    /// Thread instructions for each of these bytes: the arithmetic intensity there.
    pub intensity: Option<f64>,
}

impl Roof {
    /// What part of the most there was: from 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.peak > 0.0 { self.moved / self.peak } else { 0.0 }
    }
}

/// The roofs of a run, from the SM's front down to DRAM.
#[derive(Clone, Debug, PartialEq)]
pub struct Roofline {
    /// Core cycles of its launches.
    pub cycles: u64,
    /// The roofs.
    pub roofs: Vec<Roof>,
}

impl Roofline {
    /// The roofline of a run on a machine. Parts whose designs count nothing are left out.
    #[must_use]
    pub fn of(run: &RunResult, machine: &Machine) -> Roofline {
        let look = Look { run, machine };
        let memory = [
            look.shared(),
            look.l1d(),
            look.network("network.request", "network, requests"),
            look.network("network.reply", "network, replies"),
            look.llc(),
            look.dram(),
        ];
        let roofs = look.issue().into_iter().chain(look.execution()).chain(memory.into_iter().flatten());
        Roofline { cycles: run.launch_cycles(), roofs: roofs.collect() }
    }

    /// The roof that is nearest; of several, the first.
    #[must_use]
    pub fn nearest(&self) -> Option<&Roof> {
        self.roofs.iter().reduce(|best, roof| if roof.share() > best.share() { roof } else { best })
    }
}

/// Kinds of execution units, as machine files call them and as readers do.
const UNITS: [(&str, &str); 4] =
    [("sp", "SP units"), ("int", "INT units"), ("dp", "DP units"), ("sfu", "SFUs")];

/// A run and its machine.
struct Look<'a> {
    run: &'a RunResult,
    machine: &'a Machine,
}

impl Look<'_> {
    /// A roof, if there were any cycles.
    fn roof(
        &self,
        name: &'static str,
        (unit, count): (&'static str, u64),
        peak: f64,
        bytes: Option<u64>,
    ) -> Option<Roof> {
        let cycles = self.run.launch_cycles();
        let bytes = bytes.filter(|bytes| *bytes > 0);
        (cycles > 0).then(|| Roof {
            name,
            unit,
            moved: count as f64 / cycles as f64,
            peak,
            bytes,
            intensity: bytes.map(|bytes| self.run.thread_instructions() as f64 / bytes as f64),
        })
    }

    /// SMs that run programs.
    fn sms(&self) -> f64 {
        let gpu = &self.machine.file().gpu;
        let set_aside = |key: &Option<strata_engine::Cited<u16>>| key.as_ref().map_or(0, |count| **count);
        f64::from(gpu.sms.saturating_sub(set_aside(&gpu.cache_sms) + set_aside(&gpu.gated_sms)))
    }

    fn slices(&self) -> f64 {
        let gpu = &self.machine.file().gpu;
        f64::from(*gpu.channels) * f64::from(*gpu.slices_per_channel)
    }

    /// A number of the design behind a door.
    fn of_design(&self, door: &str, key: &str) -> Option<f64> {
        let (_, design) = self.machine.table().get(door)?.as_table()?.iter().next()?;
        let value = design.get(key)?.get("value")?;
        value.as_integer().map(|value| value as f64)
    }

    /// Cycles of another clock in a core cycle.
    fn clock(&self, key: &str) -> f64 {
        let clocks = self.machine.table().get("clocks");
        let mhz = |key: &str| clocks?.get(key)?.get("value").and_then(Value::as_integer);
        match (mhz(key), mhz("core_mhz")) {
            (Some(mhz), Some(core)) if core > 0 => mhz as f64 / core as f64,
            _ => 1.0,
        }
    }

    fn issue(&self) -> Option<Roof> {
        let peak = f64::from(*self.machine.file().sm.schedulers) * self.sms();
        self.roof("issue", ("warp instructions", self.run.warp_instructions()), peak, None)
    }

    /// The execution units of each kind that were used, in cycles in which an instruction began or kept the next from beginning.
    fn execution(&self) -> Vec<Roof> {
        UNITS
            .iter()
            .filter_map(|(unit, name)| {
                let sm = self.machine.table().get("sm")?;
                let classes = sm.get("timing")?.as_table()?.iter();
                let of_unit =
                    classes.filter(|(_, timing)| timing.get("unit").and_then(Value::as_str) == Some(*unit));
                let busy = of_unit.filter_map(|(class, timing)| {
                    let interval = timing.get("interval_cycles")?.get("value")?.as_integer()?;
                    Some(self.run.counter("sm", &format!("issued_{class}"))? * interval.unsigned_abs())
                });
                let busy = busy.sum::<u64>();
                let count = sm.get("units")?.get(*unit)?.get("value")?.as_integer()?;
                self.roof(name, ("busy cycles", busy), count as f64 * self.sms(), None).filter(|_| busy > 0)
            })
            .collect()
    }

    fn shared(&self) -> Option<Roof> {
        let passes = self.run.counter("lsu", "shared_passes")?;
        self.roof("shared memory", ("passes", passes), self.sms(), self.run.counter("lsu", "shared_bytes"))
    }

    fn l1d(&self) -> Option<Roof> {
        let accesses = self.run.counter("l1d", "accesses")?;
        let peak = self.of_design("l1d", "accesses_per_cycle").unwrap_or(1.0) * self.sms();
        self.roof("L1D", ("accesses", accesses), peak, self.run.counter("lsu", "bytes_accessed"))
    }

    fn network(&self, group: &str, name: &'static str) -> Option<Roof> {
        let flits = self.run.counter(group, "flits")?;
        // A port moves a flit in a cycle: no more can go than the side with fewer ports lets through.
        let peak = self.sms().min(self.slices()) * self.clock("network_mhz");
        self.roof(name, ("flits", flits), peak, self.run.counter(group, "wire_bytes"))
    }

    fn llc(&self) -> Option<Roof> {
        let requests = self.run.counter("l2", "requests")?;
        let peak = self.slices() * self.clock("l2_mhz");
        let bytes = self.run.counter("l2", "bytes_in")? + self.run.counter("l2", "bytes_out")?;
        self.roof("LLC", ("requests", requests), peak, Some(bytes))
    }

    fn dram(&self) -> Option<Roof> {
        let bytes = self.run.counter("dram", "read_bytes")? + self.run.counter("dram", "written_bytes")?;
        let facts = self.machine.facts();
        let peak = facts.dram_bytes_per_second / (f64::from(facts.core_mhz.max(1)) * 1e6);
        self.roof("DRAM", ("bytes", bytes), peak, Some(bytes))
    }
}
