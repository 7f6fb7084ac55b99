//! What these tests share.

pub mod variation;

use std::fmt::Display;
use std::str::FromStr;

/// A number from the environment.
pub fn setting<T: FromStr<Err: Display>>(name: &str, otherwise: T) -> T {
    match std::env::var(name) {
        Ok(value) => value.parse().unwrap_or_else(|error| panic!("{name}={value}: {error}")),
        Err(_) => otherwise,
    }
}
