//! Statistics: integer counters, each with a definition and a unit, and the laws they obey.

mod array;

use crate::hash::Fnv;

pub use array::{Array, array_group};

/// The definition of one counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Name within its group, as in `hits`.
    pub name: &'static str,
    /// Unit of the count, as in `accesses`.
    pub unit: &'static str,
    /// Definition, in one sentence.
    pub meaning: &'static str,
    /// How values are merged, and whether the counted events cost energy.
    pub mark: Mark,
}

/// How a counter's values are merged, and whether the events it counts cost energy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A plain count; merging adds the values.
    Plain,
    /// A count of events that cost energy. A machine's energy section must give their cost, which may be
    /// zero.
    Energy,
    /// A maximum over the parts; merging takes the larger value.
    Maximum,
}

impl Mark {
    /// Merges the values of two parts.
    #[inline]
    pub fn merge(self, a: u64, b: u64) -> u64 {
        match self {
            Mark::Plain | Mark::Energy => a + b,
            Mark::Maximum => a.max(b),
        }
    }

    /// What was counted since an earlier value. A maximum keeps its value over the whole time.
    #[inline]
    pub fn since(self, now: u64, earlier: u64) -> u64 {
        match self {
            Mark::Plain | Mark::Energy => now - earlier,
            Mark::Maximum => now,
        }
    }
}

/// A relation between the counters of a group. It holds at the end of every run.
#[derive(Clone, Copy, Debug)]
pub struct Law<S> {
    /// The relation as shown to readers, as in `accesses = hits + misses`.
    pub text: &'static str,
    /// Returns whether the relation holds.
    pub holds: fn(&S) -> bool,
}

/// A group of counters. Define one with [`statistics!`](crate::statistics!).
pub trait Statistics: Sized + Default + 'static {
    /// Name of the group, as in `l1d` of `l1d.hits`.
    const GROUP: &'static str;
    /// Definitions of the counters, in order.
    const DEFINITIONS: &'static [Definition];

    /// Values of the counters, in the order of [`Statistics::DEFINITIONS`].
    fn values(&self) -> Vec<u64>;

    /// The relations that must hold at the end of a run.
    fn laws() -> &'static [Law<Self>];

    /// Adds the counts of another instance.
    fn merge(&mut self, other: &Self);

    /// The counts since an earlier state of this instance.
    #[must_use]
    fn since(&self, earlier: &Self) -> Self;

    /// The text of the first law that does not hold, if any.
    fn broken_law(&self) -> Option<&'static str> {
        Self::laws().iter().find(|law| !(law.holds)(self)).map(|law| law.text)
    }

    /// A report of the group: definitions, laws and values.
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
    /// Name of the group.
    pub name: &'static str,
    /// Definitions of the counters, in order.
    pub definitions: &'static [Definition],
    /// Laws of the group, as text.
    pub laws: Vec<&'static str>,
    /// Values of the counters, in the order of the definitions.
    pub values: Vec<u64>,
    /// The text of a law that does not hold, if any.
    pub broken: Option<&'static str>,
}

impl Group {
    /// The value of a counter; `None` if the group has no counter of that name.
    pub fn get(&self, name: &str) -> Option<u64> {
        let place = self.definitions.iter().position(|definition| definition.name == name)?;
        Some(self.values[place])
    }

    /// Merges in another report of the same group, counter by counter.
    pub fn merge(&mut self, other: &Group) {
        let counters = self.definitions.iter().zip(&mut self.values);
        for ((definition, value), more) in counters.zip(&other.values) {
            *value = definition.mark.merge(*value, *more);
        }
        self.broken = self.broken.or(other.broken);
    }

    /// The counts since an earlier report of the same group. A maximum keeps its value over the whole time.
    #[must_use]
    pub fn since(&self, earlier: &Group) -> Group {
        let counters = self.definitions.iter().zip(&self.values).zip(&earlier.values);
        let values = counters.map(|((definition, now), before)| definition.mark.since(*now, *before));
        Group { values: values.collect(), ..self.clone() }
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

/// Defines a group of counters. A unit may be followed by `[energy]`, if the events cost energy, or by
/// `[maximum]`, if merging takes the largest value ([`Mark`](crate::statistics::Mark)).
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
            $( $(#[doc = $meaning:literal])+ $field:ident: $unit:literal $([$mark:ident])?, )*
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
                    mark: $crate::counter_mark!($($mark)?),
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
                $(
                    self.$field = $crate::counter_mark!($($mark)?).merge(self.$field, other.$field);
                )*
            }

            fn since(&self, earlier: &Self) -> Self {
                $name { $( $field: $crate::counter_mark!($($mark)?).since(self.$field, earlier.$field), )* }
            }
        }
    };
}

/// The mark that follows a counter's unit; for [`statistics!`](crate::statistics!).
#[doc(hidden)]
#[macro_export]
macro_rules! counter_mark {
    () => {
        $crate::statistics::Mark::Plain
    };
    (energy) => {
        $crate::statistics::Mark::Energy
    };
    (maximum) => {
        $crate::statistics::Mark::Maximum
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
            kept: "things" [energy],
            /// The largest thing.
            largest: "bytes" [maximum],
        }
        laws {
            "kept <= seen": |s| s.kept <= s.seen,
        }
    }

    #[test]
    fn definitions_values_and_laws_stay_together() {
        let mut toy = Toy { seen: 3, kept: 1, largest: 7 };
        toy.merge(&Toy { seen: 1, kept: 1, largest: 5 });
        let mut report = toy.report();
        assert_eq!((report.get("seen"), report.get("largest")), (Some(4), Some(7)));
        report.merge(&Toy { seen: 1, kept: 0, largest: 9 }.report());
        assert_eq!((report.get("seen"), report.get("largest")), (Some(5), Some(9)));
        let earlier = Toy { seen: 2, kept: 1, largest: 7 }.report();
        assert_eq!(report.since(&earlier).values, [3, 1, 9]);
        let marks: Vec<Mark> = report.definitions.iter().map(|definition| definition.mark).collect();
        assert_eq!(marks, [Mark::Plain, Mark::Energy, Mark::Maximum]);
        assert_eq!(report.definitions[1].meaning, "Things kept.");
        assert_eq!(report.broken, None);
        assert_eq!(Toy { seen: 0, kept: 1, largest: 0 }.broken_law(), Some("kept <= seen"));
    }

    #[test]
    fn the_hash_sees_every_value() {
        let hash = |seen, kept| {
            let mut fnv = Fnv::default();
            Toy { seen, kept, largest: 0 }.report().hash_into(&mut fnv);
            fnv.finish()
        };
        assert_ne!(hash(1, 2), hash(1, 3));
        assert_ne!(hash(1, 2), hash(2, 1));
    }
}
