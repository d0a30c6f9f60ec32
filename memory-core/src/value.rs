//! Free attributes of an observation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Attributes by name, sorted, so that equal content has equal bytes.
pub type Attributes = BTreeMap<String, Value>;

/// A JSON-like value that, unlike `serde_json::Value`, has a compact and stable binary form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// No value.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number; finite.
    Number(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// Named values.
    Map(BTreeMap<String, Value>),
}

impl Value {
    /// The text, if this is one.
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// Calls `visit` with every text inside, in order of names and positions.
    pub fn for_each_text<'a>(&'a self, visit: &mut impl FnMut(&'a str)) {
        match self {
            Self::Text(text) => visit(text),
            Self::List(items) => items.iter().for_each(|item| item.for_each_text(visit)),
            Self::Map(items) => items.values().for_each(|item| item.for_each_text(visit)),
            Self::Null | Self::Bool(_) | Self::Integer(_) | Self::Number(_) => {}
        }
    }
}

impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(flag) => Self::Bool(flag),
            serde_json::Value::Number(number) => match number.as_i64() {
                Some(integer) => Self::Integer(integer),
                None => Self::Number(number.as_f64().unwrap_or(f64::MAX)),
            },
            serde_json::Value::String(text) => Self::Text(text),
            serde_json::Value::Array(items) => Self::List(items.into_iter().map(Self::from).collect()),
            serde_json::Value::Object(items) => {
                Self::Map(items.into_iter().map(|(name, item)| (name, Self::from(item))).collect())
            }
        }
    }
}

impl From<&Value> for serde_json::Value {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(*flag),
            Value::Integer(integer) => Self::from(*integer),
            Value::Number(number) => Self::from(*number),
            Value::Text(text) => Self::from(text.as_str()),
            Value::List(items) => Self::Array(items.iter().map(Self::from).collect()),
            Value::Map(items) => {
                Self::Object(items.iter().map(|(name, item)| (name.clone(), Self::from(item))).collect())
            }
        }
    }
}
