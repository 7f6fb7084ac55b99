//! The network parameters of a machine file.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_engine::Cited;
use strata_memory::ParameterError;

/// Most inputs of a switch: its arbiters work on sets of so many ports.
pub(super) const MAX_RADIX: usize = 256;
/// Most terminals of a butterfly. ASSUMED: far above any GPU.
const MAX_TERMINALS: usize = 1 << 14;

/// Most switches on a path: as many as a binary butterfly of [`MAX_TERMINALS`] has.
const MAX_STAGES: usize = MAX_TERMINALS.ilog2() as usize;
/// Largest buffer in flits. ASSUMED: far above any network.
pub(super) const MAX_BUFFER: u32 = 4096;

/// How the nodes are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Topology {
    /// One switch with a port per node of each side.
    Crossbar,
    /// A k-ary n-fly: node numbers are its terminals, on both sides.
    Butterfly {
        /// Number of ports on each side of a switch (k).
        radix: usize,
        /// Number of switches on a path (n).
        stages: usize,
    },
}

/// Which of the packets at the inputs of a switch is granted a free output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// The next input with a packet, after the one served last.
    RoundRobin,
    /// The packet that has been at the head of its buffer longest; of several, that at the lowest input.
    OldestFirst,
}

/// The parameters of a crossbar or butterfly, the same for both directions. Cycles are those of the network's clock.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MultistageConfig {
    /// How the nodes are connected.
    pub topology: Cited<Topology>,
    /// Bytes that a port moves per cycle.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "B"))]
    pub flit_bytes: Cited<u32>,
    /// Cycles from one buffer to the next, for switch and wire.
    #[schemars(range(min = 1, max = 10000), extend("unit" = "cycles"))]
    pub hop_latency_cycles: Cited<u64>,
    /// Capacity of every buffer, in flits.
    #[schemars(range(min = 1, max = MAX_BUFFER), extend("unit" = "flits"))]
    pub buffer_flits: Cited<u32>,
    /// Which packet is granted a free output.
    pub arbitration: Cited<Arbitration>,
}

/// A topology as numbers: wires of `stages` digits base `radix`. Stage s of a path replaces digit s of the
/// wire, most significant first, by that of the destination; a switch is the set of wires that differ in
/// that digit only. A crossbar is one stage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub radix: usize,
    pub stages: usize,
    pub wires: usize,
    /// Wire of the first input and of the first output.
    pub first_input: usize,
    pub first_output: usize,
}

impl Shape {
    pub fn new(
        topology: Topology,
        inputs: std::ops::Range<usize>,
        outputs: std::ops::Range<usize>,
    ) -> Result<Shape, ParameterError> {
        let refuse = |message: String| Err(ParameterError::new("topology", message));
        let (radix, stages, first_input, first_output) = match topology {
            Topology::Crossbar => (inputs.len().max(outputs.len()).max(1), 1, 0, 0),
            Topology::Butterfly { radix, stages } => (radix, stages, inputs.start, outputs.start),
        };
        if !(1..=MAX_RADIX).contains(&radix) || !(1..=MAX_STAGES).contains(&stages) {
            return refuse(format!(
                "found {radix} ports and {stages} stages, expected 1 to {MAX_RADIX} ports and 1 to {MAX_STAGES} stages"
            ));
        }
        let wires = u32::try_from(stages).ok().and_then(|stages| radix.checked_pow(stages));
        let Some(wires) = wires.filter(|wires| *wires <= MAX_TERMINALS) else {
            return refuse(format!("found {radix}^{stages} terminals, expected at most {MAX_TERMINALS}"));
        };
        let highest = (first_input + inputs.len()).max(first_output + outputs.len());
        if highest > wires {
            return refuse(format!(
                "found {wires} terminals, expected at least one for each of {highest} nodes"
            ));
        }
        Ok(Shape { radix, stages, wires, first_input, first_output })
    }

    /// Digit `stage` of a wire.
    pub fn digit(&self, stage: usize, wire: usize) -> usize {
        wire / self.stride(stage) % self.radix
    }

    /// The first input or output of the switch of input or output `number`.
    pub fn switch(&self, number: usize) -> usize {
        let (stage, wire) = (number / self.wires, number % self.wires);
        number - self.digit(stage, wire) * self.stride(stage)
    }

    /// The weight of digit `stage`.
    pub fn stride(&self, stage: usize) -> usize {
        self.radix.pow((self.stages - 1 - stage) as u32)
    }
}
