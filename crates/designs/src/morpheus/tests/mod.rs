mod contract;
mod golden;
mod parts;
mod warps;

use strata_engine::Cited;
use strata_memory::doors::{Helpers, LlcSite};
use strata_memory::{AddressMap, NodeId};

use super::published::Published;
use super::{Controller, MorpheusConfig, Prediction, PublishedConfig};

/// Node of the one SM in cache mode.
const HELPER: NodeId = NodeId(100);

/// A slice of 8 conventional lines behind a controller, and sets of 2 blocks.
fn small() -> MorpheusConfig {
    let mut config = MorpheusConfig::example();
    config.ways.value = 2;
    config.filter_bytes.value = 8;
    config.access_latency_cycles.value = 4;
    config.reply_latency_cycles.value = 2;
    config.read_buffers.value = 2;
    config.write_buffers.value = 2;
    config.gather_cycles.value = 0;
    let l2 = &mut config.conventional;
    (l2.sets.value, l2.ways.value) = (4, 2);
    (l2.rop_latency_cycles.value, l2.hit_latency_cycles.value) = (5, 3);
    (l2.mshr_entries.value, l2.mshr_merges.value) = (4, 3);
    (l2.dram_queue.value, l2.write_buffer.value) = (3, 2);
    config
}

/// The only slice of a machine, with rows for the warps of one SM.
fn controller(config: &MorpheusConfig, rows: u32, slice: NodeId) -> Controller {
    Controller::new(config, site(rows, slice)).expect("the configuration can be built")
}

fn site(rows: u32, slice: NodeId) -> LlcSite {
    let map = AddressMap::new(1, 1, 256, slice).expect("one slice");
    let helpers = Helpers { first: HELPER, sms: 1, rows, map };
    LlcSite { helpers: Some(helpers), ..LlcSite::alone(1) }
}

/// The same with sets that answer after 20 cycles, and take a request in 100 cycles for each of `rows`.
fn published(config: &MorpheusConfig, rows: u32, slice: NodeId) -> Published {
    let cited = |value| Cited::new(value, "test");
    let bytes = 1000 * 128 * u64::from(*config.warps) / 100;
    let (set_latency_cycles, sm_bytes_per_1000_cycles) = (cited(20), cited(bytes));
    let config = PublishedConfig { set_latency_cycles, sm_bytes_per_1000_cycles, controller: config.clone() };
    Published::new(&config, site(rows, slice)).expect("the configuration can be built")
}

fn with(prediction: Prediction) -> MorpheusConfig {
    let mut config = small();
    config.prediction.value = prediction;
    config
}
