//! Energy of a launch or a run, by structure and event.

/// Energy in picojoules, by structure.
#[derive(Clone, Debug, PartialEq)]
pub struct EnergyReport {
    /// Modelled seconds.
    pub seconds: f64,
    /// Structures by name.
    pub structures: Vec<StructureEnergy>,
    /// Structures and groups of which no energy is known: they are in no sum.
    pub unknown: Vec<String>,
}

/// Energy of one structure, all its instances together.
#[derive(Clone, Debug, PartialEq)]
pub struct StructureEnergy {
    /// Its name in the machine's `energy` section.
    pub name: String,
    /// Whether it serves requests that have left the SM.
    pub off_chip: bool,
    /// Power that it takes whatever it does, times time.
    pub leakage_pj: f64,
    /// Its events by name.
    pub events: Vec<EventEnergy>,
}

/// One kind of event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventEnergy {
    /// The counter's statistics group.
    pub group: &'static str,
    /// The counter.
    pub counter: &'static str,
    /// How often.
    pub count: u64,
    /// What each costs.
    pub each_pj: f64,
}

impl EventEnergy {
    /// Of all of them.
    pub fn pj(&self) -> f64 {
        self.count as f64 * self.each_pj
    }
}

impl StructureEnergy {
    /// Of its events.
    pub fn dynamic_pj(&self) -> f64 {
        self.events.iter().map(EventEnergy::pj).sum()
    }

    /// Of its events and its leakage.
    pub fn total_pj(&self) -> f64 {
        self.dynamic_pj() + self.leakage_pj
    }
}

impl EnergyReport {
    /// Of all events.
    pub fn dynamic_pj(&self) -> f64 {
        self.structures.iter().map(StructureEnergy::dynamic_pj).sum()
    }

    /// Of all leakage.
    pub fn leakage_pj(&self) -> f64 {
        self.structures.iter().map(|structure| structure.leakage_pj).sum()
    }

    /// Of everything.
    pub fn total_pj(&self) -> f64 {
        self.dynamic_pj() + self.leakage_pj()
    }

    /// Mean power in watts; 0 when no time passed.
    pub fn watts(&self) -> f64 {
        if self.seconds > 0.0 { self.total_pj() * 1e-12 / self.seconds } else { 0.0 }
    }

    /// The share of the energy that goes into requests that leave the SMs: network, LLC and DRAM over everything
    /// (FUSE Fig. 1b). 0 when there is no energy.
    pub fn off_chip_share(&self) -> f64 {
        self.share_of_off_chip(StructureEnergy::total_pj)
    }

    /// The same share of the events' energy alone, which no assumption on leakage touches.
    pub fn off_chip_dynamic_share(&self) -> f64 {
        self.share_of_off_chip(StructureEnergy::dynamic_pj)
    }

    fn share_of_off_chip(&self, pj: fn(&StructureEnergy) -> f64) -> f64 {
        let off_chip: f64 = self.structures.iter().filter(|part| part.off_chip).map(pj).sum();
        let total: f64 = self.structures.iter().map(pj).sum();
        if total > 0.0 { off_chip / total } else { 0.0 }
    }

    /// A structure by name.
    pub fn structure(&self, name: &str) -> Option<&StructureEnergy> {
        self.structures.iter().find(|structure| structure.name == name)
    }
}
