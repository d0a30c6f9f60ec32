//! The layers of the configuration: files, then the environment, then flags, merged key by key, each value knowing where
//! it came from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use toml::Value;
use toml::de::{DeTable, DeValue};

use super::Problem;

/// Prefix of the environment variables that set keys: `ENGRAM__MQTT__PORT=1884`.
pub const ENVIRONMENT_PREFIX: &str = "ENGRAM__";

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// A line of a file.
    File {
        /// The file.
        path: PathBuf,
        /// Counted from one.
        line: usize,
    },
    /// An environment variable.
    Environment(String),
    /// A flag of the command line.
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Flag(flag) => write!(f, "flag {flag}"),
        }
    }
}

/// A value or table with its origin.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// A value; a list counts as one value.
    Leaf {
        /// The value.
        value: Value,
        /// Where it came from.
        origin: Origin,
    },
    /// Named nodes.
    Table {
        /// By key.
        entries: BTreeMap<String, Node>,
        /// Where the table was named first.
        origin: Origin,
    },
}

impl Node {
    /// An empty table that nobody wrote.
    pub fn empty() -> Self {
        Self::Table { entries: BTreeMap::new(), origin: Origin::Default }
    }

    /// Where it came from.
    pub fn origin(&self) -> &Origin {
        match self {
            Self::Leaf { origin, .. } | Self::Table { origin, .. } => origin,
        }
    }

    /// The node at a dotted path.
    pub fn at(&self, path: &str) -> Option<&Self> {
        let mut node = self;
        for key in path.split('.').filter(|key| !key.is_empty()) {
            let Self::Table { entries, .. } = node else { return None };
            node = entries.get(key)?;
        }
        Some(node)
    }

    /// Lays `over` on top: tables are merged, anything else is replaced.
    pub fn merge(&mut self, over: Self) {
        match (self, over) {
            (Self::Table { entries, .. }, Self::Table { entries: upper, .. }) => {
                for (key, node) in upper {
                    match entries.get_mut(&key) {
                        Some(below) => below.merge(node),
                        None => {
                            entries.insert(key, node);
                        }
                    }
                }
            }
            (below, over) => *below = over,
        }
    }

    /// Sets one value at a path, making the tables on the way.
    pub fn set(&mut self, path: &[&str], value: Value, origin: &Origin) {
        let leaf = match value {
            Value::Table(table) => {
                let mut node = Self::Table { entries: BTreeMap::new(), origin: origin.clone() };
                for (key, value) in table {
                    node.set(&[&key], value, origin);
                }
                node
            }
            value => Self::Leaf { value, origin: origin.clone() },
        };
        let nested = path.iter().rev().fold(leaf, |inner, key| Self::Table {
            entries: BTreeMap::from([((*key).to_owned(), inner)]),
            origin: origin.clone(),
        });
        self.merge(nested);
    }

    /// The plain values, without their origins.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Leaf { value, .. } => value.clone(),
            Self::Table { entries, .. } => {
                Value::Table(entries.iter().map(|(key, node)| (key.clone(), node.to_value())).collect())
            }
        }
    }
}

/// Reads one file.
///
/// # Errors
/// If it cannot be read or is not TOML; the problem names the line.
pub fn file(path: &Path) -> Result<Node, Problem> {
    let text = std::fs::read_to_string(path).map_err(|error| Problem {
        key: String::new(),
        origin: Origin::File { path: path.to_path_buf(), line: 0 },
        message: format!("cannot be read: {error}"),
        hint: None,
    })?;
    parse(&text, path)
}

/// Reads the text of a file.
///
/// # Errors
/// If it is not TOML; the problem names the line.
pub fn parse(text: &str, path: &Path) -> Result<Node, Problem> {
    let origin_at = |offset: usize| Origin::File {
        path: path.to_path_buf(),
        line: text.as_bytes()[..offset.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1,
    };
    let problem =
        |offset: usize, message: String| Problem { key: String::new(), origin: origin_at(offset), message, hint: None };
    let table = DeTable::parse(text).map_err(|error| {
        problem(error.span().map_or(0, |span| span.start), format!("is not valid TOML: {}", error.message()))
    })?;
    table_node(table.get_ref(), origin_at(0), &origin_at).map_err(|(offset, message)| problem(offset, message))
}

type NodeError = (usize, String);

fn table_node(table: &DeTable<'_>, origin: Origin, origin_at: &impl Fn(usize) -> Origin) -> Result<Node, NodeError> {
    let mut entries = BTreeMap::new();
    for (key, value) in table {
        let origin = origin_at(key.span().start);
        let node = match value.get_ref() {
            DeValue::Table(inner) => table_node(inner, origin, origin_at)?,
            other => Node::Leaf { value: plain(other).map_err(|message| (value.span().start, message))?, origin },
        };
        entries.insert(key.get_ref().to_string(), node);
    }
    Ok(Node::Table { entries, origin })
}

fn plain(value: &DeValue<'_>) -> Result<Value, String> {
    Ok(match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(flag) => Value::Boolean(*flag),
        DeValue::Integer(number) => Value::Integer(
            i64::from_str_radix(number.as_str(), number.radix()).map_err(|_| format!("{number} is out of range"))?,
        ),
        DeValue::Float(number) => {
            Value::Float(number.as_str().parse().map_err(|_| format!("{number} is out of range"))?)
        }
        DeValue::Datetime(at) => Value::Datetime(*at),
        DeValue::Array(items) => {
            Value::Array(items.iter().map(|item| plain(item.get_ref())).collect::<Result<_, _>>()?)
        }
        DeValue::Table(entries) => Value::Table(
            entries
                .iter()
                .map(|(key, item)| Ok((key.get_ref().to_string(), plain(item.get_ref())?)))
                .collect::<Result<_, String>>()?,
        ),
    })
}

/// A value written without quotes, as in a variable or in `--set`: TOML if it reads as a value of that kind, else a text.
///
/// `wants_text` says that the key is a text, so that `robot=7` is a name and not a number.
pub fn loose_value(text: &str, wants_text: bool, wants_list: bool) -> Value {
    let as_toml = || text.parse::<Value>().ok();
    if wants_list {
        if let Some(list @ Value::Array(_)) = as_toml() {
            return list;
        }
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        return Value::Array(items.map(|item| Value::String(item.to_owned())).collect());
    }
    if wants_text {
        return match as_toml() {
            Some(Value::String(quoted)) => Value::String(quoted),
            _ => Value::String(text.to_owned()),
        };
    }
    as_toml().unwrap_or_else(|| Value::String(text.to_owned()))
}
