//! A machine after systems and overrides, as jobs have it: shared by all jobs on it, and spelt out once.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use strata_gpu::machine::identity::lines;
use toml::Table;

/// A machine's values, as its file would have them.
#[derive(Clone, Debug)]
pub struct Resolved(Arc<Spelt>);

#[derive(Debug)]
struct Spelt {
    table: Table,
    lines: OnceLock<Vec<String>>,
    text: OnceLock<String>,
}

impl Resolved {
    /// The values, one per line and sorted by name.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        self.0.lines.get_or_init(|| lines(&self.0.table))
    }

    /// The lines as one text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0.text.get_or_init(|| self.lines().concat())
    }
}

impl From<Table> for Resolved {
    fn from(table: Table) -> Resolved {
        Resolved(Arc::new(Spelt { table, lines: OnceLock::new(), text: OnceLock::new() }))
    }
}

impl Deref for Resolved {
    type Target = Table;

    fn deref(&self) -> &Table {
        &self.0.table
    }
}

impl PartialEq for Resolved {
    fn eq(&self, other: &Resolved) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.table == other.0.table
    }
}

impl Serialize for Resolved {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.table.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Resolved {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Resolved, D::Error> {
        Table::deserialize(deserializer).map(Resolved::from)
    }
}
