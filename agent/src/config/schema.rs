//! The schema of the configuration: one description that checks the layers, finds what a typo meant, and is printed by
//! `engram config schema`.

use serde_json::Value as Json;
use toml::Value;

use super::{Config, Node, Origin, Problem};

/// JSON Schema of the whole configuration.
pub fn schema() -> Json {
    let settings =
        schemars::generate::SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<Config>().to_value()
}

/// What is wrong with the keys and types of `node`, all of it at once.
pub fn check(node: &Node, schema: &Json) -> Vec<Problem> {
    let mut problems = Vec::new();
    walk(node, schema, "", &mut problems);
    problems
}

/// The schema at a dotted path, if there is such a key.
pub fn find<'a>(schema: &'a Json, path: &[&str]) -> Option<&'a Json> {
    path.iter().try_fold(schema, |schema, key| child(schema, key))
}

fn child<'a>(schema: &'a Json, key: &str) -> Option<&'a Json> {
    let schema = table_schema(schema)?;
    schema
        .get("properties")
        .and_then(|properties| properties.get(key))
        .or_else(|| schema.get("additionalProperties").filter(|inner| inner.is_object()))
}

/// The alternative of `schema` that is a table.
fn table_schema(schema: &Json) -> Option<&Json> {
    if schema.get("properties").is_some() || schema.get("additionalProperties").is_some_and(Json::is_object) {
        return Some(schema);
    }
    alternatives(schema)?.iter().find_map(table_schema)
}

fn alternatives(schema: &Json) -> Option<&Vec<Json>> {
    schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Json::as_array)
}

/// Whether a value of this schema is a text (or may be one), and whether it is a list.
pub fn wants(schema: Option<&Json>) -> (bool, bool) {
    let Some(schema) = schema else { return (false, false) };
    let is = |kind: &str| match schema.get("type") {
        Some(Json::String(one)) => one == kind,
        Some(Json::Array(many)) => many.iter().any(|one| one == kind),
        _ => false,
    };
    let text_constants = |value: &Json| value.get("const").is_some_and(Json::is_string);
    let inner = alternatives(schema);
    (
        is("string") || inner.is_some_and(|all| all.iter().any(|one| wants(Some(one)).0 || text_constants(one))),
        is("array") || inner.is_some_and(|all| all.iter().any(|one| wants(Some(one)).1)),
    )
}

/// Every dotted path that the schema names; a table with free names contributes `NAME`.
pub fn paths(schema: &Json) -> Vec<String> {
    let mut found = Vec::new();
    collect(schema, "", &mut found);
    found
}

fn collect(schema: &Json, prefix: &str, found: &mut Vec<String>) {
    let Some(table) = table_schema(schema) else {
        found.push(prefix.to_owned());
        return;
    };
    let join = |key: &str| if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
    if let Some(properties) = table.get("properties").and_then(Json::as_object) {
        for (key, inner) in properties {
            collect(inner, &join(key), found);
        }
    }
    if let Some(inner) = table.get("additionalProperties").filter(|inner| inner.is_object()) {
        collect(inner, &join("NAME"), found);
    }
}

fn walk(node: &Node, schema: &Json, path: &str, problems: &mut Vec<Problem>) {
    match (node, table_schema(schema)) {
        (Node::Table { entries, .. }, Some(_)) => {
            for (key, inner) in entries {
                let inner_path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                match child(schema, key) {
                    Some(inner_schema) => walk(inner, inner_schema, &inner_path, problems),
                    None => problems.push(unknown(key, path, inner.origin(), schema)),
                }
            }
        }
        (Node::Table { origin, .. }, None) => problems.push(Problem {
            key: path.to_owned(),
            origin: origin.clone(),
            message: format!("is a table, and must be {}", describe(schema)),
            hint: None,
        }),
        (Node::Leaf { value, origin }, _) => {
            if !accepts(value, schema) {
                problems.push(Problem {
                    key: path.to_owned(),
                    origin: origin.clone(),
                    message: format!("must be {}, and is {}", describe(schema), shown(value)),
                    hint: closest_choice(value, schema),
                });
            }
        }
    }
}

fn unknown(key: &str, path: &str, origin: &Origin, schema: &Json) -> Problem {
    let known: Vec<&str> = table_schema(schema)
        .and_then(|table| table.get("properties"))
        .and_then(Json::as_object)
        .map(|properties| properties.keys().map(String::as_str).collect())
        .unwrap_or_default();
    let place = if path.is_empty() { "the top level".to_owned() } else { format!("[{path}]") };
    let hint = match closest(key, known.iter().copied()) {
        Some(near) => Some(format!("did you mean `{near}`?")),
        None if known.is_empty() => None,
        None => Some(elsewhere(key).unwrap_or_else(|| format!("{place} knows: {}", known.join(", ")))),
    };
    Problem {
        key: if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") },
        origin: origin.clone(),
        message: "is not a key that engram knows".to_owned(),
        hint,
    }
}

/// The same key in another section: the usual slip after a `[section]` line.
fn elsewhere(key: &str) -> Option<String> {
    let schema = schema();
    let suffix = format!(".{key}");
    let all = paths(&schema);
    let path = all.iter().find(|path| path.ends_with(&suffix) || *path == key)?;
    Some(format!("`{path}` exists: is it in the wrong section?"))
}

/// The candidate that a typo most probably meant.
pub fn closest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace(['-', '_', ' '], "");
    let wanted = plain(word);
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(&wanted, &plain(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= 1.max(candidate.len() / 3))
        .min_by_key(|(distance, candidate)| (*distance, candidate.len()))
        .map(|(_, candidate)| candidate)
}

fn choices(schema: &Json) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    if let Some(listed) = schema.get("enum").and_then(Json::as_array) {
        found.extend(listed.iter().filter_map(Json::as_str));
    }
    found.extend(schema.get("const").and_then(Json::as_str));
    for inner in alternatives(schema).into_iter().flatten() {
        found.extend(choices(inner));
    }
    found
}

fn closest_choice(value: &Value, schema: &Json) -> Option<String> {
    let near = closest(value.as_str()?, choices(schema).into_iter())?;
    Some(format!("did you mean `{near}`?"))
}

fn accepts(value: &Value, schema: &Json) -> bool {
    if schema == &Json::Bool(true) || schema.as_object().is_some_and(serde_json::Map::is_empty) {
        return true;
    }
    if let Some(all) = alternatives(schema) {
        return all.iter().any(|one| accepts(value, one));
    }
    if let Some(only) = schema.get("const") {
        return only.as_str().is_some_and(|only| value.as_str() == Some(only));
    }
    if let Some(listed) = schema.get("enum").and_then(Json::as_array) {
        return listed.iter().any(|one| one.is_string() && one.as_str() == value.as_str());
    }
    let kinds: Vec<&str> = match schema.get("type") {
        Some(Json::String(one)) => vec![one],
        Some(Json::Array(many)) => many.iter().filter_map(Json::as_str).collect(),
        _ => return true,
    };
    kinds.iter().any(|kind| match (*kind, value) {
        ("string", Value::String(_)) | ("boolean", Value::Boolean(_)) => true,
        ("integer", Value::Integer(number)) => in_range(*number as f64, schema),
        ("number", Value::Integer(number)) => in_range(*number as f64, schema),
        ("number", Value::Float(number)) => number.is_finite() && in_range(*number, schema),
        ("array", Value::Array(items)) => {
            schema.get("items").is_none_or(|inner| items.iter().all(|item| accepts(item, inner)))
        }
        ("object", Value::Table(entries)) => {
            entries.iter().all(|(key, item)| child(schema, key).is_some_and(|inner| accepts(item, inner)))
        }
        _ => false,
    })
}

fn in_range(number: f64, schema: &Json) -> bool {
    let bound = |name: &str| schema.get(name).and_then(Json::as_f64);
    bound("minimum").is_none_or(|least| number >= least)
        && bound("maximum").is_none_or(|most| number <= most)
        && bound("exclusiveMinimum").is_none_or(|least| number > least)
        && bound("exclusiveMaximum").is_none_or(|most| number < most)
        && bound("multipleOf").is_none_or(|step| number % step == 0.0)
}

/// What a value of this schema is, in words.
pub fn describe(schema: &Json) -> String {
    let listed = choices(schema);
    if !listed.is_empty() {
        let quoted: Vec<String> = listed.iter().map(|choice| format!("\"{choice}\"")).collect();
        return format!("one of {}", quoted.join(", "));
    }
    if let Some(all) = alternatives(schema) {
        let kinds: Vec<String> =
            all.iter().filter(|one| one.get("type").is_none_or(|kind| kind != "null")).map(describe).collect();
        return kinds.join(" or ");
    }
    let range = match (schema.get("minimum").and_then(Json::as_f64), schema.get("maximum").and_then(Json::as_f64)) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        (Some(0.0), None) => ", not negative".to_owned(),
        (Some(least), None) => format!(", at least {least}"),
        (None, Some(most)) => format!(", at most {most}"),
        (None, None) => String::new(),
    };
    let step = schema.get("multipleOf").map(|step| format!(", a multiple of {step}")).unwrap_or_default();
    let one = |kind: &str| match kind {
        "string" => Some("a text in quotes".to_owned()),
        "boolean" => Some("true or false".to_owned()),
        "integer" => Some(format!("a whole number{range}{step}")),
        "number" => Some(format!("a number{range}")),
        "array" => Some(match schema.get("items") {
            Some(items) => format!("a list, each item {}", describe(items)),
            None => "a list".to_owned(),
        }),
        "object" => Some("a table".to_owned()),
        _ => None,
    };
    match schema.get("type") {
        Some(Json::String(kind)) => one(kind).unwrap_or_else(|| "absent".to_owned()),
        Some(Json::Array(kinds)) => {
            kinds.iter().filter_map(Json::as_str).filter_map(one).collect::<Vec<_>>().join(" or ")
        }
        _ => "a value".to_owned(),
    }
}

fn shown(value: &Value) -> String {
    let kind = match value {
        Value::String(text) => return format!("the text \"{}\"", text.chars().take(60).collect::<String>()),
        Value::Integer(_) => "the whole number",
        Value::Float(_) => "the number",
        Value::Boolean(_) => "the flag",
        Value::Datetime(_) => "the date (write times as text in quotes)",
        Value::Array(_) => return "a list".to_owned(),
        Value::Table(_) => return "a table".to_owned(),
    };
    format!("{kind} {value}")
}

/// Keys of the table at `prefix` that may be absent and are.
pub(super) fn unset_keys(schema: &Json, prefix: &str, present: &toml::Table) -> Vec<String> {
    let path: Vec<&str> = prefix.split('.').filter(|key| !key.is_empty()).collect();
    let properties =
        find(schema, &path).and_then(table_schema).and_then(|table| table.get("properties")).and_then(Json::as_object);
    properties
        .into_iter()
        .flatten()
        .filter(|(key, inner)| !present.contains_key(*key) && table_schema(inner).is_none())
        .map(|(key, _)| key.clone())
        .collect()
}
