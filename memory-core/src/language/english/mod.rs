//! English.

#[allow(dead_code, unused_imports, reason = "recall reads told times and options with it later")]
pub(crate) mod time;
