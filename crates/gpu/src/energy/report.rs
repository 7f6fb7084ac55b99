//! Energy of a launch or a run, by structure and event.

/// Energy in picojoules, by structure.
#[derive(Clone, Debug, PartialEq)]
pub struct EnergyReport {
    /// Modelled time in seconds.
    pub seconds: f64,
    /// Structures, sorted by name.
    pub structures: Vec<StructureEnergy>,
    /// Structures and groups without a known energy; sums leave them out.
    pub unknown: Vec<String>,
}

/// Energy of all instances of one structure.
#[derive(Clone, Debug, PartialEq)]
pub struct StructureEnergy {
    /// Name in the machine's `energy` section.
    pub name: String,
    /// The door behind which it stands, if it stands behind one.
    pub door: Option<String>,
    /// Whether the structure serves requests that have left the SM.
    pub off_chip: bool,
    /// Leakage power times time, in picojoules.
    pub leakage_pj: f64,
    /// The structure's events, by name.
    pub events: Vec<EventEnergy>,
}

/// Energy of one kind of event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventEnergy {
    /// Statistics group of the counter.
    pub group: &'static str,
    /// Name of the counter.
    pub counter: &'static str,
    /// How often the event happened.
    pub count: u64,
    /// Energy of one event in picojoules.
    pub each_pj: f64,
}

impl EventEnergy {
    /// Energy of all events of this kind, in picojoules.
    pub fn pj(&self) -> f64 {
        self.count as f64 * self.each_pj
    }
}

impl StructureEnergy {
    /// Energy of the structure's events, in picojoules.
    pub fn dynamic_pj(&self) -> f64 {
        self.events.iter().map(EventEnergy::pj).sum()
    }

    /// Energy of the structure's events and leakage, in picojoules.
    pub fn total_pj(&self) -> f64 {
        self.dynamic_pj() + self.leakage_pj
    }
}

impl EnergyReport {
    /// Energy of all events, in picojoules.
    pub fn dynamic_pj(&self) -> f64 {
        self.structures.iter().map(StructureEnergy::dynamic_pj).sum()
    }

    /// Energy of all leakage, in picojoules.
    pub fn leakage_pj(&self) -> f64 {
        self.structures.iter().map(|structure| structure.leakage_pj).sum()
    }

    /// Energy of all events and leakage, in picojoules.
    pub fn total_pj(&self) -> f64 {
        self.dynamic_pj() + self.leakage_pj()
    }

    /// Mean power in watts; 0 if no time passed.
    pub fn watts(&self) -> f64 {
        if self.seconds > 0.0 { self.total_pj() * 1e-12 / self.seconds } else { 0.0 }
    }

    /// Share of the energy spent on requests that have left the SMs (network, LLC and DRAM; FUSE Fig. 1b),
    /// from 0 to 1; 0 if there is no energy.
    pub fn off_chip_share(&self) -> f64 {
        self.share_of_off_chip(StructureEnergy::total_pj)
    }

    /// The same share of the events' energy alone, which does not depend on assumptions about leakage.
    pub fn off_chip_dynamic_share(&self) -> f64 {
        self.share_of_off_chip(StructureEnergy::dynamic_pj)
    }

    fn share_of_off_chip(&self, pj: fn(&StructureEnergy) -> f64) -> f64 {
        let off_chip: f64 = self.structures.iter().filter(|part| part.off_chip).map(pj).sum();
        let total: f64 = self.structures.iter().map(pj).sum();
        if total > 0.0 { off_chip / total } else { 0.0 }
    }

    /// Finds a structure by name.
    pub fn structure(&self, name: &str) -> Option<&StructureEnergy> {
        self.structures.iter().find(|structure| structure.name == name)
    }
}
