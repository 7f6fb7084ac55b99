//! A streaming multiprocessor, cycle by cycle.
#![allow(missing_docs)]

pub mod launch;
pub mod lsu;
