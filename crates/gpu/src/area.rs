//! The area of a machine's designs, where their papers say how to count it.

pub use strata_memory::area::{AreaSize, Component, Total, total};

/// The area of one instance of a design.
#[derive(Clone, Debug, PartialEq)]
pub struct DesignArea {
    /// The door it stands behind, as in `sm.register_file`.
    pub door: &'static str,
    /// Name of the design.
    pub design: &'static str,
    /// Its components, at least one.
    pub components: Vec<Component>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;

    #[test]
    fn the_baseline_is_the_first_column_of_table_iii() {
        let area = |sets: &[String]| {
            let machine = Machine::load("gtx480", sets).unwrap();
            let areas = machine.file().doors.area();
            assert_eq!((areas.len(), areas[0].door, areas[0].design), (1, "l1d", "sram"));
            total(&areas[0].components).transistors
        };
        assert_eq!(area(&[]), Some(1_732_620));
        // Twice the ways double everything but the decoders.
        assert_eq!(area(&["l1d.ways=8".into()]), Some(2 * 1_732_620 - 1_124));
    }

    #[test]
    fn a_register_file_has_the_area_that_its_file_says() {
        let text = crate::machine::builtin()[0].text;
        let key = "\nregister_file.sram.area_um2 = { value = 194000, source = \"a paper's table\" }\n";
        let parse = |key: &str| {
            let text = text.replacen("\n[[sm.collectors]]", &format!("{key}\n[[sm.collectors]]"), 1);
            Machine::parse(std::path::Path::new("m.toml"), &text, &[])
        };
        let areas = parse(key).unwrap().file().doors.area();
        let file = areas.iter().find(|area| area.door == "sm.register_file").unwrap();
        assert_eq!(file.components, [Component::square_micrometres("banks", 194_000.0, "a paper's table")]);
        let error = parse(&key.replace("194000", "-1")).unwrap_err().to_string();
        assert!(error.ends_with("area_um2: must be a number above 0, found -1"), "{error}");
    }
}
