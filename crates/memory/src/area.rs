//! Area tables: the components of a design and their sizes.
//!
//! A [`Component`] has a name, a size and the rule that gives the size. Sizes are counted in transistors, or
//! in squares of the feature size (F^2) if the design's paper gives cell areas that way. The two units are
//! never added.

/// A size, in one of two units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AreaSize {
    /// A number of transistors.
    Transistors(u64),
    /// An area in squares of the feature size (F^2).
    SquareFeatures(u64),
}

/// One row of an area table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// Name of the component.
    pub name: &'static str,
    /// Size of the component.
    pub size: AreaSize,
    /// The calculation that gives the size, for a reader.
    pub rule: String,
}

impl Component {
    /// Makes a component of `count` transistors.
    pub fn transistors(name: &'static str, count: u64, rule: impl Into<String>) -> Self {
        Component { name, size: AreaSize::Transistors(count), rule: rule.into() }
    }

    /// Makes a component of `count` squares of the feature size.
    pub fn square_features(name: &'static str, count: u64, rule: impl Into<String>) -> Self {
        Component { name, size: AreaSize::SquareFeatures(count), rule: rule.into() }
    }
}

/// Sums up a table: total transistors, and total squares of the feature size.
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
