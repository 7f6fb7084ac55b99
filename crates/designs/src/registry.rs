//! The designs that a machine file can name. Each takes one line here. A command of one's own adds designs and policies.

use std::sync::{Arc, OnceLock};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use strata_engine::config::{ConfigError, Entry, Section, SectionFacts, did_you_mean, facts};
use strata_memory::doors::{
    L1dDesign, LanePathDesign, LlcDesign, Named, NetworkDesign, RegisterFileDesign, ScratchpadDesign,
};
use strata_memory::{dram, insertion, prefetch, replacement};

use crate::baseline::{
    CrossbarConfig, L2Config, MeshConfig, MultistageConfig, SramL1dConfig, SramRegisterFileConfig,
    SramScratchpadConfig, StraightConfig,
};
use crate::denovo::l1d::DenovoL1dConfig;
use crate::denovo::l2::DenovoL2Config;
use crate::dma::DmaConfig;
use crate::fuse::FuseConfig;
use crate::hi_end::{BankedConfig, HierarchicalConfig};
use crate::ideal::l1d::IdealL1dConfig;
use crate::ideal::llc::IdealLlcConfig;
use crate::ideal::network::IdealNetworkConfig;
use crate::morpheus::{MorpheusConfig, PublishedConfig};
use crate::stash::StashConfig;
use crate::tiny_cache::TinyCacheConfig;

/// The designs that come with the program.
fn built_in() -> Registry {
    Registry::default()
        .with_register_file::<SramRegisterFileConfig>("sram")
        .with_register_file::<BankedConfig>("banked")
        .with_register_file::<HierarchicalConfig>("hierarchical")
        .with_lane_path::<StraightConfig>("none")
        .with_lane_path::<TinyCacheConfig>("tiny-cache")
        .with_scratchpad::<SramScratchpadConfig>("sram")
        .with_scratchpad::<DmaConfig>("dma")
        .with_scratchpad::<StashConfig>("stash")
        .with_l1d::<SramL1dConfig>("sram")
        .with_l1d::<FuseConfig>("fuse")
        .with_l1d::<DenovoL1dConfig>("denovo")
        .with_l1d::<IdealL1dConfig>("ideal")
        .with_network::<MultistageConfig>("multistage")
        .with_network::<CrossbarConfig>("crossbar")
        .with_network::<MeshConfig>("mesh")
        .with_network::<IdealNetworkConfig>("ideal")
        .with_llc::<L2Config>("conventional")
        .with_llc::<MorpheusConfig>("morpheus")
        .with_llc::<PublishedConfig>("morpheus-published")
        .with_llc::<DenovoL2Config>("denovo")
        .with_llc::<IdealLlcConfig>("ideal")
}

/// The designs available behind each door.
#[derive(Default)]
pub struct Registry {
    /// Designs behind the [`RegisterFile`](strata_memory::doors::RegisterFile) door.
    pub register_files: Designs<dyn RegisterFileDesign>,
    /// Designs behind the [`LanePath`](strata_memory::doors::LanePath) door.
    pub lane_paths: Designs<dyn LanePathDesign>,
    /// Designs behind the [`Scratchpad`](strata_memory::doors::Scratchpad) door.
    pub scratchpads: Designs<dyn ScratchpadDesign>,
    /// Designs behind the [`L1d`](strata_memory::doors::L1d) door.
    pub l1ds: Designs<dyn L1dDesign>,
    /// Designs behind the [`Network`](strata_memory::doors::Network) door.
    pub networks: Designs<dyn NetworkDesign>,
    /// Designs behind the [`Llc`](strata_memory::doors::Llc) door.
    pub llcs: Designs<dyn LlcDesign>,
}

macro_rules! with {
    ($($method:ident, $designs:ident, $design:ident, $door:literal;)*) => {
        impl Registry {
            $(
                #[doc = concat!("Adds a design behind ", $door, "; `C` is its section of a machine file, whose documentation")]
                /// gives the meanings of its keys.
                ///
                /// # Panics
                /// Panics if another design behind that door has the name.
                pub fn $method<C>(mut self, name: &'static str) -> Self
                where
                    C: $design + DeserializeOwned + JsonSchema + 'static,
                {
                    self.$designs.add(name, |section| Ok(Arc::new(section.read::<C>()?)), facts::<C>);
                    self
                }
            )*
        }
    };
}

with! {
    with_register_file, register_files, RegisterFileDesign, "`sm.register_file`";
    with_lane_path, lane_paths, LanePathDesign, "`lane_path`";
    with_scratchpad, scratchpads, ScratchpadDesign, "`scratchpad`";
    with_l1d, l1ds, L1dDesign, "`l1d`";
    with_network, networks, NetworkDesign, "`network`";
    with_llc, llcs, LlcDesign, "`llc`";
}

macro_rules! with_policy {
    ($($method:ident, $policy:path, $($add:ident)::+, $what:literal;)*) => {
        impl Registry {
            $(
                #[doc = concat!("Adds ", $what, "; `P` is its section of a machine file, whose documentation gives its meaning.")]
                ///
                /// # Panics
                /// Panics if another policy of its kind has the name.
                pub fn $method<P>(self, name: &'static str) -> Self
                where
                    P: $policy + DeserializeOwned + JsonSchema + 'static,
                {
                    $($add)::+::<P>(name);
                    self
                }
            )*
        }
    };
}

with_policy! {
    with_replacement, replacement::ReplacementPolicy, replacement::add, "a replacement policy, which `replacement` of any cache can name";
    with_insertion, insertion::InsertionPolicy, insertion::add, "an insertion policy, which `insertion` of any cache that has the key can name";
    with_prefetch, prefetch::PrefetchPolicy, prefetch::add, "a prefetch policy, which `prefetch` of any cache that has the key can name";
    with_dram_scheduler, dram::Scheduler, dram::add_scheduler, "a scheduler of DRAM channels";
    with_dram_page, dram::PagePolicy, dram::pages::add, "a page policy of DRAM channels";
    with_dram_refresh, dram::RefreshPolicy, dram::refreshes::add, "a refresh policy of DRAM channels";
}

/// The designs available behind one door.
pub struct Designs<D: ?Sized> {
    entries: Vec<Registered<D>>,
}

/// A design that machine files can name.
struct Registered<D: ?Sized> {
    name: &'static str,
    read: Reader<D>,
    /// What the type of its section says of the keys.
    facts: fn() -> Entry,
}

/// Reads a design's section of a machine file.
type Reader<D> = fn(Section<'_>) -> Result<Arc<D>, ConfigError>;

impl<D: ?Sized> Default for Designs<D> {
    fn default() -> Self {
        Designs { entries: Vec::new() }
    }
}

impl<D: ?Sized> Designs<D> {
    fn add(&mut self, name: &'static str, read: Reader<D>, facts: fn() -> Entry) {
        assert!(self.names().all(|taken| taken != name), "a design behind the door is called {name} already");
        self.entries.push(Registered { name, read, facts });
    }

    /// Names of the designs, in order of registration.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.entries.iter().map(|design| design.name)
    }

    /// What the designs' types say of their keys: a section for each design.
    pub fn facts(&self) -> SectionFacts {
        let entries = self.entries.iter().map(|design| (design.name.to_owned(), (design.facts)()));
        SectionFacts { meaning: String::new(), entries: entries.collect() }
    }

    /// Reads a door's section, `[door.name]`, and returns the design that it names, with its parameters.
    ///
    /// # Errors
    /// Fails if the section names no design, several designs or an unknown one, or if it has a key or value
    /// that the design does not accept.
    pub fn read(&self, section: Section<'_>) -> Result<Named<Arc<D>>, ConfigError> {
        let known = self.names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let (name, section) = section.only_entry(&format!("a table of one design: {known}"))?;
        let entry = self.entries.iter().find(|design| design.name == name);
        let Some(Registered { name, read, .. }) = entry else {
            let alike = did_you_mean(&name, self.names());
            return Err(section.error(format!("unknown design `{name}`{alike}, expected one of {known}")));
        };
        Ok(Named { name, design: read(section)? })
    }
}

static REGISTRY: OnceLock<Registry> = OnceLock::new();

/// Every design that machine files of this process can name.
pub fn registry() -> &'static Registry {
    REGISTRY.get_or_init(built_in)
}

/// Adds your own designs and policies to the built-in ones, for the whole process. Call it once, before anything reads a
/// machine file.
///
/// # Panics
/// Panics if a machine file has been read or designs have been added before: the meaning of a name never
/// changes while a process runs.
pub fn extend(add: impl FnOnce(Registry) -> Registry) {
    let extended = REGISTRY.set(add(built_in()));
    assert!(extended.is_ok(), "designs are added before the first machine file is read, and once");
}
