//! A policy that a machine file has chosen.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::family::PolicyKind;

/// A policy that was chosen by its name.
pub struct Chosen<P: ?Sized> {
    name: &'static str,
    /// How a machine file writes it: its name, or a table of it with its numbers.
    spelled: Value,
    policy: Arc<P>,
}

impl<P: ?Sized> Chosen<P> {
    /// A policy that is not chosen in a machine file.
    pub fn of(name: &'static str, policy: Arc<P>) -> Chosen<P> {
        Chosen { name, spelled: name.into(), policy }
    }

    /// The name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The policy.
    pub fn policy(&self) -> &Arc<P> {
        &self.policy
    }
}

impl<P: PolicyKind + ?Sized> Chosen<P> {
    /// The policy that a name stands for, with the numbers that are usual for it.
    ///
    /// # Errors
    /// An unknown name, or a policy that needs numbers.
    pub fn named(name: &str) -> Result<Chosen<P>, String> {
        Self::read::<serde::de::value::Error>(name, None).map_err(|error| error.to_string())
    }

    fn read<E: Error>(name: &str, numbers: Option<Value>) -> Result<Chosen<P>, E> {
        let all = P::family().all();
        let Some(member) = all.iter().find(|member| member.name == name) else {
            let known: Vec<_> = all.iter().map(|member| format!("`{}`", member.name)).collect();
            return Err(E::custom(format!("unknown variant `{name}`, expected one of {}", known.join(", "))));
        };
        let spelled = numbers.as_ref().map_or_else(|| name.into(), |numbers| json!({ name: numbers }));
        let policy = member.read(numbers.unwrap_or_else(|| Map::new().into())).map_err(E::custom)?;
        Ok(Chosen { name: member.name, spelled, policy })
    }
}

impl<P: ?Sized> Clone for Chosen<P> {
    fn clone(&self) -> Self {
        Chosen { name: self.name, spelled: self.spelled.clone(), policy: self.policy.clone() }
    }
}

/// Equal if a machine file writes them alike.
impl<P: ?Sized> PartialEq for Chosen<P> {
    fn eq(&self, other: &Self) -> bool {
        self.spelled == other.spelled
    }
}

impl<P: ?Sized> Eq for Chosen<P> {}

impl<P: ?Sized> fmt::Debug for Chosen<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<P: ?Sized> Deref for Chosen<P> {
    type Target = P;

    fn deref(&self) -> &P {
        &self.policy
    }
}

impl<P: ?Sized> Serialize for Chosen<P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.spelled.serialize(serializer)
    }
}

impl<'de, P: PolicyKind + ?Sized> Deserialize<'de> for Chosen<P> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ByName(PhantomData))
    }
}

impl<P: PolicyKind + ?Sized> JsonSchema for Chosen<P> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        std::any::type_name::<P>().into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        P::family().schema(generator)
    }
}

struct ByName<P: ?Sized>(PhantomData<P>);

impl<'de, P: PolicyKind + ?Sized> Visitor<'de> for ByName<P> {
    type Value = Chosen<P>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a policy: one of {}", P::family().names().join(", "))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Chosen<P>, E> {
        Chosen::read(name, None)
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Chosen<P>, M::Error> {
        let Some((name, numbers)) = map.next_entry::<String, Value>()? else {
            return Err(M::Error::custom(format!("found an empty table, expected {}", Shown(&self))));
        };
        if let Some(other) = map.next_key::<String>()? {
            return Err(M::Error::custom(format!("found `{name}` and `{other}`, expected one policy")));
        }
        Chosen::read(&name, Some(numbers))
    }
}

/// What a visitor expects, as text.
struct Shown<'a, V>(&'a V);

impl<'de, V: Visitor<'de>> fmt::Display for Shown<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }
}
