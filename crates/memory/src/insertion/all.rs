//! Every line takes a way.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Insertion, InsertionPolicy};
use crate::policy::Shape;

/// Every line that is fetched takes a way.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct All {}

impl InsertionPolicy for All {
    fn build(&self, _: &Shape) -> Option<Box<dyn Insertion>> {
        None
    }
}
