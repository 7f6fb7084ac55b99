//! Policies: small parts of a machine that decide one thing, each chosen by name in a machine file, with numbers of their own.
//!
//! A policy is a file: a type whose documentation is its meaning and whose fields are its numbers, and what it decides. A line in
//! its [family](crate::policy_family) gives it the name. A machine file writes the name, or a table of the name with numbers:
//! `{ value = "closed", source = "..." }` and `{ value = { timeout = { cycles = 50 } }, source = "..." }`.

mod chosen;
mod family;
mod shape;

pub use chosen::Chosen;
pub use family::{Family, Member, PolicyKind};
pub use shape::Shape;
