//! The effective configuration as text, each value with its origin and secrets hidden.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json, json};
use toml::Value;

use super::{Config, Loaded, Origin, schema};

const HIDDEN: &str = "<hidden>";

/// TOML that reads back as the same configuration (but for secrets), with an origin behind every value.
pub fn annotated_toml(loaded: &Loaded) -> String {
    let mut text = String::new();
    let effective = effective(loaded);
    let schema = schema();
    write_table(&mut text, "", &effective, loaded, &schema);
    text
}

/// The same as JSON: `{"config": …, "origins": {"mqtt.port": "default", …}, "files": […]}`.
pub fn origins_json(loaded: &Loaded) -> Json {
    let effective = effective(loaded);
    let mut origins = Map::new();
    for_each_leaf("", &effective, &mut |key, _| {
        origins.insert(key.to_owned(), json!(loaded.origin(key).to_string()));
    });
    json!({ "config": effective, "origins": origins, "files": loaded.files })
}

/// Every secret of a configuration, also those in the files that it names and those within addresses.
pub fn secrets(config: &Config) -> Vec<String> {
    let mut secrets = Vec::new();
    collect_secrets("", &Value::try_from(config).expect("a configuration made of TOML types is TOML"), &mut secrets);
    secrets
}

fn collect_secrets(key: &str, value: &Value, secrets: &mut Vec<String>) {
    match value {
        Value::Table(entries) => entries.iter().for_each(|(key, inner)| collect_secrets(key, inner, secrets)),
        Value::Array(items) => items.iter().for_each(|item| collect_secrets(key, item, secrets)),
        Value::String(text) if is_secret(key) => secrets.push(text.clone()),
        Value::String(path) if key.strip_suffix("_file").is_some_and(is_secret) => {
            secrets.extend(std::fs::read_to_string(path).map(|text| text.trim_end().to_owned()));
        }
        Value::String(text) => secrets.extend(passwords_within(text).map(str::to_owned)),
        _ => {}
    }
}

fn effective(loaded: &Loaded) -> Value {
    let mut value = Value::try_from(&loaded.config).expect("a configuration made of TOML types is TOML");
    hide_secrets("", &mut value);
    value
}

fn hide_secrets(key: &str, value: &mut Value) {
    match value {
        Value::Table(entries) => entries.iter_mut().for_each(|(key, inner)| hide_secrets(key, inner)),
        Value::Array(items) => items.iter_mut().for_each(|item| hide_secrets(key, item)),
        Value::String(text) => {
            if is_secret(key) && !text.is_empty() {
                *text = HIDDEN.to_owned();
            } else if let Some(hidden) = without_password(text) {
                *text = hidden;
            }
        }
        _ => {}
    }
}

fn is_secret(key: &str) -> bool {
    ["password", "secret", "token"].contains(&key)
}

/// `rtsp://user:secret@host/` without the secret; `None` if there is none in the text.
fn without_password(text: &str) -> Option<String> {
    let mut shown = String::with_capacity(text.len());
    let mut hidden = false;
    for token in text.split_inclusive(char::is_whitespace) {
        match credentials(token) {
            Some((before, _, after)) => {
                hidden = true;
                shown.extend([before, HIDDEN, after]);
            }
            None => shown.push_str(token),
        }
    }
    hidden.then_some(shown)
}

/// The passwords of all addresses in a text.
fn passwords_within(text: &str) -> impl Iterator<Item = &str> {
    let found = text.split_whitespace().filter_map(|token| credentials(token).map(|(_, password, _)| password));
    found.filter(|password| !password.is_empty())
}

/// What stands before the password of an address, the password, and the rest from `@` on. Also of one with a mistyped begin:
/// that is what errors show.
fn credentials(token: &str) -> Option<(&str, &str, &str)> {
    let begin = match token.find("://") {
        Some(at) => at + 3,
        // `rtsp:/user:secret@host`, `rtsp:user:secret@host`: more than a scheme and a device.
        None if token.matches(':').count() > 1 => token.find(':')? + 1,
        None => return None,
    };
    let begin = begin + token[begin..].len() - token[begin..].trim_start_matches('/').len();
    let rest = &token[begin..];
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let (_, after_colon) = authority.split_once(':')?;
    let end = match authority.rfind('@') {
        Some(end) => end,
        // A password with a `/` of its own, unless it is a port.
        None if !after_colon.bytes().all(|byte| byte.is_ascii_digit()) => rest.rfind('@')?,
        None => return None,
    };
    let colon = rest[..end].find(':')? + 1;
    Some((&token[..begin + colon], &rest[colon..end], &rest[end..]))
}

fn for_each_leaf(prefix: &str, value: &Value, visit: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Table(entries) => {
            for (key, inner) in entries {
                let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                for_each_leaf(&path, inner, visit);
            }
        }
        leaf => visit(prefix, leaf),
    }
}

fn write_table(text: &mut String, prefix: &str, value: &Value, loaded: &Loaded, schema: &Json) {
    let Value::Table(entries) = value else { return };
    let join = |key: &str| if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
    let mut lines = Vec::new();
    for (key, inner) in entries.iter().filter(|(_, inner)| !inner.is_table()) {
        lines.push((format!("{} = {inner}", bare(key)), loaded.origin(&join(key))));
    }
    let unset = schema::unset_keys(schema, prefix, entries);
    if !prefix.is_empty() && (!lines.is_empty() || !unset.is_empty()) {
        let header: Vec<String> = prefix.split('.').map(bare).collect();
        writeln!(text, "\n[{}]", header.join(".")).expect("writing to a String");
    }
    let width = lines.iter().map(|(line, _)| line.chars().count()).max().unwrap_or(0).min(60);
    for (line, origin) in lines {
        let mark = if origin == Origin::Default { "default".to_owned() } else { origin.to_string() };
        writeln!(text, "{line:width$}  # {mark}").expect("writing to a String");
    }
    for key in unset {
        writeln!(text, "# {key} is not set").expect("writing to a String");
    }
    for (key, inner) in entries.iter().filter(|(_, inner)| inner.is_table()) {
        write_table(text, &join(key), inner, loaded, schema);
    }
}

fn bare(key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if plain { key.to_owned() } else { format!("{key:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_in_an_address_is_hidden_and_the_rest_is_kept() {
        assert_eq!(without_password("rtsp://cam:pa:ss@host:554/x@y").unwrap(), "rtsp://cam:<hidden>@host:554/x@y");
        assert_eq!(without_password("rtsp://host/a:b@c"), None);
        assert_eq!(without_password("file:/a/b"), None);
    }

    #[test]
    fn passwords_are_hidden_also_where_the_address_is_mistyped() {
        for (text, shown) in [
            ("rtsp://anna:s3cret@camera/1", "rtsp://anna:<hidden>@camera/1"),
            ("rtps://anna:s3cret@camera/1", "rtps://anna:<hidden>@camera/1"),
            ("rtsp:/anna:s3cret@camera", "rtsp:/anna:<hidden>@camera"),
            ("rtsp:anna:s3cret@camera", "rtsp:anna:<hidden>@camera"),
            ("rtsp://anna:s3/cr@et@camera/1", "rtsp://anna:<hidden>@camera/1"),
            (
                "pipeline:rtspsrc location=rtsp://a:s3cret@b ! c uri=http://d:s3cret@e",
                "pipeline:rtspsrc location=rtsp://a:<hidden>@b ! c uri=http://d:<hidden>@e",
            ),
        ] {
            assert_eq!(without_password(text).as_deref(), Some(shown), "{text}");
        }
        for text in
            ["rtsp://anna@camera/1", "rtsp://camera:554/a@b", "pulse:input@00", "anna@example.com", "file:/a:b", ""]
        {
            assert_eq!(without_password(text), None, "{text}");
        }
        assert_eq!(passwords_within("rtsp://a:p@q@b rtsp://c:d@e").collect::<Vec<_>>(), ["p@q", "d"]);
    }
}
