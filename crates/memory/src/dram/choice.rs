//! Policies that a machine file chooses by name, with numbers of their own: families of them, and the choice.
//!
//! A machine file writes a policy without numbers as its name, and one with numbers as a table of one entry:
//! `{ value = "closed", source = "..." }` and `{ value = { timeout = { cycles = 50 } }, source = "..." }`. The
//! type that the entry is read as has the policy's parameters as fields, and its documentation is what
//! `strata list policies` says of the policy.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeOwned, Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

/// The policies of one kind, each with the name that machine files know it by.
pub struct Family<P: ?Sized> {
    entries: Vec<Registered<P>>,
    names: Vec<&'static str>,
}

struct Registered<P: ?Sized> {
    name: &'static str,
    read: fn(Value) -> Result<Arc<P>, String>,
    schema: fn(&mut SchemaGenerator) -> Schema,
}

impl<P: ?Sized> Default for Family<P> {
    fn default() -> Self {
        Family { entries: Vec::new(), names: Vec::new() }
    }
}

/// Turns the parameters of a policy into the policy.
pub trait Parameters<P: ?Sized>: DeserializeOwned + JsonSchema {
    /// The policy with these parameters.
    fn into_policy(self) -> Arc<P>;
}

impl<P: ?Sized> Family<P> {
    /// Adds a policy whose parameters are read as a `C`.
    ///
    /// # Panics
    /// Panics if another policy of the family has the name.
    pub fn add<C: Parameters<P>>(&mut self, name: &'static str) {
        assert!(!self.names.contains(&name), "a policy of the family is called {name} already");
        self.names.push(name);
        self.entries.push(Registered {
            name,
            read: |value| {
                serde_json::from_value(value).map(C::into_policy).map_err(|error| error.to_string())
            },
            schema: |generator| generator.subschema_for::<C>(),
        });
    }

    /// The names of the policies, in order of registration.
    pub fn names(&self) -> &[&'static str] {
        &self.names
    }

    /// Makes the policy of a name from its parameters.
    ///
    /// # Errors
    /// An unknown name or key, or a value that the policy does not accept.
    fn read<E: Error>(&'static self, name: &str, parameters: Value) -> Result<Chosen<P>, E> {
        let Some(entry) = self.entries.iter().find(|entry| entry.name == name) else {
            return Err(E::unknown_variant(name, &self.names));
        };
        let policy = (entry.read)(parameters).map_err(|error| E::custom(format!("`{name}`: {error}")))?;
        Ok(Chosen { name: entry.name, policy })
    }

    /// What the types of the policies say of them, as the choices of a key.
    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        let choices = self.entries.iter().map(|entry| {
            let schema = (entry.schema)(generator);
            let name = entry.name;
            let keys = schema.get("properties").and_then(Value::as_object).filter(|keys| !keys.is_empty());
            match keys {
                Some(keys) => {
                    let meaning = meaning(schema.get("description"), keys);
                    let inside = json!({ name: schema });
                    json_schema!({ "type": "object", "properties": inside, "description": meaning })
                }
                None => json_schema!({ "const": name, "description": schema.get("description") }),
            }
        });
        let choices: Vec<Schema> = choices.collect();
        json_schema!({ "oneOf": choices })
    }
}

/// A kind of policy, with the family that machine files of this process choose from.
pub trait PolicyKind: 'static {
    /// The family of this kind.
    fn family() -> &'static Family<Self>;
}

/// A policy that was chosen by its name.
pub struct Chosen<P: ?Sized> {
    name: &'static str,
    policy: Arc<P>,
}

impl<P: ?Sized> Chosen<P> {
    /// A policy that is not chosen in a machine file.
    pub fn of(name: &'static str, policy: Arc<P>) -> Chosen<P> {
        Chosen { name, policy }
    }
}

impl<P: PolicyKind + ?Sized> Chosen<P> {
    /// The policy that a name stands for, without parameters.
    ///
    /// # Errors
    /// An unknown name, or a policy that needs parameters.
    pub fn named(name: &str) -> Result<Chosen<P>, String> {
        P::family().read::<serde::de::value::Error>(name, no_parameters()).map_err(|error| error.to_string())
    }

    /// The name.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl<P: ?Sized> Clone for Chosen<P> {
    fn clone(&self) -> Self {
        Chosen { name: self.name, policy: self.policy.clone() }
    }
}

impl<P: ?Sized> fmt::Debug for Chosen<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<P: ?Sized> Deref for Chosen<P> {
    type Target = Arc<P>;
    fn deref(&self) -> &Arc<P> {
        &self.policy
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
        P::family().read(name, no_parameters())
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Chosen<P>, M::Error> {
        let Some((name, parameters)) = map.next_entry::<String, Value>()? else {
            return Err(M::Error::custom(format!("found an empty table, expected {}", Shown(&self))));
        };
        if let Some(other) = map.next_key::<String>()? {
            return Err(M::Error::custom(format!("found `{name}` and `{other}`, expected one policy")));
        }
        P::family().read(&name, parameters)
    }
}

/// What a visitor expects, as text.
struct Shown<'a, V>(&'a V);

impl<'de, V: Visitor<'de>> fmt::Display for Shown<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }
}

/// What a policy does, and what its parameters mean.
fn meaning(policy: Option<&Value>, keys: &Map<String, Value>) -> String {
    let of_key = |(key, schema): (&String, &Value)| {
        let meaning = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        format!(" `{key}`: {meaning}")
    };
    let whole = policy.and_then(Value::as_str).unwrap_or_default().to_owned();
    keys.iter().map(of_key).fold(whole, |all, one| all + &one)
}

fn no_parameters() -> Value {
    Value::Object(Map::new())
}
