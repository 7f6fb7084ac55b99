//! No line takes a way.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Insertion, InsertionPolicy};
use crate::policy::Shape;
use crate::touch::Touch;

/// No line that is fetched takes a way: a cache of loads is switched off, but for requests that wait for the same fetch.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoLine {}

impl InsertionPolicy for NoLine {
    fn build(&self, _: &Shape) -> Option<Box<dyn Insertion>> {
        Some(Box::new(*self))
    }
}

impl Insertion for NoLine {
    fn keeps(&self, _: &Touch) -> bool {
        false
    }
}
