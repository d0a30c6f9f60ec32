//! Everything that knows a language.

pub(crate) mod english;
