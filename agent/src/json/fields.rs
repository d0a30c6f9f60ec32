//! Reads the fields of a JSON object. Unknown fields are ignored, `null` is as good as absent, and a wrong type is named.

use jiff::tz::TimeZone;
use memory_core::Timestamp;
use serde_json::{Map, Value};

use super::refusal::Refusal;
use crate::when;

/// The fields of one object.
#[derive(Clone, Copy)]
pub struct Fields<'a>(pub &'a Map<String, Value>);

/// Reference time for `2h` and `2026-11-22` in a request.
#[derive(Debug, Clone)]
pub struct TimeBase {
    pub now: Timestamp,
    pub zone: TimeZone,
}

impl<'a> Fields<'a> {
    pub fn value(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    pub fn text(&self, name: &str) -> Result<Option<&'a str>, Refusal> {
        self.value(name).map(|value| value.as_str().ok_or_else(|| wrong(name, "a text", value))).transpose()
    }

    pub fn texts(&self, name: &str) -> Result<Vec<String>, Refusal> {
        let Some(value) = self.value(name) else { return Ok(Vec::new()) };
        let list = value.as_array().ok_or_else(|| wrong(name, "a list of texts", value))?;
        list.iter()
            .map(|item| item.as_str().map(str::to_owned).ok_or_else(|| wrong(name, "a list of texts", item)))
            .collect()
    }

    pub fn flag(&self, name: &str) -> Result<bool, Refusal> {
        self.value(name).map_or(Ok(false), |value| value.as_bool().ok_or_else(|| wrong(name, "true or false", value)))
    }

    pub fn count(&self, name: &str) -> Result<Option<u64>, Refusal> {
        self.value(name)
            .map(|value| value.as_u64().ok_or_else(|| wrong(name, "a whole number that is not negative", value)))
            .transpose()
    }

    pub fn number(&self, name: &str) -> Result<Option<f64>, Refusal> {
        self.value(name).map(|value| value.as_f64().ok_or_else(|| wrong(name, "a number", value))).transpose()
    }

    /// A time as the command line takes it: RFC 3339, a local date or time of day, or how long ago.
    pub fn point(&self, name: &str, moment: &TimeBase) -> Result<Option<Timestamp>, Refusal> {
        self.text(name)?
            .map(|text| {
                when::parse(text, moment.now, &moment.zone).map_err(|error| Refusal::bad(format!("`{name}`: {error}")))
            })
            .transpose()
    }

    /// A time of an observation, which has to be exact: RFC 3339.
    pub fn time(&self, name: &str) -> Result<Option<Timestamp>, Refusal> {
        self.text(name)?
            .map(|text| Timestamp::parse(text).map_err(|error| Refusal::bad(format!("`{name}`: {error}"))))
            .transpose()
    }
}

/// `name` is not what it should be.
pub fn wrong(name: &str, wanted: &str, found: &Value) -> Refusal {
    Refusal::bad(format!("`{name}` must be {wanted}, and is {}", kind(found)))
}

/// Returns the type of a value, in words.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
