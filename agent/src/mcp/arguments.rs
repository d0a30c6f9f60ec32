//! The arguments of a tool: one table makes the schema that a client sees and checks what it sends.

use jiff::tz::TimeZone;
use memory_core::Timestamp;
use serde_json::{Map, Value, json};

use super::access::AccessError;
use crate::json::fields::kind;
use crate::when;

/// What an argument holds. Plain types only: several clients translate a schema for their model and know no others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Holds {
    /// A text.
    Text,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// A point in time, as the command line reads it.
    Time,
    /// A list of texts.
    Texts,
    /// A whole number from 1; the default and the most.
    Count(u64, u64),
    /// A number from 0 to 1.
    Share,
    /// True or false.
    Flag,
    /// Any JSON object.
    Object,
}

/// One argument.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Type of the argument.
    pub holds: Holds,
    /// Whether a call needs it.
    pub required: bool,
    /// Description for the model.
    pub about: &'static str,
}

/// End of every description of a time.
const TIME_HELP: &str = " A time such as 2026-11-20T08:00:00+01:00, a date, or how long ago, such as 2h.";

impl Parameter {
    /// An argument that may be left out.
    pub const fn may(name: &'static str, holds: Holds, about: &'static str) -> Self {
        Self { name, holds, required: false, about }
    }

    /// An argument that every call has.
    pub const fn must(name: &'static str, holds: Holds, about: &'static str) -> Self {
        Self { name, holds, required: true, about }
    }

    fn schema(&self) -> Value {
        let about = self.about;
        match self.holds {
            Holds::Text => json!({"type": "string", "description": about}),
            Holds::OneOf(choices) => json!({"type": "string", "enum": choices, "description": about}),
            Holds::Time => json!({"type": "string", "description": format!("{about}{TIME_HELP}")}),
            Holds::Texts => json!({"type": "array", "items": {"type": "string"}, "description": about}),
            Holds::Count(usual, most) => {
                json!({"type": "integer", "minimum": 1, "maximum": most, "default": usual, "description": about})
            }
            Holds::Share => json!({"type": "number", "minimum": 0, "maximum": 1, "description": about}),
            Holds::Flag => json!({"type": "boolean", "default": false, "description": about}),
            Holds::Object => json!({"type": "object", "additionalProperties": true, "description": about}),
        }
    }

    /// # Errors
    /// If `value` is not what the argument holds; the message says what would be.
    fn check(&self, value: &Value) -> Result<(), AccessError> {
        let wanted = match self.holds {
            Holds::Text | Holds::Time if value.is_string() => None,
            Holds::Text => Some("a text".to_owned()),
            Holds::Time => Some("a time as a text, such as \"2h\" or \"2026-11-20T08:00:00+01:00\"".to_owned()),
            Holds::OneOf(choices) => {
                let known = value.as_str().is_some_and(|text| choices.contains(&text));
                (!known).then(|| format!("one of {}", choices.join(", ")))
            }
            Holds::Texts => {
                let texts = value.as_array().is_some_and(|list| list.iter().all(Value::is_string));
                (!texts).then(|| "a list of texts".to_owned())
            }
            Holds::Count(_, most) => {
                let fits = value.as_u64().is_some_and(|count| (1..=most).contains(&count));
                (!fits).then(|| format!("a whole number from 1 to {most}"))
            }
            Holds::Share => {
                let fits = value.as_f64().is_some_and(|share| (0.0..=1.0).contains(&share));
                (!fits).then(|| "a number from 0 to 1".to_owned())
            }
            Holds::Flag => (!value.is_boolean()).then(|| "true or false".to_owned()),
            Holds::Object => (!value.is_object()).then(|| "an object".to_owned()),
        };
        match wanted {
            None => Ok(()),
            Some(wanted) => {
                let found = match value {
                    Value::Number(number) => number.to_string(),
                    other => kind(other).to_owned(),
                };
                Err(AccessError::bad(format!("`{}` must be {wanted}, and is {found}", self.name)))
            }
        }
    }
}

/// The JSON Schema of a tool's arguments.
pub fn schema(parameters: &[Parameter]) -> Map<String, Value> {
    let properties: Map<String, Value> = parameters.iter().map(|one| (one.name.to_owned(), one.schema())).collect();
    let required: Vec<&str> = parameters.iter().filter(|one| one.required).map(|one| one.name).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

/// The arguments of one call, checked.
pub struct Arguments<'a> {
    parameters: &'a [Parameter],
    given: Map<String, Value>,
    now: Timestamp,
    zone: &'a TimeZone,
}

impl<'a> Arguments<'a> {
    /// Checks what a client sent. `null` is as good as absent.
    ///
    /// # Errors
    /// Names the first argument that is wrong, unknown or missing.
    pub fn read(
        parameters: &'a [Parameter],
        mut given: Map<String, Value>,
        now: Timestamp,
        zone: &'a TimeZone,
    ) -> Result<Self, AccessError> {
        given.retain(|_, value| !value.is_null());
        for (name, value) in &given {
            let Some(parameter) = parameters.iter().find(|one| one.name == name) else {
                let known: Vec<&str> = parameters.iter().map(|one| one.name).collect();
                let name: String = name.chars().take(64).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(AccessError::bad(format!("there is no argument `{name}`; the arguments are: {known}")));
            };
            parameter.check(value)?;
        }
        if let Some(missing) = parameters.iter().find(|one| one.required && !given.contains_key(one.name)) {
            return Err(AccessError::bad(format!("`{}` is missing: {}", missing.name, missing.about)));
        }
        Ok(Self { parameters, given, now, zone })
    }

    /// The value as it came, where there is one.
    pub fn value(&self, name: &str) -> Option<&Value> {
        debug_assert!(self.parameters.iter().any(|one| one.name == name), "{name} is no argument of this tool");
        self.given.get(name)
    }

    /// A text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.value(name).and_then(Value::as_str)
    }

    /// A flag; false where it is absent.
    pub fn flag(&self, name: &str) -> bool {
        self.value(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// A count; the default of the table where it is absent.
    pub fn count(&self, name: &str) -> u64 {
        let usual = self.parameters.iter().find(|one| one.name == name).map(|one| one.holds);
        let usual = if let Some(Holds::Count(usual, _)) = usual { usual } else { 1 };
        self.value(name).and_then(Value::as_u64).unwrap_or(usual)
    }

    /// The time of the call, as the contract writes it.
    pub fn now(&self) -> Value {
        self.now.format(self.zone).into()
    }

    /// A time, as the contract writes it; null where it is absent.
    ///
    /// # Errors
    /// If it is no time; the message shows examples.
    pub fn time(&self, name: &str) -> Result<Value, AccessError> {
        let Some(text) = self.text(name) else { return Ok(Value::Null) };
        let at = when::parse(text, self.now, self.zone);
        let at = at.map_err(|message| AccessError::bad(format!("`{name}`: {message}")))?;
        Ok(at.format(self.zone).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETERS: [Parameter; 4] = [
        Parameter::must("question", Holds::Text, "What to ask."),
        Parameter::may("since", Holds::Time, "Not before this."),
        Parameter::may("limit", Holds::Count(3, 20), "How many."),
        Parameter::may("kind", Holds::OneOf(&["text", "sound"]), "Which kind."),
    ];

    fn read(given: Value) -> Result<Arguments<'static>, String> {
        let Value::Object(given) = given else { panic!("not an object") };
        let now = Timestamp::parse("2026-11-20T12:00:00Z").unwrap();
        Arguments::read(&PARAMETERS, given, now, Box::leak(Box::new(TimeZone::UTC))).map_err(|error| error.message)
    }

    #[test]
    fn what_is_left_out_has_its_default_and_times_are_read_as_on_the_command_line() {
        let arguments = read(json!({"question": "where?", "since": "2h", "limit": null})).unwrap();
        assert_eq!(arguments.text("question"), Some("where?"));
        assert_eq!(arguments.count("limit"), 3);
        assert_eq!(arguments.time("since").unwrap(), "2026-11-20T10:00:00+00:00");
        assert!(read(json!({"question": "x", "since": "soon"})).unwrap().time("since").is_err());
    }

    #[test]
    fn wrong_arguments_are_named_with_what_they_should_be() {
        for (given, said) in [
            (json!({}), "`question` is missing"),
            (json!({"question": 7}), "`question` must be a text, and is 7"),
            (json!({"question": "x", "limit": 0}), "from 1 to 20, and is 0"),
            (json!({"question": "x", "limit": 21}), "from 1 to 20"),
            (json!({"question": "x", "limit": "3"}), "from 1 to 20, and is a text"),
            (json!({"question": "x", "kind": "smell"}), "one of text, sound"),
            (json!({"question": "x", "since": 5}), "a time"),
            (json!({"question": "x", "querry": "y"}), "there is no argument `querry`; the arguments are: question"),
        ] {
            let message = read(given.clone()).err().unwrap();
            assert!(message.contains(said), "{given}: {message}");
        }
    }

    #[test]
    fn the_schema_says_what_is_checked() {
        let schema = Value::Object(schema(&PARAMETERS));
        assert_eq!(schema["required"], json!(["question"]));
        assert_eq!(schema["properties"]["limit"]["maximum"], 20);
        assert_eq!(schema["additionalProperties"], false);
    }
}
