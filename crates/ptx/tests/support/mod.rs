//! What the tests of PTX's forms share.

pub mod forms;
pub mod oracles;
