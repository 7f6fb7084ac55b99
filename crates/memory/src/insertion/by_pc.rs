//! Lines of some instructions pass.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Insertion, InsertionPolicy};
use crate::policy::Shape;
use crate::touch::Touch;

/// Lines that certain instructions fetch pass, all others take a way (as a compiler marks loads: Xie et al., ICCAD 2013).
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByPc {
    /// Program counters of these instructions, as `strata workload profile` shows them (`kernels.memory`).
    pub pass: BTreeSet<u32>,
}

impl InsertionPolicy for ByPc {
    fn build(&self, _: &Shape) -> Option<Box<dyn Insertion>> {
        Some(Box::new(self.clone()))
    }
}

impl Insertion for ByPc {
    fn keeps(&self, touch: &Touch) -> bool {
        !self.pass.contains(&touch.origin.pc)
    }
}
