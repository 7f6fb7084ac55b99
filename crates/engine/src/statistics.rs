//! Statistics: plain integers with a definition, a unit and laws.

use crate::hash::Fnv;

/// What one counter means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Name within its group.
    pub name: &'static str,
    /// What it counts.
    pub unit: &'static str,
    /// One sentence.
    pub meaning: &'static str,
}

/// A relation between the counters of a group that holds at the end of every run.
#[derive(Clone, Copy, Debug)]
pub struct Law<S> {
    /// The relation as a reader writes it.
    pub text: &'static str,
    /// Whether it holds.
    pub holds: fn(&S) -> bool,
}

/// A group of counters; made by [`statistics!`](crate::statistics!).
pub trait Statistics: Sized + Default + 'static {
    /// Name of the group, as in `l1d` of `l1d.hits`.
    const GROUP: &'static str;
    /// The counters in order.
    const DEFINITIONS: &'static [Definition];

    /// The values in the order of [`Statistics::DEFINITIONS`].
    fn values(&self) -> Vec<u64>;

    /// The relations that must hold.
    fn laws() -> &'static [Law<Self>];

    /// Adds another instance's counts.
    fn merge(&mut self, other: &Self);

    /// A law that does not hold, if any.
    fn broken_law(&self) -> Option<&'static str> {
        Self::laws().iter().find(|law| !(law.holds)(self)).map(|law| law.text)
    }

    /// Names and values, to be reported.
    fn report(&self) -> Group {
        Group {
            name: Self::GROUP,
            definitions: Self::DEFINITIONS,
            laws: Self::laws().iter().map(|law| law.text).collect(),
            values: self.values(),
            broken: self.broken_law(),
        }
    }
}

/// A group of counters ready to be printed, hashed or written out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its name.
    pub name: &'static str,
    /// What its counters mean.
    pub definitions: &'static [Definition],
    /// The laws, as text.
    pub laws: Vec<&'static str>,
    /// The values, in the definitions' order.
    pub values: Vec<u64>,
    /// A law that does not hold.
    pub broken: Option<&'static str>,
}

impl Group {
    /// The value of a counter.
    pub fn get(&self, name: &str) -> Option<u64> {
        let place = self.definitions.iter().position(|definition| definition.name == name)?;
        Some(self.values[place])
    }

    /// Adds names and values to a hash of results.
    pub fn hash_into(&self, hash: &mut Fnv) {
        for (definition, value) in self.definitions.iter().zip(&self.values) {
            for part in [self.name, ".", definition.name, "="] {
                hash.write(part.as_bytes());
            }
            hash.write(&value.to_le_bytes());
        }
    }
}

/// Defines a group of counters.
///
/// ```
/// strata_engine::statistics! {
///     /// What a cache did.
///     pub struct CacheStatistics: "cache" {
///         /// Accesses that found their line.
///         hits: "accesses",
///         /// Accesses that did not.
///         misses: "accesses",
///         /// All accesses.
///         accesses: "accesses",
///     }
///     laws {
///         "accesses = hits + misses": |s| s.accesses == s.hits + s.misses,
///     }
/// }
/// ```
#[macro_export]
macro_rules! statistics {
    (
        $(#[doc = $doc:literal])*
        pub struct $name:ident: $group:literal {
            $( $(#[doc = $meaning:literal])+ $field:ident: $unit:literal, )*
        }
        laws { $( $text:literal: |$s:ident| $law:expr, )* }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $( $(#[doc = $meaning])+ pub $field: u64, )*
        }

        impl $crate::statistics::Statistics for $name {
            const GROUP: &'static str = $group;
            const DEFINITIONS: &'static [$crate::statistics::Definition] = &[
                $( $crate::statistics::Definition {
                    name: stringify!($field),
                    unit: $unit,
                    meaning: concat!($($meaning),+).trim_ascii(),
                }, )*
            ];

            fn values(&self) -> Vec<u64> {
                vec![ $( self.$field, )* ]
            }

            fn laws() -> &'static [$crate::statistics::Law<Self>] {
                const LAWS: &[$crate::statistics::Law<$name>] = &[
                    $( $crate::statistics::Law { text: $text, holds: |$s: &$name| $law }, )*
                ];
                LAWS
            }

            fn merge(&mut self, other: &Self) {
                $( self.$field += other.$field; )*
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    statistics! {
        /// Counters of the test.
        pub struct Toy: "toy" {
            /// Things seen.
            seen: "things",
            /// Things kept.
            kept: "things",
        }
        laws {
            "kept <= seen": |s| s.kept <= s.seen,
        }
    }

    #[test]
    fn definitions_values_and_laws_stay_together() {
        let mut toy = Toy { seen: 3, kept: 1 };
        toy.merge(&Toy { seen: 1, kept: 1 });
        let report = toy.report();
        assert_eq!(report.get("seen"), Some(4));
        assert_eq!(report.definitions[1].meaning, "Things kept.");
        assert_eq!(report.broken, None);
        assert_eq!(Toy { seen: 0, kept: 1 }.broken_law(), Some("kept <= seen"));
    }

    #[test]
    fn the_hash_sees_every_value() {
        let hash = |seen, kept| {
            let mut fnv = Fnv::default();
            Toy { seen, kept }.report().hash_into(&mut fnv);
            fnv.finish()
        };
        assert_ne!(hash(1, 2), hash(1, 3));
        assert_ne!(hash(1, 2), hash(2, 1));
    }
}
