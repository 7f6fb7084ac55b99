//! The area of a machine's designs, where their papers say how to count it.

pub use strata_memory::area::{AreaSize, Component, total};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;

    #[test]
    fn the_baseline_is_the_first_column_of_table_iii() {
        let area = |sets: &[String]| {
            let machine = Machine::load("gtx480", sets).unwrap();
            total(&machine.file().doors.area()["l1d.sram"]).0
        };
        assert_eq!(area(&[]), 1_732_620);
        // Twice the ways double everything but the decoders.
        assert_eq!(area(&["l1d.ways=8".into()]), 2 * 1_732_620 - 1_124);
    }
}
