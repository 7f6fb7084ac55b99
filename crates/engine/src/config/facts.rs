//! What the types of a configuration say of its keys: their documentation is each key's meaning, and attributes of schemars
//! give units and bounds.
//!
//! ```
//! # use strata_engine::config::{Entry, facts};
//! # use strata_engine::Cited;
//! #[derive(schemars::JsonSchema)]
//! struct Cache {
//!     /// Ways per set.
//!     #[schemars(range(min = 1, max = 64), extend("unit" = "ways"))]
//!     ways: Cited<u32>,
//! }
//!
//! let Entry::Section(cache) = facts::<Cache>() else { unreachable!() };
//! let Entry::Key(ways) = &cache.entries["ways"] else { unreachable!() };
//! assert_eq!((ways.meaning.as_str(), ways.unit.as_str(), ways.range().as_str()), ("Ways per set.", "ways", "1 to 64"));
//! ```

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Number, Value};

use super::Cited;

/// A part of a configuration.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A table with keys of its own.
    Section(SectionFacts),
    /// A table whose keys are names; what stands under each.
    Names(Box<Entry>),
    /// A value.
    Key(KeyFacts),
}

/// What a type says of a section.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SectionFacts {
    /// What the section describes.
    pub meaning: String,
    /// Its keys and sections, by name.
    pub entries: BTreeMap<String, Entry>,
}

/// What a type says of a key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeyFacts {
    /// What the key sets.
    pub meaning: String,
    /// Unit of its number or numbers; empty for a name or a choice. `cycles` are those of the part's clock.
    pub unit: String,
    /// What kind of value it has.
    pub kind: Kind,
    /// Least number, if there is one.
    pub least: Option<Number>,
    /// Whether the number must be above `least`.
    pub is_above: bool,
    /// Largest number, if there is one that depends on no other key.
    pub most: Option<Number>,
    /// Names that it can have, each with its meaning; empty if it is not a choice.
    pub choices: Vec<(String, String)>,
    /// Whether the value has a source beside it.
    pub is_cited: bool,
}

/// A kind of value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Characters, or one of a few choices.
    #[default]
    Text,
    /// A number without a fraction.
    Whole,
    /// A number.
    Number,
    /// True or false.
    Flag,
    /// Several values.
    List,
}

impl KeyFacts {
    /// Numbers or names that the key can have, as a user reads them; empty if any text will do.
    pub fn range(&self) -> String {
        if !self.choices.is_empty() {
            let names: Vec<&str> = self.choices.iter().map(|(name, _)| name.as_str()).collect();
            return names.join(" | ");
        }
        match (self.kind, &self.least, &self.most) {
            (Kind::Flag, ..) => "true | false".to_owned(),
            (_, Some(least), Some(most)) => format!("{} to {}", number(least), number(most)),
            (_, Some(least), None) if self.is_above => format!("above {}", number(least)),
            (_, Some(least), None) => format!("from {}", number(least)),
            (_, None, Some(most)) => format!("up to {}", number(most)),
            _ => String::new(),
        }
    }
}

/// A bound without the fraction that JSON may have given it.
fn number(bound: &Number) -> String {
    bound.as_i64().map_or_else(|| bound.as_f64().unwrap_or(f64::NAN).to_string(), |whole| whole.to_string())
}

impl<T: JsonSchema> JsonSchema for Cited<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Cited_{}", T::schema_name()).into()
    }

    /// The schema of the value, marked: bounds that stand at a key are those of its value.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = generator.subschema_for::<T>();
        schema.insert(CITED.to_owned(), true.into());
        schema
    }
}

/// Marks the schema of a value that has a source beside it.
const CITED: &str = "cited";

/// What the type of a configuration says of its keys.
pub fn facts<T: JsonSchema>() -> Entry {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<T>();
    entry(schema.as_value().as_object().unwrap_or(&Map::new()))
}

fn entry(schema: &Map<String, Value>) -> Entry {
    let schema = &without_null(schema);
    let has = |key: &str| schema.get(key) == Some(&Value::Bool(true));
    let table = |key: &str| schema.get(key).and_then(Value::as_object);
    if let (Some(each), false) = (table("additionalProperties"), has(CITED)) {
        let mut each = each.clone();
        // What a field says of its table is meant for each value there.
        for key in ["description", "unit", "minimum"] {
            let innermost = innermost(&mut each);
            if let Some(said) = schema.get(key) {
                innermost.insert(key.to_owned(), said.clone());
            }
        }
        return Entry::Names(Box::new(entry(&each)));
    }
    let is_section = !has(CITED) && text(schema, "type") == "object";
    if !is_section {
        return Entry::Key(key(schema));
    }
    let entries = table("properties").into_iter().flatten();
    let mut entries: BTreeMap<String, Entry> =
        entries.filter_map(|(name, schema)| Some((name.clone(), entry(schema.as_object()?)))).collect();
    // A section of many that are alike: its keys say which they are of.
    if has("alike") {
        for entry in entries.values_mut() {
            if let Entry::Key(key) = entry {
                key.meaning = format!("{}: {}", meaning(schema).trim_end_matches('.'), lower(&key.meaning));
            }
        }
    }
    Entry::Section(SectionFacts { meaning: meaning(schema), entries })
}

/// The schema of the values in nested tables of names.
fn innermost(schema: &mut Map<String, Value>) -> &mut Map<String, Value> {
    if schema.get("additionalProperties").is_some_and(Value::is_object) {
        let inner = schema.get_mut("additionalProperties").and_then(Value::as_object_mut);
        return innermost(inner.expect("it was looked at as an object"));
    }
    schema
}

/// A schema without the null that stands for a key that is left out.
fn without_null(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut whole = schema.clone();
    let is_null = |schema: &Value| {
        schema.get("type") == Some(&"null".into()) || schema.get("const") == Some(&Value::Null)
    };
    for key in ["anyOf", "oneOf"] {
        if let Some(Value::Array(parts)) = whole.get_mut(key) {
            parts.retain(|part| !is_null(part));
        }
    }
    if let Some(Value::Array(parts)) = whole.get("anyOf")
        && let [Value::Object(only)] = parts.as_slice()
    {
        let only = only.clone();
        whole.remove("anyOf");
        for (key, value) in only {
            whole.entry(key).or_insert(value);
        }
    }
    if let Some(Value::Array(types)) = whole.get_mut("type") {
        types.retain(|ty| ty != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            whole.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(names)) = whole.get_mut("enum") {
        names.retain(|name| !name.is_null());
    }
    whole
}

fn key(schema: &Map<String, Value>) -> KeyFacts {
    let bound = |key: &str| schema.get(key).and_then(Value::as_number).cloned();
    let mut choices = choices(schema);
    if let Some(Value::Array(only)) = schema.get("only") {
        choices.retain(|(name, _)| only.iter().any(|only| only == name));
    }
    let kind = match text(schema, "type") {
        "integer" => Kind::Whole,
        "number" => Kind::Number,
        "boolean" => Kind::Flag,
        "array" => Kind::List,
        _ => Kind::Text,
    };
    KeyFacts {
        meaning: meaning(schema),
        unit: text(schema, "unit").to_owned(),
        kind,
        least: bound("exclusiveMinimum").or_else(|| bound("minimum")),
        is_above: schema.contains_key("exclusiveMinimum"),
        most: bound("maximum").filter(|most| !is_natural(text(schema, "format"), most)),
        choices,
        is_cited: schema.contains_key(CITED),
    }
}

/// Whether a bound is the largest number of a type, which says nothing of the key.
fn is_natural(format: &str, most: &Number) -> bool {
    matches!((format, most.as_u64()), ("uint8", Some(0xff)) | ("uint16", Some(0xffff)))
}

/// The names of a choice, each with its meaning. A choice with numbers of its own is shown with their names.
fn choices(schema: &Map<String, Value>) -> Vec<(String, String)> {
    let plain = |names: &Value| {
        let names = names.as_array().into_iter().flatten();
        names.filter_map(|name| Some((name.as_str()?.to_owned(), String::new()))).collect::<Vec<_>>()
    };
    if let Some(names) = schema.get("enum") {
        return plain(names);
    }
    let parts = schema.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    parts
        .filter_map(Value::as_object)
        .flat_map(|part| match (part.get("const"), part.get("enum"), part.get("properties")) {
            (Some(Value::String(name)), ..) => vec![(name.clone(), meaning(part))],
            (_, Some(names), _) => plain(names),
            (_, _, Some(Value::Object(variant))) => {
                variant.iter().map(|(name, numbers)| (variant_of(name, numbers), meaning(part))).collect()
            }
            _ => vec![],
        })
        .collect()
}

/// How a choice with numbers of its own is written.
fn variant_of(name: &str, numbers: &Value) -> String {
    match numbers.get("properties").and_then(Value::as_object) {
        Some(fields) => {
            let fields: Vec<String> = fields.keys().map(|field| format!("{field} = ...")).collect();
            format!("{{ {name} = {{ {} }} }}", fields.join(", "))
        }
        None => format!("{{ {name} = ... }}"),
    }
}

fn text<'a>(schema: &'a Map<String, Value>, key: &str) -> &'a str {
    schema.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The documentation as running text.
fn meaning(schema: &Map<String, Value>) -> String {
    text(schema, "description").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A sentence as the rest of another.
fn lower(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_lowercase().collect::<String>() + letters.as_str())
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    /// How it fares.
    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    #[expect(dead_code, reason = "only its schema is looked at")]
    enum Policy {
        /// The plain one.
        Plain,
        /// In groups.
        InGroups {
            /// Of so many.
            size: u32,
        },
    }

    /// A toy.
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Toy {
        /// Name in
        /// `lists`.
        name: String,
        /// Ways per set.
        #[schemars(range(min = 1, max = 64), extend("unit" = "ways"))]
        ways: Cited<u32>,
        /// Cycles that it may take.
        #[schemars(range(max = 1 << 10), extend("unit" = "cycles"))]
        cycles: Option<Cited<u64>>,
        /// Toys of its kind.
        #[schemars(extend("unit" = "toys"))]
        toys: Cited<u16>,
        /// Its area.
        #[schemars(extend("unit" = "um2", "exclusiveMinimum" = 0))]
        area: Option<Cited<f64>>,
        /// Who comes first.
        policy: Option<Cited<Policy>>,
        /// Who comes first here.
        #[schemars(extend("only" = ["plain"]))]
        plain: Cited<Policy>,
        /// Whether it rests.
        rests: Cited<bool>,
        /// Energies.
        #[schemars(extend("unit" = "pJ", "minimum" = 0))]
        pj: BTreeMap<String, BTreeMap<String, Cited<f64>>>,
        /// Another.
        inner: Option<Inner>,
    }

    /// Timing.
    #[derive(Deserialize, JsonSchema)]
    #[schemars(extend("alike" = true))]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Inner {
        /// Cycles in the unit.
        latency: Cited<u32>,
    }

    fn toy(name: &str) -> Entry {
        let Entry::Section(toy) = facts::<Toy>() else { panic!("a struct is a section") };
        toy.entries[name].clone()
    }

    fn toy_key(name: &str) -> KeyFacts {
        let Entry::Key(key) = toy(name) else { panic!("{name} is a key: {:?}", toy(name)) };
        key
    }

    #[test]
    fn keys_have_meaning_unit_and_bounds() {
        for (name, meaning, unit, range, kind, is_cited) in [
            ("name", "Name in `lists`.", "", "", Kind::Text, false),
            ("ways", "Ways per set.", "ways", "1 to 64", Kind::Whole, true),
            ("cycles", "Cycles that it may take.", "cycles", "0 to 1024", Kind::Whole, true),
            ("toys", "Toys of its kind.", "toys", "from 0", Kind::Whole, true),
            ("area", "Its area.", "um2", "above 0", Kind::Number, true),
            ("policy", "Who comes first.", "", "plain | { in-groups = { size = ... } }", Kind::Text, true),
            ("plain", "Who comes first here.", "", "plain", Kind::Text, true),
            ("rests", "Whether it rests.", "", "true | false", Kind::Flag, true),
        ] {
            let key = toy_key(name);
            assert_eq!((key.meaning.as_str(), key.unit.as_str()), (meaning, unit));
            assert_eq!((key.range().as_str(), key.kind, key.is_cited), (range, kind, is_cited), "{name}");
        }
        assert_eq!(toy_key("policy").choices[1].1, "In groups.");
    }

    #[test]
    fn tables_of_names_and_sections_may_be_missing() {
        let Entry::Names(groups) = toy("pj") else { panic!("{:?}", toy("pj")) };
        let Entry::Names(events) = *groups else { panic!("{groups:?}") };
        let Entry::Key(event) = *events else { panic!("{events:?}") };
        assert_eq!(
            (event.meaning.as_str(), event.unit.as_str(), event.range().as_str()),
            ("Energies.", "pJ", "from 0")
        );
        let Entry::Section(inner) = toy("inner") else { panic!("{:?}", toy("inner")) };
        let Entry::Key(latency) = &inner.entries["latency"] else { panic!("{inner:?}") };
        assert_eq!(latency.meaning, "Another: cycles in the unit.");
    }
}
