//! Policies: small parts that machine files choose by name. A crate adds its own before the first machine file is read.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A policy that machine files can name.
#[derive(Debug)]
pub struct Entry<M: 'static> {
    /// Its name in machine files.
    pub name: &'static str,
    /// What it does, as a sentence.
    pub meaning: &'static str,
    /// Where it comes from: the paper, or who calls it by this name.
    pub source: &'static str,
    /// Makes the part of a cache that decides.
    pub make: M,
}

/// The policies of one kind, in order of their registration.
pub struct Policies<M: 'static> {
    built_in: &'static [Entry<M>],
    added: Mutex<Vec<&'static Entry<M>>>,
}

impl<M: Sync + 'static> Policies<M> {
    /// The policies that come with the program.
    pub const fn new(built_in: &'static [Entry<M>]) -> Policies<M> {
        Policies { built_in, added: Mutex::new(Vec::new()) }
    }

    /// Adds a policy, for the whole process.
    ///
    /// # Panics
    /// Panics if another policy of this kind has the name.
    pub fn add(&self, entry: Entry<M>) {
        assert!(self.find(entry.name).is_none(), "a policy is called {} already", entry.name);
        self.added().push(Box::leak(Box::new(entry)));
    }

    fn added(&self) -> std::sync::MutexGuard<'_, Vec<&'static Entry<M>>> {
        self.added.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The policy of a name.
    pub fn find(&self, name: &str) -> Option<&'static Entry<M>> {
        self.all().into_iter().find(|entry| entry.name == name)
    }

    /// All of them.
    pub fn all(&self) -> Vec<&'static Entry<M>> {
        self.built_in.iter().chain(self.added().iter().copied()).collect()
    }
}

/// A kind of policies: what a key of a machine file chooses among.
pub trait Kind: Sized + 'static {
    /// What makes the part of a cache that decides.
    type Make: Copy + Sync + 'static;
    /// What the key is called, as in `l1d.replacement`.
    const KEY: &'static str;

    /// The policies of this kind.
    fn policies() -> &'static Policies<Self::Make>;
}

/// A policy of a kind: a name in a machine file, and what it means.
pub struct Policy<K: Kind>(&'static Entry<K::Make>);

impl<K: Kind> Policy<K> {
    /// The policy of an entry, which is built in.
    pub const fn of(entry: &'static Entry<K::Make>) -> Policy<K> {
        Policy(entry)
    }

    /// The policy of a name, if one is registered.
    pub fn named(name: &str) -> Option<Policy<K>> {
        K::policies().find(name).map(Policy)
    }

    /// Its name in machine files.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// What makes the part of a cache that decides.
    pub const fn make(self) -> K::Make {
        self.0.make
    }
}

impl<K: Kind> Clone for Policy<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: Kind> Copy for Policy<K> {}

/// Names are unique within a kind.
impl<K: Kind> PartialEq for Policy<K> {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl<K: Kind> Eq for Policy<K> {}

impl<K: Kind> fmt::Debug for Policy<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl<K: Kind> Serialize for Policy<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de, K: Kind> Deserialize<'de> for Policy<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Policy::named(&name).ok_or_else(|| {
            let known: Vec<_> = K::policies().all().iter().map(|entry| format!("`{}`", entry.name)).collect();
            de::Error::custom(format!("unknown variant `{name}`, expected one of {}", known.join(", ")))
        })
    }
}

impl<K: Kind> JsonSchema for Policy<K> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        K::KEY.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let choices: Vec<_> = K::policies()
            .all()
            .iter()
            .map(|entry| {
                let meaning = format!("{} ({}).", entry.meaning.trim_end_matches('.'), entry.source);
                json_schema!({"const": entry.name, "description": meaning})
            })
            .collect();
        json_schema!({ "oneOf": choices })
    }
}
