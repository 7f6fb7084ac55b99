//! Area tables: the components of a design and their sizes.
//!
//! A [`Component`] has a name, a size and the rule that gives the size. Sizes are counted in transistors, in
//! squares of the feature size (F^2) if the design's paper gives cell areas that way, in square
//! micrometres if it gives measured or modelled areas, or in bits if it gives no more than the storage. The units are
//! never added to each other.

/// A size, in one of four units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AreaSize {
    /// A number of transistors.
    Transistors(u64),
    /// An area in squares of the feature size (F^2).
    SquareFeatures(u64),
    /// An area in square micrometres, at the feature size of the paper that gives it.
    SquareMicrometres(f64),
    /// A number of bits stored.
    Bits(u64),
}

/// One row of an area table.
#[derive(Clone, Debug, PartialEq)]
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

    /// Makes a component of `area` square micrometres.
    pub fn square_micrometres(name: &'static str, area: f64, rule: impl Into<String>) -> Self {
        Component { name, size: AreaSize::SquareMicrometres(area), rule: rule.into() }
    }

    /// Makes a component that stores `count` bits.
    pub fn bits(name: &'static str, count: u64, rule: impl Into<String>) -> Self {
        Component { name, size: AreaSize::Bits(count), rule: rule.into() }
    }
}

/// The sums of a table, one for each unit; `None` for a unit that no component has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Total {
    /// Transistors of the components that are counted in them.
    pub transistors: Option<u64>,
    /// Squares of the feature size of the components that are measured in them.
    pub square_features: Option<u64>,
    /// Square micrometres of the components that are measured in them.
    pub square_micrometres: Option<f64>,
    /// Bits of the components of which no more is known.
    pub bits: Option<u64>,
}

/// Sums up a table.
pub fn total(components: &[Component]) -> Total {
    let mut total = Total::default();
    for component in components {
        match component.size {
            AreaSize::Transistors(count) => *total.transistors.get_or_insert(0) += count,
            AreaSize::SquareFeatures(count) => *total.square_features.get_or_insert(0) += count,
            AreaSize::SquareMicrometres(area) => *total.square_micrometres.get_or_insert(0.0) += area,
            AreaSize::Bits(count) => *total.bits.get_or_insert(0) += count,
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_never_added_to_each_other() {
        let mut table = vec![
            Component::transistors("a", 10, "x"),
            Component::square_micrometres("b", 0.5, "NVSim"),
            Component::square_micrometres("c", 2.0, "NVSim"),
        ];
        let sums = Total { transistors: Some(10), square_micrometres: Some(2.5), ..Total::default() };
        assert_eq!(total(&table), sums);
        table.push(Component::square_features("d", 146, "a 6T cell"));
        table.push(Component::bits("e", 32, "a bit for each half-word"));
        assert_eq!(total(&table), Total { square_features: Some(146), bits: Some(32), ..sums });
        assert_eq!(total(&[]), Total::default());
    }
}
