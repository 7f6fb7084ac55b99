//! The lane path of a conventional machine: lanes go straight on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_memory::ParameterError;
use strata_memory::doors::{Design, LanePath, LanePathDesign, LanePathSite};

/// No caches between the lanes and the coalescer or shared memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StraightConfig {}

impl Design for StraightConfig {
    fn check(&self) -> Result<(), ParameterError> {
        Ok(())
    }

    fn outline(&self) -> String {
        "none".to_owned()
    }

    fn host_bytes(&self) -> u64 {
        0
    }
}

impl LanePathDesign for StraightConfig {
    fn keeps_shared(&self) -> bool {
        false
    }

    fn build(&self, _: LanePathSite) -> Result<Option<Box<dyn LanePath>>, ParameterError> {
        Ok(None)
    }
}
