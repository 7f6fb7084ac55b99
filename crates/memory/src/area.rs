//! Area tables: what a design is made of, row by row.
//!
//! A [`Component`] is a name, a size and the rule that made it. Sizes are transistors, or squares of the feature size
//! (F^2) for designs whose papers give cells that way; the two are never added up.

/// How large something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AreaSize {
    /// Transistors.
    Transistors(u64),
    /// Squares of the feature size.
    SquareFeatures(u64),
}

/// One row of an area table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// What it is.
    pub name: &'static str,
    /// Its size.
    pub size: AreaSize,
    /// How the size came about.
    pub rule: String,
}

impl Component {
    /// A component counted in transistors.
    pub fn transistors(name: &'static str, count: u64, rule: impl Into<String>) -> Self {
        Component { name, size: AreaSize::Transistors(count), rule: rule.into() }
    }

    /// A component counted in squares of the feature size.
    pub fn square_features(name: &'static str, count: u64, rule: impl Into<String>) -> Self {
        Component { name, size: AreaSize::SquareFeatures(count), rule: rule.into() }
    }
}

/// Transistors and squares of the feature size of a table, each summed over the rows that are counted so.
pub fn total(components: &[Component]) -> (u64, u64) {
    components.iter().fold((0, 0), |(transistors, features), component| match component.size {
        AreaSize::Transistors(count) => (transistors + count, features),
        AreaSize::SquareFeatures(count) => (transistors, features + count),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transistors_and_square_features_are_never_added_up() {
        let table = [Component::transistors("a", 10, "x"), Component::square_features("b", 146, "a 6T cell")];
        assert_eq!(total(&table), (10, 146));
    }
}
