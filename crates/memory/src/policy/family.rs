//! The policies of one kind, by the names that machine files know them by.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// The policies of one kind: those that come with the program, and those that a command of one's own adds.
pub struct Family<P: ?Sized + 'static> {
    built_in: fn() -> Vec<Member<P>>,
    added: Mutex<Vec<Member<P>>>,
    all: OnceLock<Vec<Member<P>>>,
}

/// A policy of a family.
pub struct Member<P: ?Sized> {
    /// Its name in machine files.
    pub name: &'static str,
    read: Box<dyn Fn(Value) -> Result<Arc<P>, String> + Send + Sync>,
    schema: fn(&mut SchemaGenerator) -> Schema,
}

/// A kind of policy, which has a family.
pub trait PolicyKind: 'static {
    /// The family of this kind.
    fn family() -> &'static Family<Self>;
}

impl<P: ?Sized> Member<P> {
    /// A policy whose numbers are read as a `C`.
    pub fn new<C>(name: &'static str, into_policy: fn(C) -> Arc<P>) -> Member<P>
    where
        C: DeserializeOwned + JsonSchema + 'static,
        P: 'static,
    {
        let read = move |numbers| {
            serde_json::from_value(numbers).map(into_policy).map_err(|error| error.to_string())
        };
        Member { name, read: Box::new(read), schema: |generator| generator.subschema_for::<C>() }
    }

    /// Makes the policy from its numbers.
    ///
    /// # Errors
    /// An unknown key, a number that is missing, or one that the policy does not accept.
    pub(super) fn read(&self, numbers: Value) -> Result<Arc<P>, String> {
        (self.read)(numbers).map_err(|error| format!("`{}`: {error}", self.name))
    }

    /// What the policy's type says of it, as a choice of a key. A policy that needs numbers is a table, any other a name.
    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        let (schema, name) = ((self.schema)(generator), self.name);
        let keys = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        let meaning = meaning(schema.get("description"), &keys);
        if schema.get("required").is_some() {
            json_schema!({ "type": "object", "properties": json!({ name: schema }), "description": meaning })
        } else {
            json_schema!({ "const": name, "description": meaning })
        }
    }
}

impl<P: ?Sized> Family<P> {
    /// A family of the policies that come with the program.
    pub const fn new(built_in: fn() -> Vec<Member<P>>) -> Family<P> {
        Family { built_in, added: Mutex::new(Vec::new()), all: OnceLock::new() }
    }

    /// Adds a policy, for the whole process.
    ///
    /// # Panics
    /// Panics if another policy of the family has the name, or if a machine file has been read: the meaning of a name never changes
    /// while a process runs.
    pub fn add(&self, member: Member<P>) {
        assert!(self.all.get().is_none(), "policies are added before the first machine file is read");
        let mut added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
        let is_taken = (self.built_in)().iter().chain(added.iter()).any(|other| other.name == member.name);
        assert!(!is_taken, "a policy is called {} already", member.name);
        added.push(member);
    }

    /// All of them, in order of their registration. No more can be added then.
    pub fn all(&self) -> &[Member<P>] {
        self.all.get_or_init(|| {
            let mut added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
            (self.built_in)().into_iter().chain(added.drain(..)).collect()
        })
    }

    /// Their names.
    pub fn names(&self) -> Vec<&'static str> {
        self.all().iter().map(|member| member.name).collect()
    }

    /// What the types of the policies say of them, as the choices of a key.
    pub(super) fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        let choices: Vec<_> = self.all().iter().map(|member| member.schema(generator)).collect();
        json_schema!({ "oneOf": choices })
    }
}

/// What a policy does, and what its numbers mean.
fn meaning(policy: Option<&Value>, keys: &Map<String, Value>) -> String {
    let of_key = |(key, schema): (&String, &Value)| {
        let meaning = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        format!(" `{key}`: {meaning}")
    };
    let whole = policy.and_then(Value::as_str).unwrap_or_default().to_owned();
    keys.iter().map(of_key).fold(whole, |all, one| all + &one)
}

/// Makes the family of a kind of policies, a line each, and `add`, by which a command of one's own adds to it.
#[macro_export]
macro_rules! policy_family {
    ($kind:ident: $($name:literal => $policy:ty,)*) => {
        static FAMILY: $crate::policy::Family<dyn $kind> = $crate::policy::Family::new(|| {
            vec![$($crate::policy::Member::new($name, |policy: $policy| std::sync::Arc::new(policy)),)*]
        });

        impl $crate::policy::PolicyKind for dyn $kind {
            fn family() -> &'static $crate::policy::Family<dyn $kind> {
                &FAMILY
            }
        }

        /// Adds a policy, for the whole process; `P` is its section of a machine file, whose documentation gives its meaning.
        ///
        /// # Panics
        /// Panics if another policy of the kind has the name, or if a machine file has been read.
        pub fn add<P: $kind + serde::de::DeserializeOwned + schemars::JsonSchema + 'static>(name: &'static str) {
            FAMILY.add($crate::policy::Member::new(name, |policy: P| std::sync::Arc::new(policy)));
        }
    };
}
